/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks the dynamic linker's list of objects in another process, again at each change.
 *
 * r_debug is {int version; map; brk; int state; ldbase; next}, each in a word of its own; `next`
 * (another namespace's r_debug) is there from version 2 on. A link_map begins with {l_addr, l_name,
 * l_ld, l_next, l_prev}.
 *
 * The list is walked at every dlopen and dlclose, and a large process has hundreds of objects. So
 * the walk first reads all known nodes in a few batched reads; a list that has not changed is then
 * followed in the tracer's memory. Only new nodes are read one by one, as each holds the address of
 * the next one. The names of all new objects are again read in batches.
 *
 * An object counts as unchanged if its node, l_addr, l_ld and l_name pointer are the same. The
 * linker calls r_brk after every change, so if a node is freed and used again for another object,
 * an update in between sees it gone. If that update is missed, these four values differ, and the
 * object counts as one removed and one added.
 *
 * The lists belong to the tracee, so a node that occurs twice ends the walk (-ELOOP), and so does
 * one that cannot be read (-EFAULT). Known objects that such a walk did not reach are kept, as they
 * may still be loaded. A list that ends properly without them means that they are gone.
 */
#include "object/linkmap.h"

#include "base/map.h"
#include "base/vec.h"
#include "base/xalloc.h"

#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

enum {
	BATCH = 512,
	NAME_FIRST = 256, /* bytes of a name read in a batch; longer names are read again */
	NAME_MAX_SIZE = 4096,
	DYNAMIC_MAX = 4096
};

enum {
	DEBUG_VERSION,
	DEBUG_MAP,
	DEBUG_BRK,
	DEBUG_STATE,
	DEBUG_LDBASE,
	DEBUG_WORDS,
	DEBUG_NEXT = 5
};
enum { NODE_ADDR, NODE_NAME, NODE_LD, NODE_NEXT, NODE_WORDS };

struct known {
	struct linkmap_object object; /* must be first: callers get a pointer to it */
	uint64_t name_address;
	bool fresh; /* added by the current walk */
	bool seen;  /* met in the current walk */
};

struct linkmap {
	unsigned word;
	/* pointers to struct linkmap_object inside of struct known, in list order */
	struct vec objects;
};

/* The state of one walk, before anything is reported. */
struct walk {
	struct linkmap *map;
	const struct memory_source *memory;
	struct map known;   /* node → struct known */
	struct map visited; /* node → any pointer */
	struct map content; /* node → uint64_t[NODE_WORDS], read ahead */
	uint64_t *ahead;    /* the memory that `content` points into */
	struct vec list;    /* like `objects`: known and new ones */
	struct vec heads;   /* uint64_t: first node of each namespace */
	int error;
};

struct linkmap *linkmap_create(unsigned word)
{
	struct linkmap *map = xcalloc(1, sizeof *map);

	map->word = word;
	vec_init(&map->objects, sizeof(struct linkmap_object *));
	return map;
}

static struct known *known_at(const struct vec *list, size_t index)
{
	return (struct known *)*(struct linkmap_object **)vec_at(list, index);
}

static void add_known(struct vec *list, struct known *known)
{
	struct linkmap_object *object = &known->object;

	vec_push(list, &object);
}

static void free_known(struct known *known)
{
	free(known->object.name);
	free(known);
}

void linkmap_destroy(struct linkmap *map)
{
	if (!map)
		return;
	for (size_t i = 0; i < map->objects.count; i++)
		free_known(known_at(&map->objects, i));
	vec_deinit(&map->objects);
	free(map);
}

struct linkmap *linkmap_clone(const struct linkmap *map)
{
	struct linkmap *clone = linkmap_create(map->word);

	for (size_t i = 0; i < map->objects.count; i++) {
		const struct known *old = known_at(&map->objects, i);
		struct known *copy = xmemdup(old, sizeof *old);

		copy->object.name = xstrdup(old->object.name);
		add_known(&clone->objects, copy);
	}
	return clone;
}

struct linkmap_object *const *linkmap_objects(const struct linkmap *map, size_t *count)
{
	*count = map->objects.count;
	return map->objects.items;
}

/* Converts `count` words of the tracee's size. */
static void unpack(const void *bytes, unsigned word, uint64_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		words[i] = 0;
		memcpy(&words[i], (const char *)bytes + i * word, word);
	}
}

static bool read_words(const struct memory_source *memory, uint64_t address, unsigned word,
		       uint64_t *words, size_t count)
{
	uint8_t bytes[8 * 8];

	if (!address || !memory_read_exact(memory, address, bytes, count * word))
		return false;
	unpack(bytes, word, words, count);
	return true;
}

/* Reads all known nodes in batches into `content`. */
static void read_ahead(struct walk *walk)
{
	const struct vec *objects = &walk->map->objects;
	unsigned word = walk->map->word;
	struct memory_range ranges[BATCH];
	uint8_t bytes[BATCH][NODE_WORDS * 8];

	walk->ahead = xcalloc(objects->count, NODE_WORDS * sizeof *walk->ahead);
	for (size_t start = 0; start < objects->count; start += BATCH) {
		size_t count = objects->count - start < BATCH ? objects->count - start : BATCH;

		for (size_t i = 0; i < count; i++)
			ranges[i] = (struct memory_range){
				.address = known_at(objects, start + i)->object.node,
				.buffer = bytes[i],
				.length = NODE_WORDS * word};
		walk->memory->readv(walk->memory->context, ranges, count);
		for (size_t i = 0; i < count; i++) {
			uint64_t *words = walk->ahead + (start + i) * NODE_WORDS;

			if (ranges[i].done < ranges[i].length)
				continue;
			unpack(bytes[i], word, words, NODE_WORDS);
			map_put(&walk->content, ranges[i].address, words);
		}
	}
}

static bool read_node(struct walk *walk, uint64_t node, uint64_t *words)
{
	const uint64_t *ahead = map_get(&walk->content, node);

	if (!ahead)
		return read_words(walk->memory, node, walk->map->word, words, NODE_WORDS);
	memcpy(words, ahead, NODE_WORDS * sizeof *words);
	return true;
}

/*
 * Returns the object at `node`: the known one if it is unchanged, or a new one without a name yet.
 */
static struct known *take_object(struct walk *walk, uint64_t node, const uint64_t *words,
				 unsigned space)
{
	struct known *known = map_get(&walk->known, node);

	if (!known || known->object.doubtful || known->object.bias != words[NODE_ADDR] ||
	    known->object.dynamic != words[NODE_LD] || known->name_address != words[NODE_NAME] ||
	    known->object.space != space) {
		known = xcalloc(1, sizeof *known);
		known->object = (struct linkmap_object){.node = node,
							.bias = words[NODE_ADDR],
							.dynamic = words[NODE_LD],
							.space = space};
		known->name_address = words[NODE_NAME];
		known->fresh = true;
	}
	known->seen = true;
	return known;
}

static void walk_list(struct walk *walk, uint64_t node, unsigned space)
{
	uint64_t words[NODE_WORDS];

	for (; node; node = words[NODE_NEXT]) {
		if (walk->list.count >= LINKMAP_OBJECTS_MAX || map_get(&walk->visited, node)) {
			walk->error = -ELOOP;
			return;
		}
		if (!read_node(walk, node, words)) {
			walk->error = -EFAULT;
			return;
		}
		struct known *known = take_object(walk, node, words, space);

		map_put(&walk->visited, node, known);
		add_known(&walk->list, known);
	}
}

/* Finds the first node of every namespace. Returns -EAGAIN if a namespace is being changed. */
static int find_heads(struct walk *walk, uint64_t r_debug, bool force)
{
	uint64_t words[DEBUG_WORDS];
	unsigned word = walk->map->word;

	for (size_t spaces = 0; r_debug; spaces++) {
		if (spaces >= LINKMAP_NAMESPACES_MAX) {
			walk->error = -ELOOP;
			return 0;
		}
		if (!read_words(walk->memory, r_debug, word, words, DEBUG_WORDS)) {
			walk->error = -EFAULT;
			return spaces ? 0 : -EFAULT;
		}
		if ((uint32_t)words[DEBUG_STATE] != RT_CONSISTENT && !force)
			return -EAGAIN;
		vec_push(&walk->heads, &words[DEBUG_MAP]);
		if ((int32_t)words[DEBUG_VERSION] < 2)
			return 0;
		if (!memory_read_word(walk->memory, r_debug + (uint64_t)DEBUG_NEXT * word, word,
				      &r_debug)) {
			walk->error = -EFAULT;
			return 0;
		}
	}
	return 0;
}

/* Reads the names of up to BATCH new objects; a name that cannot be read becomes "". */
static void read_names(const struct walk *walk, struct known **fresh, size_t count)
{
	struct memory_range *ranges = xcalloc(count, sizeof *ranges);
	char(*names)[NAME_FIRST] = xcalloc(count, sizeof *names);
	char whole[NAME_MAX_SIZE];

	for (size_t i = 0; i < count; i++)
		ranges[i] = (struct memory_range){.address = fresh[i]->name_address,
						  .buffer = names[i],
						  .length = NAME_FIRST};
	walk->memory->readv(walk->memory->context, ranges, count);
	for (size_t i = 0; i < count; i++) {
		char *name = names[i];

		if (!fresh[i]->name_address || !ranges[i].done)
			name[0] = '\0';
		else if (!memchr(name, '\0', ranges[i].done)) {
			name = whole;
			if (memory_read_string(walk->memory, fresh[i]->name_address, whole,
					       sizeof whole) == -EFAULT)
				whole[0] = '\0';
		}
		fresh[i]->object.name = xstrdup(name);
	}
	free(names);
	free(ranges);
}

static void name_new_objects(const struct walk *walk)
{
	struct known *fresh[BATCH];
	size_t count = 0;

	for (size_t i = 0; i < walk->list.count; i++) {
		struct known *known = known_at(&walk->list, i);

		if (!known->object.name)
			fresh[count++] = known;
		if (count == BATCH || (count && i + 1 == walk->list.count)) {
			read_names(walk, fresh, count);
			count = 0;
		}
	}
}

/*
 * After an incomplete walk, keeps the objects that it did not reach, behind the others. An object
 * whose node now holds another object is not kept.
 */
static void keep_unreached(struct walk *walk)
{
	const struct vec *objects = &walk->map->objects;

	for (size_t i = 0; i < objects->count; i++) {
		struct known *known = known_at(objects, i);

		if (known->seen || map_get(&walk->visited, known->object.node))
			continue;
		known->seen = true;
		add_known(&walk->list, known);
	}
}

/* Reports removed and added objects, and makes the walk's list the known one. */
static void report(struct walk *walk, const struct linkmap_events *events)
{
	struct vec old = walk->map->objects;

	walk->map->objects = walk->list;
	walk->list = (struct vec)VEC_OF(struct linkmap_object *);
	for (size_t i = 0; i < old.count; i++) {
		struct known *known = known_at(&old, i);

		if (known->seen)
			continue;
		events->removed(events->context, &known->object);
		free_known(known);
	}
	vec_deinit(&old);
	for (size_t i = 0; i < walk->map->objects.count; i++) {
		struct known *known = known_at(&walk->map->objects, i);

		if (known->fresh)
			events->added(events->context, &known->object);
		known->fresh = known->seen = false;
	}
}

static void walk_deinit(struct walk *walk)
{
	map_deinit(&walk->known);
	map_deinit(&walk->visited);
	map_deinit(&walk->content);
	free(walk->ahead);
	vec_deinit(&walk->list);
	vec_deinit(&walk->heads);
}

int linkmap_update(struct linkmap *map, const struct memory_source *memory, uint64_t r_debug,
		   bool force, const struct linkmap_events *events)
{
	struct walk walk = {.map = map,
			    .memory = memory,
			    .list = VEC_OF(struct linkmap_object *),
			    .heads = VEC_OF(uint64_t)};
	int error = find_heads(&walk, r_debug, force);

	if (!error) {
		for (size_t i = 0; i < map->objects.count; i++) {
			struct known *known = known_at(&map->objects, i);

			map_put(&walk.known, known->object.node, known);
		}
		read_ahead(&walk);
		for (size_t i = 0; i < walk.heads.count; i++)
			walk_list(&walk, *(uint64_t *)vec_at(&walk.heads, i), (unsigned)i);
		name_new_objects(&walk);
		if (walk.error)
			keep_unreached(&walk);
		report(&walk, events);
		error = walk.error;
	}
	walk_deinit(&walk);
	return error;
}

uint64_t linkmap_find_r_debug(const struct memory_source *memory, uint64_t dynamic, unsigned word)
{
	enum { ENTRIES = 32 };
	uint8_t bytes[ENTRIES * 2 * 8];

	for (size_t done = 0; dynamic && done < DYNAMIC_MAX; done += ENTRIES) {
		size_t size = ENTRIES * 2 * (size_t)word;
		size_t got = memory_read(memory, dynamic + done * 2 * word, bytes, size);

		for (size_t i = 0; i < got / (2 * (size_t)word); i++) {
			uint64_t entry[2];

			unpack(bytes + i * 2 * word, word, entry, 2);
			if (entry[0] == DT_DEBUG)
				return entry[1];
			if (entry[0] == DT_NULL)
				return 0;
		}
		if (got < size)
			return 0;
	}
	return 0;
}

uint64_t linkmap_r_brk(const struct memory_source *memory, uint64_t r_debug, unsigned word)
{
	uint64_t address;

	if (!r_debug ||
	    !memory_read_word(memory, r_debug + (uint64_t)DEBUG_BRK * word, word, &address))
		return 0;
	return address;
}

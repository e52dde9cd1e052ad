/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walks of the dynamic linker's list, in a simulated tracee of 64 and of 32 bits. */
#include "object/linkmap.h"

#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* --- a tracee: one stretch of memory at BASE, with a page that cannot be read at its end --- */

enum {
	BASE = 0x10000,
	SIZE = 0x100000,
	DEBUG = BASE,
	SPACE_2 = BASE + 0x80,
	NODES = BASE + 0x1000
};
enum { NODE_SIZE = 0x40, NAMES = BASE + 0x80000, NAME_SIZE = 0x40 };

struct tracee {
	uint8_t memory[SIZE];
	unsigned word;
	size_t calls, ranges, largest;
	char log[4096]; /* what linkmap_update() reported */
	bool quiet;
};

static void tracee_readv(void *context, struct memory_range *ranges, size_t count)
{
	struct tracee *tracee = context;

	tracee->calls++;
	tracee->ranges += count;
	if (count > tracee->largest)
		tracee->largest = count;
	for (size_t i = 0; i < count; i++) {
		struct memory_range *range = &ranges[i];
		uint64_t into = range->address - BASE;

		range->done = 0;
		if (range->address < BASE || into >= SIZE)
			continue;
		range->done = range->length < SIZE - into ? range->length : SIZE - into;
		memcpy(range->buffer, tracee->memory + into, range->done);
	}
}

static struct memory_source source(struct tracee *tracee)
{
	return (struct memory_source){.readv = tracee_readv, .context = tracee};
}

static void put(struct tracee *tracee, uint64_t address, uint64_t value)
{
	memcpy(tracee->memory + (address - BASE), &value, tracee->word);
}

/* Words of an r_debug and of a link_map, by index. */
enum { R_VERSION, R_MAP, R_BRK, R_STATE, R_LDBASE, R_NEXT };
enum { L_ADDR, L_NAME, L_LD, L_NEXT, L_PREV };

static void put_debug(struct tracee *tracee, unsigned index, uint64_t value)
{
	put(tracee, DEBUG + (uint64_t)index * tracee->word, value);
}

static uint64_t node_address(unsigned number)
{
	return NODES + (uint64_t)number * NODE_SIZE;
}

static void put_node(struct tracee *tracee, unsigned number, unsigned index, uint64_t value)
{
	put(tracee, node_address(number) + (uint64_t)index * tracee->word, value);
}

static uint64_t name_address(unsigned number)
{
	return NAMES + (uint64_t)number * NAME_SIZE;
}

static void make_node(struct tracee *tracee, unsigned number, const char *name)
{
	put_node(tracee, number, L_ADDR, 0x100000 * (uint64_t)number);
	put_node(tracee, number, L_NAME, name_address(number));
	put_node(tracee, number, L_LD, 0x100000 * (uint64_t)number + 0x500);
	put_node(tracee, number, L_NEXT, 0);
	memcpy(tracee->memory + (name_address(number) - BASE), name, strlen(name) + 1);
}

static void set_next(struct tracee *tracee, unsigned number, unsigned next)
{
	put_node(tracee, number, L_NEXT, node_address(next));
}

/* Makes a list of objects "", "lib1", "lib2", … */
static struct tracee *make_tracee(unsigned word, unsigned objects)
{
	struct tracee *tracee = calloc(1, sizeof *tracee);
	char name[16];

	tracee->word = word;
	put_debug(tracee, R_VERSION, 1);
	put_debug(tracee, R_MAP, objects ? node_address(0) : 0);
	put_debug(tracee, R_BRK, 0x4242);
	for (unsigned i = 0; i < objects; i++) {
		snprintf(name, sizeof name, "lib%u", i);
		make_node(tracee, i, i ? name : "");
		if (i)
			set_next(tracee, i - 1, i);
	}
	return tracee;
}

static void note(struct tracee *tracee, char sign, const struct linkmap_object *object)
{
	size_t used = strlen(tracee->log);

	if (!tracee->quiet)
		snprintf(tracee->log + used, sizeof tracee->log - used, "%c%s ", sign,
			 object->name);
}

static void note_added(void *context, struct linkmap_object *object)
{
	assert_null(object->user);
	object->user = context;
	note(context, '+', object);
}

static void note_removed(void *context, struct linkmap_object *object)
{
	assert_ptr_equal(object->user, context);
	note(context, '-', object);
}

static int update_how(struct linkmap *map, struct tracee *tracee, bool force)
{
	struct memory_source memory = source(tracee);
	struct linkmap_events events = {note_added, note_removed, tracee};

	tracee->log[0] = '\0';
	tracee->calls = tracee->ranges = tracee->largest = 0;
	return linkmap_update(map, &memory, DEBUG, force, &events);
}

static int update(struct linkmap *map, struct tracee *tracee)
{
	return update_how(map, tracee, false);
}

static size_t count_objects(const struct linkmap *map)
{
	size_t count;

	linkmap_objects(map, &count);
	return count;
}

/* --- tests --- */

static void grows_and_shrinks_in(unsigned word)
{
	struct tracee *tracee = make_tracee(word, 3);
	struct linkmap *map = linkmap_create(word);
	size_t count;

	assert_int_equal(update(map, tracee), 0);
	assert_string_equal(tracee->log, "+ +lib1 +lib2 ");
	assert_int_equal(update(map, tracee), 0);
	assert_string_equal(tracee->log, "");

	make_node(tracee, 3, "/usr/lib/added.so");
	set_next(tracee, 2, 3);
	assert_int_equal(update(map, tracee), 0);
	assert_string_equal(tracee->log, "+/usr/lib/added.so ");
	struct linkmap_object *const *objects = linkmap_objects(map, &count);

	assert_int_equal(count, 4);
	assert_int_equal(objects[3]->node, node_address(3));
	assert_int_equal(objects[3]->bias, 0x300000);
	assert_int_equal(objects[3]->dynamic, 0x300500);
	assert_int_equal(objects[3]->space, 0);

	set_next(tracee, 0, 2); /* lib1 is unlinked, its memory still there */
	assert_int_equal(update(map, tracee), 0);
	assert_string_equal(tracee->log, "-lib1 ");
	put_debug(tracee, R_MAP, 0);
	assert_int_equal(update(map, tracee), 0);
	assert_string_equal(tracee->log, "- -lib2 -/usr/lib/added.so ");
	assert_int_equal(count_objects(map), 0);
	linkmap_destroy(map);
	free(tracee);
}

static void grows_and_shrinks(void **state)
{
	(void)state;
	grows_and_shrinks_in(8);
	grows_and_shrinks_in(4);
}

static void node_used_again_is_another_object(void **state)
{
	struct tracee *tracee = make_tracee(8, 3);
	struct linkmap *map = linkmap_create(8);
	size_t count;

	(void)state;
	update(map, tracee);
	put_node(tracee, 1, L_ADDR, 0x7000000);
	update(map, tracee);
	assert_string_equal(tracee->log, "-lib1 +lib1 ");
	put_node(tracee, 1, L_LD, 0x7000700);
	update(map, tracee);
	assert_string_equal(tracee->log, "-lib1 +lib1 ");
	put_node(tracee, 1, L_NAME, name_address(9));
	memcpy(tracee->memory + (name_address(9) - BASE), "other", 6);
	update(map, tracee);
	assert_string_equal(tracee->log, "-lib1 +other ");
	linkmap_objects(map, &count)[1]->doubtful = true;
	put_debug(tracee, R_STATE, 1);
	assert_int_equal(update(map, tracee), -EAGAIN);
	assert_string_equal(tracee->log, "");
	put_debug(tracee, R_STATE, 0);
	update(map, tracee);
	assert_string_equal(tracee->log, "-other +other ");
	update(map, tracee);
	assert_string_equal(tracee->log, "");
	linkmap_destroy(map);
	free(tracee);
}

static void nothing_is_reported_amid_a_change(void **state)
{
	struct tracee *tracee = make_tracee(8, 2);
	struct linkmap *map = linkmap_create(8);
	(void)state;

	put_debug(tracee, R_STATE, 1);
	assert_int_equal(update(map, tracee), -EAGAIN);
	assert_string_equal(tracee->log, "");
	assert_int_equal(count_objects(map), 0);
	assert_int_equal(update_how(map, tracee, true), 0);
	assert_string_equal(tracee->log, "+ +lib1 ");
	linkmap_destroy(map);
	free(tracee);
}

static void loops_end(void **state)
{
	struct tracee *tracee = make_tracee(8, 4);
	struct linkmap *map = linkmap_create(8);
	(void)state;

	update(map, tracee);
	set_next(tracee, 2, 1); /* 0 1 2 1 …: 3 is not reached, but it is not reported as removed */
	assert_int_equal(update(map, tracee), -ELOOP);
	assert_string_equal(tracee->log, "");
	assert_int_equal(count_objects(map), 4);
	set_next(tracee, 0, 0);
	assert_int_equal(update(map, tracee), -ELOOP);
	assert_int_equal(count_objects(map), 4);
	put_node(tracee, 0, L_NEXT, 0); /* a list that ends does report it */
	assert_int_equal(update(map, tracee), 0);
	assert_string_equal(tracee->log, "-lib1 -lib2 -lib3 ");
	linkmap_destroy(map);
	free(tracee);
}

static void wild_pointers_end(void **state)
{
	struct tracee *tracee = make_tracee(8, 3);
	struct linkmap *map = linkmap_create(8);
	(void)state;

	put_node(tracee, 1, L_NEXT, 0xdeadbeefdeadbeef);
	assert_int_equal(update(map, tracee), -EFAULT);
	assert_string_equal(tracee->log, "+ +lib1 ");
	put_node(tracee, 1, L_NEXT, BASE + SIZE - 8); /* a node half in unreadable memory */
	assert_int_equal(update(map, tracee), -EFAULT);
	assert_string_equal(tracee->log, "");
	put_debug(tracee, R_MAP, 8);
	assert_int_equal(update(map, tracee), -EFAULT);
	assert_int_equal(count_objects(map), 2);
	linkmap_destroy(map);
	free(tracee);
}

static void unreadable_r_debug(void **state)
{
	struct tracee *tracee = make_tracee(8, 1);
	struct linkmap *map = linkmap_create(8);
	struct memory_source memory = source(tracee);
	struct linkmap_events events = {note_added, note_removed, tracee};
	(void)state;

	assert_int_equal(linkmap_update(map, &memory, 1, false, &events), -EFAULT);
	assert_int_equal(linkmap_update(map, &memory, BASE + SIZE - 16, false, &events), -EFAULT);
	assert_int_equal(linkmap_update(map, &memory, 0, false, &events), 0);
	assert_int_equal(count_objects(map), 0);
	assert_int_equal(linkmap_r_brk(&memory, DEBUG, 8), 0x4242);
	assert_int_equal(linkmap_r_brk(&memory, 1, 8), 0);
	linkmap_destroy(map);
	free(tracee);
}

static void names_are_bounded(void **state)
{
	struct tracee *tracee = make_tracee(8, 5);
	struct linkmap *map = linkmap_create(8);
	uint64_t place = NAMES + 0x10000;
	size_t count;
	(void)state;

	memset(tracee->memory + (place - BASE), 'n', 10000);
	put_node(tracee, 1, L_NAME, place);		   /* much too long */
	put_node(tracee, 2, L_NAME, place + 10000 - 1000); /* longer than one batched read */
	put_node(tracee, 3, L_NAME, 0);
	put_node(tracee, 4, L_NAME, 0x10);
	assert_int_equal(update(map, tracee), 0);
	struct linkmap_object *const *objects = linkmap_objects(map, &count);

	assert_int_equal(count, 5);
	assert_int_equal(strlen(objects[1]->name), 4095);
	assert_int_equal(strlen(objects[2]->name), 1000);
	assert_string_equal(objects[3]->name, "");
	assert_string_equal(objects[4]->name, "");
	linkmap_destroy(map);
	free(tracee);
}

static void name_at_the_end_of_memory(void **state)
{
	struct tracee *tracee = make_tracee(8, 2);
	struct linkmap *map = linkmap_create(8);
	size_t count;
	(void)state;

	memcpy(tracee->memory + SIZE - 5, "last", 5);
	put_node(tracee, 1, L_NAME, BASE + SIZE - 5);
	assert_int_equal(update(map, tracee), 0);
	assert_string_equal(linkmap_objects(map, &count)[1]->name, "last");
	linkmap_destroy(map);
	free(tracee);
}

/* Adds a second r_debug, of a dlmopen namespace, whose list has the nodes 10 and 11. */
static void add_namespace(struct tracee *tracee)
{
	make_node(tracee, 10, "spaced");
	make_node(tracee, 11, "spaced2");
	set_next(tracee, 10, 11);
	put_debug(tracee, R_VERSION, 2);
	put_debug(tracee, R_NEXT, SPACE_2);
	put(tracee, SPACE_2, 2);
	put(tracee, SPACE_2 + (uint64_t)R_MAP * tracee->word, node_address(10));
}

static void namespaces_in(unsigned word)
{
	struct tracee *tracee = make_tracee(word, 2);
	struct linkmap *map = linkmap_create(word);
	size_t count;

	add_namespace(tracee);
	put_debug(tracee, R_VERSION, 1); /* an old linker: the words behind have no meaning */
	assert_int_equal(update(map, tracee), 0);
	assert_string_equal(tracee->log, "+ +lib1 ");
	put_debug(tracee, R_VERSION, 2);
	assert_int_equal(update(map, tracee), 0);
	assert_string_equal(tracee->log, "+spaced +spaced2 ");
	assert_int_equal(linkmap_objects(map, &count)[3]->space, 1);
	put(tracee, SPACE_2 + (uint64_t)R_STATE * word, 2);
	assert_int_equal(update(map, tracee), -EAGAIN);
	put(tracee, SPACE_2 + (uint64_t)R_STATE * word, 0);
	put(tracee, SPACE_2 + (uint64_t)R_NEXT * word, DEBUG); /* a circle */
	assert_int_equal(update(map, tracee), -ELOOP);
	assert_string_equal(tracee->log, "");
	put_debug(tracee, R_NEXT, 0);
	assert_int_equal(update(map, tracee), 0);
	assert_string_equal(tracee->log, "-spaced -spaced2 ");
	linkmap_destroy(map);
	free(tracee);
}

static void namespaces(void **state)
{
	(void)state;
	namespaces_in(8);
	namespaces_in(4);
}

static void unchanged_list_takes_few_reads(void **state)
{
	struct tracee *tracee = make_tracee(8, 300);
	struct linkmap *map = linkmap_create(8);
	(void)state;

	tracee->quiet = true;
	assert_int_equal(update(map, tracee), 0);
	assert_int_equal(count_objects(map), 300);
	assert_true(tracee->calls <= 300 + 4); /* names are read in batches */
	assert_int_equal(update(map, tracee), 0);
	assert_true(tracee->calls <= 3);
	assert_true(tracee->ranges <= 303);
	make_node(tracee, 300, "one more");
	set_next(tracee, 299, 300);
	tracee->quiet = false;
	assert_int_equal(update(map, tracee), 0);
	assert_string_equal(tracee->log, "+one more ");
	assert_true(tracee->calls <= 5);
	linkmap_destroy(map);
	free(tracee);
}

static void batches_are_bounded(void **state)
{
	enum { MANY = 1500 };
	struct tracee *tracee = make_tracee(8, MANY);
	struct linkmap *map = linkmap_create(8);
	(void)state;

	tracee->quiet = true;
	assert_int_equal(update(map, tracee), 0);
	assert_true(tracee->largest <= 512);
	assert_int_equal(update(map, tracee), 0);
	assert_int_equal(count_objects(map), MANY);
	assert_true(tracee->largest <= 512);
	assert_true(tracee->calls <= 5);
	linkmap_destroy(map);
	free(tracee);
}

static void a_clone_goes_its_own_way(void **state)
{
	struct tracee *tracee = make_tracee(8, 2);
	struct linkmap *map = linkmap_create(8), *clone;
	size_t count;
	(void)state;

	update(map, tracee);
	clone = linkmap_clone(map);
	linkmap_destroy(map);
	assert_int_equal(update(clone, tracee), 0);
	assert_string_equal(tracee->log, "");
	assert_ptr_equal(linkmap_objects(clone, &count)[1]->user, tracee);
	assert_string_equal(linkmap_objects(clone, &count)[1]->name, "lib1");
	put_node(tracee, 0, L_NEXT, 0);
	update(clone, tracee);
	assert_string_equal(tracee->log, "-lib1 ");
	linkmap_destroy(clone);
	free(tracee);
}

static void finds_r_debug_in(unsigned word)
{
	struct tracee *tracee = make_tracee(word, 0);
	struct memory_source memory = source(tracee);
	uint64_t dynamic = BASE + 0x4000;
	uint64_t step = (uint64_t)2 * word;

	for (unsigned i = 0; i < 40; i++)
		put(tracee, dynamic + i * step, DT_NEEDED);
	put(tracee, dynamic + 40 * step, DT_DEBUG);
	put(tracee, dynamic + 40 * step + word, 0x77);
	assert_int_equal(linkmap_find_r_debug(&memory, dynamic, word), 0x77);
	put(tracee, dynamic + 39 * step, DT_NULL);
	assert_int_equal(linkmap_find_r_debug(&memory, dynamic, word), 0);
	assert_int_equal(linkmap_find_r_debug(&memory, 0, word), 0);
	assert_int_equal(linkmap_find_r_debug(&memory, 0x20, word), 0);
	/* a dynamic section up to the end of memory, and one without end */
	dynamic = BASE + SIZE - 2 * step;
	put(tracee, dynamic, DT_NEEDED);
	put(tracee, dynamic + step, DT_DEBUG);
	put(tracee, dynamic + step + word, 0x78);
	assert_int_equal(linkmap_find_r_debug(&memory, dynamic, word), 0x78);
	memset(tracee->memory, 1, SIZE);
	assert_int_equal(linkmap_find_r_debug(&memory, BASE, word), 0);
	free(tracee);
}

static void finds_r_debug(void **state)
{
	(void)state;
	finds_r_debug_in(8);
	finds_r_debug_in(4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grows_and_shrinks),
		cmocka_unit_test(node_used_again_is_another_object),
		cmocka_unit_test(nothing_is_reported_amid_a_change),
		cmocka_unit_test(loops_end),
		cmocka_unit_test(wild_pointers_end),
		cmocka_unit_test(unreadable_r_debug),
		cmocka_unit_test(names_are_bounded),
		cmocka_unit_test(name_at_the_end_of_memory),
		cmocka_unit_test(namespaces),
		cmocka_unit_test(unchanged_list_takes_few_reads),
		cmocka_unit_test(batches_are_bounded),
		cmocka_unit_test(a_clone_goes_its_own_way),
		cmocka_unit_test(finds_r_debug),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

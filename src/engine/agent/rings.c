/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads rings.
 *
 * Records of several threads have to be passed on in the order of their times. A thread sets `busy`
 * before it reads the clock for a record, and clears it when the record can be read. So if, after a
 * reading of the clock, a ring is seen not busy, or with a new head, it holds all its records that
 * are older than that reading; these are sorted. If a thread is preempted in the middle of a
 * record, that record is not older than the last look at which the thread was not busy. Younger
 * records may be held back for a while (rings_floor()). If they are not, because a stop has to be
 * handled, the record comes out late.
 *
 * A record is copied before it is checked, and its size is read once. If positions or sizes in a
 * ring are invalid, all of it is skipped up to the head that the process claims.
 */
#include "engine/agent/rings.h"

#include "base/hash.h"
#include "base/vec.h"
#include "base/xalloc.h"
#include "engine/agent/agent_state.h"
#include "engine/agent/unit.h"
#include "tracee/arena_map.h"
#include "tracee/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { BUSY_LOOKS = 2000, STUCK_NS = 100000000, HELD_NS = 30000000 };

struct ring {
	struct ring_thread *entry; /* shared with the tracee */
	struct room {
		uint64_t address;     /* in the tracee */
		const uint8_t *bytes; /* shared with the tracee */
	} room;
	pid_t tid; /* 0: free */
	uint64_t tail, limit;
	uint64_t time; /* of the next record; UINT64_MAX: there is none */
	/*
	 * Since when the thread has been in the middle of a record, and its head then; 0: it is in
	 * none.
	 */
	uint64_t making_since, making_head;
	uint64_t floor;	  /* that record is not older; UINT64_MAX: unknown */
	bool interrupted; /* returned by rings_stuck() */
};

/* An entry of the heap: a ring, and the time of a record that is, or was, its next one. */
struct entry {
	uint64_t time;
	struct ring *ring;
};

struct rings {
	uint64_t address;   /* of the first block */
	struct vec blocks;  /* uint8_t *: as mapped in the tracer */
	struct vec rooms;   /* struct room: the free ones */
	bool lacks, cannot; /* a thread found no ring; no more can be made */
	struct ring all[AGENT_THREAD_COUNT];
	struct vec used;	   /* struct ring * */
	struct vec order;	   /* struct entry: a heap, the oldest first */
	uint64_t looked;	   /* the clock at the last rings_look() */
	uint64_t damaged, dropped; /* dropped: of threads that are gone */
};

/* Adds the rings of a block, the first one last. */
static void add_rooms(struct rings *rings, uint8_t *memory, uint64_t address)
{
	vec_push(&rings->blocks, &memory);
	for (size_t i = AGENT_BLOCK_RINGS; i-- > 0;) {
		size_t offset = AGENT_RINGS_HEAD + i * AGENT_RING_ROOM;

		vec_push(&rings->rooms, &(struct room){address + offset, memory + offset});
	}
}

struct rings *rings_over(uint8_t *memory, uint64_t address)
{
	struct rings *rings = xcalloc(1, sizeof *rings);

	rings->address = address;
	vec_init(&rings->blocks, sizeof(uint8_t *));
	vec_init(&rings->rooms, sizeof(struct room));
	vec_init(&rings->used, sizeof(struct ring *));
	vec_init(&rings->order, sizeof(struct entry));
	for (size_t i = 0; i < AGENT_THREAD_COUNT; i++)
		rings->all[i].entry = (struct ring_thread *)(void *)memory + i;
	add_rooms(rings, memory, address);
	return rings;
}

static int map_block(struct thread *thread, uint64_t scratch, uint64_t near, uint64_t *address,
		     uint8_t **memory)
{
	int error = arena_room_near(thread, near, AGENT_RINGS_BYTES, address);

	return error ? error : unit_map_file(thread, scratch, *address, AGENT_RINGS_BYTES, memory);
}

int rings_create(struct thread *thread, uint64_t scratch, uint64_t near, struct rings **made)
{
	uint64_t address;
	uint8_t *memory;
	int error = map_block(thread, scratch, near, &address, &memory);

	if (error)
		return error;
	*made = rings_over(memory, address);
	rings_grow(*made, thread);
	return 0;
}

static int add_block(struct rings *rings, struct thread *thread)
{
	/* Unused bytes of the table's last entry. */
	const uint64_t scratch = rings->address + AGENT_RINGS_HEAD - 32;
	uint64_t address;
	uint8_t *memory;
	int error = rings->blocks.count < AGENT_BLOCK_COUNT
			    ? map_block(thread, scratch, rings->address, &address, &memory)
			    : -ENOSPC;

	if (error)
		rings->cannot = true;
	else
		add_rooms(rings, memory, address);
	return error;
}

void rings_grow(struct rings *rings, struct thread *thread)
{
	int error = 0;

	if (rings->lacks && !rings->rooms.count)
		error = add_block(rings, thread);
	while (!error && rings->blocks.count * AGENT_BLOCK_RINGS < thread->process->threads)
		error = add_block(rings, thread);
	rings->lacks = false;
}

bool rings_lack(const struct rings *rings)
{
	return rings->lacks;
}

void rings_destroy(struct rings *rings)
{
	if (!rings)
		return;
	for (size_t i = 0; i < rings->blocks.count; i++)
		munmap(*(uint8_t **)vec_at(&rings->blocks, i), AGENT_RINGS_BYTES);
	vec_deinit(&rings->blocks);
	vec_deinit(&rings->rooms);
	vec_deinit(&rings->used);
	vec_deinit(&rings->order);
	free(rings);
}

uint64_t rings_address(const struct rings *rings)
{
	return rings->address;
}

uint64_t rings_damaged(const struct rings *rings)
{
	return rings->damaged;
}

uint64_t rings_dropped(const struct rings *rings)
{
	uint64_t dropped = rings->dropped;

	for (size_t i = 0; i < rings->used.count; i++) {
		const struct ring *ring = *(struct ring **)vec_at(&rings->used, i);

		dropped += __atomic_load_n(&ring->entry->dropped, __ATOMIC_RELAXED);
	}
	return dropped;
}

bool ring_has_record(const struct ring *ring)
{
	return ring->time != UINT64_MAX;
}

pid_t ring_tid(const struct ring *ring)
{
	return ring->tid;
}

/* ------------------------------------------------------------------ threads */

static void set_base(const struct ring *ring, uint64_t base)
{
	__atomic_store_n(&ring->entry->base, base, __ATOMIC_RELEASE);
}

struct ring *rings_of_thread(const struct rings *rings, pid_t tid)
{
	for (size_t i = 0; i < rings->used.count; i++) {
		struct ring *ring = *(struct ring **)vec_at(&rings->used, i);

		if (ring->tid == tid)
			return ring;
	}
	return NULL;
}

static struct ring *find_free(struct rings *rings, uint64_t base)
{
	uint32_t first = agent_thread_hash(base);

	for (uint32_t i = 0; i < AGENT_THREAD_TRIES; i++) {
		struct ring *ring = &rings->all[(first + i) & (AGENT_THREAD_COUNT - 1)];

		if (!ring->tid)
			return ring;
	}
	return NULL;
}

static bool take_room(struct rings *rings, struct room *room)
{
	if (!rings->rooms.count) {
		rings->lacks = !rings->cannot;
		return false;
	}
	*room = *(struct room *)vec_at(&rings->rooms, rings->rooms.count - 1);
	vec_remove(&rings->rooms, rings->rooms.count - 1);
	return true;
}

static uint64_t head_of(const struct ring *ring)
{
	return __atomic_load_n(&ring->entry->head, __ATOMIC_ACQUIRE);
}

bool rings_bind(struct rings *rings, pid_t tid, uint64_t fs_base)
{
	struct ring *ring = rings_of_thread(rings, tid);

	if (!fs_base || (ring && ring->entry->base == fs_base))
		return false;
	if (ring)
		rings_unbind(rings, tid);
	ring = find_free(rings, fs_base);
	if (!ring || !take_room(rings, &ring->room))
		return false;
	memset(ring->entry, 0, sizeof *ring->entry);
	ring->entry->ring = ring->room.address;
	/* Threads that get their rings at one time have different tids. */
	ring->entry->random = hash_mix(clock_now() ^ (uint64_t)tid << 40);
	ring->tid = tid;
	ring->tail = ring->limit = 0;
	ring->time = UINT64_MAX;
	ring->making_since = 0;
	ring->floor = UINT64_MAX;
	vec_push(&rings->used, &ring);
	set_base(ring, fs_base);
	return true;
}

uint64_t rings_head(const struct rings *rings, pid_t tid)
{
	const struct ring *ring = rings_of_thread(rings, tid);

	return ring ? head_of(ring) : 0;
}

bool rings_have(const struct rings *rings, pid_t tid, uint64_t fs_base)
{
	for (size_t i = 0; i < rings->used.count; i++) {
		const struct ring *ring = *(struct ring **)vec_at(&rings->used, i);

		if (ring->tid != tid && fs_base && ring->entry->base == fs_base)
			return true;
	}
	return false;
}

void rings_unbind(struct rings *rings, pid_t tid)
{
	for (size_t i = rings->used.count; i-- > 0;) {
		struct ring *ring = *(struct ring **)vec_at(&rings->used, i);

		if (ring->tid != tid)
			continue;
		set_base(ring, 0);
		rings->dropped += __atomic_load_n(&ring->entry->dropped, __ATOMIC_RELAXED);
		ring->tid = 0;
		ring->time = UINT64_MAX;
		vec_push(&rings->rooms, &ring->room);
		vec_remove(&rings->used, i);
	}
}

bool rings_take_chosen(const struct rings *rings, pid_t tid, uint64_t place)
{
	const struct ring *ring = rings_of_thread(rings, tid);

	if (!ring || ring->entry->chosen != place)
		return false;
	ring->entry->chosen = 0;
	return true;
}

void rings_close(struct rings *rings)
{
	for (size_t i = 0; i < rings->used.count; i++)
		set_base(*(struct ring **)vec_at(&rings->used, i), 0);
}

/* ------------------------------------------------------------------ reading */

/* The head that the process claims may be inside a word. */
static void skip_all(struct rings *rings, struct ring *ring)
{
	rings->damaged++;
	ring->limit &= ~UINT64_C(7);
	ring->tail = ring->limit;
	ring->time = UINT64_MAX;
}

/* The size of the next record, or 0 if there is none. */
static uint32_t next_size(struct rings *rings, struct ring *ring)
{
	/*
	 * The process may claim any position, also one near the highest number: so compare for
	 * equality.
	 */
	while (ring->tail != ring->limit) {
		uint64_t left = ring->limit - ring->tail;
		uint64_t place = ring->tail % AGENT_RING_BYTES;
		uint32_t size =
			__atomic_load_n((const uint32_t *)(const void *)(ring->room.bytes + place),
					__ATOMIC_RELAXED);

		if (!size && place && AGENT_RING_BYTES - place <= left) {
			ring->tail += AGENT_RING_BYTES - place;
			continue;
		}
		if (size >= RING_RETURN && size % 8 == 0 && size <= AGENT_RECORD_MAX &&
		    size <= AGENT_RING_BYTES - place && size <= left)
			return size;
		skip_all(rings, ring);
	}
	return 0;
}

static void find_time(struct rings *rings, struct ring *ring)
{
	const struct ring_record *record;

	ring->time = UINT64_MAX;
	if (!next_size(rings, ring))
		return;
	record = (const struct ring_record *)(const void *)(ring->room.bytes +
							    ring->tail % AGENT_RING_BYTES);
	ring->time = __atomic_load_n(&record->time, __ATOMIC_RELAXED);
	if (ring->time == UINT64_MAX)
		ring->time--;
}

/*
 * Returns true if a record that was begun before `head` was read is not complete. Does not wait
 * long.
 */
static bool is_making(const struct ring *ring, uint64_t head)
{
	for (int i = 0; i < BUSY_LOOKS; i++)
		if (!__atomic_load_n(&ring->entry->busy, __ATOMIC_ACQUIRE) || head_of(ring) != head)
			return false;
	return true;
}

/* Moves an entry of the heap down until the entries below it are not older. */
static void sink(struct vec *order, size_t at)
{
	struct entry *entries = order->items;
	size_t next;

	while ((next = 2 * at + 1) < order->count) {
		if (next + 1 < order->count && entries[next + 1].time < entries[next].time)
			next++;
		if (entries[at].time <= entries[next].time)
			return;
		const struct entry moved = entries[at];

		entries[at] = entries[next];
		entries[next] = moved;
		at = next;
	}
}

static void put_in_order(struct rings *rings)
{
	rings->order.count = 0;
	for (size_t i = 0; i < rings->used.count; i++) {
		struct ring *ring = *(struct ring **)vec_at(&rings->used, i);

		if (ring_has_record(ring))
			vec_push(&rings->order, &(struct entry){ring->time, ring});
	}
	for (size_t i = rings->order.count / 2; i-- > 0;)
		sink(&rings->order, i);
}

static void look(struct rings *rings, struct ring *ring, uint64_t now)
{
	uint64_t head = head_of(ring);

	if (!is_making(ring, head)) {
		ring->making_since = 0;
		ring->floor = UINT64_MAX;
	} else if (!ring->making_since || head != ring->making_head) {
		ring->making_since = now;
		ring->making_head = head;
		ring->floor = rings->looked;
		ring->interrupted = false;
	} else if (now - ring->making_since > HELD_NS) {
		ring->floor = UINT64_MAX;
	}
	head = head_of(ring);
	ring->limit = head;
	if (head % 8 || head - ring->tail > AGENT_RING_BYTES)
		skip_all(rings, ring);
	find_time(rings, ring);
}

pid_t rings_stuck(struct rings *rings, uint64_t now)
{
	for (size_t i = 0; i < rings->used.count; i++) {
		struct ring *ring = *(struct ring **)vec_at(&rings->used, i);

		if (ring->making_since && now - ring->making_since > STUCK_NS &&
		    !ring->interrupted) {
			ring->interrupted = true;
			return ring->tid;
		}
	}
	return 0;
}

bool rings_was_stuck(struct rings *rings, pid_t tid)
{
	struct ring *ring = rings_of_thread(rings, tid);
	bool was = ring && ring->interrupted;

	/* The next page of the same record may not arrive either. */
	if (was)
		ring->making_since = 0;
	return was;
}

void rings_look(struct rings *rings, uint64_t clock, uint64_t now)
{
	for (size_t i = 0; i < rings->used.count; i++)
		look(rings, *(struct ring **)vec_at(&rings->used, i), now);
	rings->looked = clock;
	put_in_order(rings);
}

uint64_t rings_floor(const struct rings *rings, pid_t *tid)
{
	uint64_t floor = UINT64_MAX;

	for (size_t i = 0; i < rings->used.count; i++) {
		const struct ring *ring = *(struct ring **)vec_at(&rings->used, i);

		if (ring->floor >= floor)
			continue;
		floor = ring->floor;
		*tid = ring->tid;
	}
	return floor;
}

uint64_t rings_fullest(const struct rings *rings)
{
	uint64_t most = 0;

	for (size_t i = 0; i < rings->used.count; i++) {
		const struct ring *ring = *(struct ring **)vec_at(&rings->used, i);
		uint64_t bytes = ring->limit - ring->tail;

		most = bytes > most ? bytes : most;
	}
	return most;
}

struct ring *rings_oldest(struct rings *rings, uint64_t *time)
{
	while (rings->order.count) {
		struct entry *first = vec_at(&rings->order, 0);

		*time = first->ring->time;
		if (*time == first->time)
			return first->ring;
		if (*time == UINT64_MAX) {
			*first = *(struct entry *)vec_at(&rings->order, rings->order.count - 1);
			rings->order.count--;
		} else {
			first->time = *time;
		}
		sink(&rings->order, 0);
	}
	*time = UINT64_MAX;
	return NULL;
}

/* Returns true if the values are valid, and exactly fill the record. */
static bool has_sound_values(const struct record *record)
{
	const unsigned char *at = (const unsigned char *)(record + 1);
	size_t left = record->size - sizeof *record;

	for (unsigned i = 0; i < record->value_count; i++) {
		const struct record_value *value = (const struct record_value *)(const void *)at;

		if (left < sizeof *value || value->length > left - sizeof *value)
			return false;
		size_t size = sizeof *value + ((value->length + (size_t)7) & ~(size_t)7);

		if (value->kind < VALUE_WORD || value->kind > VALUE_OBJECT || size > left ||
		    value->size > 16)
			return false;
		at += size;
		left -= size;
	}
	return left == 0;
}

/*
 * Copies the next record, whose `size` has been read once. Returns false if it is neither a call
 * nor a return.
 */
static bool copy_record(const unsigned char *bytes, uint32_t size, struct ring_record *head,
			struct record *record)
{
	memcpy(head, bytes, RING_RETURN);
	memcpy(record, head->head, sizeof head->head);
	size_t length = record->kind == RECORD_CALL ? RING_CALL : RING_RETURN;

	if (record->version != RECORD_VERSION || size < length ||
	    (record->kind != RECORD_CALL && record->kind != RECORD_RETURN))
		return false;
	head->return_address = 0;
	memcpy(head, bytes, length);
	memcpy(record + 1, bytes + length, size - length);
	record->size = (uint32_t)(sizeof *record + size - length);
	return true;
}

bool rings_take(struct rings *rings, struct ring *ring, struct ring_record *head,
		struct record *record)
{
	uint32_t size = next_size(rings, ring);

	if (!size) {
		ring->time = UINT64_MAX; /* the process has changed it since find_time() */
		return false;
	}
	bool sound = copy_record(ring->room.bytes + ring->tail % AGENT_RING_BYTES, size, head,
				 record) &&
		     has_sound_values(record);

	ring->tail += size;
	find_time(rings, ring);
	rings->damaged += !sound;
	return sound;
}

void rings_release(struct rings *rings)
{
	for (size_t i = 0; i < rings->used.count; i++) {
		const struct ring *ring = *(struct ring **)vec_at(&rings->used, i);

		__atomic_store_n(&ring->entry->tail, ring->tail, __ATOMIC_RELEASE);
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records in a few bytes.
 *
 * A record of a call with three arguments has 120 bytes, and most of them are known from the
 * records before it. So encoder and decoder keep the same state, and the file has what differs. The
 * state begins anew with each chunk, so that a chunk can be read alone.
 *
 * An item is a byte with the kind of the record (CODE_KIND) and flags, and what these leave open:
 *
 *	unless CODE_SAME_THREAD	number of the thread among those of the chunk, from 0, in the order
 *				in which they come; a new one is followed by pid and tid, folded
 *	always			time: difference to the record before
 *	unless CODE_EXPECTED	probe, depth (difference to the expected one), call (difference to
 *				the last one + 1), stack, number (folded), duration; then the
 *				number of the place, or 0 and the address
 *	CODE_EXPECTED, entry	probe, place and stack (differences to those of its last entry)
 *	CODE_EXPECTED, end	duration (difference to the time since the entry)
 *	unless CODE_SAME_SHAPE	how many values; of each kind, flags, argument, conversion and size
 *				(a byte each), length, word, bytes
 *	CODE_SAME_SHAPE		of each value of the probe's last record of this kind: length
 *				(unless it is a word), word (difference to that one's), bytes
 *
 * An entry (RECORD_CALL) is as expected if its depth follows from the thread's record before it,
 * and its call is the one behind the last one. An end is as expected if it is that of the thread's
 * innermost open call: it has the same probe, depth, call, stack and place, and no number.
 *
 * Kind 0 is no record. CODE_NAME is such an item: a thread's id (folded), and its name as a block;
 * CODE_POINTER is another one: the number of the name of code that holds for its address from here
 * on. A place holds for its address from the first record on that has it.
 */
#ifndef TRACER_STREAM_RECORD_CODE_H
#define TRACER_STREAM_RECORD_CODE_H

#include "base/map.h"
#include "base/vec.h"
#include "record/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CODE_KIND = 31, /* enum record_kind */
	CODE_SAME_THREAD = 32,
	CODE_EXPECTED = 64,
	CODE_SAME_SHAPE = 128,
	/* The first bytes of other items. */
	CODE_NAME = 32,
	CODE_POINTER = 64
};

/* What a record refers to in the dictionary; 0: nothing. */
struct record_references {
	uint32_t probe, place, stack;
};

/* A call that has not ended, in one chunk. */
struct open_code {
	struct record_references references;
	uint32_t depth;
	uint64_t call, time, pc;
};

struct thread_code {
	int32_t pid, tid;
	uint32_t depth;	 /* expected of the next entry */
	struct vec open; /* struct open_code, the innermost last */
};

enum { SHAPE_VALUES = 16 };

/* The values of a probe's last record of a kind: entry or end. */
struct shape_code {
	bool is_known;
	unsigned count; /* at most SHAPE_VALUES */
	/* `length` is not used */
	struct record_value values[SHAPE_VALUES];
};

struct probe_code {
	uint32_t chunk; /* the chunk that this is about: it is all zero in another one */
	uint32_t place, stack;
	struct shape_code shapes[2]; /* of entries; of all others */
};

/* The state of one chunk. All zero is a valid one. */
struct record_code {
	uint32_t chunk;	    /* counts up */
	struct vec threads; /* struct thread_code *: the first `thread_count` are of this chunk */
	size_t thread_count;
	struct thread_code *thread; /* of the last record; NULL: none */
	uint64_t time, call;	    /* of the last record; of the last entry */
	struct vec probes;	    /* struct probe_code *, by number */
};

/* Begins a chunk. `time`: the header's `first`. */
void record_code_begin(struct record_code *code, uint64_t time);
void record_code_deinit(struct record_code *code);

/* Returns the thread of that number; a new one if it is thread_count. */
struct thread_code *record_code_thread(struct record_code *code, size_t number);
/* Returns the state of a probe in this chunk. */
struct probe_code *record_code_probe(struct record_code *code, uint32_t probe);

/* Returns true for a record of one call. */
static inline bool record_is_of_call(const struct record *record)
{
	return record->kind == RECORD_CALL || record->kind == RECORD_RETURN ||
	       record->kind == RECORD_UNWOUND || record->kind == RECORD_RUNNING ||
	       record->kind == RECORD_ABANDONED;
}

/* Returns true if `probe` of the record means something. */
static inline bool record_has_probe(const struct record *record)
{
	return record_is_of_call(record) || record->kind == RECORD_COUNTED ||
	       record->kind == RECORD_AROUND;
}

/* Keeps what the next records of the thread are compared with. */
void record_code_follow(struct record_code *code, const struct record *record,
			const struct record_references *references);

#endif

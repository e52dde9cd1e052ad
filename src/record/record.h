/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record: everything that is known about one event of a trace, captured when it happened, so
 * that rendering never touches the tracee. It has fixed-width little-endian fields and is
 * position-independent. The same bytes are the message between engine and sinks, the contents of
 * the agent's rings, and the contents of files.
 *
 * A record is a `struct record` followed by `value_count` values. A value is a `struct
 * record_value` followed by `length` bytes, padded to 8. The values have the order in which the
 * probe's capture plan makes them (record/capture.h): the renderer walks the prototype in parallel.
 */
#ifndef TRACER_RECORD_RECORD_H
#define TRACER_RECORD_RECORD_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	RECORD_VERSION = 3,
	RECORD_MAX = 1 << 20,
	RECORD_NEVER = -1,
	RECORD_INHERITED = -2,
	RECORD_SINCE_ATTACH = -3
};

enum record_kind {
	RECORD_CALL = 1,   /* a hit: the values are the arguments captured at entry */
	RECORD_RETURN,	   /* the call returned: the result, then arguments fetched at return */
	RECORD_UNWOUND,	   /* the call was left by longjmp, exception or thread exit; no values */
	RECORD_SIGNAL,	   /* a signal is being delivered: `number` */
	RECORD_EXITED,	   /* the process ended: `number` is the exit status */
	RECORD_KILLED,	   /* the process was killed: `number` is the signal */
	RECORD_EXEC,	   /* the process called exec */
	RECORD_THREAD,	   /* a task was seen first (tid): from then on sinks print [pid N] */
	RECORD_THREAD_END, /* a task that is not the last has ended; its pending calls stay open */
	RECORD_UNTRACED, /* something cannot be traced: two strings, what and why; no pid, no tid */
	/*
	 * `number` calls that have no records, which took `duration` in all; no tid. With one
	 * value, a VALUE_STRING of struct record_bucket, if each call's time is asked for.
	 */
	RECORD_COUNTED,
	/*
	 * At the end of the trace: `call` probes existed, `number` of them were counted in the
	 * process, `duration` calls or ends of calls have no record; no pid, no tid.
	 */
	RECORD_PROBES,
	/* a process was attached to, and `number` functions in it have probes; no tid */
	RECORD_ATTACHED,
	/* instead of RECORD_CALL: the call was running when its process was attached to */
	RECORD_RUNNING,
	RECORD_ABANDONED, /* of a span: its end will not come; else as RECORD_CALL */
	/*
	 * What is counted of calls begins here, or a table of it is made here: `number` is enum
	 * record_moment, `duration` is ns since the trace began, by a clock that is not set; no
	 * pid, no tid.
	 */
	RECORD_TABLE,
	/*
	 * As RECORD_CALL, without values: a call around calls that follow, which itself is not
	 * among those that a condition asks for, or not yet. Only in files.
	 */
	RECORD_AROUND
};

enum record_moment {
	MOMENT_BEGIN,	 /* all processes are traced that are there at the beginning */
	MOMENT_INTERVAL, /* an interval of --interval has ended */
	MOMENT_ASKED,	 /* SIGUSR1 has asked for the table so far */
	MOMENT_END	 /* the trace ends */
};

struct record {
	uint32_t size;	 /* header and values, in bytes; a multiple of 8 */
	uint8_t version; /* RECORD_VERSION */
	uint8_t kind;	 /* enum record_kind */
	uint16_t value_count;
	int32_t pid; /* process (thread group) */
	int32_t tid;
	uint32_t probe; /* CALL, RETURN, UNWOUND: id of the probe_info */
	uint32_t depth; /* CALL, RETURN, UNWOUND: number of traced calls around it in its thread */
	uint64_t call;	/* id of the call, equal in CALL and RETURN; unique per trace */
	uint64_t time;	/* ns since the Epoch */
	uint64_t
		/* RETURN: ns between entry and return, without the tracer's own overhead. */
		duration;
	uint64_t pc; /* CALL, RETURN, UNWOUND: the return address; SIGNAL: pc of the thread */
	/*
	 * See the kinds. RETURN of a system call: the errno it failed with, 0 if it succeeded;
	 * RECORD_NEVER if it does not return. RETURN of a function: RECORD_INHERITED if the call
	 * was made by the parent and returns in a forked child; RECORD_SINCE_ATTACH if it was
	 * running when its process was attached to: `duration` is counted from then.
	 */
	int64_t number;
	uint32_t stack; /* CALL, RETURN, UNWOUND: number of the call's stack, 0: not known */
	uint32_t unused;
};
static_assert(sizeof(struct record) == 72, "part of the record format");
static_assert(offsetof(struct record, call) == 24, "part of the record format");

enum value_kind {
	VALUE_WORD = 1, /* integer or pointer, extended to 64 bits by the signedness of its type */
	/*
	 * `word` has the bits of a float (length 0, size 4) or double (size 8); the bytes an x87
	 * number.
	 */
	VALUE_FLOAT,
	VALUE_STRING, /* `word` is the pointer; the bytes follow */
	/*
	 * An object with several members or elements, or one that a pointer leads to. `word` is its
	 * address, `size` the size of a pointer; the bytes are those of whole elements. For each
	 * element, in order, the values of its parts follow (what type_is_apart() in proto/type.h
	 * selects), each with its own parts. With VALUE_RECURSION there are no bytes: the object is
	 * the one `conversion` levels up.
	 */
	VALUE_OBJECT
};

enum value_flags {
	VALUE_FAULT = 1,     /* unreadable, at least in part: the bytes are what could be read */
	VALUE_TRUNCATED = 2, /* there is more than was captured */
	VALUE_VARARG = 4,    /* an argument of a printf format, by `conversion` */
	/* The last value of a format's arguments; with VALUE_TRUNCATED if there may be more. */
	VALUE_FORMAT_END = 8,
	VALUE_RECURSION = 16 /* see VALUE_OBJECT */
};

enum { VALUE_RESULT = 255 }; /* `argument` of the return value */

/* `argument` of a parameter: its index in the low bits, and the number of its choice, from 0. */
enum { VALUE_INDEX = 31, VALUE_CHOICE_SHIFT = 5 };

struct record_value {
	uint8_t kind;	      /* enum value_kind */
	uint8_t flags;	      /* enum value_flags */
	uint8_t argument;     /* see VALUE_INDEX; VALUE_RESULT */
	char conversion;      /* VALUE_VARARG: 'd', 'u', 'x', 'o', 'c', 's', 'S', 'p', 'f', … */
	uint32_t size : 8;    /* size of the C object: 1, 2, 4, 8, 10 */
	uint32_t length : 24; /* number of bytes that follow */
	uint64_t word;
};
static_assert(sizeof(struct record_value) == 16, "part of the record format");
static_assert(RECORD_MAX < 1 << 24, "a value is shorter than its record");

/* Calls of spans have ids of their own, with this bit: see sink/spans.c. */
#define RECORD_SPAN_CALL (UINT64_C(1) << 63)

static inline bool record_is_span(const struct record *record)
{
	return record->call & RECORD_SPAN_CALL;
}

/* Returns the bytes that follow a value. */
static inline const void *record_value_bytes(const struct record_value *value)
{
	return value + 1;
}

/*
 * Return the first value of a record, and the value after `value`; the caller counts to
 * value_count.
 */
static inline const struct record_value *record_values(const struct record *record)
{
	return (const struct record_value *)(const void *)(record + 1);
}

static inline const struct record_value *record_value_next(const struct record_value *value)
{
	return (const struct record_value *)(const void *)((const char *)(value + 1) +
							   ((value->length + 7U) & ~7U));
}

/* COUNTED: how many calls took about so many ns. */
struct record_bucket {
	uint64_t duration, calls;
};
/* How many of them fit into one record. */
enum { RECORD_BUCKETS_MAX = 8192 };

/* Returns how many buckets the record has, and where they are. */
static inline size_t record_buckets(const struct record *record,
				    const struct record_bucket **buckets)
{
	const struct record_value *value = record_values(record);
	const size_t before = sizeof *record + sizeof *value;

	if (!record->value_count || record->size < before || record->size - before < value->length)
		return 0;
	*buckets = record_value_bytes(value);
	return value->length / sizeof **buckets;
}

#endif

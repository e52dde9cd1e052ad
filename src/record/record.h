/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record: all that is known about one event of a trace, captured when it happened, so that
 * rendering never touches the tracee. Fixed-width, little-endian, position independent; the same
 * bytes serve as message between engine and writers, in the agent's rings and in files.
 *
 * A record is `struct record` followed by `value_count` values. A value is `struct record_value`
 * followed by `length` bytes, padded to 8. The order of values is the order in which the probe's
 * capture plan makes them (record/capture.h): the renderer walks the prototype in step.
 */
#ifndef TRACER_RECORD_RECORD_H
#define TRACER_RECORD_RECORD_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum { RECORD_VERSION = 2, RECORD_MAX = 1 << 20, RECORD_NEVER = -1, RECORD_INHERITED = -2 };

enum record_kind {
	RECORD_CALL = 1,   /* a probe fired: values are the arguments captured at entry */
	RECORD_RETURN,	   /* its call returned: the result, then arguments fetched on return */
	RECORD_UNWOUND,	   /* its call was left by longjmp, exception or thread exit; no values */
	RECORD_SIGNAL,	   /* a signal is being delivered: `number` */
	RECORD_EXITED,	   /* the process ended: `number` is the exit status */
	RECORD_KILLED,	   /* the process was killed: `number` is the signal */
	RECORD_EXEC,	   /* the process called exec */
	RECORD_THREAD,	   /* a task was first seen (tid), so that lines get their [pid N] */
	RECORD_THREAD_END, /* a task other than the last is gone; its pending calls stay open */
	RECORD_UNTRACED, /* something cannot be traced: two strings, what and why; no pid, no tid */
	/* calls that are in no record: `number` of them, `duration` is their time; no tid */
	RECORD_COUNTED,
	/*
	 * at the end: `call` probes there were, `number` of them counted in the process; no pid, no
	 * tid
	 */
	RECORD_PROBES,
	/* a process was attached to, and `number` functions are planted in it; no tid */
	RECORD_ATTACHED
};

struct record {
	uint32_t size;	 /* bytes, header and values, a multiple of 8 */
	uint8_t version; /* RECORD_VERSION */
	uint8_t kind;	 /* enum record_kind */
	uint16_t value_count;
	int32_t pid; /* process (thread group) */
	int32_t tid;
	uint32_t probe; /* CALL, RETURN, UNWOUND: id of the probe_info */
	uint32_t depth; /* CALL, RETURN, UNWOUND: how many traced calls enclose it in its thread */
	uint64_t call;	/* number of the call, the same in CALL and RETURN; unique per trace */
	uint64_t time;	/* when, ns since the Epoch */
	uint64_t
		duration; /* RETURN: ns between entry and return, the tracer's own cost taken off */
	uint64_t pc; /* CALL, RETURN, UNWOUND: the return address; SIGNAL: where the thread was */
	/*
	 * See the kinds. RETURN of a system call: the error number it failed with, 0 if it did not;
	 * RECORD_NEVER: it does not return. RETURN of a function: RECORD_INHERITED, where the call
	 * is the parent's, in a child that it forked.
	 */
	int64_t number;
};
static_assert(sizeof(struct record) == 64, "part of the record format");
static_assert(offsetof(struct record, call) == 24, "part of the record format");

enum value_kind {
	VALUE_WORD = 1, /* integer or pointer, extended to 64 bits as its type says */
	/* `word` holds the bits of a float (length 0, size 4), double (size 8); x87 in bytes */
	VALUE_FLOAT,
	VALUE_STRING, /* `word` is the pointer, the bytes follow */
	/*
	 * An object of several members or elements, or one that was pointed to: `word` is its
	 * address, `size` the bytes of a pointer, the bytes are those of whole elements. For each
	 * element, in order, the values of what is apart from it follow (proto/type.h:
	 * type_is_apart()), and so on for these. With VALUE_RECURSION there are no bytes: the
	 * object is the one that `conversion` many objects up holds this one.
	 */
	VALUE_OBJECT
};

enum value_flags {
	VALUE_FAULT = 1,     /* not (wholly) readable: the bytes are what could be read */
	VALUE_TRUNCATED = 2, /* there is more than was captured */
	VALUE_VARARG = 4,    /* made by a printf format; `conversion` says by which */
	/* the last value of a format's arguments, with VALUE_TRUNCATED if there may be more */
	VALUE_FORMAT_END = 8,
	VALUE_RECURSION = 16 /* see VALUE_OBJECT */
};

enum { VALUE_RESULT = 255 }; /* `argument` of the return value */

/* `argument` of a parameter: its index in the low bits, and which of its choices it is, from 0. */
enum { VALUE_INDEX = 31, VALUE_CHOICE_SHIFT = 5 };

struct record_value {
	uint8_t kind;	      /* enum value_kind */
	uint8_t flags;	      /* enum value_flags */
	uint8_t argument;     /* see VALUE_INDEX; VALUE_RESULT */
	char conversion;      /* VALUE_VARARG: 'd', 'u', 'x', 'o', 'c', 's', 'S', 'p', 'f', … */
	uint32_t size : 8;    /* bytes of the C object: 1, 2, 4, 8, 10 */
	uint32_t length : 24; /* bytes that follow */
	uint64_t word;
};
static_assert(sizeof(struct record_value) == 16, "part of the record format");
static_assert(RECORD_MAX < 1 << 24, "a value is shorter than its record");

/* Bytes that follow a value. */
static inline const void *record_value_bytes(const struct record_value *value)
{
	return value + 1;
}

/* The first value of a record, and the one after `value`; the caller counts with value_count. */
static inline const struct record_value *record_values(const struct record *record)
{
	return (const struct record_value *)(const void *)(record + 1);
}

static inline const struct record_value *record_value_next(const struct record_value *value)
{
	return (const struct record_value *)(const void *)((const char *)(value + 1) +
							   ((value->length + 7U) & ~7U));
}

#endif

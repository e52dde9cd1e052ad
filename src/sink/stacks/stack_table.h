/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The distinct stacks of a trace, by number. A record has only the number of its stack
 * (record.stack); sinks look up the frames here, as they look up probes in the probe table.
 */
#ifndef TRACER_SINK_STACKS_STACK_TABLE_H
#define TRACER_SINK_STACKS_STACK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum stack_frame_kind {
	STACK_SCRIPT, /* a frame of a script */
	STACK_NATIVE, /* a frame of compiled code */
	STACK_NOTE    /* no frame: `function` is a remark about the frames behind it */
};

/* A frame. The texts come from the traced process and may hold anything. */
struct stack_frame {
	enum stack_frame_kind kind;
	bool is_application;  /* script: its file does not belong to the language or to a package */
	bool is_place;	      /* script: for -W only, not one of the frames that -w shows */
	bool is_guessed;      /* native: all that is known is that a return address was there */
	bool is_inlined;      /* native: the function was inlined, and has no frame of its own */
	const char *language; /* script: its name, such as "Python" */
	const char *module;   /* native: name of the file; NULL: the code is of no file */
	const char *function; /* NULL: not known */
	const char *file;     /* of the source; NULL: not known */
	unsigned line;	      /* 0: not known */
	/*
	 * Native: the calls that it stands for as they are shown, NAME(ARGUMENT, …), the innermost
	 * first, separated by newlines, with nothing left to escape; NULL: no argument is known.
	 */
	const char *calls;
	/*
	 * Native: the address that the frame returns to, or is at, in the address space of the
	 * module, without a module in that of the process; and its distance from the function.
	 */
	uint64_t address, offset;
};

struct stack_table;

struct stack_table *stack_table_create(void);
void stack_table_destroy(struct stack_table *table);

/*
 * Returns the number of the stack with these frames, the innermost first, which is not 0; texts are
 * copied. 0 if `count` is 0 or the table is full.
 */
uint32_t stack_table_add(struct stack_table *table, const struct stack_frame *frames, size_t count);

/* The frames of a stack, valid until the next stack_table_add(). NULL if there is no such stack. */
const struct stack_frame *stack_table_get(const struct stack_table *table, uint32_t number,
					  size_t *count);

#endif

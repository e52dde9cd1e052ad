/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The distinct stacks of a trace, by number. A record has only the number of its stack
 * (record.stack); sinks look up the frames here, as they look up probes in the probe table.
 */
#ifndef TRACER_SINK_STACK_TABLE_H
#define TRACER_SINK_STACK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A frame of a script. The texts come from the traced process and may hold anything. */
struct stack_frame {
	const char *language;
	const char *file;     /* NULL: not known */
	const char *function; /* NULL: not known */
	unsigned line;	      /* 0: not known */
	bool is_application;  /* its file does not belong to the language or to a package */
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

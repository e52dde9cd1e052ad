/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Spans of .conf files: calls that belong together. See tracer.conf(5).
 *
 *	span NAME(PARAMETER, …) = BEGIN .. END|END … [by EXPRESSION]
 *		[with FUNCTION [by EXPRESSION]] [summed];
 *
 * Conditions and keys are expressions (probe/expression.h), which are not parsed here.
 */
#ifndef TRACER_PROTO_SPAN_H
#define TRACER_PROTO_SPAN_H

#include <stdbool.h>

/* A call of a function that begins or ends a span, or whose arguments are remembered for it. */
struct span_point {
	const char *function;  /* NULL: there is none */
	const char *condition; /* what has to hold for the call; NULL: nothing */
};

enum { SPAN_ENDS = 4 };

/* Owned by the library. */
struct span {
	const char *name;
	struct span_point begin;
	struct span_point ends[SPAN_ENDS]; /* any of these */
	unsigned end_count;
	const char *by; /* calls with equal values of it belong together; NULL: those of a thread */
	/* The span is shown with the arguments of the last such call with an equal key. */
	struct span_point with;
	const char *with_by; /* the key of `with` and `begin`; NULL: `by` */
	bool summed;	  /* its time is that of the calls of `begin`, not all from begin to end */
	const char *file; /* where it is described */
	unsigned line;
};

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Evaluates expressions: see expression.h for the language. */
#ifndef TRACER_PROBE_EXPRESSION_RUN_H
#define TRACER_PROBE_EXPRESSION_RUN_H

#include "base/vec.h"
#include "probe/expression.h"

struct expression_run;

/* Tells the values of names in one call. */
struct expression_subject {
	/*
	 * Returns the value that a node of kind EXPRESSION_NAME has. Its text stays valid until
	 * expression_run_end().
	 */
	struct expression_value (*name)(void *context, const struct expression *node,
					struct expression_run *run);
	/*
	 * fingerprint(): the shape of a statement, in the dialect of that name; NULL: of the
	 * call's library.
	 */
	struct expression_value (*fingerprint)(void *context, const struct expression_value *text,
					       const struct expression_value *dialect,
					       struct expression_run *run);
	void *context;
};

/* The texts that were made for the values of one call. Begin with zeros. */
struct expression_run {
	struct vec texts; /* char * */
	const struct expression_subject *subject;
};

void expression_run_begin(struct expression_run *run, const struct expression_subject *subject);
/* Frees the texts of all values since expression_run_begin(). */
void expression_run_end(struct expression_run *run);

/* Returns the value of an expression for the subject. */
struct expression_value expression_evaluate(const struct expression *expression,
					    struct expression_run *run);
/* Copies a text that is to live as long as the values, and returns the copy. */
const char *expression_run_keep(struct expression_run *run, const void *text, size_t length);

#endif

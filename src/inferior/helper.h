/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An expendable process of our own that answers questions: for work on data that may make whoever
 * reads it crash, hang, or use all memory there is. It has the tracer's memory as it was when it
 * was made, no descriptors, and no rights: confine.h.
 */
#ifndef TRACER_INFERIOR_HELPER_H
#define TRACER_INFERIOR_HELPER_H

#include "base/strbuf.h"

enum {
	HELPER_BYTES_MAX = 1 << 20, /* of a question, and of an answer */
	HELPER_MEMORY_MAX = 2047,   /* MiB it may have more than the tracer */
	HELPER_CPU_S = 5,	    /* that it may work on one question */
	HELPER_WAIT_S = 30	    /* that it may take, working or not */
};

struct helper;

/*
 * Answers one question, in the process. `question` has a NUL behind it; `answer` is empty. What
 * `context` points to is a copy of what it was when the process was made, and changes to it stay.
 */
typedef void helper_answer(void *context, const char *question, size_t length,
			   struct strbuf *answer);

/* 0, or -errno when there can be no further process. */
int helper_create(helper_answer *answer, void *context, struct helper **out);
void helper_destroy(struct helper *helper); /* NULL is fine */

/*
 * Asks and waits. 0, or -EPIPE when the process has died, of this question or before, or has been
 * killed for it as it took too long: then all there is left to do is helper_destroy().
 */
int helper_ask(struct helper *helper, const char *question, size_t length, struct strbuf *answer);

#endif

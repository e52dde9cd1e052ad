/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An expendable process that answers questions: for work on data that may make a parser crash,
 * hang, or use up all memory. It has a copy of the tracer's memory from the time of its creation,
 * no descriptors but its socket, and no rights (confine.h).
 */
#ifndef TRACER_TRACEE_HELPER_H
#define TRACER_TRACEE_HELPER_H

#include "base/strbuf.h"

enum {
	HELPER_BYTES_MAX = 1 << 20, /* size of a question or an answer */
	HELPER_MEMORY_MAX = 2047,   /* MiB of memory that it may use in addition to the tracer's */
	HELPER_CPU_S = 5,	    /* processor time for one question */
	HELPER_WAIT_S = 30	    /* elapsed time for one question */
};

struct helper;

/*
 * Answers one question, in the helper. `question` is followed by a NUL; `answer` is empty.
 * `context` points to the copy made at the time of helper_create(); changes to it persist from
 * question to question.
 */
typedef void helper_answer(void *context, const char *question, size_t length,
			   struct strbuf *answer);

/* Creates a helper. 0, or -errno if no process can be created. */
int helper_create(helper_answer *answer, void *context, struct helper **out);
void helper_destroy(struct helper *helper); /* NULL is allowed */

/*
 * Asks and waits for the answer. 0, or -EPIPE if the helper has died, at this question or before,
 * or was killed because it took too long. After -EPIPE, only helper_destroy() may be called.
 */
int helper_ask(struct helper *helper, const char *question, size_t length, struct strbuf *answer);

/*
 * The two parts of helper_ask(): the helper works on the question while the caller does something
 * else. Each question must be followed by its answer before the next one. The same errors.
 */
int helper_send(struct helper *helper, const char *question, size_t length);
int helper_receive(struct helper *helper, struct strbuf *answer);

#endif

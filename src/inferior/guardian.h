/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guardian: a process of its own that outlives the tracer, holds the patch journals, and puts
 * the tracees right when the tracer has been killed.
 */
#ifndef TRACER_INFERIOR_GUARDIAN_H
#define TRACER_INFERIOR_GUARDIAN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct guardian;
struct pulse;

/*
 * Called in the guardian when the tracer is gone: `journals` are the descriptors of those that were
 * not taken back. The process ends when this returns, or after a time that is enough for
 * everything.
 */
typedef void guardian_duty(const int *journals, size_t count);

/*
 * Starts it. To be called while the tracer has one thread, before it traces anything. NULL when
 * there can be none: then nothing is guarded. It is nobody's child to wait for, and holds no
 * descriptor of the tracer's but the journals.
 */
struct guardian *guardian_start(guardian_duty *duty);

/*
 * Where the tracer shows that it is not waiting for a tracee's memory, in vain; NULL when nobody
 * looks. If it waits for GUARDIAN_PATIENCE_S seconds, the guardian says so on the tracer's stderr
 * and kills it. The guardian's.
 */
struct pulse *guardian_pulse(struct guardian *guardian);
enum { GUARDIAN_PATIENCE_S = 5 };

/* Hands it a journal; *number is for guardian_forget(). `guardian` may be NULL, here and below. */
void guardian_hold(struct guardian *guardian, int journal_fd, uint64_t *number);
/* That journal is not needed any more. */
void guardian_forget(struct guardian *guardian, uint64_t number);

/* Nothing is left to guard: it ends. Frees it. */
void guardian_dismiss(struct guardian *guardian);

/*
 * Waits for the guardian of another tracer that was killed a moment ago to put the process right,
 * some seconds at most. To be called before it is attached to: that guardian could not attach any
 * more. Only those are seen whose descriptors we may look at.
 */
void guardian_await(pid_t pid);

#endif

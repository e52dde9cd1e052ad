/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guardian: a process that outlives the tracer. It holds the patch journals, and restores the
 * tracees if the tracer has been killed.
 */
#ifndef TRACER_RECOVERY_GUARDIAN_H
#define TRACER_RECOVERY_GUARDIAN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct guardian;
struct space;
struct watchdog;

/*
 * Called in the guardian when the tracer is gone. `journals`: the file descriptors of the journals
 * that the tracer has not withdrawn. The guardian exits when this returns, or after 30 s.
 */
typedef void guardian_duty(const int *journals, size_t count);

/*
 * Starts the guardian. Must be called while the tracer has one thread and traces nothing. NULL if
 * the guardian cannot be started: nothing is guarded then. The guardian is no child of the tracer,
 * and holds none of the tracer's file descriptors but the socket and the journals.
 */
struct guardian *guardian_start(guardian_duty *duty);

/*
 * Returns the watchdog by which the guardian notices that the tracer waits in vain for a tracee's
 * memory; NULL if there is none. Owned by the guardian. After GUARDIAN_PATIENCE_S seconds of such a
 * wait the guardian prints a message on the tracer's stderr and kills the tracer.
 */
struct watchdog *guardian_watchdog(struct guardian *guardian);
enum { GUARDIAN_PATIENCE_S = 5 };

/*
 * Hands the journal of a space, in which `pid` lives, to `guardian` (or to none: NULL) until the
 * space is freed. Must be called before anything is changed in the space.
 */
void guardian_hold(struct guardian *guardian, struct space *space, pid_t pid);

/* Tells the guardian to exit, as nothing is left to guard, and frees it. NULL is allowed. */
void guardian_dismiss(struct guardian *guardian);

/*
 * Waits, at most some 3 s, while the guardian of another, killed tracer restores process `pid`.
 * Must be called before attaching: that guardian could not attach any more. Only sees guardians
 * whose file descriptors the caller may list.
 */
void guardian_await(pid_t pid);

#endif

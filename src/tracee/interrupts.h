/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals sent to the tracer itself. They are blocked in all threads. A separate thread receives
 * them, notes them, and interrupts waitpid(2) in the tracing thread until that has seen them.
 */
#ifndef TRACER_TRACEE_INTERRUPTS_H
#define TRACER_TRACEE_INTERRUPTS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct interrupts;

/* Signal state when the tracer was started; a command is launched with it. */
struct original_signals {
	sigset_t mask;
	uint64_t ignored; /* bit N - 1: signal N */
};

/* Restores it in the calling process: for the child that is about to exec. */
void original_signals_restore(const struct original_signals *original);

/*
 * Starts to receive the signals that would end or stop the tracer (SIGINT, SIGTERM, SIGPIPE,
 * SIGTSTP …). The calling thread must be the tracing thread. *original gets the previous state. 0
 * or -errno.
 */
int interrupts_start(struct interrupts **interrupts, struct original_signals *original);
/*
 * Stops receiving. The signals stay blocked: one that arrives now is too late, and must not replace
 * the exit status of the traced command.
 */
void interrupts_stop(struct interrupts *interrupts);

/*
 * Returns the next signal that has arrived, or 0. *from_terminal: the kernel has sent it to the
 * whole foreground process group (Ctrl-C), so a launched command has got it, too.
 */
int interrupts_take(struct interrupts *interrupts, bool *from_terminal);

/* Returns true for the signals by which a shell or the terminal stops a job. */
bool interrupts_is_stop(int signal);

/*
 * Returns true if the tracer must ignore this signal, because it was started with the signal
 * ignored: SIGHUP under nohup(1). Never for SIGINT and SIGQUIT: a shell ignores them for each
 * background command, and a user who sends one to the tracer means it.
 */
bool interrupts_is_ignored(const struct interrupts *interrupts, int signal);

/*
 * Returns true if a signal waits for interrupts_take(), an alarm or another thread has come, or the
 * time is over. Cheap.
 */
bool interrupts_pending(const struct interrupts *interrupts);

/* Returns true if a signal waits that ends tracing, or its time is over. */
bool interrupts_end(const struct interrupts *interrupts);

/*
 * At `time` (clock_now()) waitpid(2) is interrupted, and interrupts_pending() and
 * interrupts_is_over() are true from then on. 0: never.
 */
void interrupts_set_end(struct interrupts *interrupts, uint64_t time);
/* Returns true if that time has come. */
bool interrupts_is_over(const struct interrupts *interrupts);

/*
 * Like interrupts_set_end(), for a time at which something is to be done while tracing goes on.
 * interrupts_take_alarm() returns true, once, if it has come; then another one can be set.
 */
void interrupts_set_alarm(struct interrupts *interrupts, uint64_t time);
bool interrupts_take_alarm(struct interrupts *interrupts);

/*
 * To be called by another thread: interrupts waitpid(2), and interrupts_pending() is true until
 * interrupts_take_asked() has returned true.
 */
void interrupts_ask(struct interrupts *interrupts);
bool interrupts_take_asked(struct interrupts *interrupts);

/*
 * From now on, this signal asks for something, and does not end tracing; also SIGWINCH, which is
 * not received otherwise.
 */
void interrupts_set_request(struct interrupts *interrupts, int signal);
/* Returns true for such a signal. */
bool interrupts_is_request(const struct interrupts *interrupts, int signal);

/*
 * From now on, interrupts waitpid(2) about every `microseconds` (0: not any more), for work that
 * must be repeated periodically.
 */
void interrupts_tick(struct interrupts *interrupts, unsigned microseconds);

#endif

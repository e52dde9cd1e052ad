/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals sent to the tracer itself. They are blocked everywhere and taken by a thread of their
 * own, which notes them and pulls the tracing thread out of waitpid(2) until it has seen them.
 */
#ifndef TRACER_INFERIOR_INTERRUPTS_H
#define TRACER_INFERIOR_INTERRUPTS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct interrupts;

/* How signals stood when the tracer was started: what a command is launched with. */
struct original_signals {
	sigset_t mask;
	uint64_t ignored; /* bit N - 1: signal N */
};

/* Sets the calling process's signals to that, for the child that is about to exec. */
void original_signals_restore(const struct original_signals *original);

/*
 * Starts watching the signals that would end or stop the tracer (SIGINT, SIGTERM, SIGPIPE, SIGTSTP
 * …) for the calling thread, which must be the tracing one. *original receives what was before. 0
 * or -errno.
 */
int interrupts_start(struct interrupts **interrupts, struct original_signals *original);
/*
 * Ends that. The signals stay blocked: one that comes now is too late, and must not take the place
 * of the exit status of what was traced.
 */
void interrupts_stop(struct interrupts *interrupts);

/*
 * The next signal that came and was not taken yet, or 0. *from_terminal: the kernel sent it to
 * the whole foreground process group (Ctrl-C), so a launched command has it already.
 */
int interrupts_take(struct interrupts *interrupts, bool *from_terminal);

/* Whether a shell's or the terminal's signal means that the job has to stop. */
bool interrupts_is_stop(int signal);

/*
 * Whether the tracer goes on at that signal, because it was started with the signal ignored: SIGHUP
 * under nohup(1). Never SIGINT and SIGQUIT: a shell ignores these for each command that it runs in
 * the background, and whoever sends one means it all the same.
 */
bool interrupts_is_ignored(const struct interrupts *interrupts, int signal);

/* Whether one waits to be taken; cheap. */
bool interrupts_pending(const struct interrupts *interrupts);

/* Whether one waits to be taken that ends tracing. */
bool interrupts_end(const struct interrupts *interrupts);

/*
 * From now on waitpid(2) is also left about every `microseconds` (0: no more): for things that
 * must be looked at again and again.
 */
void interrupts_tick(struct interrupts *interrupts, unsigned microseconds);

#endif

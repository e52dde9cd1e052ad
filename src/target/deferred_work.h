/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Deferred work: what has to be done in a process and cannot be done at its present stop, or would
 * stop it for too long. A table says how each kind of work is done; the functions in it belong to
 * the files that know the work. Each space has a queue of what it wants (struct modules).
 *
 * The main loop calls deferred_work_next() before it waits for a stop, deferred_work_run() after
 * that, and deferred_work_serve() with each stop.
 */
#ifndef TRACER_TARGET_DEFERRED_WORK_H
#define TRACER_TARGET_DEFERRED_WORK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process;
struct space;
struct stop;
struct thread;
struct tracees;

/* Long work in a process is done in pieces: its threads stand for at most this many ns at once. */
enum { PAUSE_NS = 2000000 };

enum work_kind {
	WORK_PLANTING, /* functions that were known at an attach: deferred_planting.c */
	WORK_PATCHING, /* patch candidates: agent_policy.c */
	WORK_RINGS,    /* rings for threads that found none free: agent_policy.c */
	WORK_MASKS,    /* hooks on signal masks, after a vfork(2): sigmask_hooks.c */
	WORK_WORDS,    /* functions whose address a data word will hold: table_functions.c */
	WORK_DRAINING, /* records in rings: agent_policy.c */
	WORK_KINDS
};

/* When the main loop has to go on though no thread has stopped. */
struct wake_up {
	bool at_once;
	unsigned period_us; /* and periodically; 0: not at all */
};

/* The stop that a piece of work needs. */
enum work_stop {
	WORK_ASKED_STOP, /* a safe stop of the thread that was interrupted for it */
	WORK_SAFE_STOP,	 /* any safe stop of the space, breakpoints included */
	WORK_TRAP_STOP,	 /* a stop that means nothing by itself */
	WORK_NO_STOP
};

/* How one kind of work is done. `context` is that of struct deferred_work. */
struct work_type {
	enum work_stop needs;
	/* The parent of a CLONE_VM child is asked to stop for the work, and not the child. */
	bool is_left_to_parent;
	/* Ns between two requests of deferred_work_ask_due(). */
	uint64_t again_ns;
	/*
	 * Returns true if the space has such work at `now` (clock_now()). NULL: it has if
	 * deferred_work_want() was called.
	 */
	bool (*is_due)(void *context, const struct space *space, uint64_t now);
	/*
	 * Does what can be done before a thread is interrupted, in at most PAUSE_NS. Returns
	 * -EAGAIN if that was not all. NULL: there is nothing to do before.
	 */
	int (*look_ahead)(void *context, struct process *process);
	/* Does a piece of the work at a stop as `needs` says. NULL for WORK_NO_STOP. */
	void (*piece)(void *context, struct thread *thread);
	/* Returns true if piece() has something to do now. Asked at ticks; NULL: not asked. */
	bool (*has_news)(void *context, const struct space *space);
	unsigned tick_us; /* period of these ticks */
	/*
	 * WORK_NO_STOP: does the work for all spaces, and returns when it is to be done again.
	 * `is_stopped`: a stop will be handled next.
	 */
	struct wake_up (*run)(void *context, bool is_stopped);
};

/* The queue of one space. All zero: nothing is wanted. */
struct space_work {
	unsigned wanted;      /* bit n: the space wants work of kind n */
	pid_t stop_asked;     /* the thread interrupted for WORK_ASKED_STOP, or 0 */
	uint64_t rests_until; /* no thread is asked to stop before this time, as clock_now() */
	uint64_t asked[WORK_KINDS]; /* time of the last request of deferred_work_ask_due() */
};

/* What all spaces share. One of a session. */
struct deferred_work {
	const struct work_type *types; /* WORK_KINDS of them */
	void *context;
	struct tracees *tracees;
	/*
	 * False where system calls are traced. If an interrupt coincides with another stop, such
	 * as one at a traced system call, some calls end with EINTR and cannot be restarted
	 * (tracee/syscall_restart.c). Work then waits for the first breakpoint stop.
	 */
	bool may_interrupt;
	bool is_closed;	     /* the session detaches: no work is begun any more */
	unsigned wanted;     /* bit n: some space may want work of kind n */
	struct wake_up runs; /* when WORK_NO_STOP is to be done again */
};

/* The space wants work of this kind, until deferred_work_is_done(). */
void deferred_work_want(struct deferred_work *work, struct space_work *queue, enum work_kind kind);
void deferred_work_is_done(struct space_work *queue, enum work_kind kind);
bool deferred_work_is_wanted(const struct space_work *queue, enum work_kind kind);
/* Returns true if some space wanted such work when deferred_work_next() last looked, or since. */
bool deferred_work_waits(const struct deferred_work *work, enum work_kind kind);
/* Some space has words to watch: has_news() is asked at ticks until no space is due any more. */
void deferred_work_tick_for(struct deferred_work *work, enum work_kind kind);
/* No thread of the space is asked to stop for 1 ms. */
void deferred_work_rest(struct space_work *queue);

/* Asks a thread to stop, unless `may_interrupt` is false. */
void deferred_work_ask(const struct deferred_work *work, struct thread *thread);
/* Asks a thread of each space in which work of this kind is due. */
void deferred_work_ask_due(const struct deferred_work *work, enum work_kind kind, uint64_t now);

/*
 * Looks ahead and asks threads to stop where work is wanted. Returns when the main loop must wake
 * up next.
 */
struct wake_up deferred_work_next(struct deferred_work *work);
/* Does the work that needs no stop. To be called before each stop is handled. */
void deferred_work_run(struct deferred_work *work, bool is_stopped);
/* Does the work that this stop allows. True: the thread runs again. */
bool deferred_work_serve(struct deferred_work *work, const struct stop *stop);
/* Does the work for which a stop is enough that means nothing by itself. */
void deferred_work_at_trap(struct deferred_work *work, struct thread *thread);
/*
 * A tick has interrupted the main loop: interrupts processes in which has_news() is true. Returns
 * the period of ticks from now on, in µs; 0: none.
 */
unsigned deferred_work_tick(struct deferred_work *work);
/* No work is begun any more. */
void deferred_work_close(struct deferred_work *work);

#endif

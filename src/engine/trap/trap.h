/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trap engine: breakpoints on function entries and PLT stubs, served over ptrace. Two stops a
 * call, at entry and at return.
 */
#ifndef TRACER_ENGINE_TRAP_TRAP_H
#define TRACER_ENGINE_TRAP_TRAP_H

#include "engine/engine.h"

struct trap;

/*
 * `overhead`: what a pair of stops adds to the time between entry and return, ns
 * (trap_calibrate()). `events` must outlive the engine. NULL when instructions cannot be
 * decoded.
 */
struct trap *trap_create(const struct engine_events *events, uint64_t overhead);
void trap_destroy(struct trap *trap);

/* Measures that on a child of the tracer's own, in a few milliseconds. 0 when it cannot. */
uint64_t trap_calibrate(void);

/*
 * Plants a probe, a hook or both at `address` in the space of `thread`, which is stopped. 0;
 * -EALREADY when a probe is there already; otherwise -errno as breakpoint_insert().
 */
int trap_plant(struct trap *trap, struct thread *thread, uint64_t address,
	       const struct probe_site *site, struct hook *hook);

/*
 * What is called there is known better now: from here on calls are recorded by `site`. False: no
 * probe stands there, or the program has written over it.
 */
bool trap_change_site(const struct space *space, uint64_t address, const struct probe_site *site);

/* The hook that has been planted there, or NULL. */
struct hook *trap_hook_at(const struct space *space, uint64_t address);

/* Whether a breakpoint stands there, for whatever purpose. */
bool trap_is_planted(const struct space *space, uint64_t address);
/*
 * From now on `planting` is called before a breakpoint of `length` bytes is written anywhere in the
 * space; `thread` is stopped.
 */
typedef void trap_planting(struct thread *thread, uint64_t address, size_t length);
void trap_watch_planting(struct space *space, trap_planting *planting);

/* Takes out what was planted there. All threads of the space are stopped, none in its slot. */
void trap_unplant(struct space *space, uint64_t address);
/*
 * The same when something else, of which the journal knows, has been written over it: its byte is
 * not put back.
 */
void trap_covered(struct space *space, uint64_t address);
/* Whether the program has written something else over the breakpoint there, which is its own. */
bool trap_is_written_over(const struct space *space, uint64_t address);
/* Whether that hook has been planted there, or a probe (NULL), and nothing else. */
bool trap_is_only(const struct space *space, uint64_t address, const struct hook *hook);

/*
 * Where probes' breakpoints stand that were hit for the first time since the caller emptied this,
 * uint64_t, in a space that the agent engine is in; some of them may be there twice, or gone. NULL:
 * nothing was ever planted.
 */
struct vec *trap_first_hits(const struct space *space);

/* trap_stacks_exchanged() was called. */
bool trap_has_exchanged_stacks(const struct space *space);
/* The code at `address` as it is without breakpoints; how much of it could be read. */
size_t trap_read_code(const struct space *space, uint64_t address, void *buffer, size_t length);
/* When `pc` is in an out-of-line slot: what it stands for in the program. */
bool trap_program_pc(const struct space *space, uint64_t pc, uint64_t *program_pc);
/*
 * A stopped thread that has run into a breakpoint which is a probe's and nothing else is put back
 * to it, as if it had not. True: it is to be resumed by the caller, with a SIGTRAP if it is
 * sigtrap_own.
 */
bool trap_put_back(struct thread *thread);
/* The same of one whose stop waits to be handled, and then does no more. */
bool trap_turn_back(struct thread *thread);
/*
 * A stopped thread has run into a breakpoint, and is to go on behind it as if there was none.
 * False: that is not what it has stopped for. True: it may have a SIGTRAP of its own instead
 * (sigtrap_own).
 */
bool trap_swallow_hit(struct thread *thread);

/*
 * A call that was entered by other means: where its return address stands, what that is, since when
 * (inferior_clock()).
 */
struct running_call {
	uint64_t place, return_address, start;
	const struct probe_site *site;
};
/*
 * Sees to the return of such a call, which the stopped thread has made and which is in no record so
 * far.
 */
void trap_take_over(struct trap *trap, struct thread *thread, const struct running_call *running);

/* Forgets all breakpoints in [low, high): the module there was unloaded. */
void trap_forget(struct space *space, uint64_t low, uint64_t high);

/*
 * Handles a SIGTRAP stop. True when it was ours: the thread is running again. False: the signal
 * is the program's own.
 */
bool trap_stop(struct trap *trap, const struct stop *stop);

enum { TRAP_EXITS = 4 };

/*
 * To be called before a signal is delivered to a stopped thread: when it is inside an
 * out-of-line slot, its pc becomes the program's own, so that handlers, siginfo and core dumps
 * show that.
 */
void trap_before_signal(struct thread *thread);

typedef bool trap_inside(const void *context, uint64_t pc);

/* Other code of ours, which threads run by themselves. */
struct trap_code {
	trap_inside *inside;
	const void *context;
	/*
	 * From where a thread can only come to one of `exits` or run into a breakpoint; those are
	 * addresses of instructions, 0: none. NULL: it makes single steps.
	 */
	trap_inside *leads_to_exit;
	uint64_t exits[TRAP_EXITS];
};

/*
 * The same for a thread in such code: it is made to run until it is out of it, with the signal held
 * back, unless nothing comes of that, or it is a fault. The signal is there afterwards, or will
 * come again (then the thread has no stop of a signal any more).
 */
void trap_step_out(struct thread *thread, const struct trap_code *code);
/*
 * A thread that a group-stop has found in code of ours is let run out of that, by steps: it is as
 * at a STOP_TRAP then, and goes back into the group-stop when it is detached.
 */
void trap_step_clear(struct thread *thread);
/*
 * Steps a thread, at a clean stop, out of the agent's code that it runs, if there is no fault that
 * it is stopped for. It may have put a return address of ours on its stack by then.
 */
void trap_step_through(struct thread *thread);

/*
 * The thread is at a system-call stop, which it makes while a handler may have a call begun anew.
 */
void trap_at_syscall(struct thread *thread);

/* A new thread of a process that is traced: arms the hardware watches it should have. */
void trap_thread_sync(struct thread *thread);

/* A followed child of fork: it has its parent's breakpoints and pending calls. */
void trap_fork(struct space *child_space, const struct space *parent_space);
void trap_fork_thread(struct thread *child, const struct thread *parent);
/*
 * At its first stop, before anything is mapped in it: forgets what the books have and its memory
 * has not: space_forget_missing().
 */
void trap_forget_missing(struct space *space);
/*
 * Plants those breakpoints of the stopped thread's space that its memory does not have: in a forked
 * child, what its parent got while the kernel was making it.
 */
void trap_complete(struct trap *trap, struct thread *thread);

/*
 * The thread, stopped at its entry, is about to run longjmp() or one of its kind: the calls that
 * this leaves are over. `mangled`: it is glibc's, which keeps addresses in its own way.
 */
void trap_long_jump(struct trap *trap, struct thread *thread, bool mangled);

/*
 * The program has a library that keeps many stacks at one place, by copying what is there out and
 * in: calls are matched with that in mind from now on.
 */
void trap_stacks_exchanged(struct space *space);
/*
 * There is what may leave calls without a return that is seen: an unwinder, or who changes stacks.
 * Else a function that is entered twice with the same return address at the same place, and the
 * registers of its caller as they were, has been jumped to by what it had jumped to itself.
 */
void trap_calls_are_left(struct space *space);

/*
 * The thread is gone or runs another program: its pending calls are dropped; `report`: as
 * unwound.
 */
void trap_thread_gone(struct trap *trap, struct thread *thread, bool report);

/* The space's breakpoints belong to a program that is gone. Frees the engine's part. */
void trap_space_gone(struct space *space);

/*
 * Shows what the breakpoints of a space, or the pending calls of a thread, refer to: who wants to
 * free a site or a hook looks here whether somebody still has it. Either may be NULL.
 */
typedef void trap_use(void *context, const struct probe_site *site, struct hook *hook);
void trap_space_uses(const struct space *space, trap_use *use, void *context);
void trap_thread_uses(const struct thread *thread, trap_use *use, void *context);

/*
 * Whether `pc` is in code of ours that no thread may be moved out of: it has to be let run. By the
 * space's journal, which another process may have written.
 */
bool trap_in_our_code(const struct space *space, uint64_t pc);
/* Whether it is in a landing, or in memory that was mapped by us, as slots are. */
bool trap_has_mapped(const struct space *space, uint64_t pc);
/* The same of a thread with these registers, also where it is in the vDSO for our code. */
bool trap_runs_our_code(const struct space *space, const struct regs *regs);
/*
 * Whether there are frames of signals on the stack above `sp` that came in the middle of our code,
 * while nobody moved threads out of it: what is pending will return there. May see those of the
 * past.
 */
bool trap_on_stack(const struct space *space, uint64_t sp);
/*
 * Takes all breakpoints out by that journal, those last that have to be, and forgets none: its
 * threads are stopped, or run on (`runs`), and one may be about to tell that it has hit one. Those
 * of hooks that are to stay (JOURNAL_STAYS) do, while they run.
 */
void trap_heal(struct space *space, bool runs);
/*
 * Makes breakpoints, slots and handler of a space from its journal, which another process has
 * written, for trap_leave(): 0 or -errno. Its threads are stopped, none in such code: what was
 * mapped by one there is taken over, too.
 */
int trap_adopt(struct space *space);

/*
 * Takes every change out of a space whose threads are all stopped, moves their pcs out of our
 * memory and unmaps it. Used for detaching and for children that are not followed. A thread's
 * pending int3 stop is turned back, so that nothing has to be delivered for it.
 */
void trap_leave(struct inferior *inferior, struct space *space);

/*
 * Takes all breakpoints out of a space for a while, and puts them back. Until then its threads run
 * by them unseen, and none gets in: what is planted meanwhile comes with the others.
 */
void trap_suspend(struct space *space);
void trap_restore(struct space *space);

/*
 * Watches `address` (pointer-sized) for writes by means of debug registers, in the stopped thread
 * at once, in others from their next stop on. -ENOSPC when none is free.
 */
int trap_watch(struct thread *thread, uint64_t address);
void trap_unwatch(struct space *space, uint64_t address);

/*
 * Looks at all probes and hooks of a space and tells of those that the program has written over
 * since, once each; `site` is NULL for a hook, `taken_out`: the code there is as it was without us.
 * Costs a system call for each 64 of them.
 */
typedef void trap_overwritten(void *context, const struct probe_site *site, struct hook *hook,
			      bool taken_out);
void trap_check(struct space *space, trap_overwritten *overwritten, void *context);

/* Its decoder, for whoever looks for a place to plant something at. */
struct decoder *trap_decoder(const struct trap *trap);

/* Numbers for -v and the bench: stops served so far. */
uint64_t trap_stops(const struct trap *trap);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent engine: calls are counted and timed by code of ours in the tracee, without a stop. It
 * takes over functions that the trap engine has planted, where it can; all others stay as they are.
 *
 * A function is caught by a jump at its beginning, a return by a stub in place of the return
 * address. What is written is in the space's journal: the jumps are undone with all else
 * (engine/trap/leave.c), as the memory is unmapped with the arena's; return addresses are put back
 * by agent_restore_returns() before that.
 */
#ifndef TRACER_ENGINE_AGENT_AGENT_H
#define TRACER_ENGINE_AGENT_AGENT_H

#include "engine/agent/gate.h"
#include "engine/trap/trap.h"

struct agent;

/*
 * What has become of a wish. `site`: NULL for a function of an unwinder. `reason`: why it stays
 * with the trap engine; NULL: it is counted inside.
 */
typedef void agent_decided(void *context, const struct probe_site *site, const char *reason);

/*
 * The function (or the part of one) in whose code `address` is: false when that is not known, else
 * where it begins and its bytes.
 */
typedef bool agent_function_around(const struct space *space, uint64_t address, uint64_t *start,
				   uint64_t *length);

/*
 * Whether a word of the data of the module around holds, or will, an address in [low, high) of its
 * code.
 */
typedef bool agent_points_into(const struct space *space, uint64_t low, uint64_t high);

/* Which clock is read in processes; ANY: the processor's, where that can be relied on. */
enum agent_clock_choice { AGENT_CLOCK_ANY, AGENT_CLOCK_OF_PROCESSOR, AGENT_CLOCK_OF_SYSTEM };

struct agent_options {
	bool records; /* of each call one is made, else it is counted */
	bool lossy;   /* but not where that would make the process wait */
	enum agent_clock_choice clock;
};

/*
 * NULL: that cannot be done on the host. `trap` and `events`, whose context `decided` gets, must
 * outlive it.
 */
struct agent *agent_create(struct trap *trap, const struct engine_events *events,
			   agent_decided *decided, agent_function_around *around,
			   agent_points_into *points_into, const struct agent_options *options);
void agent_destroy(struct agent *agent);

/*
 * What is known of a libgcc that unwinds stacks for exceptions: its functions (_Unwind_ is left out
 * of their names), and their lengths. A hook stands at the entry of each but SET_IP, where it will.
 */
enum unwinder_part { NO_PART_OF_UNWINDER, UNWINDER_BEGINS, UNWINDER_LANDS };
enum { UNWINDER_RAISE, UNWINDER_RESUME, UNWINDER_RETHROW, UNWINDER_SET_IP, UNWINDER_FUNCTIONS };
struct agent_unwinder {
	struct {
		uint64_t address, length;
		struct hook *hook;
	} functions[UNWINDER_FUNCTIONS];
	uint64_t get_cfa; /* the address of that function */
};

/*
 * A function at whose entry a probe has been planted, and nothing else; an instruction that calls
 * or jumps through a GOT slot, with a hook that says so; or a function with a hook that may have a
 * gate.
 */
struct agent_wish {
	uint64_t address;
	uint64_t length; /* of its code; 0: not known, and so it stays with the trap engine */
	const struct probe_site *site; /* NULL: it is for `hook` alone, a gate or `part` */
	/*
	 * Of the breakpoint: that of an instruction (hook.chosen), of a function with a gate, or of
	 * an unwinder's; or NULL.
	 */
	struct hook *hook;
	/*
	 * Where that stands, if it is not at the address: then a jump there covers instructions in
	 * front of a call by a register, and the breakpoint stays. Else the agent's.
	 */
	uint64_t breakpoint;
	struct gate gate;
	uint64_t slot; /* that the instruction goes through; 0: it is a function */
	bool calls;    /* and comes back from */
	enum unwinder_part part;
	bool was_granted; /* or may have been, in the parent of a child; the agent's */
	bool was_called;  /* since it was wished; the agent's */
	/* nobody branches into it behind its beginning, whatever bytes there look like it */
	bool is_plt_stub;
	/*
	 * The agent's: whether code that branches into its beginning was looked for; what forbids a
	 * jump there, or NULL.
	 */
	bool looked_for;
	bool is_looked_for; /* that is under way */
	/*
	 * The first byte behind the beginning that has to stay as it is, if a jump would cover it,
	 * and why; 0: there is none. Set by who wishes where a symbol is there, by the agent where
	 * code branches to it.
	 */
	uint8_t kept;
	const char *kept_because;
	const char *refusal;
};

/*
 * Notes that it shall be counted inside: NULL, or why that cannot be. To be called before
 * agent_install().
 */
const char *agent_wish(struct space *space, const struct agent_wish *wish);
/* Whether that may be: calls are counted, and the processor tells threads apart. */
bool agent_may_unwind(const struct agent *agent);
/*
 * The same of the functions of an unwinder: exceptions are to need no stop, where calls are counted
 * only. As long as it is not done, hooks see to them.
 */
void agent_wish_unwinder(const struct agent *agent, struct thread *thread,
			 const struct agent_unwinder *unwinder);
/*
 * The thread has stopped at such a hook, as its stack was not known. Now it is, and the thread is
 * to go on with these registers, and to unwind without a stop; false: it cannot.
 */
bool agent_bind_stack(struct thread *thread, struct regs *regs);
/*
 * An instruction at `address` that calls or jumps by a pointer, where a hook has been planted.
 * `is_worth_it`: it may take a look through all code of the module.
 */
struct agent_call {
	uint64_t address;
	uint64_t slot; /* which holds the address of the function that `site` is about */
	const struct probe_site *site;
	struct hook *hook;
	bool is_worth_it;
};
/* The same for such a call. It may have been wished before, and been done or not. */
const char *agent_wish_call(struct agent *agent, struct space *space,
			    const struct agent_call *call);
/*
 * Whether the instruction at `address` is run elsewhere, as a jump of ours covers it, or what is in
 * front of it.
 */
bool agent_moves(const struct space *space, uint64_t address);
/* Whether the function there has been given to the agent. */
bool agent_has(const struct space *space, uint64_t address);
/*
 * Takes the gate of `hook` at `address` out again, and plants the hook's breakpoint there. True: it
 * had one. `thread` is at a clean stop.
 */
bool agent_take_gate_out(struct thread *thread, uint64_t address);
/* Whether a gate of the hook is at `address`, or wished there. */
bool agent_has_gate(const struct space *space, uint64_t address, const struct hook *hook);
/*
 * What makes something of its return address begins at `address`, is jumped to from there (a PLT
 * stub), or by the word there (a slot). A function that ends by such a jump must have its true one,
 * too, and is not counted inside. To be called before agent_install().
 */
void agent_asks_caller(struct space *space, uint64_t address);
/*
 * Nothing is, or stays, counted inside in the space of the thread, which is at a clean stop;
 * `reason` is a literal. Or so, where the program ends by that: agent_probes() stays.
 */
void agent_refuse(struct agent *agent, struct thread *thread, const char *reason);
void agent_withdraw(struct agent *agent, struct thread *thread, const char *reason);
/* Whether it may be tried again what could not be done. `now` as inferior_clock(). */
bool agent_is_due(const struct space *space, uint64_t now);
/*
 * Whether threads of it have found no room for their records, which a thread can make for them, at
 * a clean stop: then their calls stop. To be called after agent_fetch(), and now and then.
 */
bool agent_lacks_rings(const struct space *space);
/* Whether any space does. */
bool agent_lacks_any_rings(const struct agent *agent);
void agent_add_rings(struct thread *thread);
/* Whether there are such that have not been decided on; they are by the next agent_install(). */
bool agent_has_wishes(const struct space *space);
/* Whether there are such of calls that are to be caught inside, and not of gates alone. */
bool agent_has_wishes_of_calls(const struct space *space);
/* So many ns are as good as no limit. */
#define AGENT_NO_LIMIT (UINT64_C(1) << 62)

/*
 * Does what agent_install() would do of it without a stop: the longest part, while the process of
 * `tid` runs. Its wishes stay. 0 or -errno; -EAGAIN: `longest` ns were not enough, it is to be
 * called again.
 */
int agent_look_ahead(struct agent *agent, struct space *space, pid_t tid, uint64_t longest);
/*
 * Does what was wished, as far as it can be done. `thread` is at a clean stop; the others of the
 * space are stopped for the moment, and may be in the middle of something, so some wishes may stay
 * for the next time. So do those that are not done in `longest` ns, if they are many. True: it had
 * to make something first, which took its time, and is to be called again soon.
 */
bool agent_install(struct agent *agent, struct thread *thread, uint64_t longest);

/*
 * An unwinder stops again where it is entered, as before agent_wish_unwinder(). All threads of the
 * space are stopped, `thread` among them.
 */
void agent_stop_unwinders(struct agent *agent, struct thread *thread);
/*
 * Undoes all jumps, by the journal. All threads of the space are stopped; none enters our code
 * again then, but by returning. `unwinders_too`: else those of unwinders stay, as threads may run
 * on, and put return addresses of ours on their stacks by that.
 */
void agent_undo_jumps(struct space *space, bool unwinders_too);
/*
 * Puts true return addresses in place of all stubs of ours that stand on stacks. All threads of the
 * space are stopped. By the journal, which another process may have written. Where that cannot be
 * done for all of them, the code stays in the process when it is left.
 */
void agent_restore_returns(struct space *space);
/*
 * Notes in the journal what a tracer that was killed together with its guardian has left of all
 * this, and undoes its jumps. `thread` is at a clean stop, and nothing of ours is in its space yet.
 */
void agent_adopt_remains(struct thread *thread);
/*
 * A tracer that was killed may have left a file open in the process. All threads of the space are
 * stopped.
 */
void agent_close_files(struct inferior *inferior, struct space *space);
/*
 * The same for the stack that a stopped thread runs on, as somebody is about to look at it; its
 * calls go on as the trap engine's.
 */
void agent_hand_over(struct agent *agent, struct thread *thread);

/*
 * The same of one place, `word` being there, which is where the function returns to that a stopped
 * thread has just entered: if that is a stub of ours, the true address is put there, and returned;
 * else `word` is.
 */
uint64_t agent_show_caller(struct agent *agent, struct thread *thread, uint64_t place,
			   uint64_t word);

/* engine_events.delayed, of the calls around that are counted inside (delays.c). */
void agent_delayed(const struct agent *agent, struct thread *thread, uint64_t sp, uint64_t time,
		   uint64_t more);

/*
 * The thread has the SIGTRAP of a single step that the program makes by itself (its trap flag).
 * True: it was made by the jump at a function's beginning, and is none of the program's; from now
 * on nothing in the space is caught inside, as who steps counts.
 */
bool agent_stepped(struct agent *agent, struct thread *thread);

/*
 * To be called before a signal is delivered to a stopped thread, and before trap_before_signal().
 */
void agent_before_signal(struct thread *thread);

/* Calls that were counted since this was asked last, and the ns they took. */
typedef void agent_counted(void *context, const struct probe_site *site, uint64_t calls,
			   uint64_t time);
void agent_collect(struct agent *agent, struct space *space, agent_counted *counted, void *context);

/* As trap_check(), of the jumps. */
void agent_check(struct space *space, trap_overwritten *overwritten, void *context);

/* Forgets what was in [low, high), which has been unmapped; after agent_collect(). */
void agent_forget(struct space *space, uint64_t low, uint64_t high);

/*
 * Hands on the records that processes have made so far, of all threads in the order of their times:
 * how full the fullest ring was, from 0 to AGENT_FULL. To be called before a stop is served, and
 * every few ms; more often where rings would run full, as their threads stop then. `in_order`: some
 * are left for the next time if a thread is in the middle of one that may have to come before them;
 * not where a stop is to be served.
 */
unsigned agent_fetch(struct agent *agent, struct inferior *inferior, bool in_order);
/* Above the latter they are to be looked at again at once. */
enum { AGENT_FULL = 1000, AGENT_AT_ONCE = AGENT_FULL / 4 };
/* Whether there is anything to be fetched now and then. */
bool agent_has_rings(const struct agent *agent);
/* Records that were lost as what the process had written made no sense. */
uint64_t agent_lost(const struct agent *agent);
/*
 * Calls of functions that are caught inside that stopped as they came from generated code, or from
 * code without unwind rows (RETURN_ELSEWHERE, RETURN_UNDESCRIBED).
 */
uint64_t agent_generated(const struct agent *agent);
/* Calls that were not recorded as there was no room (lossy). */
uint64_t agent_dropped(const struct agent *agent);
/* `maker`, stopped in that, has made it. */
void agent_thread_made(const struct agent *agent, const struct thread *maker, struct thread *made);
/* A thread has begun, and is stopped; runs nothing of the program any more. */
void agent_thread_born(struct agent *agent, struct thread *thread);
void agent_thread_gone(struct agent *agent, struct thread *thread);
/*
 * Another process is about to run in the space: while it does, what is called is served by the trap
 * engine.
 */
void agent_shared(struct space *space);
/*
 * The thread has a SIGSEGV or SIGBUS as it read for us what cannot be read (or the clock, which may
 * be forbidden to it), or was interrupted as it took too long: then it is to go on without either,
 * true. Also for the code of a tracer that was killed, whose journal the space has. One that has
 * these, SIGFPE or SIGILL, where a function begins: see guards.c.
 */
bool agent_fault(struct thread *thread, bool interrupted);
/*
 * Behind that: each call would fault where the clock has been forbidden to a thread, and be the
 * thread's end when the tracer is not there. So all are left to breakpoints then.
 */
void agent_mind_clock(struct agent *agent, struct thread *thread);
/*
 * Whether a stopped thread was in a stub and had not begun with its call: it is where the function
 * begins then.
 */
bool agent_leave(struct thread *thread);
/*
 * No process makes records any more, as nobody reads them: what is left where a tracer was killed.
 * By the journal.
 */
void agent_turn_off(struct space *space);

/*
 * A forked child has jumps and stubs in its memory: at its first stop its functions are the trap
 * engine's again.
 */
void agent_fork(struct space *child, const struct space *parent);
void agent_settle(struct agent *agent, struct thread *thread);

/* The program is gone. Frees the engine's part; after agent_collect(). */
void agent_space_gone(struct space *space);

/* As trap_space_uses(), of wishes and of what is caught inside. */
void agent_space_uses(const struct space *space, trap_use *use, void *context);

/* How many functions have been given to the agent so far, and not been taken back. */
size_t agent_probes(const struct agent *agent);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent engine: the tracer's code in the tracee counts, times or records calls without a stop.
 * The agent takes over functions that the trap engine has planted a breakpoint at, where it can;
 * the other functions keep their breakpoints.
 *
 * The entry of a function is caught by a jump that is written over its first instructions, the
 * return by a return trampoline, whose stub stands in place of the return address. All changes are
 * in the space's journal: engine/trap/leave.c undoes the jumps with all other entries, and the
 * memory is unmapped with the arena's. agent_restore_returns() has to put the return addresses back
 * before that.
 */
#ifndef TRACER_ENGINE_AGENT_AGENT_H
#define TRACER_ENGINE_AGENT_AGENT_H

#include "engine/agent/gate.h"
#include "engine/trap/trap.h"

struct agent;

/*
 * Reports what became of a patch candidate that has a site. `reason`: why the function stays with
 * the trap engine; NULL if the agent catches it.
 */
typedef void agent_decided(void *context, const struct probe_site *site, const char *reason);

/*
 * Finds the function, or the part of a split function, that contains `address`. Returns false if it
 * is not known; else sets *start and *length (bytes).
 */
typedef bool agent_function_around(const struct space *space, uint64_t address, uint64_t *start,
				   uint64_t *length);

/*
 * Returns true if a data word of the module that contains [low, high) holds an address in this
 * range of its code, or will hold one after relocation.
 */
typedef bool agent_points_into(const struct space *space, uint64_t low, uint64_t high);

/* The clock that the agent reads in tracees. ANY: the processor's, if it is reliable. */
enum agent_clock_choice { AGENT_CLOCK_ANY, AGENT_CLOCK_OF_PROCESSOR, AGENT_CLOCK_OF_SYSTEM };

struct agent_options {
	bool records; /* make a record of each call instead of counting it */
	bool buckets; /* if calls are counted, keep how long each one took, in buckets */
	bool lines;   /* records have the line of the script that makes the call: script_lines.h */
	bool stacks;  /* records have the stack of the call, instead of the line: stack_rules.h */
	/* With `stacks`: native frames wanted where no script runs; 0: none are wanted at all. */
	unsigned native_frames;
	bool lossy; /* drop a call's record when the ring is full instead of blocking the thread */
	enum agent_clock_choice clock;
};

/*
 * Returns NULL if the host has no agent, or if records are asked for and the kernel does not allow
 * rdfsbase. `trap` and `tracker` must outlive the agent; `decided`, `around` and `points_into` are
 * called with the context of the tracker's events.
 */
struct agent *agent_create(struct trap *trap, struct call_tracker *tracker, agent_decided *decided,
			   agent_function_around *around, agent_points_into *points_into,
			   const struct agent_options *options);
void agent_destroy(struct agent *agent);

/*
 * The functions of a libgcc that unwinds stacks for exceptions, named without their prefix
 * _Unwind_, with their lengths in bytes. A hook stands at the entry of each function except SET_IP,
 * which agent_add_unwinder_candidate() plants.
 */
enum unwinder_part { NO_PART_OF_UNWINDER, UNWINDER_BEGINS, UNWINDER_LANDS };
enum { UNWINDER_RAISE, UNWINDER_RESUME, UNWINDER_RETHROW, UNWINDER_SET_IP, UNWINDER_FUNCTIONS };
struct agent_unwinder {
	struct {
		uint64_t address, length;
		struct hook *hook;
	} functions[UNWINDER_FUNCTIONS];
	uint64_t get_cfa; /* the address of _Unwind_GetCFA() */
};

/*
 * A patch candidate, which is one of these:
 *  - a function at whose entry there is a probe and nothing else;
 *  - an instruction that calls or jumps through a GOT slot, with a hook for it;
 *  - a function with a hook that may get a gate;
 *  - a function of an unwinder.
 */
struct patch_candidate {
	uint64_t address;
	/* of the code, in bytes; 0: not known, and the trap engine keeps the function */
	uint64_t length;
	/* NULL: the candidate is a gate, or a function of an unwinder (`part`) */
	const struct probe_site *site;
	/*
	 * The hook of the breakpoint, if the candidate is an instruction (hook.chosen), a function
	 * with a gate, or a function of an unwinder; else NULL.
	 */
	struct hook *hook;
	/*
	 * Where the breakpoint is. If this is not `address`, the jump covers the instructions in
	 * front of a call by a register, and the breakpoint at the call stays. Set by the agent.
	 */
	uint64_t breakpoint;
	struct gate gate;
	uint64_t got_slot; /* the GOT slot that the instruction goes through; 0: a function */
	bool calls;	   /* the instruction is a call, not a jump */
	enum unwinder_part part;
	bool was_granted; /* already in agent_probes(), maybe as the parent's; set by the agent */
	bool was_called;  /* the breakpoint was hit since agent_add_candidate(); set by the agent */
	/* no code branches behind the first byte, whatever bytes look like such a branch */
	bool is_plt_stub;
	/*
	 * Set by the agent: the search for branches into the candidate's first instructions is
	 * complete. `refusal`: what forbids a jump there, or NULL.
	 */
	bool looked_for;
	bool is_looked_for; /* the search in progress covers this candidate */
	/*
	 * Offset of the first byte behind the beginning that a jump would cover and that must not
	 * change, and the reason; 0: none. The caller sets it where a symbol is there, the agent
	 * where code branches to it.
	 */
	uint8_t kept;
	const char *kept_because;
	const char *refusal;
};

/*
 * An instruction at `address` that calls or jumps by a pointer, and has a hook. `is_worth_it`: the
 * call is frequent enough for a search through all code of the module.
 */
struct agent_call {
	uint64_t address;
	uint64_t got_slot; /* GOT slot that holds the address of the function of `site` */
	const struct probe_site *site;
	struct hook *hook;
	bool is_worth_it;
};
/* Returns true if the agent catches the function at `address`. */
bool agent_has(const struct space *space, uint64_t address);
/*
 * Both give all functions of the thread's space back to the trap engine, and refuse further ones
 * with `reason`, a literal. `thread` is at a safe stop. agent_refuse() also takes them out of
 * agent_probes(); agent_withdraw() does not, as it is for a program that ends by this.
 */
void agent_refuse(struct agent *agent, struct thread *thread, const char *reason);
void agent_withdraw(struct agent *agent, struct thread *thread, const char *reason);
/* A time limit in ns that is never reached. */
#define AGENT_NO_LIMIT (UINT64_C(1) << 62)

/* What agent_collect() reports of a site: calls since the last time, and the ns that they took. */
struct agent_count {
	uint64_t calls, time;
	const struct record_bucket
		*buckets;    /* with agent_options.buckets: of those that returned */
	size_t bucket_count; /* at most RECORD_BUCKETS_MAX */
};
typedef void agent_counted(void *context, const struct probe_site *site,
			   const struct agent_count *count);
void agent_collect(struct agent *agent, struct space *space, agent_counted *counted, void *context);

/* Forgets what was in [low, high), which has been unmapped. After agent_collect(). */
void agent_forget(struct space *space, uint64_t low, uint64_t high);

/* If agent_drain_rings() returns more than AGENT_AT_ONCE, call it again at once. */
enum { AGENT_FULL = 1000, AGENT_AT_ONCE = AGENT_FULL / 4 };
/*
 * How many calls of functions that the agent catches stopped because they came from generated code,
 * or from code without unwind rows (RETURN_ELSEWHERE, RETURN_UNDESCRIBED).
 */
uint64_t agent_generated(const struct agent *agent);

/*
 * agent_fork(): copies the candidates of the parent; the child has the parent's jumps and stubs in
 * its memory. agent_settle(): gives all functions back to the trap engine, at the child's first
 * stop.
 */
void agent_fork(struct space *child, const struct space *parent);
void agent_settle(struct agent *agent, struct thread *thread);

/* The thread, which agent_thread_made() was called for, has begun, and is stopped. */
void agent_thread_born(struct agent *agent, struct thread *thread);

/* The program is gone: frees the agent's part of the space. After agent_collect(). */
void agent_space_gone(struct space *space);

/*
 * The thread is stopped at the entry of a function, with its return address at `place`. Returns
 * true, once for each call, if the agent has chosen that call (--sample) and left it to the tracer.
 */
bool agent_has_chosen(const struct thread *thread, uint64_t place);
/* hook.redirect of the breakpoints in probe stubs, and of a unit's at AGENT_RECORD_FULL. */
bool agent_redirect(struct hook *hook, struct thread *thread, struct regs *regs);
bool agent_redirect_return(struct hook *hook, struct thread *thread, struct regs *regs);

/* How many functions the agent has caught so far, without those that agent_refuse() gave back. */
size_t agent_probes(const struct agent *agent);

#endif

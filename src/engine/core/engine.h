/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interface between the engines and what is above them: a probe as it is planted, hooks, and
 * the events that an engine reports.
 */
#ifndef TRACER_ENGINE_CORE_ENGINE_H
#define TRACER_ENGINE_CORE_ENGINE_H

#include "probe/probe.h"
#include "record/capture.h"
#include "record/record.h"
#include "tracee/journal.h"
#include "tracee/tracee.h"

/*
 * A probe for one architecture: its name and what is captured. Must outlive the breakpoints and
 * pending calls that refer to it.
 */
struct probe_site {
	const struct probe_info *info;
	const struct capture_plan *plan;
};

/*
 * A breakpoint without a probe: the engine calls the functions below when a thread hits it.
 * Examples: the dynamic linker's notification function, the resolver of an IFUNC. Owned by the
 * session; must outlive the space that it is planted in.
 */
struct hook {
	/* The owner's, for its functions below. The engine does not use it. */
	void *context;
	/* The thread is about to run the instruction. Must not change registers. May be NULL. */
	void (*entered)(struct hook *hook, struct thread *thread);
	/* Returns true if the return of this call is to be reported. NULL: every return is. */
	bool (*wants_return)(struct hook *hook, struct thread *thread, const struct regs *regs);
	/* The function has returned `result`. NULL: returns are not reported. */
	void (*returned)(struct hook *hook, struct thread *thread, uint64_t result);
	/*
	 * Called last, and also in a process that is not traced itself (process.silent). Returns
	 * true if the function is not to be run: the thread continues at the caller, with *result
	 * as the function's result. May be NULL.
	 */
	bool (*intercept)(struct hook *hook, struct thread *thread, const struct regs *regs,
			  uint64_t *result);
	/*
	 * Called after `intercept` has returned true, when the thread's registers have been set to
	 * those behind the call. May be NULL.
	 */
	void (*answered)(struct hook *hook, struct thread *thread);
	/*
	 * Called first. Returns true if the thread is to continue with `regs` as changed by this
	 * function; then nothing else is done at this hit. May be NULL.
	 */
	bool (*redirect)(struct hook *hook, struct thread *thread, struct regs *regs);
	/*
	 * True if the hook is planted on a system-call instruction: `intercept` then stands in for
	 * the system call. `intercept` is not called where the breakpoint also has a probe.
	 */
	bool on_system_call;
	/*
	 * Set if the hook is planted on an indirect call or jump. Given the `target` that the
	 * instruction leads to, returns the probe that this is a call of, or NULL. A hook that
	 * sets `chosen` uses none of the functions above.
	 */
	const struct probe_site *(*chosen)(struct hook *hook, struct thread *thread,
					   uint64_t target);
	/*
	 * When the guardian removes the hook's breakpoints if the tracer is killed. JOURNAL_LAST:
	 * after all others, because a thread that passed this place without a stop might not
	 * survive other breakpoints. JOURNAL_STAYS: only together with all other changes to the
	 * process; until then a thread that hits the breakpoint waits.
	 */
	enum journal_when when;
	/*
	 * Number of stops at breakpoints that have this hook and no probe. Counted by the trap
	 * engine.
	 */
	uint64_t stops;
};

enum return_place {
	RETURN_IN_MODULE, /* code of a loaded module, whose unloading is reported */
	/* A landing pad in a module: a thread that arrives there has not returned. */
	RETURN_AT_PAD,
	RETURN_TO_PART, /* code of a module where another function may begin as well */
	RETURN_NOWHERE, /* behind the end of the calling function: the call does not return */
	/*
	 * RETURN_UNDESCRIBED: code of a module without an unwind row in .eh_frame. A runtime of
	 * its own may walk the stack there, and cannot interpret a return address that was
	 * replaced. RETURN_NOWHERE_UNDESCRIBED: such code, behind the end of the calling function.
	 */
	RETURN_UNDESCRIBED,
	RETURN_NOWHERE_UNDESCRIBED,
	RETURN_ELSEWHERE /* outside of modules: may be unmapped without a report */
};

struct engine_events {
	/* A record is complete. `record` is valid during the call only. */
	void (*record)(void *context, const struct record *record);
	/*
	 * `thread`, which is stopped, has made a call. `entry`: its registers at the first
	 * instruction of the function; NULL: it is at a system call. Returns the number of its
	 * stack for the call's records (record.stack), or 0. May be NULL.
	 */
	uint32_t (*stack)(void *context, struct thread *thread, const struct regs *entry);
	/*
	 * Like `stack`, at a call that the code in the process could not tell the stack of. Returns
	 * true if that code can tell it from now on. May be NULL.
	 */
	bool (*teach_stack)(void *context, struct thread *thread, const struct regs *entry);
	/* `thread` has written to memory under hardware watch. */
	void (*watched)(void *context, struct thread *thread, uint64_t address);
	/* Classifies a return address. */
	enum return_place (*return_place)(void *context, const struct space *space,
					  uint64_t address);
	/*
	 * Returns true if the code at `address` was made by Go's compiler and follows its calling
	 * convention (base/arch.h: abi.is_go).
	 */
	bool (*is_go)(void *context, const struct space *space, uint64_t address);
	/*
	 * Returns false if the function at `from` is known to get to no code at `to` without a
	 * call: then a call of the latter is no tail call made by the former.
	 */
	bool (*may_jump)(void *context, const struct space *space, uint64_t from, uint64_t to);
	/*
	 * A call was entered whose return cannot be reported: no breakpoint can be planted at
	 * `return_address`.
	 */
	void (*return_lost)(void *context, const struct thread *thread,
			    const struct probe_site *site, uint64_t return_address);
	/*
	 * `thread` has entered a function at a breakpoint. `word` is the return address at `place`
	 * on its stack; another engine may have replaced it. Puts the true return address there
	 * and returns it. May be NULL.
	 */
	uint64_t (*show_caller)(void *context, struct thread *thread, uint64_t place,
				uint64_t word);
	/*
	 * `thread` has entered a function at a breakpoint, with its return address at `place`, and
	 * only one of N calls is shown. Returns true if another engine has chosen this call, and
	 * has left it to this one. May be NULL.
	 */
	bool (*is_chosen)(void *context, const struct thread *thread, uint64_t place);
	/*
	 * `thread`, about to be resumed with its stack pointer at `sp`, has been stopped since
	 * `time` (clock_now()), plus `more` ns of kernel time. An engine that measures durations
	 * by itself subtracts that from the calls around. May be NULL.
	 */
	void (*delayed)(void *context, struct thread *thread, uint64_t sp, uint64_t time,
			uint64_t more);
	/*
	 * `thread` blocks SIGTRAP, or did before the tracer unblocked it: from now on the
	 * functions that read and set signal masks have to be hooked in its space
	 * (engine/trap/sigmask_shadow.h).
	 */
	void (*masks_matter)(void *context, struct thread *thread);
	/*
	 * A hook has answered the system call that `thread` was about to make with `regs`: the
	 * kernel never sees the call. May be NULL.
	 */
	void (*system_call_answered)(void *context, struct thread *thread, const struct regs *regs,
				     uint64_t result);
	void *context;
};

#endif

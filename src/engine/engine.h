/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every engine has in common: a probe as it is planted, and what an engine tells the
 * session.
 */
#ifndef TRACER_ENGINE_ENGINE_H
#define TRACER_ENGINE_ENGINE_H

#include "inferior/inferior.h"
#include "inferior/journal.h"
#include "probe/probe.h"
#include "record/capture.h"
#include "record/record.h"

/*
 * A probe for one architecture: what it is called and what it captures. Outlives the breakpoints
 * and pending calls that refer to it.
 */
struct probe_site {
	const struct probe_info *info;
	const struct capture_plan *plan;
};

/*
 * A place in the tracee where the session itself wants to look in: the dynamic linker's
 * notification function, the resolver of an IFUNC. Owned by the session; must outlive the space
 * it is planted in.
 */
struct hook {
	/*
	 * The thread is about to run the instruction; registers may not be changed. May be
	 * NULL.
	 */
	void (*entered)(struct hook *hook, struct thread *thread);
	/* Whether this call's return is to be watched; NULL: each one's. */
	bool (*wants_return)(struct hook *hook, struct thread *thread, const struct regs *regs);
	/* The function returned `result`. NULL: returns are not watched. */
	void (*returned)(struct hook *hook, struct thread *thread, uint64_t result);
	/*
	 * Asked last, and also where the process is not traced itself (process.silent). True: the
	 * function is not run, its caller gets *result. May be NULL.
	 */
	bool (*intercept)(struct hook *hook, struct thread *thread, const struct regs *regs,
			  uint64_t *result);
	/* It was so, and the thread's registers are those behind it. May be NULL. */
	void (*answered)(struct hook *hook, struct thread *thread);
	/*
	 * Asked first: true when the thread is to go on with `regs` as this has changed them, and
	 * the breakpoint has no other meaning this time. May be NULL.
	 */
	bool (*redirect)(struct hook *hook, struct thread *thread, struct regs *regs);
	/*
	 * It is planted on an instruction in a function, that enters the kernel: what `intercept`
	 * answers for is the system call. Not asked where a probe is, too.
	 */
	bool on_system_call;
	/*
	 * It is planted on an instruction that calls or jumps by a pointer, which leads to
	 * `target`: the probe that this is a call of, or NULL. Such a breakpoint has no other
	 * meaning for a hook.
	 */
	const struct probe_site *(*chosen)(struct hook *hook, struct thread *thread,
					   uint64_t target);
	/*
	 * When its breakpoints are taken out, should the tracer be killed. JOURNAL_LAST: a thread
	 * that came by unseen would not be safe at others. JOURNAL_STAYS: nor would it go well as
	 * long as anything of ours is in its way, so it has to wait.
	 */
	enum journal_when when;
	/* How often a thread has stopped at it, and at no probe. Counted by the trap engine. */
	uint64_t stops;
};

enum return_place {
	RETURN_IN_MODULE, /* code of a loaded module, whose end would be told */
	RETURN_AT_PAD,	  /* the same, and a landing pad: who arrives there did not return */
	RETURN_TO_PART,	  /* the same; another function may begin there as well */
	RETURN_NOWHERE,	  /* behind the end of the function that calls: the call does not return */
	/*
	 * Code of a module that no row of .eh_frame describes: a runtime of its own may walk the
	 * stack, and not know what another return address there means. Also behind its end.
	 */
	RETURN_UNDESCRIBED,
	RETURN_NOWHERE_UNDESCRIBED,
	RETURN_ELSEWHERE /* in memory that may vanish without a word: generated code */
};

struct engine_events {
	/* A record is complete; valid during the call only. */
	void (*record)(void *context, const struct record *record);
	/* Memory under hardware watch was written by `thread`. */
	void (*watched)(void *context, struct thread *thread, uint64_t address);
	/* What is at a return address. */
	enum return_place (*return_place)(void *context, const struct space *space,
					  uint64_t address);
	/* Whether there is code that Go's compiler made, with conventions as in base/arch.h. */
	bool (*is_go)(void *context, const struct space *space, uint64_t address);
	/*
	 * A call was entered whose return cannot be seen, as no breakpoint can be planted where it
	 * returns to.
	 */
	void (*return_lost)(void *context, const struct thread *thread,
			    const struct probe_site *site, uint64_t return_address);
	/*
	 * `thread` has entered a function at a breakpoint, and another engine may have put `word`,
	 * which is at `place`, there instead of the return address: the true one shall be there,
	 * and is returned. May be NULL.
	 */
	uint64_t (*show_caller)(void *context, struct thread *thread, uint64_t place,
				uint64_t word);
	/*
	 * `thread`, which is to go on with its stack pointer at `sp`, has stood since `time`
	 * (inferior_clock()), and `more` ns: that is not the program's, and engines that time calls
	 * by themselves take it off. May be NULL.
	 */
	void (*delayed)(void *context, struct thread *thread, uint64_t sp, uint64_t time,
			uint64_t more);
	/*
	 * `thread` blocks SIGTRAP, or did: the functions that read and set masks are to be hooked
	 * in its space from now on (engine/trap/unblock.h).
	 */
	void (*masks_matter)(void *context, struct thread *thread);
	/*
	 * A hook has answered for the system call that `thread` was about to make with `regs`: it
	 * never comes to the kernel. May be NULL.
	 */
	void (*system_call_answered)(void *context, struct thread *thread, const struct regs *regs,
				     uint64_t result);
	void *context;
};

#endif

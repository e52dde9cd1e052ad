/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals that find a thread in an XOL slot.
 *
 * A handler may read the pc at which the program was interrupted, and jump or return there. So
 * before a signal is delivered to a thread in a slot, its pc is made the program's own: the
 * address of the displaced instruction if that has not run, else of the next one.
 *
 * Nearly all such signals find the thread at the beginning of a slot: they came while it was
 * stopped at the breakpoint. If the thread were set back to the breakpoint, it would hit the
 * breakpoint again when the handler returns; with a timer that is faster than the tracer it would
 * never get any further. So the instruction is run first, by a single-step, and the signal is
 * delivered after it, as if it had come that much later.
 *
 * That is not possible if the signal is the instruction's own (a fault), or if the instruction
 * cannot be single-stepped (a system call, which the signal has to interrupt). Then the handler
 * sees the address of the instruction, and may do one of three things: return, and so run the
 * instruction again; return to somewhere else; or leave by a jump, after which the program may
 * make the same call again, with the same registers and stack. Only in the first case the next hit
 * of the breakpoint is not a new call. It is recognised at sigreturn(2): after it the thread is at
 * the breakpoint with the sp of the call. So until then, or until the call is over, the thread
 * stops at system calls (`thread->syscall_stops`).
 *
 * A signal that has no handler, and is not a fault, kills, stops or is ignored. If it does not
 * kill, the thread continues in the slot, or makes the system call again from there: the pc stays.
 *
 * A fault's address (siginfo) is corrected if it is in the slot.
 */
#include "engine/trap/xol_signals.h"

#include "engine/core/callstack.h"
#include "engine/core/stackview.h"
#include "engine/core/thread_calls.h"
#include "engine/trap/adopt.h"
#include "engine/trap/breakpoint.h"
#include "engine/trap/sigmask_history.h"
#include "engine/trap/trap.h"
#include "engine/trap/watch.h"
#include "recovery/rescue.h"
#include "tracee/arena.h"
#include "tracee/journal.h"
#include "tracee/proc.h"
#include "tracee/ptrace.h"
#include "tracee/requeue.h"
#include "tracee/resume.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STEP_MS = 2000, TRIES = 16, STEPS_MAX = 2048, FAULTS_MAX = 4096 };

/* A thread that is stopped for a signal in an XOL slot, or in other code of the tracer. */
struct landed {
	struct thread *thread;
	struct regs regs;
	siginfo_t info;
	const struct breakpoint *breakpoint; /* the breakpoint that the slot belongs to */
	uint64_t program_pc;
	bool not_begun;
};

static bool is_fault(const siginfo_t *info)
{
	return signal_bit(info->si_signo) & signals_of_faults() && info->si_code > 0;
}

static bool has_landed(struct thread *thread, struct landed *landed)
{
	const struct space *space = thread->process->space;
	uint64_t slot;

	landed->thread = thread;
	if (!breakpoint_program_pc(space, landed->regs.pc, &landed->program_pc,
				   &landed->not_begun) ||
	    !arena_xol_slot_at(space->arena, landed->regs.pc, &slot))
		return false;
	landed->breakpoint = arena_owner(space->arena, slot);
	return landed->breakpoint && pt_get_siginfo(thread->tid, &landed->info) == 0;
}

/*
 * ------------------------------------------------------------------ running the instruction first
 */

/* Signals that came during the step and have to be sent again. */
struct kept {
	bool stop;
	bool trap;
	siginfo_t info; /* of the SIGTRAP */
};

static void send_again(const struct thread *thread, struct kept *kept)
{
	pid_t pid = thread->process->pid;

	if (kept->stop)
		syscall(SYS_tgkill, pid, thread->tid, SIGSTOP);
	/* Only siginfo that a program may send itself is accepted by the kernel. */
	if (kept->trap &&
	    syscall(SYS_rt_tgsigqueueinfo, pid, thread->tid, SIGTRAP, &kept->info) != 0)
		syscall(SYS_tgkill, pid, thread->tid, SIGTRAP);
}

typedef int resume(pid_t tid, int signal);

static bool is_codes_fault(struct thread *thread, const struct trap_code *code, int signal)
{
	return (signal == SIGSEGV || signal == SIGBUS) && code->fault && code->fault(thread);
}

/*
 * Resumes the thread by `how`: a single-step, or a run to a debug register. Returns true if it has
 * reported the end of that; false otherwise, for example at a fault. `signal` is queued again on
 * the way.
 */
static bool advance(struct thread *thread, const struct trap_code *code, resume *how, int signal,
		    struct kept *kept)
{
	for (int tries = 0, faults = 0; tries < TRIES && faults < FAULTS_MAX; tries++) {
		int status;
		siginfo_t info;

		if (how(thread->tid, signal) != 0 || thread_wait(thread, &status, STEP_MS) != 0)
			return false;
		signal = 0;
		struct stop_status stop = stop_status_decode(status);

		if (stop_ends_program(stop.kind)) {
			thread_keep_stop(thread, status);
			return false;
		}
		if (stop.kind == STOP_SIGNAL && stop.signal == SIGTRAP) {
			if (pt_get_siginfo(thread->tid, &info) != 0 || info.si_code > 0)
				return true;
			kept->trap = true;
			kept->info = info;
		} else if (stop.kind == STOP_SIGNAL && stop.signal != SIGSTOP) {
			if (!is_codes_fault(thread, code, stop.signal))
				return false;
			faults++;
			tries--;
		}
		/*
		 * SIGSTOP cannot be blocked, so it may come, too. Any other stop is an interrupt
		 * of the tracer.
		 */
		kept->stop |= stop.kind == STOP_SIGNAL && stop.signal == SIGSTOP;
	}
	return false;
}

/*
 * Returns true if the thread can be run to an exit. At an exit itself it cannot: it would run past
 * it, into the program.
 */
static bool can_run(const struct trap_code *code, uint64_t pc)
{
	bool at_exit = false;

	for (unsigned i = 0; i < TRAP_EXITS; i++)
		at_exit |= code->exits[i] == pc;
	return code->leads_to_exit && !at_exit && code->leads_to_exit(code->context, pc);
}

/* Runs the thread to an exit if possible, by debug registers; else makes one step. */
static bool go_on(struct thread *thread, const struct trap_code *code, uint64_t pc, int signal,
		  struct kept *kept)
{
	if (!can_run(code, pc) || watch_exits(thread, code->exits) != 0)
		return advance(thread, code, pt_step, signal, kept);
	bool arrived = advance(thread, code, pt_continue, signal, kept);

	watch_again(thread);
	return arrived;
}

/*
 * Returns true if a SIGTRAP of the program's is blocked and pending: the mask used for the step
 * would let it through.
 */
static bool holds_own_trap(const struct thread *thread, uint64_t mask)
{
	return mask & TRAP_BIT && proc_is_pending(thread->tid, SIGTRAP);
}

/*
 * Runs the thread, with the signal held back, until it has left the code. Returns false if it has
 * not.
 */
static bool run_on(struct landed *landed, const struct trap_code *code)
{
	struct thread *thread = landed->thread;
	struct space *space = thread->process->space;
	/*
	 * If the tracer is killed meanwhile, the SIGTRAP handler or the guardian restores the
	 * mask.
	 */
	struct rescue_step reported = {.tid = (uint64_t)thread->tid, .held = signals_to_hold()};
	struct kept kept = {.stop = false};

	if (pt_get_sigmask(thread->tid, &reported.mask) != 0 ||
	    holds_own_trap(thread, reported.mask))
		return false;
	rescue_tell_step(space, &reported);
	if (pt_set_sigmask(thread->tid, reported.held) != 0) {
		rescue_tell_step(space, NULL);
		return false;
	}
	int signal = requeue_signal(thread, signals_of_faults());
	bool stepped = go_on(thread, code, landed->regs.pc, signal, &kept);

	for (int i = 0; i < STEPS_MAX && stepped && regs_load(thread->tid, &landed->regs) == 0 &&
			code->inside(code->context, landed->regs.pc);
	     i++)
		stepped = go_on(thread, code, landed->regs.pc, 0, &kept);
	/*
	 * If the tracer is killed now, the step's SIGTRAP must not be delivered with the siginfo
	 * set below.
	 */
	if (stepped)
		thread_take_stop(thread);
	bool over = thread_is_over(thread);

	if (!over)
		pt_set_sigmask(thread->tid, reported.mask);
	rescue_tell_step(space, NULL);
	if (signal && !over)
		requeue_forget(thread);
	else if (!over && landed->info.si_signo)
		pt_set_siginfo(thread->tid, &landed->info);
	send_again(thread, &kept);
	return stepped && regs_load(thread->tid, &landed->regs) == 0;
}

static bool is_there(const void *place, uint64_t pc)
{
	return pc == *(const uint64_t *)place;
}

/* Runs the displaced instruction with the signal held back. Returns false if it has not run. */
static bool run_first(struct landed *landed)
{
	const uint64_t slot = landed->regs.pc;
	const struct trap_code code = {.inside = is_there, .context = &slot};

	return landed->breakpoint->displaced.at_once && !is_fault(&landed->info) &&
	       run_on(landed, &code) && landed->regs.pc != slot;
}

/* ------------------------------------------------------------------ calls that start again */

/* Finds the call that the thread has begun at the breakpoint `entry`. */
static struct call *begun_call(const struct thread *thread, const struct regs *regs, uint64_t entry)
{
	const struct space *space = thread->process->space;
	uint64_t return_address = 0;

	if (!thread->calls->stacks || !memory_read_word(&space->memory, regs->r[REG_SP],
							space->arch->abi->word, &return_address))
		return NULL;
	return callstacks_find(thread->calls->stacks, regs->r[REG_SP], return_address, entry);
}

static void expect_return(struct thread *thread, struct call *call)
{
	if (!call || call->interrupted)
		return;
	call->restarted = false;
	call->interrupted = true;
	thread->syscall_stops++;
}

void trap_at_syscall(struct thread *thread)
{
	struct space *space = thread->process->space;
	struct regs regs;

	if (!thread->syscall_stops || !space || regs_load(thread->tid, &regs) != 0 ||
	    !breakpoint_find(space, regs.pc))
		return;
	struct call *call = begun_call(thread, &regs, regs.pc);

	if (!call || !call->interrupted)
		return;
	call->interrupted = false;
	call->restarted = true;
	thread->syscall_stops--;
}

/* ------------------------------------------------------------------ before the signal */

static uint64_t stop_signals(void)
{
	return signal_bit(SIGSTOP) | signal_bit(SIGTSTP) | signal_bit(SIGTTIN) |
	       signal_bit(SIGTTOU);
}

/*
 * Returns true if the signal has no effect on the pc: it is ignored, or stops the thread for a
 * while.
 */
static bool passes_by(const struct landed *landed)
{
	const uint64_t by_default = signal_bit(SIGCHLD) | signal_bit(SIGURG) |
				    signal_bit(SIGWINCH) | signal_bit(SIGCONT) | stop_signals();
	uint64_t signal = signal_bit(landed->info.si_signo);
	uint64_t ignored;
	uint64_t caught;

	return !is_fault(&landed->info) && proc_signals(landed->thread->tid, &ignored, &caught) &&
	       !(caught & signal) && (ignored | by_default) & signal;
}

/* Returns true if the thread is behind a system call that it has made in the slot. */
static bool is_behind_syscall(const struct landed *landed)
{
	return !landed->not_begun && !landed->breakpoint->displaced.at_once &&
	       (int32_t)landed->regs.syscall >= 0;
}

void trap_step_out(struct thread *thread, const struct trap_code *code)
{
	struct landed landed = {.thread = thread};

	if (regs_load(thread->tid, &landed.regs) != 0 ||
	    pt_get_siginfo(thread->tid, &landed.info) != 0 || is_fault(&landed.info))
		return;
	/* Stop signals, too: the code may be removed while the thread is stopped by one. */
	if (signal_bit(landed.info.si_signo) & stop_signals() || !passes_by(&landed))
		run_on(&landed, code);
}

/* Returns true in the tracer's code and in the vDSO, which that code calls. */
static bool is_our_code(const void *context, uint64_t pc)
{
	const struct space *space = context;

	return trap_in_our_code(space, pc) || space_has_kernel_code(space, pc);
}

void trap_step_clear(struct thread *thread, trap_fault *fault)
{
	const struct trap_code code = {
		.inside = is_our_code, .context = thread->process->space, .fault = fault};
	struct landed landed = {.thread = thread};

	if (thread->stop != STOP_GROUP || regs_load(thread->tid, &landed.regs) != 0)
		return;
	thread->stop = STOP_TRAP;
	run_on(&landed, &code);
}

static bool is_agents_code(const void *context, uint64_t pc)
{
	const struct space *space = context;

	return journal_in_agent(space->journal, pc) || space_has_kernel_code(space, pc);
}

void trap_step_through(struct thread *thread, trap_fault *fault)
{
	const struct space *space = thread->process->space;
	const struct trap_code code = {.inside = is_agents_code, .context = space, .fault = fault};
	struct landed landed = {.thread = thread};

	if (!thread_is_safe_stop(thread) || regs_load(thread->tid, &landed.regs) != 0 ||
	    !journal_in_agent(space->journal, landed.regs.pc))
		return;
	if (thread->stop == STOP_SIGNAL &&
	    (pt_get_siginfo(thread->tid, &landed.info) != 0 || is_fault(&landed.info)))
		return;
	run_on(&landed, &code);
}

static void correct_address(struct landed *landed)
{
	uint64_t address = (uint64_t)(uintptr_t)landed->info.si_addr;
	uint64_t correct;
	bool not_begun;

	if (!is_fault(&landed->info) ||
	    !breakpoint_program_pc(landed->thread->process->space, address, &correct, &not_begun))
		return;
	landed->info.si_addr = (void *)(uintptr_t)correct;
	pt_set_siginfo(landed->thread->tid, &landed->info);
}

static void leave_slot(struct landed *landed)
{
	struct thread *thread = landed->thread;
	const struct breakpoint *breakpoint = landed->breakpoint;
	bool anew = landed->not_begun || is_behind_syscall(landed);

	if (anew && passes_by(landed))
		return;
	if (landed->not_begun && run_first(landed)) {
		landed->program_pc = breakpoint->address + breakpoint->displaced.length;
	} else if (thread_is_over(thread)) {
		return;
	} else if (anew) {
		expect_return(thread, begun_call(thread, &landed->regs, breakpoint->address));
	}
	correct_address(landed);
	landed->regs.pc = landed->program_pc;
	/*
	 * The handler sees the registers, so RF must not be set in their flags; at a fault the
	 * processor itself sets it.
	 */
	if (is_fault(&landed->info))
		regs_store(thread->tid, &landed->regs);
	else
		regs_store_unmarked(thread->tid, &landed->regs);
}

void trap_before_signal(struct thread *thread)
{
	struct space *space = thread->process->space;
	struct landed landed;

	if (space && space->trap) {
		stackview_before_signal(thread);
		/* A remote call has queued the signal again: it will be reported once more. */
		if (thread->stop != STOP_SIGNAL)
			return;
		sigmask_before_signal(thread, thread->stop_signal);
	}
	if (!space || !space->trap || regs_load(thread->tid, &landed.regs) != 0)
		return;
	const struct breakpoint *next = breakpoint_find(space, landed.regs.pc);

	if (thread->calls->stacks)
		callstacks_signal(thread->calls->stacks, landed.regs.r[REG_SP]);
	if (next && next->is_return && thread->calls->stacks) {
		struct arrival arrival = stackview_arrival(space->arch->abi, &landed.regs,
							   landed.regs.pc);

		callstacks_interrupted(thread->calls->stacks, &arrival);
	}
	if (has_landed(thread, &landed)) {
		leave_slot(&landed);
	} else if (next) {
		/* The instruction was to be stepped in place, and the signal came first. */
		struct call *call = begun_call(thread, &landed.regs, landed.regs.pc);

		if (call && call->restarted)
			expect_return(thread, call);
	}
}

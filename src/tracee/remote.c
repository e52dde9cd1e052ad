/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Remote calls.
 *
 * The tracer may be killed at any moment, and the kernel then resumes the thread as it is. So the
 * thread runs a *remote-call stub* (base/arch.h): a system-call instruction, followed by code that
 * restores signal mask and registers from the thread's own stack and returns to where the thread
 * was. Normally the tracer stops the thread behind the first instruction and restores everything by
 * ptrace; the rest of the stub never runs.
 *
 * The stub has no unwind information, and a signal that was held during the call is delivered in it
 * once the mask is restored. A handler that unwinds its stack, like the one that cancels a thread,
 * would then skip the program's cleanup code. So the stub first waits a moment for the guardian,
 * which moves the thread back in one step (remote_call_recovery.h). For the same reason the thread
 * must not have its own mask while the tracer sets pc to the stub or back: all signals but faults
 * are held then, if there is a guardian that learns of it from the journal.
 *
 * The stub lies in the unused zeros at the end of the last page of an executable mapping. It is
 * written before the first call, with journal entries as for any patch, and stays until the process
 * is detached. Its data is written below the stack pointer, beyond the red zone.
 *
 * The thread must be at a *safe* stop: in signal delivery, about to return to user space. At a
 * PTRACE_EVENT stop (exec, clone, fork) it is inside a system call of its own, whose result would
 * overwrite the number of the remote call.
 *
 * A thread interrupted in a blocking system call has -ERESTART… in its result register and the
 * number in orig_ax. The kernel evaluates both on the way to user space, when it knows whether a
 * handler runs. So after the remote call the thread must be in signal delivery again, with these
 * two registers restored. A mark signal brings it there: it is queued while the thread stands at
 * the entry of the remote call, and discarded behind the call. All other signals are blocked
 * meanwhile. The mark is ignored by default and has no handler, so it does no harm if the tracer
 * dies then; SIGWINCH is not the first choice, as some servers shut down at one. For a stub that
 * returns by itself, the restart is made beforehand, as the kernel makes it without a handler.
 *
 * A tracer that may trace a process but not send it signals (another user's, without CAP_KILL) uses
 * PTRACE_INTERRUPT instead. If it is killed during the call, nothing brings the thread into signal
 * delivery.
 *
 * SIGSTOP cannot be blocked; it is consumed and sent again.
 */
#include "tracee/remote.h"

#include "tracee/journal.h"
#include "tracee/maps_snapshot.h"
#include "tracee/memory_batch.h"
#include "tracee/proc.h"
#include "tracee/ptrace.h"
#include "tracee/requeue.h"
#include "tracee/resume.h"
#include "tracee/space.h"

#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Long: a call that is given up leaves its thread in it, and a mapping that nothing will remove. */
enum { CALL_TIMEOUT_MS = 20000, PAGE = 4096, MASK_BYTES = 8, PATCH = 8 };

/*
 * Mappings up to this size are populated at once: else their pages are faulted in one by one later.
 */
enum { POPULATED_MAX = 512 << 10 };

/* Results by which the kernel says that a system call is to be restarted (linux/errno.h). */
enum {
	KERNEL_ERESTARTSYS = 512,
	KERNEL_ERESTARTNOINTR = 513,
	KERNEL_ERESTARTNOHAND = 514,
	KERNEL_ERESTART_RESTARTBLOCK = 516
};

/*
 * Signals ignored by default, in order of preference. SIGCONT is none of them: it has effects of
 * its own. A program that handles all three gets SIGURG for no apparent reason.
 */
static const int MARK_SIGNALS[] = {SIGURG, SIGWINCH, SIGCHLD};
static const int MARK_VALUE = 0x74726372;

/* ------------------------------------------------------------------ the stub */

static bool remote_stub_stands(const struct space *space)
{
	const struct remote_stub *remote_stub = space->arch->remote_stub;
	uint8_t now[REMOTE_STUB_MAX];

	return space->remote_stub &&
	       memory_read_exact(&space->memory, space->remote_stub, now, remote_stub->length) &&
	       !memcmp(now, remote_stub->code, remote_stub->length);
}

/*
 * Returns true if a place holds only zeros, hence is unused, or the rest of a killed tracer's stub.
 */
static bool is_free(const struct remote_stub *remote_stub, const uint8_t place[REMOTE_STUB_ROOM])
{
	static const uint8_t zeros[PATCH];

	/* The stub is written and removed piece by piece, so a part of it may be left. */
	for (size_t done = 0; done < REMOTE_STUB_ROOM; done += PATCH) {
		uint8_t piece[PATCH] = {0};

		if (done < remote_stub->length)
			memcpy(piece, remote_stub->code + done,
			       remote_stub->length - done < PATCH ? remote_stub->length - done
								  : PATCH);
		if (memcmp(place + done, zeros, PATCH) != 0 &&
		    memcmp(place + done, piece, PATCH) != 0)
			return false;
	}
	return true;
}

/* Returns true if the mapping ends in a place for the stub. */
static bool has_cave(const struct space *space, const struct mapping *mapping)
{
	uint8_t end[REMOTE_STUB_ROOM];

	return mapping->executable && !mapping->writable &&
	       (mapping->inode || !strcmp(mapping->path, "[vdso]")) &&
	       memory_read_exact(&space->memory, mapping->end - REMOTE_STUB_ROOM, end,
				 REMOTE_STUB_ROOM) &&
	       is_free(space->arch->remote_stub, end);
}

static int write_remote_stub(struct space *space, uint64_t address)
{
	static const uint8_t zeros[PATCH];
	const struct remote_stub *remote_stub = space->arch->remote_stub;
	size_t entries[REMOTE_STUB_MAX / PATCH];
	size_t count = 0;

	for (size_t done = 0; done < remote_stub->length; done += PATCH) {
		size_t piece = remote_stub->length - done;

		entries[count++] = journal_bytes(space->journal, address + done, zeros,
						 remote_stub->code + done,
						 piece < PATCH ? piece : PATCH);
	}
	int error = space_write(space, address, remote_stub->code, remote_stub->length);

	while (error && count)
		journal_forget(space->journal, entries[--count]);
	if (!error)
		space->remote_stub = address;
	return error;
}

/* Makes sure that the stub is in the space: 0, or -ENOENT if there is no place for it. */
static int prepare_remote_stub(struct thread *thread)
{
	struct space *space = thread->process->space;
	struct maps maps;

	if (remote_stub_stands(space))
		return 0;
	int error = maps_snapshot_read(space, thread->tid, &maps);

	if (error)
		return error;
	error = -ENOENT;
	for (size_t i = 0; error && i < maps.count; i++)
		if (has_cave(space, &maps.mappings[i]) &&
		    write_remote_stub(space, maps.mappings[i].end - REMOTE_STUB_ROOM) == 0)
			error = 0;
	maps_deinit(&maps);
	return error;
}

/* Computes pc and result register for the case that the stub itself returns to the program. */
static void make_restart(const struct thread *thread, const struct regs *saved, uint64_t *pc,
			 uint64_t *result)
{
	const struct space *space = thread->process->space;
	const struct arch *arch = space->arch;
	bool narrow = arch->abi->word == 4;
	int64_t number = narrow ? (int32_t)saved->syscall : (int64_t)saved->syscall;
	int64_t value = narrow ? (int32_t)saved->r[REG_AX] : (int64_t)saved->r[REG_AX];

	*pc = saved->pc;
	*result = saved->r[REG_AX];
	if (number >= 0 && (value == -KERNEL_ERESTARTSYS || value == -KERNEL_ERESTARTNOINTR ||
			    value == -KERNEL_ERESTARTNOHAND)) {
		*pc -= sizeof arch->syscall_insn;
		*result = (uint64_t)number;
	} else if (number >= 0 && value == -KERNEL_ERESTART_RESTARTBLOCK) {
		*pc -= sizeof arch->syscall_insn;
		*result = (uint64_t)arch->sys_restart_syscall;
	}
}

/*
 * The stub's data on the stack, and the bytes to restore there: on a small stack they may be in
 * use.
 */
struct remote_stub_frame {
	uint64_t sp;
	size_t length;
	uint8_t before[(REMOTE_STUB_SAVED + 1) * sizeof(uint64_t) + MASK_BYTES];
};

static int write_frame(struct thread *thread, const struct regs *saved, uint64_t mask,
		       struct remote_stub_frame *out)
{
	struct space *space = thread->process->space;
	const struct remote_stub *remote_stub = space->arch->remote_stub;
	unsigned word = space->arch->abi->word;
	uint8_t frame[sizeof out->before];
	uint64_t pc;
	uint64_t result;
	size_t length = 0;

	make_restart(thread, saved, &pc, &result);
	for (unsigned i = 0; i < remote_stub->saved_count; i++, length += word) {
		uint8_t number = remote_stub->saved[i];

		memcpy(frame + length, number == REG_AX ? &result : &saved->r[number], word);
	}
	memcpy(frame + length, &pc, word);
	length += word;
	out->sp = saved->r[REG_SP] - remote_stub->gap - length;
	out->length = length + MASK_BYTES;
	memcpy(frame + length, &mask, MASK_BYTES);
	if (!memory_read_exact(&space->memory, out->sp, out->before, out->length))
		return -EFAULT;
	return space_write(space, out->sp, frame, out->length);
}

/* ------------------------------------------------------------------ the call */

/*
 * Chooses the mark signal: one without a handler and, if possible, not blocked (as for sigwait()).
 */
static int choose_mark(const struct thread *thread, uint64_t caught)
{
	enum { COUNT = sizeof MARK_SIGNALS / sizeof *MARK_SIGNALS };
	uint64_t blocked = 0;

	pt_get_sigmask(thread->tid, &blocked);
	for (size_t i = 0; i < COUNT; i++)
		if (!((caught | blocked) & signal_bit(MARK_SIGNALS[i])))
			return MARK_SIGNALS[i];
	for (size_t i = 0; i < COUNT; i++)
		if (!(caught & signal_bit(MARK_SIGNALS[i])))
			return MARK_SIGNALS[i];
	return MARK_SIGNALS[0];
}

static int queue_mark(const struct thread *thread, int mark)
{
	siginfo_t info = {.si_code = SI_QUEUE};

	info.si_signo = mark;
	info.si_pid = getpid();
	info.si_uid = getuid();
	info.si_value.sival_int = MARK_VALUE;
	return syscall(SYS_rt_tgsigqueueinfo, thread->process->pid, thread->tid, mark, &info) < 0
		       ? -errno
		       : 0;
}

static bool is_mark(const struct thread *thread)
{
	siginfo_t info;

	return pt_get_siginfo(thread->tid, &info) == 0 && info.si_code == SI_QUEUE &&
	       info.si_value.sival_int == MARK_VALUE;
}

/* The program's own signals that arrived during the call and have to be sent again. */
struct kept {
	bool stopped;
	bool as_mark; /* the signal that is used as mark */
	bool refused;
};

/*
 * Runs the thread into the system call and on to the mark behind it. `signal` is queued again on
 * the way.
 */
static int through_call(struct thread *thread, int mark, int signal, struct kept *kept)
{
	bool inside = false, marked = false;

	for (int tries = 0; tries < 16; tries++) {
		int status;
		int error = inside ? pt_continue(thread->tid, 0)
				   : pt_to_syscall(thread->tid, signal);

		if (!error)
			error = thread_wait(thread, &status, CALL_TIMEOUT_MS);
		if (error)
			return error;
		signal = 0;
		struct stop_status stop = stop_status_decode(status);

		if (stop_ends_program(stop.kind)) {
			thread_keep_stop(thread, status); /* the wait loop must see it */
			return -ESRCH;
		}
		if (stop.kind == STOP_SYSCALL) {
			inside = true;
			marked = queue_mark(thread, mark) == 0;
			/*
			 * No right to send it signals (CAP_KILL): an interrupt works, too, while
			 * the tracer lives.
			 */
			if (!marked)
				pt_interrupt(thread->tid);
		} else if (stop.kind == STOP_TRAP) {
			if (inside && !marked)
				return 0;
			thread->interrupt_taken = true;
		} else if (stop.kind == STOP_SIGNAL && stop.signal == mark) {
			bool ours = is_mark(thread);

			kept->as_mark |= !ours;
			if (inside)
				/* the mark, or the program's signal that was queued in its place */
				return 0;
		} else if (stop.kind == STOP_SIGNAL && stop.signal == SIGSYS) {
			if (pt_signal_is_fault(thread->tid))
				return -EPERM; /* the call was refused */
			kept->refused = true;
		} else if (stop.kind == STOP_SIGNAL || stop.kind == STOP_GROUP) {
			kept->stopped = true;
		}
	}
	return -EBUSY;
}

static void send_again(const struct thread *thread, int mark, const struct kept *kept)
{
	if (kept->stopped)
		syscall(SYS_tgkill, thread->process->pid, thread->tid, SIGSTOP);
	if (kept->as_mark)
		syscall(SYS_tgkill, thread->process->pid, thread->tid, mark);
	if (kept->refused)
		syscall(SYS_tgkill, thread->process->pid, thread->tid, SIGSYS);
}

/* Holds all signals but faults before pc is set. `mask` is the thread's own. */
static int hold_signals(const struct thread *thread, uint64_t mask)
{
	const struct space *space = thread->process->space;

	if (!space->guardian)
		return 0;
	const struct rescue_step call = {
		.tid = (uint64_t)thread->tid, .held = mask | signals_to_hold(), .mask = mask};

	journal_subject(space->journal)->call = call;
	return pt_set_sigmask(thread->tid, call.held);
}

/* Restores the registers and the mask of the thread. */
static void put_back(const struct thread *thread, const struct regs *saved, uint64_t mask)
{
	struct rescue_step *call = &journal_subject(thread->process->space->journal)->call;

	pt_set_sigmask(thread->tid, call->held ? call->held : mask);
	regs_store_unmarked(thread->tid, saved);
	if (call->held)
		pt_set_sigmask(thread->tid, mask);
	call->held = 0;
}

static int call_with(struct thread *thread, const struct regs *saved, uint64_t mask, int mark,
		     uint64_t sp, long number, const uint64_t arguments[6], int64_t *result)
{
	struct space *space = thread->process->space;
	/*
	 * SIGSYS stays open: if the kernel forces a blocked one, it resets the program's handler.
	 */
	const uint64_t open = signal_bit(mark) | signal_bit(SIGSYS);
	int signal = requeue_signal(thread, open);
	struct regs regs = *saved;
	struct kept kept = {0};

	for (int i = 0; i < 6; i++)
		regs.r[space->arch->syscall_arg[i]] = arguments[i];
	regs.r[REG_AX] = (uint64_t)number;
	regs.r[REG_SP] = sp;
	regs.pc = space->remote_stub;
	regs.syscall = (uint64_t)-1;
	int error = hold_signals(thread, mask);

	if (!error)
		error = regs_store(thread->tid, &regs);
	if (!error)
		error = pt_set_sigmask(thread->tid, ~open);
	if (!error)
		error = through_call(thread, mark, signal, &kept);
	if (signal && (!error || error == -EPERM))
		requeue_forget(thread);
	if (!error)
		error = regs_load(thread->tid, &regs);
	send_again(thread, mark, &kept);
	if (!error)
		*result = space->arch->abi->word == 4 ? (int32_t)regs.r[REG_AX]
						      : (int64_t)regs.r[REG_AX];
	return error;
}

/*
 * A seccomp filter might kill the process for a call that it never makes itself, so filters must
 * not see the remote call: PTRACE_O_SUSPEND_SECCOMP suspends them (needs CAP_SYS_ADMIN). -EPERM if
 * the kernel refuses. Checked before each call: each thread has filters of its own and may add some
 * at any time.
 */
static int lift_filters(const struct thread *thread)
{
	unsigned long options = thread->process->tracees->ptrace_options;

	return pt_set_options(thread->tid, options | PTRACE_O_SUSPEND_SECCOMP) ? -EPERM : 0;
}

/*
 * Suspends syscall user dispatch (prctl(2), PR_SET_SYSCALL_USER_DISPATCH), which Wine uses to turn
 * a thread's system calls into SIGSYS. Kernels before 6.4 have no such request: there the call ends
 * with -EPERM, see through_call().
 */
static bool lift_dispatch(const struct thread *thread, struct pt_dispatch *dispatch)
{
	return pt_get_dispatch(thread->tid, dispatch) == 0 && dispatch->mode &&
	       pt_set_dispatch(thread->tid, &(struct pt_dispatch){0}) == 0;
}

/*
 * If the tracer dies during the remote call, the SIGTRAP of a breakpoint is lost. So the thread is
 * set back to the breakpoint, which it would then hit again. The code that handles the breakpoint
 * has loaded the registers before.
 */
static uint64_t turn_back(struct thread *thread, uint64_t pc)
{
	thread->at_breakpoint = false;
	return pc - thread->process->space->arch->breakpoint_pc_offset;
}

static int call_system(struct thread *thread, long number, const uint64_t arguments[6],
		       int64_t *result)
{
	struct regs saved;
	siginfo_t held;
	bool filtered = false;
	uint64_t mask = 0, caught = 0;
	struct remote_stub_frame frame;
	struct pt_dispatch dispatch;

	/*
	 * A pending SIGTRAP (a breakpoint hit that was not reported yet) must be handled at the pc
	 * where it was hit.
	 */
	if (!thread_is_safe_stop(thread) || pt_hit_pending(thread->tid))
		return -EBUSY;
	int error = prepare_remote_stub(thread);

	if (!error)
		error = regs_load(thread->tid, &saved);
	if (!error && thread->at_breakpoint)
		saved.pc = turn_back(thread, saved.pc);
	if (!error)
		error = pt_get_sigmask(thread->tid, &mask);
	if (!error)
		error = write_frame(thread, &saved, mask, &frame);
	if (!error)
		proc_caught_and_filtered(thread->tid, &caught, &filtered);
	if (!error && filtered)
		error = lift_filters(thread);
	if (error)
		return error;
	bool dispatched = lift_dispatch(thread, &dispatch);
	bool holds = thread->stop == STOP_SIGNAL && pt_get_siginfo(thread->tid, &held) == 0;

	error = call_with(thread, &saved, mask, choose_mark(thread, caught), frame.sp, number,
			  arguments, result);
	if (error == -ESRCH) {
		journal_subject(thread->process->space->journal)->call.held = 0;
		/*
		 * Only the stack is restored: another thread may have this tid now, with registers
		 * of its own.
		 */
		space_write(thread->process->space, frame.sp, frame.before, frame.length);
		return error;
	}
	/* The thread is where it was, and will get the signal that it is stopped at, if any. */
	put_back(thread, &saved, mask);
	space_write(thread->process->space, frame.sp, frame.before, frame.length);
	if (dispatched)
		pt_set_dispatch(thread->tid, &dispatch);
	if (filtered)
		pt_set_options(thread->tid, thread->process->tracees->ptrace_options);
	/*
	 * The mark's stop has replaced the signal's stop, from which the signal is now delivered.
	 */
	if (holds && thread->stop == STOP_SIGNAL)
		pt_set_siginfo(thread->tid, &held);
	return error;
}

int remote_syscall(struct thread *thread, long number, const uint64_t arguments[6], int64_t *result)
{
	struct space *space = thread->process->space;

	if (!space)
		return -EBUSY; /* its program is not known yet */
	memory_batch_pause(space);
	int error = call_system(thread, number, arguments, result);

	memory_batch_go_on(space);
	return error;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Remote system calls.
 *
 * The tracer may be killed at any moment, and the kernel then lets the thread go as it is. So a
 * thread that makes a call for us must find back by itself: it runs a *landing*
 * (base/arch.h), a system-call instruction followed by code that puts the signal mask and the
 * registers back from the thread's own stack and returns to where the thread was. Normally the
 * tracer stops it behind the first instruction, puts everything back with ptrace, and the rest
 * is never run.
 *
 * That code cannot be unwound, and a signal that was held meanwhile is delivered in it when the
 * mask is the thread's own again. A handler that unwinds its stack, as that by which a thread is
 * cancelled, would leave out what the program has to clean up. So the thread waits a moment first,
 * for the guardian, which puts it where it was at one stroke (inferior/stranded.h). Nor may it have
 * its own mask while the tracer sets pc to the landing, or back: all but faults is held then, where
 * there is a guardian that knows of it from the journal.
 *
 * The landing lies in the zeros that fill up the last page of some executable mapping, which
 * belong to nobody; it is written there before the first call, noted in the journal like any
 * patch, and stays until the process is left. What it needs is written below the stack pointer,
 * beyond the red zone.
 *
 * Only a *clean* stop will do: one inside signal delivery, where the thread is about to go back
 * to user space. At a PTRACE_EVENT stop (exec, clone, fork) it is inside a system call of its
 * own, whose result would be written over our number.
 *
 * A thread interrupted in a blocking system call carries -ERESTART… in its result and the
 * number in orig_ax, at which the kernel looks on the way to user space, where it knows whether
 * a handler runs first. So after our call it must be inside signal delivery again, with those two
 * registers as they were. A signal brings it there, which is marked as ours, queued while the
 * thread stands at the entry of the call and taken from it behind the call. All other signals are
 * blocked meanwhile. Its default is to be ignored, and the program does not look at it, so should
 * the tracer die in between it is just that; servers take a SIGWINCH that comes for no reason as
 * the word to shut down. On the way of the landing the restart is made beforehand, as the kernel
 * would do it without a handler.
 *
 * A tracer that may trace a process but not send it signals (without CAP_KILL, to another user's)
 * interrupts it in place of that; killed in between, it leaves nothing that brings the thread
 * there.
 *
 * SIGSTOP cannot be blocked; it is taken and sent again.
 */
#include "inferior/remote.h"

#include "inferior/gather.h"
#include "inferior/journal.h"
#include "inferior/kept_maps.h"
#include "inferior/limits.h"
#include "inferior/proc.h"
#include "inferior/ptrace.h"
#include "inferior/requeue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Long: a call that is given up leaves its thread inside, and what it will have mapped behind. */
enum { CALL_TIMEOUT_MS = 20000, PAGE = 4096, MASK_BYTES = 8, CAVE = 64, PATCH = 8 };

/*
 * What is mapped for us is populated up to that size, as who writes there would else have its pages
 * brought in one by one.
 */
enum { POPULATED_MAX = 512 << 10 };

/* Results by which the kernel says that a system call is to be made again (linux/errno.h). */
enum {
	KERNEL_ERESTARTSYS = 512,
	KERNEL_ERESTARTNOINTR = 513,
	KERNEL_ERESTARTNOHAND = 514,
	KERNEL_ERESTART_RESTARTBLOCK = 516
};

/*
 * SIGCONT has effects. To a program that looks at all of them the first may come for no reason.
 */
static const int MARK_SIGNALS[] = {SIGURG, SIGWINCH, SIGCHLD};
static const int MARK_VALUE = 0x74726372;

/* ------------------------------------------------------------------ the landing */

static bool landing_stands(const struct space *space)
{
	const struct landing *landing = space->arch->landing;
	uint8_t now[LANDING_MAX];

	return space->landing &&
	       memory_read_exact(&space->memory, space->landing, now, landing->length) &&
	       !memcmp(now, landing->code, landing->length);
}

/*
 * Whether a place holds so many zeros that nobody uses them, or what a tracer that was killed has
 * left of a landing.
 */
static bool is_free(const struct landing *landing, const uint8_t place[CAVE])
{
	static const uint8_t zeros[PATCH];

	/* It is written, and taken away, piece by piece. */
	for (size_t done = 0; done < CAVE; done += PATCH) {
		uint8_t piece[PATCH] = {0};

		if (done < landing->length)
			memcpy(piece, landing->code + done,
			       landing->length - done < PATCH ? landing->length - done : PATCH);
		if (memcmp(place + done, zeros, PATCH) != 0 &&
		    memcmp(place + done, piece, PATCH) != 0)
			return false;
	}
	return true;
}

/* Whether a mapping ends in such a place. */
static bool has_cave(const struct space *space, const struct mapping *mapping)
{
	uint8_t end[CAVE];

	return mapping->executable && !mapping->writable &&
	       (mapping->inode || !strcmp(mapping->path, "[vdso]")) &&
	       memory_read_exact(&space->memory, mapping->end - CAVE, end, CAVE) &&
	       is_free(space->arch->landing, end);
}

static int write_landing(struct space *space, uint64_t address)
{
	static const uint8_t zeros[PATCH];
	const struct landing *landing = space->arch->landing;
	size_t entries[LANDING_MAX / PATCH];
	size_t count = 0;

	for (size_t done = 0; done < landing->length; done += PATCH) {
		size_t piece = landing->length - done;

		entries[count++] = journal_bytes(space->journal, address + done, zeros,
						 landing->code + done,
						 piece < PATCH ? piece : PATCH);
	}
	int error = space_write(space, address, landing->code, landing->length);

	while (error && count)
		journal_forget(space->journal, entries[--count]);
	if (!error)
		space->landing = address;
	return error;
}

/* Makes sure of the landing: 0, -ENOENT when there is no place for it. */
static int prepare_landing(struct thread *thread)
{
	struct space *space = thread->process->space;
	struct maps maps;

	if (landing_stands(space))
		return 0;
	int error = kept_maps_read(space, thread->tid, &maps);

	if (error)
		return error;
	error = -ENOENT;
	for (size_t i = 0; error && i < maps.count; i++)
		if (has_cave(space, &maps.mappings[i]) &&
		    write_landing(space, maps.mappings[i].end - CAVE) == 0)
			error = 0;
	maps_deinit(&maps);
	return error;
}

/* Where the program is to go on, and with what result, if the landing has to take it there. */
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

/* What the landing takes from the stack, and what was there: a small stack may end before it. */
struct landing_frame {
	uint64_t sp;
	size_t length;
	uint8_t before[(LANDING_SAVED + 1) * sizeof(uint64_t) + MASK_BYTES];
};

static int write_frame(struct thread *thread, const struct regs *saved, uint64_t mask,
		       struct landing_frame *out)
{
	struct space *space = thread->process->space;
	const struct landing *landing = space->arch->landing;
	unsigned word = space->arch->abi->word;
	uint8_t frame[sizeof out->before];
	uint64_t pc;
	uint64_t result;
	size_t length = 0;

	make_restart(thread, saved, &pc, &result);
	for (unsigned i = 0; i < landing->saved_count; i++, length += word) {
		uint8_t number = landing->saved[i];

		memcpy(frame + length, number == REG_AX ? &result : &saved->r[number], word);
	}
	memcpy(frame + length, &pc, word);
	length += word;
	out->sp = saved->r[REG_SP] - landing->gap - length;
	out->length = length + MASK_BYTES;
	memcpy(frame + length, &mask, MASK_BYTES);
	if (!memory_read_exact(&space->memory, out->sp, out->before, out->length))
		return -EFAULT;
	return space_write(space, out->sp, frame, out->length);
}

/* ------------------------------------------------------------------ the call */

/* The signal that is our mark: one without a handler, and if it can be, not waited for either. */
static int choose_mark(const struct thread *thread)
{
	enum { COUNT = sizeof MARK_SIGNALS / sizeof *MARK_SIGNALS };
	uint64_t ignored, caught = 0, blocked = 0;

	proc_signals(thread->tid, &ignored, &caught);
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

/* Signals of the program's own that came in between and have to be sent again. */
struct kept {
	bool stopped;
	bool as_mark; /* the signal that is used as that */
	bool refused;
};

/* Into the system call, and on to the mark behind it. `signal`: is queued again on the way. */
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
			 * No right to send it signals (CAP_KILL): an interrupt does, too, while we
			 * live.
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
				return 0; /* ours, or one in whose place ours was not queued */
		} else if (stop.kind == STOP_SIGNAL && stop.signal == SIGSYS) {
			if (pt_signal_is_fault(thread->tid))
				return -EPERM; /* instead of the call */
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

/* Before pc is set; `mask` is the thread's own. */
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

/* Puts the thread where it was before. */
static void put_back(const struct thread *thread, const struct regs *saved, uint64_t mask)
{
	struct rescue_step *call = &journal_subject(thread->process->space->journal)->call;

	pt_set_sigmask(thread->tid, call->held ? call->held : mask);
	regs_store_unmarked(thread->tid, saved);
	if (call->held)
		pt_set_sigmask(thread->tid, mask);
	call->held = 0;
}

static int call_with(struct thread *thread, const struct regs *saved, uint64_t mask, uint64_t sp,
		     long number, const uint64_t arguments[6], int64_t *result)
{
	struct space *space = thread->process->space;
	/* Blocked, a SIGSYS that the kernel makes would take its handler along. */
	const int mark = choose_mark(thread);
	const uint64_t open = signal_bit(mark) | signal_bit(SIGSYS);
	int signal = requeue_signal(thread, open);
	struct regs regs = *saved;
	struct kept kept = {0};

	for (int i = 0; i < 6; i++)
		regs.r[space->arch->syscall_arg[i]] = arguments[i];
	regs.r[REG_AX] = (uint64_t)number;
	regs.r[REG_SP] = sp;
	regs.pc = space->landing;
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
 * A seccomp filter might kill the process for a call that it never makes itself, so it must not see
 * ours: the kernel can be asked to look away (PTRACE_O_SUSPEND_SECCOMP, which takes CAP_SYS_ADMIN).
 * -EPERM: it refuses. Each thread has filters of its own, and more of them at any time.
 */
static int lift_filters(const struct thread *thread, bool *lifted)
{
	unsigned long options = thread->process->inferior->ptrace_options;

	*lifted = proc_status_number(thread->tid, "Seccomp") > 0;
	if (!*lifted)
		return 0;
	return pt_set_options(thread->tid, options | PTRACE_O_SUSPEND_SECCOMP) ? -EPERM : 0;
}

/*
 * A thread may have its system calls turned into SIGSYS (prctl(2), PR_SET_SYSCALL_USER_DISPATCH),
 * as Wine does. Kernels before 6.4 do not tell; a call ends with -EPERM there, see through_call().
 */
static bool lift_dispatch(const struct thread *thread, struct pt_dispatch *dispatch)
{
	return pt_get_dispatch(thread->tid, dispatch) == 0 && dispatch->mode &&
	       pt_set_dispatch(thread->tid, &(struct pt_dispatch){0}) == 0;
}

/*
 * The SIGTRAP of a breakpoint is lost with this call if the tracer dies before it has sent the
 * thread on. So the thread is left where it will hit the breakpoint again; who serves it has its
 * registers.
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
	bool lifted;
	uint64_t mask = 0;
	struct landing_frame frame;
	struct pt_dispatch dispatch;

	/*
	 * A SIGTRAP on its way (a breakpoint hit not reported yet) must be served where it was hit.
	 */
	if (!thread_is_clean_stop(thread) || pt_hit_pending(thread->tid))
		return -EBUSY;
	int error = prepare_landing(thread);

	if (!error)
		error = regs_load(thread->tid, &saved);
	if (!error && thread->at_breakpoint)
		saved.pc = turn_back(thread, saved.pc);
	if (!error)
		error = pt_get_sigmask(thread->tid, &mask);
	if (!error)
		error = write_frame(thread, &saved, mask, &frame);
	if (!error)
		error = lift_filters(thread, &lifted);
	if (error)
		return error;
	bool dispatched = lift_dispatch(thread, &dispatch);
	bool holds = thread->stop == STOP_SIGNAL && pt_get_siginfo(thread->tid, &held) == 0;

	error = call_with(thread, &saved, mask, frame.sp, number, arguments, result);
	if (error == -ESRCH) {
		journal_subject(thread->process->space->journal)->call.held = 0;
		/* Whatever has this id now, registers and mask are not its own. */
		space_write(thread->process->space, frame.sp, frame.before, frame.length);
		return error;
	}
	/* It is where it was, and gets the signal that it is stopped at, if any. */
	put_back(thread, &saved, mask);
	space_write(thread->process->space, frame.sp, frame.before, frame.length);
	if (dispatched)
		pt_set_dispatch(thread->tid, &dispatch);
	if (lifted)
		pt_set_options(thread->tid, thread->process->inferior->ptrace_options);
	/* The mark's stop takes the place of the signal's: that is delivered from there. */
	if (holds && thread->stop == STOP_SIGNAL)
		pt_set_siginfo(thread->tid, &held);
	return error;
}

int remote_syscall(struct thread *thread, long number, const uint64_t arguments[6], int64_t *result)
{
	struct space *space = thread->process->space;

	if (!space)
		return -EBUSY; /* there is no program that is known */
	gather_pause(space);
	int error = call_system(thread, number, arguments, result);

	gather_go_on(space);
	return error;
}

/* mmap(2) with these arguments: 0 and where, or -errno. */
static int map_by(struct thread *thread, const uint64_t arguments[6], uint64_t *mapped)
{
	const struct arch *arch = thread->process->space->arch;
	int64_t result = 0;
	int error = remote_syscall(thread, arch->sys_mmap, arguments, &result);

	if (arch->abi->word == 4 && !error && (result > -1 || result < -4095))
		result = (int64_t)(uint32_t)result;
	*mapped = (uint64_t)result;
	if (!error && result < 0 && result >= -4095)
		error = (int)result;
	if (!error && arguments[0] && (uint64_t)result != arguments[0]) {
		/* A kernel that does not know MAP_FIXED_NOREPLACE took it for a hint. */
		remote_unmap(thread, (uint64_t)result, arguments[1]);
		error = -EEXIST;
	}
	if (!error)
		kept_maps_add(thread->process->space, *mapped, arguments[1], (int)arguments[2]);
	return error;
}

int remote_map_by(struct thread *thread, const uint64_t arguments[6], uint64_t *mapped)
{
	const struct process *process = thread->process;
	uint64_t raised[LIMITS_COUNT];
	int error = map_by(thread, arguments, mapped);

	if ((error != -ENOMEM && error != -EAGAIN) ||
	    !limits_raise(process->space, process->pid, arguments[1], raised))
		return error;
	error = map_by(thread, arguments, mapped);
	if (error)
		limits_lower(process->space, process->pid, arguments[1], raised);
	return error;
}

int remote_map(struct thread *thread, uint64_t address, uint64_t length, int protection,
	       uint64_t *mapped)
{
	struct journal *journal = thread->process->space->journal;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | (address ? MAP_FIXED_NOREPLACE : 0) |
		    (length <= POPULATED_MAX ? MAP_POPULATE : 0);
	uint64_t arguments[6] = {address,	  length,	(uint64_t)protection,
				 (uint64_t)flags, (uint64_t)-1, 0};
	size_t entry = journal_mapping(journal, address, length);
	int error = remote_map_by(thread, arguments, mapped);

	if (error || !address)
		journal_forget(journal, entry);
	if (!error && !address)
		journal_mapping(journal, *mapped, length);
	return error;
}

void remote_forget_mapping(struct thread *thread, uint64_t address)
{
	struct journal *journal = thread->process->space->journal;

	for (size_t i = 0; i < journal_count(journal); i++) {
		const struct journal_entry *entry = journal_entry(journal, i);

		if (entry && entry->kind == JOURNAL_MAPPING && entry->address == address)
			journal_forget(journal, i);
	}
}

int remote_unmap(struct thread *thread, uint64_t address, uint64_t length)
{
	uint64_t arguments[6] = {address, length};
	int64_t result;
	int error = remote_syscall(thread, thread->process->space->arch->sys_munmap, arguments,
				   &result);

	if (error || result) {
		kept_maps_outdated(thread->process->space);
		return error ? error : (int)result;
	}
	kept_maps_remove(thread->process->space, address, length);
	remote_forget_mapping(thread, address);
	return 0;
}

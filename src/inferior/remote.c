/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Remote system calls.
 *
 * The instruction comes from the vDSO, which every process has mapped and which holds the
 * kernel's fall-back for clock_gettime: nothing needs to be written into shared text while
 * other threads run. Registers are set for the call, the thread makes one single-step, and the
 * registers are put back.
 *
 * Only a *clean* stop will do: one inside signal delivery, where the thread is about to go back
 * to user space. At a PTRACE_EVENT stop (exec, clone, fork) it is inside a system call of its
 * own, whose result would be written over our number.
 *
 * A thread interrupted in a blocking system call carries -ERESTART… in its result and the
 * number in orig_ax. The kernel looks at both only when it goes back to user space, so they are
 * taken out of the way for our call and restored afterwards; the program's call is then
 * restarted as it would have been.
 *
 * Signals that arrive meanwhile stay away: all are blocked for the step but SIGTRAP (the step's
 * own; a forced signal that is blocked would lose its handler) and SIGSTOP (which cannot be),
 * which is sent again.
 */
#include "inferior/remote.h"

#include "inferior/journal.h"
#include "inferior/maps.h"
#include "inferior/proc.h"
#include "inferior/ptrace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEP_TIMEOUT_MS = 2000, PAGE = 4096 };

/* The address of a system-call instruction in the vDSO, or 1 when there is none. */
static uint64_t find_syscall_insn(const struct thread *thread)
{
	struct space *space = thread->process->space;
	struct maps maps;
	uint64_t found = 1;

	if (maps_read(thread->tid, &maps) < 0)
		return found;
	const struct mapping *vdso = maps_find_path(&maps, "[vdso]");
	size_t size = vdso ? (size_t)(vdso->end - vdso->start) : 0;

	if (size && size <= 64 * (size_t)PAGE) {
		unsigned char *text = malloc(size);
		size_t length = text ? memory_read(&space->memory, vdso->start, text, size) : 0;
		const unsigned char *place = length ? memmem(text, length,
							     space->arch->syscall_insn,
							     sizeof space->arch->syscall_insn)
						    : NULL;

		if (place)
			found = vdso->start + (uint64_t)(place - text);
		free(text);
	}
	maps_deinit(&maps);
	return found;
}

/* Hands the end of the thread on to the wait loop, which must see it. */
static int keep_end(struct thread *thread, int status)
{
	thread_defer(thread, status);
	return -ESRCH;
}

/* Steps until the trap of the step itself; a SIGSTOP in between is remembered. */
static int step_over(struct thread *thread, bool *stopped)
{
	for (int tries = 0; tries < 16; tries++) {
		int status;
		int error = pt_step(thread->tid, 0);

		if (!error)
			error = thread_wait(thread, &status, STEP_TIMEOUT_MS);
		if (error)
			return error;
		struct stop_status stop = stop_status_decode(status);

		if (stop.kind == STOP_SIGNAL && stop.signal == SIGTRAP)
			return 0;
		if (stop.kind == STOP_EXITED || stop.kind == STOP_KILLED)
			return keep_end(thread, status);
		if (stop.kind == STOP_SIGNAL || stop.kind == STOP_GROUP)
			*stopped = true;
	}
	return -EBUSY;
}

/* From one system-call stop to the next: in, and out again. Signals meanwhile are blocked. */
static int through_syscall(struct thread *thread, bool *stopped)
{
	for (int stops = 0, tries = 0; stops < 2; tries++) {
		int status;
		int error = tries < 16 ? pt_to_syscall(thread->tid) : -EBUSY;

		if (!error)
			error = thread_wait(thread, &status, STEP_TIMEOUT_MS);
		if (error)
			return error;
		struct stop_status stop = stop_status_decode(status);

		if (stop.kind == STOP_SIGNAL && stop.signal == SIGTRAP)
			stops++;
		else if (stop.kind == STOP_SIGNAL || stop.kind == STOP_GROUP)
			*stopped = true;
		else if (stop.kind == STOP_EXITED || stop.kind == STOP_KILLED)
			return keep_end(thread, status);
	}
	return 0;
}

/* One of the two ways to get through the call. */
typedef int pass_call(struct thread *thread, bool *stopped);

static int call_with(struct thread *thread, const struct regs *saved, long number,
		     const uint64_t arguments[6], pass_call *pass, int64_t *result)
{
	struct space *space = thread->process->space;
	struct regs regs = *saved;
	bool stopped = false;

	for (int i = 0; i < 6; i++)
		regs.r[space->arch->syscall_arg[i]] = arguments[i];
	regs.r[REG_AX] = (uint64_t)number;
	regs.pc = space->syscall_insn;
	regs.syscall = (uint64_t)-1;
	int error = regs_store(thread->tid, &regs);

	if (!error)
		error = pass(thread, &stopped);
	if (!error)
		error = regs_load(thread->tid, &regs);
	if (error)
		return error;
	*result = space->arch->abi->word == 4 ? (int32_t)regs.r[REG_AX] : (int64_t)regs.r[REG_AX];
	if (stopped)
		syscall(SYS_tgkill, thread->process->pid, thread->tid, SIGSTOP);
	return 0;
}

static int make_call(struct thread *thread, long number, const uint64_t arguments[6],
		     pass_call *pass, int64_t *result)
{
	struct space *space = thread->process->space;
	const uint64_t all_but_trap = ~(UINT64_C(1) << (SIGTRAP - 1));
	struct regs saved;
	uint64_t mask;

	/*
	 * A pending SIGTRAP (a breakpoint hit that is not reported yet) would pass for the
	 * step's.
	 */
	if (!thread_is_clean_stop(thread) || pt_signal_pending(thread->tid, SIGTRAP))
		return -EBUSY;
	if (!space->syscall_insn) {
		space->syscall_insn = find_syscall_insn(thread);
		/* A seccomp filter might kill the process for a call it never makes itself. */
		space->remote_refused = proc_status_number(thread->tid, "Seccomp") > 0;
	}
	if (space->remote_refused)
		return -EPERM;
	if (space->syscall_insn == 1)
		return -ENOENT;
	int error = regs_load(thread->tid, &saved);

	if (!error)
		error = pt_get_sigmask(thread->tid, &mask);
	if (!error)
		error = pt_set_sigmask(thread->tid, all_but_trap);
	if (error)
		return error;
	siginfo_t held;
	bool holds = pass == step_over && thread->stop == STOP_SIGNAL &&
		     pt_get_siginfo(thread->tid, &held) == 0;

	error = call_with(thread, &saved, number, arguments, pass, result);
	pt_set_sigmask(thread->tid, mask);
	regs_store(thread->tid, &saved);
	/* The step's stop takes the place of the signal's: the signal is delivered from there. */
	if (holds)
		pt_set_siginfo(thread->tid, &held);
	return error;
}

int remote_syscall(struct thread *thread, long number, const uint64_t arguments[6], int64_t *result)
{
	return make_call(thread, number, arguments, step_over, result);
}

int remote_syscall_quiet(struct thread *thread, long number, const uint64_t arguments[6],
			 int64_t *result)
{
	return make_call(thread, number, arguments, through_syscall, result);
}

int remote_map(struct thread *thread, uint64_t address, uint64_t length, int protection,
	       uint64_t *mapped)
{
	const struct arch *arch = thread->process->space->arch;
	struct journal *journal = thread->process->space->journal;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | (address ? MAP_FIXED_NOREPLACE : 0);
	uint64_t arguments[6] = {address,	  length,	(uint64_t)protection,
				 (uint64_t)flags, (uint64_t)-1, 0};
	size_t entry = journal_mapping(journal, address, length);
	int64_t result = 0;
	int error = remote_syscall(thread, arch->sys_mmap, arguments, &result);

	if (arch->abi->word == 4 && !error && (result > -1 || result < -4095))
		result = (int64_t)(uint32_t)result;
	if (!error && result < 0 && result >= -4095)
		error = (int)result;
	if (!error && address && (uint64_t)result != address) {
		/* A kernel that does not know MAP_FIXED_NOREPLACE took it for a hint. */
		remote_unmap(thread, (uint64_t)result, length);
		error = -EEXIST;
	}
	journal_forget(journal, entry);
	if (error)
		return error;
	journal_mapping(journal, (uint64_t)result, length);
	*mapped = (uint64_t)result;
	return 0;
}

int remote_unmap(struct thread *thread, uint64_t address, uint64_t length)
{
	struct journal *journal = thread->process->space->journal;
	uint64_t arguments[6] = {address, length};
	int64_t result;
	int error = remote_syscall(thread, thread->process->space->arch->sys_munmap, arguments,
				   &result);

	if (error || result)
		return error ? error : (int)result;
	for (size_t i = 0; i < journal_count(journal); i++) {
		const struct journal_entry *entry = journal_entry(journal, i);

		if (entry && entry->kind == JOURNAL_MAPPING && entry->address == address)
			journal_forget(journal, i);
	}
	return 0;
}

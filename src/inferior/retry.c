/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls that end because we look.
 *
 * Most system calls that a signal or an interrupt of ours comes into are made again by the kernel
 * when no handler runs: they return -ERESTART…, and the program never hears of it. Some return
 * -EINTR whatever came (signal(7), "Interruption of system calls and library functions by stop
 * signals", and sockets with a time-out). To an untraced process nothing comes that it neither
 * handles nor dies or stops of: signals it ignores are thrown away when they are sent. To a traced
 * one they come, as do our interrupts; so a program without a single handler would find that its
 * epoll_wait() fails with EINTR.
 *
 * At such a stop the result stands in a register. -ERESTARTNOHAND in its place means what the
 * program expects: the call is made again unless a handler runs, which ends it with -EINTR. Only
 * calls that have done nothing yet when they end like that can be made again (close() cannot), so
 * they are listed. A time-out begins anew; it is that, or an error that the program does not
 * expect.
 */
#include "inferior/inferior.h"
#include "inferior/ptrace.h"

#include <errno.h>

enum { KERNEL_ERESTARTNOHAND = 514 }; /* linux/errno.h */

bool syscall_may_be_retried(const struct arch *arch, uint64_t number, uint64_t first)
{
	for (unsigned i = 0; i < arch->retried_count; i++)
		if (arch->retried[i].number == number)
			return !arch->retried[i].which ||
			       (first < 32 && arch->retried[i].which >> first & 1);
	return false;
}

/* We may be told to end before we know what the process runs. */
static const struct arch *arch_of(const struct thread *thread)
{
	struct pt_syscall call;

	if (thread->process->space)
		return thread->process->space->arch;
	return pt_get_syscall(thread->tid, &call) == 0 ? arch_find_calls(call.arch) : NULL;
}

void thread_retry_call(struct thread *thread)
{
	const struct arch *arch = arch_of(thread);
	struct regs regs;

	if (!arch || regs_load(thread->tid, &regs) != 0)
		return;
	bool narrow = arch->abi->word == 4;
	int64_t number = narrow ? (int32_t)regs.syscall : (int64_t)regs.syscall;
	int64_t result = narrow ? (int32_t)regs.r[REG_AX] : (int64_t)regs.r[REG_AX];

	if (number < 0 || result != -EINTR ||
	    !syscall_may_be_retried(arch, (uint64_t)number, regs.r[arch->syscall_arg[0]]))
		return;
	regs.r[REG_AX] = (uint64_t) - (int64_t)KERNEL_ERESTARTNOHAND;
	regs_store(thread->tid, &regs);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Restarts system calls that have ended because of the tracer.
 *
 * Most system calls that a signal or a PTRACE_INTERRUPT interrupts are restarted by the kernel if
 * no handler runs: they return -ERESTART…, and the program does not notice. Some return -EINTR in
 * any case (signal(7), "Interruption of system calls and library functions by stop signals", and
 * sockets with a time-out). An untraced process never gets a signal that it ignores, as the kernel
 * discards the signal when it is sent. A traced process does get it, and the tracer's interrupts,
 * too. So a program without any handler would see epoll_wait() fail with EINTR.
 *
 * At such a stop the result is in a register. The tracer replaces it by -ERESTARTNOHAND, which does
 * what the program expects: the call is restarted, unless a handler runs, which ends it with
 * -EINTR. Only calls that have done nothing when they end with EINTR can be restarted (close()
 * cannot), so they are listed. A time-out begins anew; the alternative is an error that the program
 * does not expect.
 *
 * A call that sleeps for a time, as nanosleep(2), returns -ERESTART_RESTARTBLOCK: the kernel has
 * the thread call restart_syscall(2), which goes on for as long as was left. Where a seccomp(2)
 * filter kills for that, as SIGSTOP and SIGCONT would show, the call itself is restarted, too.
 */
#include "tracee/syscall_restart.h"

#include "tracee/ptrace.h"
#include "tracee/sandbox.h"
#include "tracee/tracee.h"

#include <errno.h>

/* linux/errno.h */
enum { KERNEL_ERESTARTNOHAND = 514, KERNEL_ERESTART_RESTARTBLOCK = 516 };

bool syscall_may_be_restarted(const struct arch *arch, uint64_t number, uint64_t first)
{
	for (unsigned i = 0; i < arch->retried_count; i++)
		if (arch->retried[i].number == number)
			return !arch->retried[i].which ||
			       (first < 32 && arch->retried[i].which >> first & 1);
	return false;
}

/* The tracer may detach before it knows which program the process runs. */
static const struct arch *arch_of(const struct thread *thread)
{
	struct pt_syscall call;

	if (thread->process->space)
		return thread->process->space->arch;
	return pt_get_syscall(thread->tid, &call) == 0 ? arch_find_calls(call.arch) : NULL;
}

void thread_restart_call(struct thread *thread)
{
	const struct arch *arch = arch_of(thread);
	struct regs regs;

	if (!arch || regs_load(thread->tid, &regs) != 0)
		return;
	bool narrow = arch->abi->word == 4;
	int64_t number = narrow ? (int32_t)regs.syscall : (int64_t)regs.syscall;
	int64_t result = narrow ? (int32_t)regs.r[REG_AX] : (int64_t)regs.r[REG_AX];

	bool is_to_restart = result == -EINTR &&
			     syscall_may_be_restarted(arch, (uint64_t)number,
						      regs.r[arch->syscall_arg[0]]);

	if (result == -KERNEL_ERESTART_RESTARTBLOCK)
		is_to_restart = sandbox_may_kill_for_restart(thread->tid, arch);
	if (number < 0 || !is_to_restart)
		return;
	regs.r[REG_AX] = (uint64_t) - (int64_t)KERNEL_ERESTARTNOHAND;
	regs_store(thread->tid, &regs);
}

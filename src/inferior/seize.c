/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attaching to a thread without waiting for it.
 *
 * PTRACE_SEIZE takes a lock of the process that an exec holds from its beginning to its end (the
 * kernel: cred_guard_mutex). An exec by one of several threads waits for the others to end, and one
 * that we have seized already ends only when we have heard of it, with PTRACE_O_TRACEEXIT. So the
 * exec waits for us and we for the exec. Others can hold one up as well: a debugger, a frozen
 * cgroup.
 *
 * The kernel's wait can be interrupted, but begins anew when the signal's handler returns
 * (-ERESTARTNOINTR). So the handler does not return: it jumps out. Whether the thread was seized in
 * that very moment is asked of /proc then. The jump leaves nothing behind but a system call, as the
 * handler only jumps while that is being made.
 *
 * The signal comes from a timer of the calling thread's, with the place to jump to as its value; so
 * nothing needs to be kept between calls.
 */
#include "inferior/seize.h"

#include "inferior/proc.h"
#include "inferior/ptrace.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

struct patience {
	volatile sig_atomic_t waiting;
	sigjmp_buf end;
};

static void jump_out(int signal, siginfo_t *info, void *context)
{
	struct patience *patience = info->si_value.sival_ptr;

	(void)signal;
	(void)context;
	if (info->si_code != SI_TIMER || !patience->waiting)
		return;
	patience->waiting = 0;
	siglongjmp(patience->end, 1);
}

/* Seizes, with the timer running. */
static int seize_or_jump(struct patience *patience, pid_t tid, unsigned long options)
{
	if (sigsetjmp(patience->end, 1))
		return proc_status_number(tid, "TracerPid") == getpid() ? 0 : -EINTR;
	patience->waiting = 1;
	int error = pt_seize(tid, options);

	patience->waiting = 0;
	return error;
}

int seize_within(pid_t tid, unsigned long options, unsigned timeout_ms)
{
	struct patience patience = {.waiting = 0};
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
				 .sigev_signo = SIGRTMIN,
				 .sigev_value.sival_ptr = &patience};
	const struct itimerspec once = {
		.it_value = {.tv_sec = timeout_ms / 1000,
			     .tv_nsec = (long)(timeout_ms % 1000) * 1000000}};
	struct sigaction action = {.sa_sigaction = jump_out, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigaction before;
	sigset_t timed;
	sigset_t mask;
	timer_t timer;

	sigemptyset(&timed);
	sigaddset(&timed, SIGRTMIN);
	event._sigev_un._tid = gettid();
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
		return pt_seize(tid, options); /* RLIMIT_SIGPENDING: better than not at all */
	sigaction(SIGRTMIN, &action, &before);
	pthread_sigmask(SIG_UNBLOCK, &timed, &mask);
	timer_settime(timer, 0, &once, NULL);
	int error = seize_or_jump(&patience, tid, options);

	timer_delete(timer);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	sigaction(SIGRTMIN, &before, NULL);
	return error;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attaches to a thread without blocking for long.
 *
 * PTRACE_SEIZE takes a lock of the process that an exec holds from beginning to end
 * (cred_guard_mutex in the kernel). An exec in a multi-threaded process waits for the other threads
 * to end, and a thread seized with PTRACE_O_TRACEEXIT ends only after the tracer has resumed it. So
 * exec and tracer would wait for each other. A debugger or a frozen cgroup can also hold up an
 * exec.
 *
 * A signal interrupts the kernel's wait, but the wait is restarted when the handler returns
 * (-ERESTARTNOINTR). So the handler does not return: it calls siglongjmp(). /proc then tells
 * whether the thread was seized at that very moment. The jump skips nothing but the system call, as
 * the handler only jumps during that.
 *
 * The signal comes from a timer of the calling thread, with the jump buffer as its value, so no
 * state is kept between calls.
 */
#include "tracee/seize.h"

#include "tracee/proc.h"
#include "tracee/ptrace.h"

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

/* Seizes the thread while the timer runs. */
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
		return pt_seize(tid, options); /* RLIMIT_SIGPENDING: seize without a time limit */
	sigaction(SIGRTMIN, &action, &before);
	pthread_sigmask(SIG_UNBLOCK, &timed, &mask);
	timer_settime(timer, 0, &once, NULL);
	int error = seize_or_jump(&patience, tid, options);

	timer_delete(timer);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	sigaction(SIGRTMIN, &before, NULL);
	return error;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tracer's own signals.
 *
 * The main loop sleeps in waitpid(2), as that reports a stop with a single system call. A handler
 * that sets a flag would race with it: the signal may arrive between the test of the flag and the
 * sleep. So the signals are blocked, and a second thread receives them with sigtimedwait(2). It
 * notes the signal and sends SIGURG to the tracing thread, every 2 ms until the signal has been
 * taken; the handler of SIGURG does nothing but interrupt waitpid(2). The second thread also makes
 * the tick, and watches the time at which tracing is to end, or something else is to be done.
 *
 * A SIGPIPE that a write(2) of the tracer causes is directed at the writing thread, where it stays
 * blocked: the write returns EPIPE. Only a SIGPIPE sent by another process arrives here.
 */
#include "tracee/interrupts.h"

#include "base/xalloc.h"
#include "tracee/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_US = 1000, NUDGE_US = 2000, IDLE_US = 200000, SIGNALS = 65 };

/*
 * All signals that end or stop a process and can be blocked: breakpoints must not be left behind.
 * And SIGWINCH, which is dropped unless somebody has asked for it.
 */
static const int WATCHED[] = {SIGINT,  SIGTERM, SIGHUP,	 SIGQUIT, SIGPIPE, SIGALRM,
			      SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ, SIGPROF, SIGVTALRM,
			      SIGIO,   SIGPWR,	SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH};

/* A time of clock_now(); 0: never, or it has come. */
struct due {
	atomic_uint_fast64_t time;
	atomic_bool has_come;
};

struct interrupts {
	pthread_t thread;
	pthread_t tracing;
	sigset_t watched;
	uint64_t ignored;	    /* ignored at start: bit N - 1 for signal N */
	atomic_uint pending;	    /* number of signals that wait */
	atomic_uint count[SIGNALS]; /* per signal number */
	atomic_uint from_terminal[SIGNALS];
	atomic_uint tick_us;
	struct due end;	   /* when tracing is to end */
	struct due alarm;  /* when something is to be done */
	atomic_bool asked; /* another thread wants something to be done */
	/* signals that do not end tracing: bit N - 1 for signal N */
	atomic_uint_fast64_t requests;
	atomic_bool stop;
};

static void nothing(int signal)
{
	(void)signal;
}

static void note(struct interrupts *interrupts, const siginfo_t *info)
{
	if (info->si_code == SI_KERNEL)
		atomic_fetch_add(&interrupts->from_terminal[info->si_signo], 1);
	atomic_fetch_add(&interrupts->count[info->si_signo], 1);
	atomic_fetch_add(&interrupts->pending, 1);
}

/* Notes that a time has come, or returns how many µs are left, `most` at most. */
static unsigned check_due(struct interrupts *interrupts, struct due *due, unsigned most)
{
	uint_fast64_t time = atomic_load(&due->time);
	const uint64_t now = clock_now();

	if (!time)
		return most;
	if (now >= time) {
		/* Fails if another time has just been set, which is looked at next. */
		if (atomic_compare_exchange_strong(&due->time, &time, 0)) {
			atomic_fetch_add(&interrupts->pending, 1);
			atomic_store(&due->has_come, true);
		}
		return most < NUDGE_US ? most : NUDGE_US;
	}
	if ((time - now) / NS_PER_US >= most)
		return most;
	return (unsigned)((time - now) / NS_PER_US) + 1;
}

static void *watch(void *argument)
{
	struct interrupts *interrupts = argument;

	while (!atomic_load(&interrupts->stop)) {
		unsigned tick = atomic_load(&interrupts->tick_us);
		bool pending = atomic_load(&interrupts->pending) != 0;
		unsigned wait = pending ? NUDGE_US : tick ? tick : IDLE_US;

		wait = check_due(interrupts, &interrupts->end, wait);
		wait = check_due(interrupts, &interrupts->alarm, wait);
		struct timespec timeout = {.tv_sec = wait / 1000000,
					   .tv_nsec = (long)(wait % 1000000) * 1000};
		siginfo_t info;
		int signal = sigtimedwait(&interrupts->watched, &info, &timeout);

		if (signal > 0 && signal < SIGNALS && signal != SIGURG &&
		    (signal != SIGWINCH || interrupts_is_request(interrupts, signal)))
			note(interrupts, &info);
		if (tick || atomic_load(&interrupts->pending))
			pthread_kill(interrupts->tracing, SIGURG);
	}
	return NULL;
}

/*
 * The argument of rt_sigaction(2); libc's sigaction(3) hides the two signals that it uses itself.
 */
struct kernel_sigaction {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

static void original_signals_read(struct original_signals *original)
{
	struct kernel_sigaction action;

	original->ignored = 0;
	pthread_sigmask(SIG_SETMASK, NULL, &original->mask);
	for (int signal = 1; signal < SIGNALS; signal++)
		if (syscall(SYS_rt_sigaction, signal, NULL, &action, sizeof action.mask) == 0 &&
		    action.handler == SIG_IGN)
			original->ignored |= UINT64_C(1) << (signal - 1);
}

void original_signals_restore(const struct original_signals *original)
{
	const struct kernel_sigaction action = {.handler = SIG_IGN};

	for (int signal = 1; signal < SIGNALS; signal++)
		if (original->ignored & (UINT64_C(1) << (signal - 1)))
			syscall(SYS_rt_sigaction, signal, &action, NULL, sizeof action.mask);
	pthread_sigmask(SIG_SETMASK, &original->mask, NULL);
}

int interrupts_start(struct interrupts **interrupts, struct original_signals *original)
{
	struct interrupts *made = xcalloc(1, sizeof *made);
	struct sigaction action = {.sa_handler = nothing};
	sigset_t urgent;

	made->tracing = pthread_self();
	sigemptyset(&made->watched);
	for (size_t i = 0; i < sizeof WATCHED / sizeof WATCHED[0]; i++)
		sigaddset(&made->watched, WATCHED[i]);
	sigaddset(&made->watched, SIGURG); /* wakes the receiving thread: interrupts_tick() */
	original_signals_read(original);
	made->ignored = original->ignored;
	pthread_sigmask(SIG_BLOCK, &made->watched, NULL);
	sigaction(SIGURG, &action, NULL);
	/* Stops are seen by waiting alone, so SIGCHLD is not needed for each stop. */
	sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP},
		  NULL);
	int error = pthread_create(&made->thread, NULL, watch, made);

	if (error) {
		pthread_sigmask(SIG_SETMASK, &original->mask, NULL);
		free(made);
		return -error;
	}
	sigemptyset(&urgent);
	sigaddset(&urgent, SIGURG);
	pthread_sigmask(SIG_UNBLOCK, &urgent, NULL);
	*interrupts = made;
	return 0;
}

void interrupts_stop(struct interrupts *interrupts)
{
	if (!interrupts)
		return;
	atomic_store(&interrupts->stop, true);
	/* SIGPIPE, sent to the receiving thread alone, wakes it, and is gone with it. */
	pthread_kill(interrupts->thread, SIGPIPE);
	pthread_join(interrupts->thread, NULL);
	free(interrupts);
}

int interrupts_take(struct interrupts *interrupts, bool *from_terminal)
{
	for (int signal = 1; signal < SIGNALS; signal++) {
		if (!atomic_load(&interrupts->count[signal]))
			continue;
		*from_terminal = atomic_load(&interrupts->from_terminal[signal]) != 0;
		if (*from_terminal)
			atomic_fetch_sub(&interrupts->from_terminal[signal], 1);
		atomic_fetch_sub(&interrupts->count[signal], 1);
		atomic_fetch_sub(&interrupts->pending, 1);
		return signal;
	}
	return 0;
}

bool interrupts_pending(const struct interrupts *interrupts)
{
	return atomic_load_explicit(&interrupts->pending, memory_order_relaxed) != 0;
}

bool interrupts_is_stop(int signal)
{
	return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

bool interrupts_is_ignored(const struct interrupts *interrupts, int signal)
{
	if (signal == SIGINT || signal == SIGQUIT)
		return false;
	return interrupts->ignored >> (signal - 1) & 1;
}

void interrupts_set_end(struct interrupts *interrupts, uint64_t time)
{
	atomic_store(&interrupts->end.time, time);
	pthread_kill(interrupts->thread, SIGURG);
}

void interrupts_set_alarm(struct interrupts *interrupts, uint64_t time)
{
	atomic_store(&interrupts->alarm.time, time);
	pthread_kill(interrupts->thread, SIGURG);
}

bool interrupts_take_alarm(struct interrupts *interrupts)
{
	if (!atomic_exchange(&interrupts->alarm.has_come, false))
		return false;
	atomic_fetch_sub(&interrupts->pending, 1);
	return true;
}

void interrupts_ask(struct interrupts *interrupts)
{
	if (atomic_exchange(&interrupts->asked, true))
		return;
	atomic_fetch_add(&interrupts->pending, 1);
	pthread_kill(interrupts->thread, SIGURG);
}

bool interrupts_take_asked(struct interrupts *interrupts)
{
	if (!atomic_exchange(&interrupts->asked, false))
		return false;
	atomic_fetch_sub(&interrupts->pending, 1);
	return true;
}

void interrupts_set_request(struct interrupts *interrupts, int signal)
{
	atomic_fetch_or(&interrupts->requests, UINT64_C(1) << (signal - 1));
}

bool interrupts_is_request(const struct interrupts *interrupts, int signal)
{
	return atomic_load(&interrupts->requests) >> (signal - 1) & 1;
}

bool interrupts_is_over(const struct interrupts *interrupts)
{
	return atomic_load(&interrupts->end.has_come);
}

bool interrupts_end(const struct interrupts *interrupts)
{
	if (interrupts_is_over(interrupts))
		return true;
	for (int signal = 1; signal < SIGNALS; signal++)
		if (atomic_load(&interrupts->count[signal]) && !interrupts_is_stop(signal) &&
		    !interrupts_is_request(interrupts, signal) &&
		    !interrupts_is_ignored(interrupts, signal))
			return true;
	return false;
}

void interrupts_tick(struct interrupts *interrupts, unsigned microseconds)
{
	if (atomic_exchange(&interrupts->tick_us, microseconds) == microseconds)
		return;
	if (microseconds)
		pthread_kill(interrupts->thread, SIGURG);
}

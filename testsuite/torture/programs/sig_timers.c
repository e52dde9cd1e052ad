/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fixed work while a timer's signals come: interval timers of the process, one timer for each thread.
 * The first so many signals' handlers call traced functions, so that the number of these calls is known;
 * all of them look at where the program was interrupted. When the work is done, the first so many are
 * waited for.
 */
#include "sig.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

enum { THREADS_MAX = 16 };

static _Atomic long ticks, wrong;
static long traced_ticks;
static char kind;
static long period_us;

static void on_tick(int number, siginfo_t *info, void *context)
{
	int saved = errno;
	long tick = ticks++;

	check_pc(context);
	if (kind == 't' && (info->si_code != SI_TIMER || info->si_value.sival_int != 77))
		wrong++;
	if (kind != 't' && info->si_code != SI_KERNEL)
		wrong++;
	if (number != (kind != 'p' ? SIGALRM : SIGPROF))
		wrong++;
	if (tick < traced_ticks) {
		call_tick((int)tick);
		sum((unsigned long)call_outer(5));
	}
	errno = saved;
}

static void start_interval(long us)
{
	struct itimerval value = {.it_interval = {0, us}, .it_value = {0, us}};

	if (setitimer(kind != 'p' ? ITIMER_REAL : ITIMER_PROF, &value, NULL))
		die("setitimer");
}

static void *worker(void *rounds)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM};
	struct itimerspec value = {.it_interval = {0, period_us * 1000}, .it_value = {0, period_us * 1000}};
	timer_t timer;
	bool own = kind == 't';

	if (own) {
		event.sigev_value.sival_int = 77;
		event._sigev_un._tid = own_tid();
		if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &value, NULL))
			die("timer");
	}
	work(*(int *)rounds);
	while (ticks < traced_ticks)
		;
	if (own)
		timer_delete(timer);
	return NULL;
}

/* timers KIND MICROSECONDS THREADS ROUNDS TRACED-TICKS; KIND: itimer, timer, prof */
static void timers(const struct arguments *arguments)
{
	pthread_t threads[THREADS_MAX];
	int rounds = arguments->number[3];
	int count = arguments->number[2];

	kind = arguments->word[0];
	period_us = arguments->number[1];
	traced_ticks = arguments->number[4];
	handle(kind != 'p' ? SIGALRM : SIGPROF, on_tick, SA_RESTART, NULL);
	if (kind != 't')
		start_interval(period_us);
	for (int i = 1; i < count; i++)
		if (pthread_create(&threads[i], NULL, worker, &rounds))
			die("pthread_create");
	worker(&rounds);
	for (int i = 1; i < count; i++)
		pthread_join(threads[i], NULL);
	if (kind != 't')
		start_interval(0);
	printf("wrong %ld\n", wrong);
}

const struct verb timer_verbs[] = {{"timers", timers}, {0}};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that call libwork, and signals that come in between. */
#include "calls.h"
#include "outer.h"
#include "work.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

static void *counting_thread(void *argument)
{
	int n = *(int *)argument, sum = 0;

	for (int i = 0; i < n; i++)
		sum += work_add(i, 1) - i;
	return (void *)(intptr_t)sum;
}

static void threads(void)
{
	int count = number(), each = number(), sum = 0;
	pthread_t thread[64];
	void *result;

	for (int i = 0; i < count; i++)
		pthread_create(&thread[i], NULL, counting_thread, &each);
	for (int i = 0; i < count; i++) {
		pthread_join(thread[i], &result);
		sum += (int)(intptr_t)result;
	}
	say("threads %d", sum);
}

static pthread_t busy_thread[64];
static int busy_count;
static atomic_bool busy_stop;
static atomic_long busy_calls, busy_wrong;

/* Some 100 us of a processor: calls that are caught inside would be a million lines a second otherwise. */
static void spend_time(void)
{
	for (volatile int i = 0; i < 100000; i++)
		;
}

static void *busy_loop(void *unused)
{
	(void)unused;
	for (int i = 0; !atomic_load(&busy_stop); i = (i + 1) % 1000) {
		if (work_add(i, 3) != i + 3 || work_square(i) != i * i || outer_add(i, 1) != i + 1)
			atomic_fetch_add(&busy_wrong, 1);
		atomic_fetch_add(&busy_calls, 3);
		spend_time();
	}
	return NULL;
}

static void busy(void)
{
	busy_count = number();
	atomic_store(&busy_stop, false);
	for (int i = 0; i < busy_count; i++)
		pthread_create(&busy_thread[i], NULL, busy_loop, NULL);
	say("busy");
}

/* Says whether the busy threads get on: waits until each had time for some more calls. */
static void progress(void)
{
	long before = atomic_load(&busy_calls);

	while (atomic_load(&busy_calls) < before + 3000)
		usleep(1000);
	say("progress");
}

static void stop(void)
{
	atomic_store(&busy_stop, true);
	for (int i = 0; i < busy_count; i++)
		pthread_join(busy_thread[i], NULL);
	say("stopped %ld", atomic_load(&busy_wrong));
}

static atomic_bool breed_stop;

static void *breeding_thread(void *unused)
{
	while (!atomic_load(&breed_stop)) {
		pthread_t thread;
		int one = 1;

		if (pthread_create(&thread, NULL, counting_thread, &one) == 0)
			pthread_join(thread, NULL);
	}
	return unused;
}

/* Threads that come and go all the time. */
static void breed(void)
{
	atomic_store(&breed_stop, false);
	busy_count = number();
	for (int i = 0; i < busy_count; i++)
		pthread_create(&busy_thread[i], NULL, breeding_thread, NULL);
	say("breeding");
}

static void breed_end(void)
{
	atomic_store(&breed_stop, true);
	for (int i = 0; i < busy_count; i++)
		pthread_join(busy_thread[i], NULL);
	say("bred");
}

/* ---- signals ---- */

static volatile sig_atomic_t caught[65];

static void handler(int signal_number)
{
	caught[signal_number]++;
	work_add(signal_number, 900);
}

static void catch(void)
{
	int n = number();
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

	sigaction(n, &action, NULL);
	say("catching %d", n);
}

static void send(void)
{
	int n = number();

	kill(getpid(), n);
	say("sent %d", n);
}

static void caught_number(void)
{
	int n = number();

	say("caught %d", (int)caught[n]);
}

/* Waits until a signal that was asked for with `catch` has come. */
static void await(void)
{
	int n = number();

	while (caught[n] == 0)
		usleep(1000);
	say("caught %d", (int)caught[n]);
}

/* A timer's signal every 300 µs while three threads call. */
static void storm(void)
{
	int n = number();
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
	struct itimerspec every = {{0, 300000}, {0, 300000}};
	timer_t timer;
	int each = n;
	pthread_t thread[3];
	void *result;
	int sum = 0;

	sigaction(SIGRTMIN, &action, NULL);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &every, NULL);
	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, counting_thread, &each);
	for (int i = 0; i < 3; i++) {
		pthread_join(thread[i], &result);
		sum += (int)(intptr_t)result;
	}
	timer_delete(timer);
	say("storm %d", sum);
}

const struct verb thread_verbs[] = {
	{"threads", threads},
	{"busy", busy},
	{"progress", progress},
	{"stop", stop},
	{"breed", breed},
	{"breed-end", breed_end},
	{"catch", catch},
	{"send", send},
	{"caught", caught_number},
	{"await", await},
	{"storm", storm},
	{0},
};

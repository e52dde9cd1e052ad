/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usage: unwound COUNT [coroutine]
 *
 * Exceptions through calls of a library, within calls of it that return: thrown again on the way,
 * in destructors while another one unwinds, in handlers of a timer's signals, in two threads; or on
 * a stack of a coroutine. Says how often the library was called.
 */
#include "work.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <pthread.h>
#include <sys/time.h>
#include <ucontext.h>

static std::atomic<long> calls, adds, caught;
static int count;

static void call(void (*function)(void *), void *argument)
{
	calls++;
	work_call(function, argument);
}

static void throws(void *argument)
{
	adds++;
	throw work_add(*static_cast<int *>(argument), 1);
}

static void passes(void *argument)
{
	call(throws, argument);
}

struct Guard {
	int number;
	~Guard()
	{
		try {
			call(throws, &number);
		} catch (int) {
			caught++;
		}
	}
};

static void cleans_up(void *argument)
{
	Guard guard{*static_cast<int *>(argument)};

	call(passes, argument);
}

static void throws_again(void *argument)
{
	try {
		call(cleans_up, argument);
	} catch (int) {
		caught++;
		throw;
	}
}

/* 30 ms, whatever handlers run meanwhile. */
static void rest()
{
	timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += 30000000;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, nullptr) != 0)
		;
}

/* Its own call returns, after all these have been left. */
static void catches(void *)
{
	for (int i = 0; i < count; i++) {
		try {
			call(throws_again, &i);
		} catch (int number) {
			caught += number == i + 1;
		}
	}
	rest();
}

static void handler(int)
{
	int number = 0;

	try {
		call(throws, &number);
	} catch (int) {
	}
}

static void *thread(void *)
{
	call(catches, nullptr);
	return nullptr;
}

static ucontext_t around, within;

static void coroutine()
{
	call(catches, nullptr);
}

static void run_coroutine()
{
	static char stack[65536];

	getcontext(&within);
	within.uc_stack.ss_sp = stack;
	within.uc_stack.ss_size = sizeof stack;
	within.uc_link = &around;
	makecontext(&within, coroutine, 0);
	swapcontext(&around, &within);
}

static void run_threads()
{
	const struct itimerval often = {{0, 900}, {0, 900}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {};
	pthread_t other;

	action.sa_handler = handler;
	action.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &action, nullptr);
	pthread_create(&other, nullptr, thread, nullptr);
	setitimer(ITIMER_REAL, &often, nullptr);
	thread(nullptr);
	pthread_join(other, nullptr);
	setitimer(ITIMER_REAL, &never, nullptr);
	caught -= 2 * count;
}

int main(int argc, char **argv)
{
	count = argc > 1 ? std::atoi(argv[1]) : 1;
	if (argc > 2)
		run_coroutine();
	else
		run_threads();
	std::printf("work_call %ld\nwork_add %ld\n", calls.load(), adds.load());
	return caught != (argc > 2 ? 3 : 4) * count;
}

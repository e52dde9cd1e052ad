/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Both ways of waiting have the same result; what is known of the other way is kept. */
#include "tracee/waiting.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { SLEEPING, LOOKING, WAYS };

/* A state in which one way has been much the better so far. */
static struct waiting prefer(int way)
{
	struct waiting waiting = {.count = 100};

	waiting.cost[way] = 1;
	waiting.cost[!way] = 40000;
	return waiting;
}

static void test_finds(void **state)
{
	(void)state;
	for (int way = 0; way < WAYS; way++) {
		struct waiting waiting = prefer(way);

		for (int i = 0; i < 20; i++) {
			int status = 0;
			pid_t pid = fork();

			if (pid == 0)
				_exit(i);
			waiting.idle = 0;
			assert_int_equal(waiting_next(&waiting, true, &status), pid);
			assert_true(WIFEXITED(status) && WEXITSTATUS(status) == i);
			assert_int_equal(waiting.cost[!way], 40000);
			waiting = prefer(way);
		}
		int status;

		assert_int_equal(waiting_next(&waiting, true, &status), -ECHILD);
		assert_int_equal(waiting_next(&waiting, false, &status), -ECHILD);
	}
}

static void test_does_not_block(void **state)
{
	struct waiting waiting = {0};
	pid_t pid = fork();
	int status;

	(void)state;
	if (pid == 0)
		for (;;)
			pause();
	for (int i = 0; i < 100; i++)
		assert_int_equal(waiting_next(&waiting, false, &status), 0);
	/* There was no wait, so nothing is learnt. */
	assert_int_equal(waiting.count, 0);
	assert_int_equal(waiting.idle, 0);
	kill(pid, SIGKILL);
	assert_int_equal(waiting_next(&waiting, true, &status), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void ignore(int signal)
{
	(void)signal;
}

/* A signal to the tracer ends a wait in either way. */
static void test_interrupted(void **state)
{
	const struct itimerval often = {{.tv_usec = 20000}, {.tv_usec = 20000}};
	const struct itimerval never = {0};
	struct sigaction action = {.sa_handler = ignore};
	pid_t pid = fork();
	int status;

	(void)state;
	if (pid == 0)
		for (;;)
			pause();
	sigaction(SIGALRM, &action, NULL);
	for (int way = 0; way < WAYS; way++) {
		struct waiting waiting = prefer(way);

		setitimer(ITIMER_REAL, &often, NULL);
		assert_int_equal(waiting_next(&waiting, true, &status), -EINTR);
		setitimer(ITIMER_REAL, &never, NULL);
	}
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

/* Whatever happened before, a round of waits tries both ways. */
static void test_tries_both(void **state)
{
	(void)state;
	for (int way = 0; way < WAYS; way++) {
		struct waiting waiting = prefer(way);
		bool tried = false;

		/* Nothing to wait for: every wait is short. */
		for (int i = 0; i < 300; i++) {
			int status;

			waiting.cost[way] = 1;
			waiting.cost[!way] = 1 << 30;
			waiting.idle = 0;
			assert_int_equal(waiting_next(&waiting, true, &status), -ECHILD);
			tried |= waiting.cost[!way] != 1 << 30;
		}
		assert_true(tried);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds),
		cmocka_unit_test(test_does_not_block),
		cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_tries_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that sleeps inside of a read is distinguished from one that is slow, awake, or
 * elsewhere.
 */
#include "tracee/watchdog.h"

#include "tracee/proc.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { GIVE_UP_S = 120 };

struct scene {
	struct watchdog *watchdog;
	pid_t pid;
	int woken[2]; /* a pipe that tells that the child is about to sleep */
};

/*
 * Inside of one read: sleeps until a signal comes, again and again; after SIGUSR2 it stays awake.
 */
static void play_child(const struct scene *scene)
{
	sigset_t both;
	int signal = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	watchdog_enter(scene->watchdog, 77);
	sigemptyset(&both);
	sigaddset(&both, SIGUSR1);
	sigaddset(&both, SIGUSR2);
	sigprocmask(SIG_BLOCK, &both, NULL);
	while (signal != SIGUSR2) {
		if (write(scene->woken[1], "", 1) != 1)
			_exit(1);
		sigwait(&both, &signal);
	}
	for (;;)
		continue;
}

static void wait_asleep(const struct scene *scene)
{
	char byte;

	assert_int_equal(read(scene->woken[0], &byte, 1), 1);
	while (proc_state(scene->pid) != 'S')
		sched_yield();
}

static int setup(void **state)
{
	static struct scene scene;

	*state = &scene;
	alarm(GIVE_UP_S);
	scene.watchdog = watchdog_create();
	if (!scene.watchdog || pipe(scene.woken) != 0)
		return -1;
	scene.pid = fork();
	if (scene.pid == 0)
		play_child(&scene);
	return 0;
}

static int teardown(void **state)
{
	struct scene *scene = *state;

	kill(scene->pid, SIGKILL);
	waitpid(scene->pid, NULL, 0);
	watchdog_destroy(scene->watchdog);
	close(scene->woken[0]);
	close(scene->woken[1]);
	return 0;
}

static void test_asleep(void **state)
{
	struct scene *scene = *state;
	struct watchdog_check look = {0};

	wait_asleep(scene);
	assert_int_equal(atomic_load(&scene->watchdog->tid), 77);
	for (unsigned i = 1; i < 9; i++)
		assert_int_equal(watchdog_check(scene->watchdog, &look, scene->pid), i);
	/* Awake for a moment, in the same read. */
	kill(scene->pid, SIGUSR1);
	wait_asleep(scene);
	assert_int_equal(watchdog_check(scene->watchdog, &look, scene->pid), 1);
	assert_int_equal(watchdog_check(scene->watchdog, &look, scene->pid), 2);
	/* Another read. */
	watchdog_leave(scene->watchdog);
	watchdog_enter(scene->watchdog, 78);
	assert_int_equal(watchdog_check(scene->watchdog, &look, scene->pid), 1);
}

static void test_elsewhere(void **state)
{
	struct scene *scene = *state;
	struct watchdog_check look = {0};

	wait_asleep(scene);
	assert_int_equal(watchdog_check(scene->watchdog, &look, scene->pid), 1);
	watchdog_leave(scene->watchdog);
	for (int i = 0; i < 3; i++)
		assert_int_equal(watchdog_check(scene->watchdog, &look, scene->pid), 0);
}

static void test_awake(void **state)
{
	struct scene *scene = *state;
	struct watchdog_check look = {0};

	wait_asleep(scene);
	kill(scene->pid, SIGUSR2);
	while (proc_state(scene->pid) != 'R')
		sched_yield();
	for (int i = 0; i < 3; i++)
		assert_int_equal(watchdog_check(scene->watchdog, &look, scene->pid), 0);
	/* A stopped process is not asleep, either. */
	kill(scene->pid, SIGSTOP);
	while (proc_state(scene->pid) != 'T')
		sched_yield();
	assert_int_equal(watchdog_check(scene->watchdog, &look, scene->pid), 0);
}

static void test_nobody_looks(void **state)
{
	(void)state;
	watchdog_enter(NULL, 1);
	watchdog_leave(NULL);
	watchdog_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_asleep, setup, teardown),
		cmocka_unit_test_setup_teardown(test_elsewhere, setup, teardown),
		cmocka_unit_test_setup_teardown(test_awake, setup, teardown),
		cmocka_unit_test(test_nobody_looks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

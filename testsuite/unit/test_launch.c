/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command is launched, or the reason is returned. */
#include "tasks.h"
#include "tracee/launch.h"
#include "tracee/resume.h"

#include <sys/resource.h>

static void test_launch(void **state)
{
	struct tracees *tracees = *state;
	struct thread *thread = launch(tracees, "exit");

	assert_false(thread_is_safe_stop(thread));
	thread_resume(thread, 0);
	assert_int_equal(run_to_end(tracees), 42);
}

static void test_launch_errors(void **state)
{
	static const struct {
		const char *program;
		int error;
	} cases[] = {{"/no/such/program", -ENOENT},
		     {"no-such-program-in-the-path", -ENOENT},
		     {"", -ENOENT},
		     {"/", -EACCES},
		     {"/dev/null", -EACCES},
		     {"/dev/null/x", -ENOTDIR}};
	struct tracees *tracees = *state;
	struct process *process;
	struct stop stop;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *const argv[] = {(char *)(uintptr_t)cases[i].program, NULL};

		assert_int_equal(tracees_launch(tracees, argv, &original, &process),
				 cases[i].error);
		assert_int_equal(tracees->threads.count, 0);
		assert_int_equal(tracees->processes.count, 0);
		assert_int_equal(tracees_next(tracees, true, &stop), -ECHILD);
	}
}

/* Without free descriptors an error is returned, and no descriptor leaks. */
static void test_launch_without_descriptors(void **state)
{
	struct tracees *tracees = *state;
	char *const argv[] = {(char[]){"/proc/self/exe"}, (char[]){"exit"}, NULL};
	struct process *process;
	struct rlimit limit;
	int taken[1024];
	int count = 0;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){64, limit.rlim_max}), 0);
	while (count < 1024 && (taken[count] = dup(STDERR_FILENO)) >= 0)
		count++;
	assert_true(count > 3 && count < 1024);
	/* Room for none up to three descriptors: one pipe and half of another. */
	for (int freed = 0; freed < 4; freed++) {
		for (int k = 0; k < freed; k++)
			close(taken[count - 1 - k]);
		assert_int_equal(tracees_launch(tracees, argv, &original, &process), -EMFILE);
		for (int k = 0; k < freed; k++)
			assert_true((taken[count - 1 - k] = dup(STDERR_FILENO)) >= 0);
	}
	while (count)
		close(taken[--count]);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(tracees->threads.count, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		STORY(test_launch),
		STORY(test_launch_errors),
		STORY(test_launch_without_descriptors),
	};

	begin(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Real processes for unit tests. A test that needs them is a program that launches itself with the
 * name of a role as its argument. No test depends on timing: where an event must have happened,
 * waitid(2) with WNOWAIT waits for it without consuming it. A child's stdin is a pipe if the child
 * reads it, else the stdin of the test.
 */
#ifndef TRACER_TESTSUITE_UNIT_TASKS_H
#define TRACER_TESTSUITE_UNIT_TASKS_H

#include "target/task_state.h"
#include "tracee/interrupts.h"
#include "tracee/journal.h"
#include "tracee/launch.h"
#include "tracee/maps.h"
#include "tracee/ptrace.h"
#include "tracee/resume.h"
#include "tracee/space.h"
#include "tracee/tracee.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGE = 4096, TASKS = 12, TIMEOUT_MS = 20000, GIVE_UP_S = 120 };

/* ------------------------------------------------------------------ the roles of the child */

static volatile int got_value;

static inline void on_signal(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	got_value = info->si_value.sival_int;
}

/* Exits with the value that was sent along with a signal to itself. */
static inline int role_signal(int signal)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

	sigaction(signal, &action, NULL);
	pthread_sigqueue(pthread_self(), signal, (union sigval){.sival_int = 77});
	return got_value;
}

/* Exits with the byte that it reads. */
static inline int role_read(void)
{
	unsigned char byte = 0;

	return read(STDIN_FILENO, &byte, 1) == 1 ? byte : 1;
}

static inline int role_fork(void)
{
	for (int i = 0; i < TASKS; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(i);
		int status;

		if (pid < 0 || waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != i)
			return 1;
	}
	return 0;
}

static inline void *do_nothing(void *argument)
{
	return argument;
}

static inline int role_threads(void)
{
	pthread_t threads[TASKS];

	for (int i = 0; i < TASKS; i++)
		if (pthread_create(&threads[i], NULL, do_nothing, NULL))
			return 1;
	for (int i = 0; i < TASKS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static inline void *do_exec(void *argument)
{
	execl("/proc/self/exe", "child", "exit", NULL);
	return argument;
}

/* Execs another program from a thread that is not the leader. */
static inline int role_exec(void)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, do_exec, NULL))
		pthread_join(thread, NULL);
	return 1;
}

static inline int play(const char *role)
{
	if (!strcmp(role, "exit"))
		return 42;
	if (!strcmp(role, "signal"))
		return role_signal(SIGUSR1);
	if (!strcmp(role, "trap"))
		return role_signal(SIGTRAP);
	if (!strcmp(role, "read"))
		return role_read();
	if (!strcmp(role, "fork"))
		return role_fork();
	if (!strcmp(role, "threads"))
		return role_threads();
	return !strcmp(role, "exec") ? role_exec() : 99;
}

/* ------------------------------------------------------------------ the tracer's side */

static inline const struct arch *host_arch(void)
{
	return sizeof(void *) == 8 ? &arch_x86_64 : &arch_i386;
}

static const struct original_signals original;

/* Launches a role. Returns the thread at its exec stop, which tracees_next() has reported. */
static inline struct thread *launch(struct tracees *tracees, const char *role)
{
	char program[4096] = "";
	char *const argv[] = {program, (char *)(uintptr_t)role, NULL};
	struct process *process = NULL;
	struct stop stop;

	/*
	 * Under valgrind the link in /proc leads to valgrind, but readlink() returns this program.
	 */
	assert_true(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
	assert_int_equal(tracees_launch(tracees, argv, &original, &process), 0);
	assert_true(process->launched);
	assert_int_equal(tracees_next(tracees, true, &stop), 0);
	assert_int_equal(stop.kind, STOP_EXEC);
	assert_false(stop.first);
	assert_ptr_equal(stop.thread, tracees_thread(tracees, process->pid));
	assert_ptr_equal(stop.thread->process, process);
	assert_int_equal(stop.message, process->pid);
	return stop.thread;
}

/* Launches the role that reads its stdin, a pipe. *end: the end to write to. */
static inline struct thread *launch_reader(struct tracees *tracees, int *end)
{
	int ends[2];
	int input = dup(STDIN_FILENO);

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	struct thread *thread = launch(tracees, "read");

	dup2(input, STDIN_FILENO);
	close(input);
	close(ends[0]);
	*end = ends[1];
	return thread;
}

/* Resumes the thread up to its first safe stop, with an address space. */
static inline void make_clean(struct tracees *tracees, struct thread *thread)
{
	struct stop stop;
	int error = 0;

	assert_int_equal(pt_interrupt(thread->tid), 0);
	thread_resume(thread, 0);
	assert_int_equal(tracees_next(tracees, true, &stop), 0);
	assert_int_equal(stop.kind, STOP_TRAP);
	assert_ptr_equal(stop.thread, thread);
	assert_true(thread_is_safe_stop(thread));
	thread->process->space = space_create(thread->tid, host_arch(), &error);
	assert_non_null(thread->process->space);
}

/* Waits until a thread has something to report, without consuming the report. */
static inline void await_report(pid_t tid)
{
	siginfo_t info;

	assert_int_equal(waitid(P_PID, (id_t)tid, &info, WSTOPPED | WEXITED | WNOWAIT | __WALL), 0);
}

/* Lets the last thread run to its end. Returns its exit status. */
static inline int run_to_end(struct tracees *tracees)
{
	struct stop stop;

	for (;;) {
		assert_int_equal(tracees_next(tracees, true, &stop), 0);
		assert_non_null(stop.thread);
		if (stop.kind == STOP_EXITED || stop.kind == STOP_KILLED)
			break;
		thread_resume(stop.thread, stop.kind == STOP_SIGNAL ? stop.signal : 0);
	}
	thread_destroy(tracees, stop.thread);
	assert_int_equal(tracees_next(tracees, true, &stop), -ECHILD);
	assert_int_equal(tracees->threads.count, 0);
	assert_int_equal(tracees->processes.count, 0);
	return stop.kind == STOP_EXITED ? stop.signal : -1;
}

static inline int set_up(void **state)
{
	*state = tracees_create(&task_state_sizes);
	return 0;
}

/* Ends the processes that a failed test has left. */
static inline int tear_down(void **state)
{
	struct tracees *tracees = *state;
	size_t cursor = 0;
	uint64_t tid;
	void *value;
	pid_t gone;
	int status;

	while (map_next(&tracees->threads, &cursor, &tid, &value))
		kill((pid_t)tid, SIGKILL);
	while ((gone = waitpid(-1, &status, __WALL)) > 0)
		if (WIFSTOPPED(status))
			pt_continue(gone, 0); /* about to exit */
	tracees_destroy(tracees);
	return 0;
}

static inline struct regs registers_of(const struct thread *thread)
{
	struct regs regs;

	memset(&regs, 0, sizeof regs);
	assert_int_equal(regs_load(thread->tid, &regs), 0);
	return regs;
}

static inline size_t mappings_noted(const struct journal *journal)
{
	size_t count = 0;

	for (size_t i = 0; i < journal_count(journal); i++) {
		const struct journal_entry *entry = journal_entry(journal, i);

		count += entry && entry->kind == JOURNAL_MAPPING;
	}
	return count;
}

static inline bool is_mapped(const struct thread *thread, uint64_t address, struct mapping *found)
{
	struct maps maps;

	assert_int_equal(maps_read(thread->tid, &maps), 0);
	const struct mapping *mapping = maps_find(&maps, address);

	if (mapping && found)
		*found = *mapping;
	maps_deinit(&maps);
	return mapping != NULL;
}

#define STORY(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

/*
 * The first call in main(): a child plays its role and exits, and a test that hangs is killed.
 * stdin may be closed; a pipe that got its number would be lost again in launch_reader().
 */
static inline void begin(int argc, char **argv)
{
	if (argc > 1)
		_exit(play(argv[1]));
	if (fcntl(STDIN_FILENO, F_GETFD) < 0)
		assert_int_equal(open("/dev/null", O_RDONLY), STDIN_FILENO);
	alarm(GIVE_UP_S);
}

#endif

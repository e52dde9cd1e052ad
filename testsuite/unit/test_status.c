/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Wait statuses as ptrace(2) describes them: signal << 8 | 0x7f, events in the bits above. */
#include "tracee/status.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static int stopped(int signal, int event)
{
	return event << 16 | signal << 8 | 0x7f;
}

static void expect(int wait_status, enum stop_kind kind, int signal)
{
	struct stop_status decoded = stop_status_decode(wait_status);

	assert_int_equal(decoded.kind, kind);
	assert_int_equal(decoded.signal, signal);
}

static void test_ends(void **state)
{
	(void)state;
	expect(0, STOP_EXITED, 0);
	for (int status = 1; status < 256; status++)
		expect(status << 8, STOP_EXITED, status);
	for (int signal = 1; signal <= SIGRTMAX; signal++) {
		expect(signal, STOP_KILLED, signal);
		expect(signal | 0x80, STOP_KILLED, signal); /* with a core */
	}
}

static void test_signals(void **state)
{
	(void)state;
	/* Stop signals are ordinary signals until they are delivered. */
	for (int signal = 1; signal <= SIGRTMAX; signal++)
		expect(stopped(signal, 0), STOP_SIGNAL, signal);
}

static void test_event_stops(void **state)
{
	static const int group[] = {SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};

	(void)state;
	for (size_t i = 0; i < sizeof group / sizeof *group; i++)
		expect(stopped(group[i], PTRACE_EVENT_STOP), STOP_GROUP, group[i]);
	expect(stopped(SIGTRAP, PTRACE_EVENT_STOP), STOP_TRAP, SIGTRAP);
}

static void test_events(void **state)
{
	(void)state;
	expect(stopped(SIGTRAP, PTRACE_EVENT_CLONE), STOP_CLONE, 0);
	expect(stopped(SIGTRAP, PTRACE_EVENT_FORK), STOP_FORK, 0);
	expect(stopped(SIGTRAP, PTRACE_EVENT_VFORK), STOP_VFORK, 0);
	expect(stopped(SIGTRAP, PTRACE_EVENT_EXEC), STOP_EXEC, 0);
	expect(stopped(SIGTRAP, PTRACE_EVENT_EXIT), STOP_ENDING, 0);
	/*
	 * Events that were not asked for, or come from a newer kernel, are never taken for signals
	 * to deliver.
	 */
	expect(stopped(SIGTRAP, PTRACE_EVENT_VFORK_DONE), STOP_OTHER, 0);
	expect(stopped(SIGTRAP, PTRACE_EVENT_SECCOMP), STOP_OTHER, 0);
	expect(stopped(SIGTRAP, 99), STOP_OTHER, 0);
}

/* A SIGTRAP of a system-call stop has a bit that no signal has. */
static void test_system_calls(void **state)
{
	(void)state;
	expect(stopped(SIGTRAP | 0x80, 0), STOP_SYSCALL, 0);
	expect(stopped(SIGTRAP, 0), STOP_SIGNAL, SIGTRAP);
}

/* Statuses from the kernel of this machine. */
static void test_real(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(42);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	expect(status, STOP_EXITED, 42);
	pid = fork();
	if (pid == 0)
		for (;;)
			pause();
	kill(pid, SIGSTOP);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	expect(status, STOP_SIGNAL, SIGSTOP);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	expect(status, STOP_KILLED, SIGKILL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends),	     cmocka_unit_test(test_signals),
		cmocka_unit_test(test_event_stops),  cmocka_unit_test(test_events),
		cmocka_unit_test(test_system_calls), cmocka_unit_test(test_real),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

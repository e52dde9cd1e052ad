/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tasks that stop, appear, and end, in any order. */
#include "tasks.h"
#include "tracee/clock.h"
#include "tracee/resume.h"
#include "valgrind.h"

/* ------------------------------------------------------------------ stops */

/* A stop for another reason is kept; the interrupt arrives after it. */
static void test_deferred_signal(void **state)
{
	struct tracees *tracees = *state;
	struct thread *thread = launch(tracees, "signal");
	struct stop stop;

	thread_resume(thread, 0);
	await_report(thread->tid);
	assert_int_equal(thread_stop(tracees, thread, TIMEOUT_MS), 0);
	assert_int_equal(thread->state, THREAD_STOPPED);
	assert_int_equal(thread->stop, STOP_SIGNAL);
	assert_int_equal(thread->stop_signal, SIGUSR1);
	/* Already stopped: nothing to do. */
	assert_int_equal(thread_stop(tracees, thread, 0), 0);
	assert_int_equal(tracees->deferred.count, 1);
	assert_int_equal(tracees_next(tracees, false, &stop), 0);
	assert_int_equal(stop.kind, STOP_SIGNAL);
	assert_int_equal(stop.signal, SIGUSR1);
	assert_false(thread_take_deferred(tracees, thread, &stop));
	thread_resume(thread, SIGUSR1);
	assert_int_equal(tracees_next(tracees, true, &stop), 0);
	assert_int_equal(stop.kind, STOP_TRAP);
	thread_resume(thread, 0);
	assert_int_equal(run_to_end(tracees), 77);
}

static void test_deferred_end(void **state)
{
	struct tracees *tracees = *state;
	struct thread *thread = launch(tracees, "exit");
	pid_t tid = thread->tid;
	struct stop stop;

	thread_resume(thread, 0);
	await_report(tid);
	assert_int_equal(thread_stop(tracees, thread, TIMEOUT_MS), 0);
	assert_false(thread_is_safe_stop(thread));
	assert_true(thread_take_deferred(tracees, thread, &stop));
	assert_int_equal(stop.kind, STOP_ENDING);
	assert_true(thread_note_ending(thread));
	assert_true(thread_note_ending(thread));
	thread_resume(thread, 0);
	await_report(tid);
	assert_int_equal(thread_stop(tracees, thread, TIMEOUT_MS), -ESRCH);
	assert_int_equal(thread_stop(tracees, thread, TIMEOUT_MS), -ESRCH);
	assert_int_equal(tracees->deferred.count, 1);
	assert_int_equal(run_to_end(tracees), 42);

	/* Forgotten with a stop that is not asked for any more. */
	int end;

	thread = launch_reader(tracees, &end);
	thread_resume(thread, 0);
	assert_int_equal(thread_stop(tracees, thread, TIMEOUT_MS), 0);
	assert_int_equal(tracees->deferred.count, 1);
	kill(thread->tid, SIGKILL);
	thread_destroy(tracees, thread);
	assert_int_equal(tracees->deferred.count, 0);
	close(end);
}

static void test_stop_running(void **state)
{
	struct tracees *tracees = *state;
	int end;
	struct thread *thread = launch_reader(tracees, &end);
	struct stop stop;

	for (int i = 0; i < 20; i++) {
		thread_resume(thread, 0);
		assert_int_equal(tracees_next(tracees, false, &stop), -EAGAIN);
		assert_int_equal(thread_stop(tracees, thread, TIMEOUT_MS), 0);
		assert_true(thread_is_safe_stop(thread));
		assert_int_equal(tracees_next(tracees, true, &stop), 0);
		assert_int_equal(stop.kind, STOP_TRAP);
	}
	thread_resume(thread, 0);
	assert_int_equal(write(end, "\7", 1), 1);
	assert_int_equal(run_to_end(tracees), 7);
	close(end);
}

/*
 * The times of an event by both clocks are of the same moment, however long ago it was, and
 * whatever has run since.
 */
static void test_event_times(void **state)
{
	enum { ROUNDS = 50000, SLACK_NS = 100000 };
	struct tracees *tracees = *state;

	for (int i = 0; i < ROUNDS; i++) {
		const uint64_t before = clock_wall();

		tracees->event = clock_now();
		const uint64_t after = clock_wall();
		const uint64_t event = clock_wall_of_event(tracees);

		assert_in_range(event, before - SLACK_NS, after + SLACK_NS);
	}
	tracees->event = 0;
}

/*
 * A thread that was resumed and sleeps uninterruptibly, like the parent in vfork(2), is waited for.
 */
static void test_wait_for_sleeper(void **state)
{
	struct tracees *tracees = *state;
	int ends[2];
	int status = 0;
	char byte = 0;

	if (under_valgrind())
		skip(); /* valgrind turns vfork(2) into fork(2) */
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();

	if (pid == 0) {
		if (read(ends[0], &byte, 1) == 1 && vfork() == 0) {
			nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
			_exit(0);
		}
		for (;;) /* the parent continues before its SIGCHLD is sent */
			pause();
	}
	assert_int_equal(pt_seize(pid, 0), 0);
	struct thread *thread = thread_create(tracees, process_create(tracees, pid), pid);

	assert_int_equal(write(ends[1], &byte, 1), 1);
	assert_int_equal(thread_wait(thread, &status, TIMEOUT_MS), 0);
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGCHLD);
	kill(pid, SIGKILL);
	thread_destroy(tracees, thread);
	close(ends[0]);
	close(ends[1]);
}

/* ------------------------------------------------------------------ new tasks */

/*
 * Makes a stopped task that has not been announced, like a fork's child that is quicker than the
 * event.
 */
static pid_t make_stranger(const struct tracees *tracees)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	assert_int_equal(pt_seize(pid, tracees->ptrace_options), 0);
	assert_int_equal(pt_interrupt(pid), 0);
	await_report(pid);
	return pid;
}

static void test_stop_before_announcement(void **state)
{
	struct tracees *tracees = *state;
	pid_t pid = make_stranger(tracees);
	struct stop stop;

	assert_int_equal(tracees_next(tracees, false, &stop), -EAGAIN);
	assert_null(tracees_thread(tracees, pid));
	assert_int_equal(tracees_next(tracees, false, &stop), -EAGAIN);
	struct thread *thread = thread_create(tracees, process_create(tracees, pid), pid);

	assert_int_equal(tracees_next(tracees, true, &stop), 0);
	assert_ptr_equal(stop.thread, thread);
	assert_int_equal(stop.kind, STOP_TRAP);
	assert_true(stop.first);
	assert_int_equal(tracees_next(tracees, false, &stop), -EAGAIN);
	kill(pid, SIGKILL);
	assert_int_equal(run_to_end(tracees), -1);
}

/*
 * A task that has just appeared can be stopped, whether its first stop was kept or is still queued.
 */
static void test_stop_of_fresh(void **state)
{
	struct tracees *tracees = *state;
	struct stop stop;

	for (int kept = 0; kept < 2; kept++) {
		pid_t pid = make_stranger(tracees);

		if (kept)
			assert_int_equal(tracees_next(tracees, false, &stop), -EAGAIN);
		struct thread *thread = thread_create(tracees, process_create(tracees, pid), pid);

		assert_int_equal(thread_stop(tracees, thread, TIMEOUT_MS), 0);
		assert_true(thread_is_safe_stop(thread));
		assert_int_equal(tracees_next(tracees, false, &stop), 0);
		assert_ptr_equal(stop.thread, thread);
		assert_true(stop.first);
		kill(pid, SIGKILL);
		assert_int_equal(run_to_end(tracees), -1);
	}
}

/* Ended before it was announced: then its end is reported, and its first stop is not. */
static void test_gone_before_announcement(void **state)
{
	struct tracees *tracees = *state;
	pid_t pid = make_stranger(tracees);
	struct stop stop;

	assert_int_equal(tracees_next(tracees, false, &stop), -EAGAIN);
	assert_int_equal(tracees->early.count, 1);
	kill(pid, SIGKILL);
	await_report(pid);
	assert_int_equal(tracees_next(tracees, true, &stop), -ECHILD);
	assert_int_equal(tracees->early.count, 1);
	struct thread *thread = thread_create(tracees, process_create(tracees, pid), pid);

	assert_int_equal(tracees_next(tracees, true, &stop), 0);
	assert_int_equal(stop.kind, STOP_KILLED);
	assert_ptr_equal(stop.thread, thread);
	assert_int_equal(tracees->early.count, 0);
	thread_destroy(tracees, thread);
}

/* Real tasks, in any order: each is announced once, and has one first stop. */
static void follow(struct tracees *tracees, const char *role, enum stop_kind kind)
{
	struct thread *thread = launch(tracees, role);
	pid_t leader = thread->tid;
	int announced = 0;
	int first = 0;
	int ending = 0;
	int ended = 0;
	int result = -1;
	struct stop stop;

	thread_resume(thread, 0);
	while (tracees_next(tracees, true, &stop) == 0) {
		thread = stop.thread;
		assert_non_null(thread);
		first += stop.first;
		if (stop.kind == kind) {
			pid_t tid = (pid_t)stop.message;
			struct process *process = kind == STOP_CLONE ? thread->process
								     : process_create(tracees, tid);

			assert_null(tracees_thread(tracees, tid));
			assert_true(thread_create(tracees, process, tid)->fresh);
			announced++;
		} else if (stop.kind == STOP_EXITED) {
			if (thread->tid == leader)
				result = stop.signal;
			ended++;
			thread_destroy(tracees, thread);
			continue;
		} else if (stop.kind == STOP_ENDING) {
			ending++;
		} else {
			assert_int_equal(stop.kind, stop.first ? STOP_TRAP : STOP_SIGNAL);
		}
		thread_resume(thread, stop.kind == STOP_SIGNAL ? stop.signal : 0);
	}
	assert_int_equal(announced, TASKS);
	assert_int_equal(first, TASKS);
	assert_int_equal(ending, TASKS + 1);
	assert_int_equal(ended, TASKS + 1);
	assert_int_equal(result, 0);
	assert_int_equal(tracees->threads.count, 0);
	assert_int_equal(tracees->early.count, 0);
}

static void test_forks(void **state)
{
	follow(*state, "fork", STOP_FORK);
}

static void test_threads(void **state)
{
	follow(*state, "threads", STOP_CLONE);
}

static void count_thread(struct thread *thread, void *context)
{
	(void)thread;
	++*(int *)context;
}

/* exec in another thread than the leader, which then has the leader's tid. */
static void test_exec_of_thread(void **state)
{
	struct tracees *tracees = *state;
	struct thread *thread = launch(tracees, "exec");
	struct process *process = thread->process;
	pid_t other = 0;
	int count = 0;
	struct stop stop;

	thread_resume(thread, 0);
	for (;;) {
		assert_int_equal(tracees_next(tracees, true, &stop), 0);
		if (stop.kind == STOP_EXEC)
			break;
		if (stop.kind == STOP_CLONE) {
			other = (pid_t)stop.message;
			thread_create(tracees, process, other);
		}
		if (stop.kind == STOP_ENDING)
			/* the leader, ended by the exec */
			assert_false(thread_note_ending(stop.thread));
		thread_resume(stop.thread, 0);
	}
	assert_int_not_equal(other, 0);
	assert_int_equal(stop.message, other);
	process_keep_only(tracees, process, stop.thread);
	assert_int_equal(stop.thread->tid, process->pid);
	assert_ptr_equal(tracees_thread(tracees, process->pid), stop.thread);
	assert_null(tracees_thread(tracees, other));
	process_each_thread(process, count_thread, &count);
	assert_int_equal(count, 1);
	assert_int_equal(process->threads, 1);
	assert_int_equal(process->ending, 0);
	thread_resume(stop.thread, 0);
	assert_int_equal(run_to_end(tracees), 42);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		STORY(test_deferred_signal),
		STORY(test_deferred_end),
		STORY(test_event_times),
		STORY(test_stop_running),
		STORY(test_wait_for_sleeper),
		STORY(test_stop_before_announcement),
		STORY(test_stop_of_fresh),
		STORY(test_gone_before_announcement),
		STORY(test_forks),
		STORY(test_threads),
		STORY(test_exec_of_thread),
	};

	begin(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

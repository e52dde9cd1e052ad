/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tasks that stop, appear, and end, in any order. */
#include "tasks.h"
#include "valgrind.h"

/* ------------------------------------------------------------------ stops */

/* A stop for another reason is kept; the interrupt comes later. */
static void test_deferred_signal(void **state)
{
	struct inferior *inferior = *state;
	struct thread *thread = launch(inferior, "signal");
	struct stop stop;

	thread_resume(thread, 0);
	await_report(thread->tid);
	assert_int_equal(thread_stop(inferior, thread, TIMEOUT_MS), 0);
	assert_int_equal(thread->state, THREAD_STOPPED);
	assert_int_equal(thread->stop, STOP_SIGNAL);
	assert_int_equal(thread->stop_signal, SIGUSR1);
	/* Stopped already: nothing more to do. */
	assert_int_equal(thread_stop(inferior, thread, 0), 0);
	assert_int_equal(inferior->deferred.count, 1);
	assert_int_equal(inferior_next(inferior, false, &stop), 0);
	assert_int_equal(stop.kind, STOP_SIGNAL);
	assert_int_equal(stop.signal, SIGUSR1);
	assert_false(thread_take_deferred(inferior, thread, &stop));
	thread_resume(thread, SIGUSR1);
	assert_int_equal(inferior_next(inferior, true, &stop), 0);
	assert_int_equal(stop.kind, STOP_TRAP);
	thread_resume(thread, 0);
	assert_int_equal(run_to_end(inferior), 77);
}

static void test_deferred_end(void **state)
{
	struct inferior *inferior = *state;
	struct thread *thread = launch(inferior, "exit");
	pid_t tid = thread->tid;
	struct stop stop;

	thread_resume(thread, 0);
	await_report(tid);
	assert_int_equal(thread_stop(inferior, thread, TIMEOUT_MS), 0);
	assert_false(thread_is_clean_stop(thread));
	assert_true(thread_take_deferred(inferior, thread, &stop));
	assert_int_equal(stop.kind, STOP_ENDING);
	assert_true(thread_note_ending(thread));
	assert_true(thread_note_ending(thread));
	thread_resume(thread, 0);
	await_report(tid);
	assert_int_equal(thread_stop(inferior, thread, TIMEOUT_MS), -ESRCH);
	assert_int_equal(thread_stop(inferior, thread, TIMEOUT_MS), -ESRCH);
	assert_int_equal(inferior->deferred.count, 1);
	assert_int_equal(run_to_end(inferior), 42);

	/* Forgotten with a stop that nobody asked for any more. */
	int end;

	thread = launch_reader(inferior, &end);
	thread_resume(thread, 0);
	assert_int_equal(thread_stop(inferior, thread, TIMEOUT_MS), 0);
	assert_int_equal(inferior->deferred.count, 1);
	kill(thread->tid, SIGKILL);
	thread_destroy(inferior, thread);
	assert_int_equal(inferior->deferred.count, 0);
	close(end);
}

static void test_stop_running(void **state)
{
	struct inferior *inferior = *state;
	int end;
	struct thread *thread = launch_reader(inferior, &end);
	struct stop stop;

	for (int i = 0; i < 20; i++) {
		thread_resume(thread, 0);
		assert_int_equal(inferior_next(inferior, false, &stop), -EAGAIN);
		assert_int_equal(thread_stop(inferior, thread, TIMEOUT_MS), 0);
		assert_true(thread_is_clean_stop(thread));
		assert_int_equal(inferior_next(inferior, true, &stop), 0);
		assert_int_equal(stop.kind, STOP_TRAP);
	}
	thread_resume(thread, 0);
	assert_int_equal(write(end, "\7", 1), 1);
	assert_int_equal(run_to_end(inferior), 7);
	close(end);
}

/* The time of an event by either clock is that of one moment, however long ago, and who ran since. */
static void test_event_times(void **state)
{
	enum { ROUNDS = 50000, SLACK_NS = 100000 };
	struct inferior *inferior = *state;

	for (int i = 0; i < ROUNDS; i++) {
		const uint64_t before = inferior_wall_clock();

		inferior->event = inferior_clock();
		const uint64_t after = inferior_wall_clock();
		const uint64_t event = inferior_event_wall_clock(inferior);

		assert_in_range(event, before - SLACK_NS, after + SLACK_NS);
	}
	inferior->event = 0;
}

/* A thread that was resumed and sleeps uninterruptibly, as the parent in vfork(2), is waited for. */
static void test_wait_for_sleeper(void **state)
{
	struct inferior *inferior = *state;
	int ends[2];
	int status = 0;
	char byte = 0;

	if (under_valgrind())
		skip(); /* it makes fork(2) of vfork(2) */
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();

	if (pid == 0) {
		if (read(ends[0], &byte, 1) == 1 && vfork() == 0) {
			nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
			_exit(0);
		}
		for (;;) /* the parent goes on before its SIGCHLD is sent */
			pause();
	}
	assert_int_equal(pt_seize(pid, 0), 0);
	struct thread *thread = thread_create(inferior, process_create(inferior, pid), pid);

	assert_int_equal(write(ends[1], &byte, 1), 1);
	assert_int_equal(thread_wait(thread, &status, TIMEOUT_MS), 0);
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGCHLD);
	kill(pid, SIGKILL);
	thread_destroy(inferior, thread);
	close(ends[0]);
	close(ends[1]);
}

/* ------------------------------------------------------------------ new tasks */

/* A task that has stopped and that nobody has announced, as when a fork's child is the quicker. */
static pid_t make_stranger(const struct inferior *inferior)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	assert_int_equal(pt_seize(pid, inferior->ptrace_options), 0);
	assert_int_equal(pt_interrupt(pid), 0);
	await_report(pid);
	return pid;
}

static void test_stop_before_announcement(void **state)
{
	struct inferior *inferior = *state;
	pid_t pid = make_stranger(inferior);
	struct stop stop;

	assert_int_equal(inferior_next(inferior, false, &stop), -EAGAIN);
	assert_null(inferior_thread(inferior, pid));
	assert_int_equal(inferior_next(inferior, false, &stop), -EAGAIN);
	struct thread *thread = thread_create(inferior, process_create(inferior, pid), pid);

	assert_int_equal(inferior_next(inferior, true, &stop), 0);
	assert_ptr_equal(stop.thread, thread);
	assert_int_equal(stop.kind, STOP_TRAP);
	assert_true(stop.first);
	assert_int_equal(inferior_next(inferior, false, &stop), -EAGAIN);
	kill(pid, SIGKILL);
	assert_int_equal(run_to_end(inferior), -1);
}

/* Its first stop was kept, and somebody must have it stopped. */
static void test_stop_of_fresh(void **state)
{
	struct inferior *inferior = *state;
	struct stop stop;

	for (int kept = 0; kept < 2; kept++) {
		pid_t pid = make_stranger(inferior);

		if (kept)
			assert_int_equal(inferior_next(inferior, false, &stop), -EAGAIN);
		struct thread *thread = thread_create(inferior, process_create(inferior, pid), pid);

		assert_int_equal(thread_stop(inferior, thread, TIMEOUT_MS), 0);
		assert_true(thread_is_clean_stop(thread));
		assert_int_equal(inferior_next(inferior, false, &stop), 0);
		assert_ptr_equal(stop.thread, thread);
		assert_true(stop.first);
		kill(pid, SIGKILL);
		assert_int_equal(run_to_end(inferior), -1);
	}
}

/* Gone before it was announced: its end is told then, and its first stop is not. */
static void test_gone_before_announcement(void **state)
{
	struct inferior *inferior = *state;
	pid_t pid = make_stranger(inferior);
	struct stop stop;

	assert_int_equal(inferior_next(inferior, false, &stop), -EAGAIN);
	assert_int_equal(inferior->early.count, 1);
	kill(pid, SIGKILL);
	await_report(pid);
	assert_int_equal(inferior_next(inferior, true, &stop), -ECHILD);
	assert_int_equal(inferior->early.count, 1);
	struct thread *thread = thread_create(inferior, process_create(inferior, pid), pid);

	assert_int_equal(inferior_next(inferior, true, &stop), 0);
	assert_int_equal(stop.kind, STOP_KILLED);
	assert_ptr_equal(stop.thread, thread);
	assert_int_equal(inferior->early.count, 0);
	thread_destroy(inferior, thread);
}

/* Real ones, in whatever order they come: each announced once, each with one first stop. */
static void follow(struct inferior *inferior, const char *role, enum stop_kind kind)
{
	struct thread *thread = launch(inferior, role);
	pid_t leader = thread->tid;
	int announced = 0;
	int first = 0;
	int ending = 0;
	int ended = 0;
	int result = -1;
	struct stop stop;

	thread_resume(thread, 0);
	while (inferior_next(inferior, true, &stop) == 0) {
		thread = stop.thread;
		assert_non_null(thread);
		first += stop.first;
		if (stop.kind == kind) {
			pid_t tid = (pid_t)stop.message;
			struct process *process = kind == STOP_CLONE
							  ? thread->process
							  : process_create(inferior, tid);

			assert_null(inferior_thread(inferior, tid));
			assert_true(thread_create(inferior, process, tid)->fresh);
			announced++;
		} else if (stop.kind == STOP_EXITED) {
			if (thread->tid == leader)
				result = stop.signal;
			ended++;
			thread_destroy(inferior, thread);
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
	assert_int_equal(inferior->threads.count, 0);
	assert_int_equal(inferior->early.count, 0);
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

/* exec in another thread than the leader, which then has the leader's number. */
static void test_exec_of_thread(void **state)
{
	struct inferior *inferior = *state;
	struct thread *thread = launch(inferior, "exec");
	struct process *process = thread->process;
	pid_t other = 0;
	int count = 0;
	struct stop stop;

	thread_resume(thread, 0);
	for (;;) {
		assert_int_equal(inferior_next(inferior, true, &stop), 0);
		if (stop.kind == STOP_EXEC)
			break;
		if (stop.kind == STOP_CLONE) {
			other = (pid_t)stop.message;
			thread_create(inferior, process, other);
		}
		if (stop.kind == STOP_ENDING)
			assert_false(thread_note_ending(stop.thread)); /* the leader, swept away */
		thread_resume(stop.thread, 0);
	}
	assert_int_not_equal(other, 0);
	assert_int_equal(stop.message, other);
	process_keep_only(inferior, process, stop.thread);
	assert_int_equal(stop.thread->tid, process->pid);
	assert_ptr_equal(inferior_thread(inferior, process->pid), stop.thread);
	assert_null(inferior_thread(inferior, other));
	process_each_thread(process, count_thread, &count);
	assert_int_equal(count, 1);
	assert_int_equal(process->threads, 1);
	assert_int_equal(process->ending, 0);
	thread_resume(stop.thread, 0);
	assert_int_equal(run_to_end(inferior), 42);
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

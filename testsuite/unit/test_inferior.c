/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Real processes: this program launches itself with the name of a role. No story depends on who
 * is faster: where an event must have happened, waitid(2) waits for it without taking it away.
 */
#include "inferior/inferior.h"

#include "inferior/arena.h"
#include "inferior/interrupts.h"
#include "inferior/journal.h"
#include "inferior/maps.h"
#include "inferior/ptrace.h"
#include "inferior/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGE = 4096, TASKS = 12, TIMEOUT_MS = 20000, GIVE_UP_S = 120 };

/* ------------------------------------------------------------------ the roles of the child */

static volatile int got_value;

static void on_signal(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	got_value = info->si_value.sival_int;
}

/* Ends with what was sent along with SIGUSR1. */
static int role_signal(void)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

	sigaction(SIGUSR1, &action, NULL);
	sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 77});
	return got_value;
}

/* Ends with the byte that it reads. */
static int role_read(void)
{
	unsigned char byte = 0;

	return read(STDIN_FILENO, &byte, 1) == 1 ? byte : 1;
}

static int role_fork(void)
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

static void *do_nothing(void *argument)
{
	return argument;
}

static int role_threads(void)
{
	pthread_t threads[TASKS];

	for (int i = 0; i < TASKS; i++)
		if (pthread_create(&threads[i], NULL, do_nothing, NULL))
			return 1;
	for (int i = 0; i < TASKS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static void *do_exec(void *argument)
{
	execl("/proc/self/exe", "child", "exit", NULL);
	return argument;
}

/* Becomes another program from a thread that is not the leader. */
static int role_exec(void)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, do_exec, NULL))
		pthread_join(thread, NULL);
	return 1;
}

static int play(const char *role)
{
	if (!strcmp(role, "exit"))
		return 42;
	if (!strcmp(role, "signal"))
		return role_signal();
	if (!strcmp(role, "read"))
		return role_read();
	if (!strcmp(role, "fork"))
		return role_fork();
	if (!strcmp(role, "threads"))
		return role_threads();
	return !strcmp(role, "exec") ? role_exec() : 99;
}

/* ------------------------------------------------------------------ the tracer's side */

static const struct arch *host_arch(void)
{
	return sizeof(void *) == 8 ? &arch_x86_64 : &arch_i386;
}

static const struct original_signals original;

/* Launches a role: at its exec stop, which inferior_next() has given out. */
static struct thread *launch(struct inferior *inferior, const char *role)
{
	char *const argv[] = {(char[]){"/proc/self/exe"}, (char *)(uintptr_t)role, NULL};
	struct process *process = NULL;
	struct stop stop;

	assert_int_equal(inferior_launch(inferior, argv, &original, &process), 0);
	assert_true(process->launched && process->of_command);
	assert_int_equal(inferior_next(inferior, true, &stop), 0);
	assert_int_equal(stop.kind, STOP_EXEC);
	assert_false(stop.first);
	assert_ptr_equal(stop.thread, inferior_thread(inferior, process->pid));
	assert_ptr_equal(stop.thread->process, process);
	assert_int_equal(stop.message, process->pid);
	return stop.thread;
}

/* Launches the role that reads its input, which is a pipe of ours: the end to write to. */
static struct thread *launch_reader(struct inferior *inferior, int *end)
{
	int ends[2];
	int input = dup(STDIN_FILENO);

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	struct thread *thread = launch(inferior, "read");

	dup2(input, STDIN_FILENO);
	close(input);
	close(ends[0]);
	*end = ends[1];
	return thread;
}

/* Goes on to the first clean stop, with a space. */
static void make_clean(struct inferior *inferior, struct thread *thread)
{
	struct stop stop;
	int error = 0;

	assert_int_equal(pt_interrupt(thread->tid), 0);
	thread_resume(thread, 0);
	assert_int_equal(inferior_next(inferior, true, &stop), 0);
	assert_int_equal(stop.kind, STOP_TRAP);
	assert_ptr_equal(stop.thread, thread);
	assert_true(thread_is_clean_stop(thread));
	thread->process->space = space_create(thread->tid, host_arch(), &error);
	assert_non_null(thread->process->space);
}

/* Waits until a thread has something to report, and leaves the report where it is. */
static void await_report(pid_t tid)
{
	siginfo_t info;

	assert_int_equal(waitid(P_PID, (id_t)tid, &info, WSTOPPED | WEXITED | WNOWAIT | __WALL), 0);
}

/* Lets the last thread run to its end: its exit status. */
static int run_to_end(struct inferior *inferior)
{
	struct stop stop;

	for (;;) {
		assert_int_equal(inferior_next(inferior, true, &stop), 0);
		assert_non_null(stop.thread);
		if (stop.kind == STOP_EXITED || stop.kind == STOP_KILLED)
			break;
		thread_resume(stop.thread, stop.kind == STOP_SIGNAL ? stop.signal : 0);
	}
	thread_destroy(inferior, stop.thread);
	assert_int_equal(inferior_next(inferior, true, &stop), -ECHILD);
	assert_int_equal(inferior->threads.count, 0);
	assert_int_equal(inferior->processes.count, 0);
	return stop.kind == STOP_EXITED ? stop.signal : -1;
}

static int set_up(void **state)
{
	*state = inferior_create();
	return 0;
}

/* Ends what a failed test has left behind. */
static int tear_down(void **state)
{
	struct inferior *inferior = *state;
	size_t cursor = 0;
	uint64_t tid;
	void *value;

	while (map_next(&inferior->threads, &cursor, &tid, &value))
		kill((pid_t)tid, SIGKILL);
	while (waitpid(-1, NULL, __WALL) > 0)
		;
	inferior_destroy(inferior);
	return 0;
}

/* ------------------------------------------------------------------ launching */

static void test_launch(void **state)
{
	struct inferior *inferior = *state;
	struct thread *thread = launch(inferior, "exit");

	assert_false(thread_is_clean_stop(thread));
	thread_resume(thread, 0);
	assert_int_equal(run_to_end(inferior), 42);
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
	struct inferior *inferior = *state;
	struct process *process;
	struct stop stop;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *const argv[] = {(char *)(uintptr_t)cases[i].program, NULL};

		assert_int_equal(inferior_launch(inferior, argv, &original, &process),
				 cases[i].error);
		assert_int_equal(inferior->threads.count, 0);
		assert_int_equal(inferior->processes.count, 0);
		assert_int_equal(inferior_next(inferior, true, &stop), -ECHILD);
	}
}

/* Without descriptors there is an error, and none is lost. */
static void test_launch_without_descriptors(void **state)
{
	struct inferior *inferior = *state;
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
	/* Room for nothing up to one pipe and half of another. */
	for (int freed = 0; freed < 4; freed++) {
		for (int k = 0; k < freed; k++)
			close(taken[count - 1 - k]);
		assert_int_equal(inferior_launch(inferior, argv, &original, &process), -EMFILE);
		for (int k = 0; k < freed; k++)
			assert_true((taken[count - 1 - k] = dup(STDERR_FILENO)) >= 0);
	}
	while (count)
		close(taken[--count]);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(inferior->threads.count, 0);
}

/* ------------------------------------------------------------------ remote system calls */

static struct regs registers_of(const struct thread *thread)
{
	struct regs regs;

	memset(&regs, 0, sizeof regs);
	assert_int_equal(regs_load(thread->tid, &regs), 0);
	return regs;
}

static size_t mappings_noted(const struct journal *journal)
{
	size_t count = 0;

	for (size_t i = 0; i < journal_count(journal); i++) {
		const struct journal_entry *entry = journal_entry(journal, i);

		count += entry && entry->kind == JOURNAL_MAPPING;
	}
	return count;
}

static bool is_mapped(const struct thread *thread, uint64_t address, struct mapping *found)
{
	struct maps maps;

	assert_int_equal(maps_read(thread->tid, &maps), 0);
	const struct mapping *mapping = maps_find(&maps, address);

	if (mapping && found)
		*found = *mapping;
	maps_deinit(&maps);
	return mapping != NULL;
}

/* Calls of every kind, after which the thread is as it was. */
static void make_calls(struct thread *thread)
{
	struct space *space = thread->process->space;
	const struct regs before = registers_of(thread);
	const uint64_t none[6] = {0};
	uint64_t mapped = 0;
	uint64_t again;
	uint64_t word;
	int64_t result = 0;
	struct mapping mapping;

	int error = remote_syscall(thread, SYS_getpid, none, &result);

	if (error == -EPERM || error == -ENOENT)
		skip(); /* a seccomp filter around the test; no vDSO */
	assert_int_equal(error, 0);
	assert_int_equal(result, thread->process->pid);
	assert_int_equal(remote_syscall(thread, 100000, none, &result), 0);
	assert_int_equal(result, -ENOSYS);
	assert_int_equal(remote_map(thread, 0, 3 * PAGE, PROT_READ | PROT_EXEC, &mapped), 0);
	assert_int_equal(mappings_noted(space->journal), 1);
	assert_true(is_mapped(thread, mapped, &mapping));
	assert_true(mapping.readable && mapping.executable && !mapping.writable);
	assert_true(mapping.end >= mapped + 3 * PAGE);
	assert_int_equal(space_write(space, mapped + 8, "\1\2\3\4\5\6\7\10", 8), 0);
	assert_true(memory_read_word(&space->memory, mapped + 8, 8, &word));
	assert_int_equal(word, 0x0807060504030201);
	/* Not over anything that is there. */
	assert_int_equal(remote_map(thread, mapped, PAGE, PROT_READ, &again), -EEXIST);
	assert_int_equal(
		remote_map(thread, before.pc & ~(uint64_t)(PAGE - 1), PAGE, PROT_READ, &again),
		-EEXIST);
	assert_int_equal(mappings_noted(space->journal), 1);
	assert_int_equal(remote_unmap(thread, mapped, 3 * PAGE), 0);
	assert_false(memory_read_word(&space->memory, mapped + 8, 8, &word));
	assert_int_equal(mappings_noted(space->journal), 0);
	/* Where it was asked to be. */
	assert_int_equal(remote_map(thread, mapped, PAGE, PROT_READ, &again), 0);
	assert_int_equal(again, mapped);
	assert_int_equal(remote_unmap(thread, mapped, PAGE), 0);
	const struct regs after = registers_of(thread);

	assert_memory_equal(&before, &after, sizeof before);
}

static void test_remote(void **state)
{
	struct inferior *inferior = *state;
	struct thread *thread = launch(inferior, "exit");
	const uint64_t none[6] = {0};
	int64_t result;

	/* Inside exec, a system call of its own. */
	assert_int_equal(remote_syscall(thread, SYS_getpid, none, &result), -EBUSY);
	make_clean(inferior, thread);
	make_calls(thread);
	thread_resume(thread, 0);
	assert_int_equal(remote_syscall(thread, SYS_getpid, none, &result), -EBUSY);
	assert_int_equal(run_to_end(inferior), 42);
}

/* Whether the thread sleeps in system call `number`. */
static bool sleeps_in(pid_t tid, long number)
{
	char path[64];
	long found = -1;

	snprintf(path, sizeof path, "/proc/%d/syscall", (int)tid);
	FILE *file = fopen(path, "re");

	if (!file)
		return false;
	bool read = fscanf(file, "%ld", &found) == 1;

	fclose(file);
	return read && found == number;
}

/* In the middle of a system call, which goes on as if nothing had been. */
static void test_remote_in_system_call(void **state)
{
	struct inferior *inferior = *state;
	int end;
	struct thread *thread = launch_reader(inferior, &end);
	struct stop stop;

	make_clean(inferior, thread);
	thread_resume(thread, 0);
	for (int i = 0; i < TIMEOUT_MS && !sleeps_in(thread->tid, SYS_read); i++)
		usleep(1000);
	for (int round = 0; round < 3; round++) {
		assert_int_equal(thread_stop(inferior, thread, TIMEOUT_MS), 0);
		assert_true(thread_take_deferred(inferior, thread, &stop));
		assert_int_equal(stop.kind, STOP_TRAP);
		make_calls(thread);
		thread_resume(thread, 0);
	}
	assert_int_equal(write(end, "\63", 1), 1);
	assert_int_equal(run_to_end(inferior), 063);
	close(end);
}

/* At a signal, which is delivered afterwards with all that it carries. */
static void test_remote_at_signal(void **state)
{
	struct inferior *inferior = *state;
	struct thread *thread = launch(inferior, "signal");
	struct stop stop;

	make_clean(inferior, thread);
	thread_resume(thread, 0);
	assert_int_equal(inferior_next(inferior, true, &stop), 0);
	assert_int_equal(stop.kind, STOP_SIGNAL);
	assert_int_equal(stop.signal, SIGUSR1);
	make_calls(thread);
	thread_resume(thread, SIGUSR1);
	assert_int_equal(run_to_end(inferior), 77);
}

/* ------------------------------------------------------------------ slots */

static void check_slot(const struct thread *thread, uint64_t address, uint64_t slot)
{
	struct arena *arena = thread->process->space->arena;
	uint64_t distance = slot > address ? slot - address : address - slot;
	uint64_t begin = 0;
	struct mapping mapping;

	assert_int_equal(slot % ARENA_SLOT, 0);
	if (host_arch()->abi->word == 8)
		assert_true(distance < INT32_MAX - ARENA_SLOT);
	assert_true(is_mapped(thread, slot, &mapping));
	assert_true(mapping.executable && !mapping.writable);
	assert_true(arena_slot_at(arena, slot + ARENA_SLOT - 1, &begin));
	assert_int_equal(begin, slot);
}

static void test_arena(void **state)
{
	enum { MANY = 3000 }; /* more than one mapping holds */
	struct inferior *inferior = *state;
	struct thread *thread = launch(inferior, "exit");
	uint64_t places[3];
	uint64_t slots[MANY];
	uint64_t begin;
	int owner;

	make_clean(inferior, thread);
	struct space *space = thread->process->space;
	struct maps maps;

	assert_int_equal(maps_read(thread->tid, &maps), 0);
	places[0] = registers_of(thread).pc; /* the dynamic linker's */
	places[1] = maps.mappings[0].start;  /* the lowest of all */
	const struct mapping *vdso = maps_find_path(&maps, "[vdso]");

	places[2] = vdso ? vdso->start : places[0];
	maps_deinit(&maps);
	for (size_t i = 0; i < MANY; i++) {
		int error = arena_take(space->arena, thread, places[i % 3], &slots[i]);

		if (error == -EPERM || error == -ENOENT)
			skip();
		assert_int_equal(error, 0);
		if (i < 6)
			check_slot(thread, places[i % 3], slots[i]);
		assert_null(arena_owner(space->arena, slots[i]));
		arena_set_owner(space->arena, slots[i], &slots[i]);
	}
	for (size_t i = 0; i < MANY; i++)
		assert_ptr_equal(arena_owner(space->arena, slots[i]),
				 &slots[i]); /* no one's twice */
	check_slot(thread, places[(MANY - 1) % 3], slots[MANY - 1]);
	assert_false(arena_slot_at(space->arena, places[0], &begin));
	assert_null(arena_owner(space->arena, places[0]));
	/* Given back, and out of reach for nobody near. */
	arena_give(space->arena, slots[0]);
	assert_null(arena_owner(space->arena, slots[0]));
	assert_int_equal(arena_take(space->arena, thread, places[0], &begin), 0);
	assert_int_equal(begin, slots[0]);
	arena_set_owner(space->arena, begin, &owner);

	struct arena *copy = arena_create();

	arena_copy(copy, space->arena);
	assert_true(arena_slot_at(copy, slots[7] + 3, &begin));
	assert_int_equal(begin, slots[7]);
	assert_null(arena_owner(copy, slots[7]));
	arena_destroy(copy);

	assert_true(mappings_noted(space->journal) >= 2);
	assert_int_equal(arena_unmap(space->arena, thread), 0);
	assert_int_equal(mappings_noted(space->journal), 0);
	assert_false(is_mapped(thread, slots[0], NULL));
	assert_false(is_mapped(thread, slots[MANY - 1], NULL));
	assert_false(arena_slot_at(space->arena, slots[0], &begin));
	thread_resume(thread, 0);
	assert_int_equal(run_to_end(inferior), 42);
}

/* Code at the very beginning of a mapping, with room only below. */
static void test_arena_below(void **state)
{
	static const uint64_t place = UINT64_C(0x200000000000);
	static const uint64_t wall = UINT64_C(0x200000000); /* 8 GiB */
	struct inferior *inferior = *state;
	struct thread *thread = launch(inferior, "exit");
	uint64_t mapped;
	uint64_t slot;

	make_clean(inferior, thread);
	if (host_arch()->abi->word != 8 || remote_map(thread, place, wall, PROT_NONE, &mapped) != 0)
		skip();
	assert_int_equal(arena_take(thread->process->space->arena, thread, place, &slot), 0);
	assert_true(slot < place);
	check_slot(thread, place, slot);
	/* In the middle of it there is no room near. */
	assert_int_equal(arena_take(thread->process->space->arena, thread, place + wall / 2, &slot),
			 -ENOSPC);
	thread_resume(thread, 0);
	assert_int_equal(run_to_end(inferior), 42);
}

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
		} else {
			assert_int_equal(stop.kind, stop.first ? STOP_TRAP : STOP_SIGNAL);
		}
		thread_resume(thread, stop.kind == STOP_SIGNAL ? stop.signal : 0);
	}
	assert_int_equal(announced, TASKS);
	assert_int_equal(first, TASKS);
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
	thread_resume(stop.thread, 0);
	assert_int_equal(run_to_end(inferior), 42);
}

/* ------------------------------------------------------------------ memory */

static uint64_t address_of(const void *place)
{
	return (uint64_t)(uintptr_t)place;
}

/* Many ranges, some of them broken off or not there: each as far as it can be read. */
static void read_many(struct space *space)
{
	enum { RANGES = 150, PAGES = 100 };
	unsigned char *memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct memory_range ranges[RANGES];
	size_t expected[RANGES];
	size_t size = (PAGES + 2) * (size_t)PAGE;
	unsigned char *buffers = malloc(RANGES * size);

	assert_true(memory != MAP_FAILED && buffers);
	for (size_t i = 0; i < PAGES * (size_t)PAGE; i++)
		memory[i] = (unsigned char)(i * 31 + i / PAGE);
	munmap(memory + 70 * PAGE, 30 * (size_t)PAGE);
	for (size_t i = 0; i < RANGES; i++) {
		size_t start = i * 1999 % (72 * PAGE);
		size_t length = i % 7 ? i * 37 % 9000 : 90 * PAGE;

		expected[i] = start >= 70 * PAGE	   ? 0
			      : start + length > 70 * PAGE ? 70 * PAGE - start
							   : length;
		ranges[i] = (struct memory_range){.address = address_of(memory + start),
						  .buffer = buffers + i * size,
						  .length = length,
						  .done = 12345};
	}
	ranges[3].address = 0;
	ranges[4].address = UINT64_MAX - 10;
	ranges[5].address = UINT64_C(1) << 63;
	expected[3] = expected[4] = expected[5] = 0;
	space->memory.readv(space->memory.context, ranges, RANGES);
	for (size_t i = 0; i < RANGES; i++) {
		assert_int_equal(ranges[i].done, expected[i]);
		if (expected[i])
			assert_memory_equal(ranges[i].buffer, memory + i * 1999 % (72 * PAGE),
					    expected[i]);
	}
	munmap(memory, 70 * (size_t)PAGE);
	free(buffers);
}

static void test_memory(void **state)
{
	int error = 0;
	struct space *space = space_create(getpid(), host_arch(), &error);
	char text[] = "before";

	(void)state;
	assert_non_null(space);
	read_many(space);
	space->reader = 0x7fffffff; /* as where process_vm_readv(2) is refused */
	read_many(space);
	assert_int_equal(space_write(space, address_of(text), "after", 6), 0);
	assert_string_equal(text, "after");
	assert_true(space_write(space, 8, "x", 1) < 0);
	assert_ptr_equal(space_ref(space), space);
	space_unref(space);
	space_unref(space);
	assert_null(space_create(0x7fffffff, host_arch(), &error));
	assert_int_equal(error, -ENOENT);
}

static void test_same_space(void **state)
{
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		for (;;)
			pause();
	/* Where the kernel cannot tell, what was guessed. */
	if (!same_space(getpid(), pid, true) || same_space(getpid(), getpid(), false)) {
		assert_false(same_space(getpid(), pid, true));
		assert_true(same_space(getpid(), getpid(), false));
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

#define STORY(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		STORY(test_launch),
		STORY(test_launch_errors),
		STORY(test_launch_without_descriptors),
		STORY(test_remote),
		STORY(test_remote_in_system_call),
		STORY(test_remote_at_signal),
		STORY(test_arena),
		STORY(test_arena_below),
		STORY(test_deferred_signal),
		STORY(test_deferred_end),
		STORY(test_stop_running),
		STORY(test_stop_before_announcement),
		STORY(test_stop_of_fresh),
		STORY(test_gone_before_announcement),
		STORY(test_forks),
		STORY(test_threads),
		STORY(test_exec_of_thread),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_same_space),
	};

	if (argc > 1)
		_exit(play(argv[1]));
	alarm(GIVE_UP_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Remote calls: system calls that a stopped thread makes for the tracer. */
#include "tracee/remote.h"

#include "engine/trap/own_text.h"
#include "tasks.h"
#include "tracee/journal.h"
#include "tracee/journal_undo.h"
#include "tracee/maps_snapshot.h"
#include "tracee/proc.h"
#include "tracee/ptrace.h"
#include "tracee/remote_map.h"
#include "tracee/resume.h"
#include "tracee/space.h"

#include <sys/mman.h>
#include <sys/syscall.h>

/* Makes calls of every kind, after which the thread is as it was. */
static void make_calls(struct thread *thread)
{
	struct space *space = thread->process->space;
	const struct regs before = registers_of(thread);
	const uint64_t none[6] = {0};
	uint64_t mapped = 0;
	uint64_t again;
	uint64_t word;
	int64_t result = 0;
	struct mapping mapping = {0};

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
	/* Not over an existing mapping. */
	assert_int_equal(remote_map(thread, mapped, PAGE, PROT_READ, &again), -EEXIST);
	assert_int_equal(
		remote_map(thread, before.pc & ~(uint64_t)(PAGE - 1), PAGE, PROT_READ, &again),
		-EEXIST);
	assert_int_equal(mappings_noted(space->journal), 1);
	assert_int_equal(remote_unmap(thread, mapped, 3 * PAGE), 0);
	assert_false(memory_read_word(&space->memory, mapped + 8, 8, &word));
	assert_int_equal(mappings_noted(space->journal), 0);
	/* At the address that was asked for. */
	assert_int_equal(remote_map(thread, mapped, PAGE, PROT_READ, &again), 0);
	assert_int_equal(again, mapped);
	assert_int_equal(remote_unmap(thread, mapped, PAGE), 0);
	const struct regs after = registers_of(thread);

	assert_memory_equal(&before, &after, sizeof before);
}

static void test_remote(void **state)
{
	struct tracees *tracees = *state;
	struct thread *thread = launch(tracees, "exit");
	const uint64_t none[6] = {0};
	int64_t result;

	/* Inside of exec, which is a system call of the thread's own. */
	assert_int_equal(remote_syscall(thread, SYS_getpid, none, &result), -EBUSY);
	make_clean(tracees, thread);
	make_calls(thread);
	thread_resume(thread, 0);
	assert_int_equal(remote_syscall(thread, SYS_getpid, none, &result), -EBUSY);
	assert_int_equal(run_to_end(tracees), 42);
}

/* A tracer was killed while it removed its remote-call stub: the next one removes the rest. */
static void test_remote_landing_left(void **state)
{
	static const uint8_t zeros[REMOTE_STUB_MAX];
	struct tracees *tracees = *state;
	struct thread *thread = launch(tracees, "exit");
	uint8_t now[REMOTE_STUB_MAX];

	make_clean(tracees, thread);
	make_calls(thread);
	struct space *space = thread->process->space;
	const struct remote_stub *landing = space->arch->remote_stub;
	uint64_t place = space->remote_stub;

	for (int round = 0; round < 2; round++) {
		journal_undo_all_bytes(space->journal, space);
		assert_true(memory_read_exact(&space->memory, place, now, landing->length));
		assert_memory_equal(now, zeros, landing->length);
		assert_int_equal(space_write(space, place, landing->code, 8), 0);
		make_calls(thread);
		assert_int_equal(space->remote_stub, place);
	}
	journal_undo_all_bytes(space->journal, space);
	assert_true(memory_read_exact(&space->memory, place, now, landing->length));
	assert_memory_equal(now, zeros, landing->length);
	thread_resume(thread, 0);
	assert_int_equal(run_to_end(tracees), 42);
}

/* Returns true if the thread sleeps in system call `number`. */
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

/* In the middle of a system call, which continues as if nothing had happened. */
static void test_remote_in_system_call(void **state)
{
	struct tracees *tracees = *state;
	int end;
	struct thread *thread = launch_reader(tracees, &end);
	struct stop stop;

	make_clean(tracees, thread);
	thread_resume(thread, 0);
	for (int i = 0; i < TIMEOUT_MS && !sleeps_in(thread->tid, SYS_read); i++)
		usleep(1000);
	for (int round = 0; round < 3; round++) {
		assert_int_equal(thread_stop(tracees, thread, TIMEOUT_MS), 0);
		assert_true(thread_take_deferred(tracees, thread, &stop));
		assert_int_equal(stop.kind, STOP_TRAP);
		make_calls(thread);
		thread_resume(thread, 0);
	}
	assert_int_equal(write(end, "\63", 1), 1);
	assert_int_equal(run_to_end(tracees), 063);
	close(end);
}

/* At a signal, which is delivered afterwards with all its data. */
static void at_signal(struct tracees *tracees, const char *role, int signal)
{
	struct thread *thread = launch(tracees, role);
	siginfo_t before;
	siginfo_t after;
	struct stop stop;

	make_clean(tracees, thread);
	thread_resume(thread, 0);
	assert_int_equal(tracees_next(tracees, true, &stop), 0);
	assert_int_equal(stop.kind, STOP_SIGNAL);
	assert_int_equal(stop.signal, signal);
	assert_int_equal(pt_get_siginfo(thread->tid, &before), 0);
	make_calls(thread);
	/* If the tracer were killed now, the signal would be delivered, too. */
	assert_true(proc_is_pending(thread->tid, signal));
	assert_int_equal(thread->stop, STOP_TRAP);
	thread_resume(thread, 0);
	assert_int_equal(tracees_next(tracees, true, &stop), 0);
	assert_int_equal(stop.kind, STOP_SIGNAL);
	assert_int_equal(stop.signal, signal);
	assert_int_equal(pt_get_siginfo(thread->tid, &after), 0);
	assert_memory_equal(&before, &after, sizeof before);
	thread_resume(thread, signal);
	assert_int_equal(run_to_end(tracees), 77);
}

static void test_remote_at_signal(void **state)
{
	at_signal(*state, "signal", SIGUSR1);
}

static void test_remote_at_its_own_trap(void **state)
{
	at_signal(*state, "trap", SIGTRAP);
}

/* An interrupt that arrives during remote calls is consumed, and noted in interrupt_taken. */
static void test_remote_interrupted(void **state)
{
	struct tracees *tracees = *state;
	struct thread *thread = launch(tracees, "exit");

	make_clean(tracees, thread);
	make_calls(thread);
	assert_false(thread->interrupt_taken);
	assert_int_equal(pt_interrupt(thread->tid), 0);
	make_calls(thread);
	assert_true(thread->interrupt_taken);
	thread_resume(thread, 0);
	assert_int_equal(run_to_end(tracees), 42);
}

/*
 * The cached mappings include what the tracer maps, and mappings that were lent stay valid when the
 * tracer unmaps something.
 */
static void test_kept_maps(void **state)
{
	struct tracees *tracees = *state;
	struct thread *thread = launch(tracees, "exit");
	struct maps maps;
	struct maps lent;
	uint64_t mapped;

	make_clean(tracees, thread);
	struct space *space = thread->process->space;

	assert_int_equal(maps_read(thread->tid, &maps), 0);
	size_t count = maps.count;

	maps_snapshot_begin(space, &maps);
	assert_int_equal(maps.count, 0);
	assert_int_equal(remote_map(thread, 0, PAGE, PROT_READ, &mapped), 0);
	assert_int_equal(maps_snapshot_read(space, thread->tid, &lent), 0);
	/* The remote-call stub may have been mapped, too. */
	assert_true(lent.count > count && maps_find(&lent, mapped)->start == mapped);
	for (size_t i = 1; i < lent.count; i++)
		assert_true(lent.mappings[i - 1].end <= lent.mappings[i].start);
	assert_int_equal(remote_unmap(thread, mapped, PAGE), 0);
	assert_non_null(maps_find_path(&lent, "[stack]"));
	assert_int_equal(maps_snapshot_read(space, thread->tid, &maps), 0);
	assert_null(maps_find(&maps, mapped));
	maps_deinit(&maps);
	maps_deinit(&lent);
	maps_snapshot_end(space);
	thread_resume(thread, 0);
	assert_int_equal(run_to_end(tracees), 42);
}

/*
 * Code that was mapped after the mappings were read, e.g. by a thread in dlopen(3), belongs to the
 * process.
 */
static void test_newer_than_kept(void **state)
{
	struct tracees *tracees = *state;
	struct thread *thread = launch(tracees, "exit");
	struct own_text text;
	struct maps maps;

	make_clean(tracees, thread);
	struct space *space = thread->process->space;
	const struct regs regs = registers_of(thread);

	assert_int_equal(maps_read(thread->tid, &maps), 0);
	maps.count = (size_t)(maps_find(&maps, regs.pc) - maps.mappings);
	assert_true(maps.count);
	maps_snapshot_begin(space, &maps);
	own_text_init(&text);
	assert_true(own_text_has(&text, space, thread->tid, regs.pc));
	assert_false(own_text_has(&text, space, thread->tid, regs.r[REG_SP]));
	own_text_deinit(&text);
	maps_snapshot_end(space);
	thread_resume(thread, 0);
	assert_int_equal(run_to_end(tracees), 42);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		STORY(test_remote),
		STORY(test_remote_landing_left),
		STORY(test_remote_in_system_call),
		STORY(test_remote_at_signal),
		STORY(test_remote_at_its_own_trap),
		STORY(test_remote_interrupted),
		STORY(test_kept_maps),
		STORY(test_newer_than_kept),
	};

	begin(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

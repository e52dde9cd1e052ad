/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hardware watches: a debug register stops a thread right after it has written to an address. Used
 * for words that will hold a function's address. Debug registers belong to a thread, so a change
 * is noted in the space, and applied to each thread at its next stop (trap_thread_sync()); to the
 * thread that loads the module at once.
 *
 * Debug registers also stop a thread at the exits of the tracer's code: a breakpoint there would
 * stop all threads (xol_signals.c).
 *
 * DR7 (Intel SDM vol. 3, 18.2.4): bit 2i enables register i; bits 16+4i…19+4i are its condition
 * (01: write, 00: the instruction is about to be run, with the length 00) and length (11: 4 bytes,
 * 10: 8 bytes).
 */
#include "engine/trap/watch.h"

#include "engine/trap/breakpoint.h"
#include "engine/trap/trap_state.h"
#include "tracee/ptrace.h"
#include "tracee/resume.h"

#include <errno.h>
#include <signal.h>

static struct watches watches_of(const struct space *space)
{
	return space->trap ? space->trap->watches : (struct watches){0};
}

static uint64_t control_word(const struct space *space)
{
	const struct watches watches = watches_of(space);
	uint64_t control = 0;
	uint64_t condition = space->arch->abi->word == 8 ? 0x9 : 0xd;

	for (unsigned i = 0; i < 4; i++)
		if (watches.addresses[i])
			control |= (UINT64_C(1) << (2 * i)) | (condition << (16 + 4 * i));
	return control;
}

static void arm(struct thread *thread)
{
	const struct space *space = thread->process->space;
	const struct watches watches = watches_of(space);

	pt_set_debug_register(thread->tid, 7, 0);
	for (unsigned i = 0; i < 4; i++)
		if (watches.addresses[i])
			pt_set_debug_register(thread->tid, i, watches.addresses[i]);
	pt_set_debug_register(thread->tid, 7, control_word(space));
	thread->trap->watch_generation = watches.generation;
}

int watch_exits(struct thread *thread, const uint64_t exits[TRAP_EXITS])
{
	uint64_t control = 0;
	int error = pt_set_debug_register(thread->tid, 7, 0);

	for (unsigned i = 0; i < TRAP_EXITS && !error; i++) {
		if (!exits[i])
			continue;
		error = pt_set_debug_register(thread->tid, i, exits[i]);
		control |= UINT64_C(1) << (2 * i);
	}
	if (!error)
		error = pt_set_debug_register(thread->tid, 7, control);
	if (error)
		watch_again(thread);
	return error;
}

void watch_again(struct thread *thread)
{
	if (watches_of(thread->process->space).generation)
		arm(thread);
	else
		pt_set_debug_register(thread->tid, 7, 0);
	pt_set_debug_register(thread->tid, 6, 0);
}

void trap_thread_sync(struct thread *thread)
{
	const struct space *space = thread->process->space;

	if (space && thread->trap->watch_generation != watches_of(space).generation)
		arm(thread);
}

int trap_watch(struct thread *thread, uint64_t address)
{
	struct space *space = thread->process->space;

	if (address & (space->arch->abi->word - 1))
		return -EINVAL;
	struct watches *watches = &trap_space_of(space)->watches;

	for (unsigned i = 0; i < 4; i++)
		if (watches->addresses[i] == address)
			return 0;
	for (unsigned i = 0; i < 4; i++) {
		if (watches->addresses[i])
			continue;
		watches->addresses[i] = address;
		watches->generation++;
		arm(thread);
		return 0;
	}
	return -ENOSPC;
}

void trap_unwatch(struct space *space, uint64_t address)
{
	struct watches *watches = space->trap ? &space->trap->watches : NULL;

	for (unsigned i = 0; watches && i < 4; i++)
		if (watches->addresses[i] == address) {
			watches->addresses[i] = 0;
			watches->generation++;
		}
}

bool watch_serve(const struct engine_events *events, struct thread *thread)
{
	const struct space *space = thread->process->space;
	uint64_t status = 0;
	siginfo_t info;

	/*
	 * Also if nothing is watched any more: the new word may have been noticed before the stop
	 * was reported.
	 */
	if (!thread->trap->watch_generation)
		return false;
	if (pt_get_siginfo(thread->tid, &info) != 0 || info.si_code != TRAP_HWBKPT ||
	    pt_get_debug_register(thread->tid, 6, &status) != 0)
		return false;
	pt_set_debug_register(thread->tid, 6, 0);
	for (unsigned i = 0; i < 4; i++)
		if (status & (1U << i) && watches_of(space).addresses[i])
			events->watched(events->context, thread, watches_of(space).addresses[i]);
	trap_thread_sync(thread);
	thread_resume(thread, 0);
	return true;
}

void trap_clear_watched(const struct thread *thread)
{
	if (thread->trap->watch_generation)
		pt_set_debug_register(thread->tid, 7, 0);
}

void trap_forget_watched(struct thread *thread)
{
	thread->trap->watch_generation = 0;
}

void trap_assume_watched(struct thread *thread)
{
	thread->trap->watch_generation = 1;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hardware watches: a debug register makes the thread that writes to an address stop right
 * behind the write. Used for data symbols that hold a function's address which is not filled in
 * yet. Debug registers belong to a thread, so a change is noted in the space and brought to
 * each thread when it next stops (trap_thread_sync); the thread that is loading the module has
 * it at once.
 *
 * They also bring a thread through code of ours in one go where that has few exits: a breakpoint
 * there would be hit by all threads (landed.c).
 *
 * DR7 (Intel SDM vol. 3, 18.2.4): bit 2i enables register i; bits 16+4i…19+4i are its condition
 * (01: write, 00: the instruction is about to be run, with the length 00) and length (11: 4 bytes,
 * 10: 8 bytes).
 */
#include "engine/trap/watch.h"

#include "inferior/ptrace.h"

#include <errno.h>
#include <signal.h>

static uint64_t control_word(const struct space *space)
{
	uint64_t control = 0;
	uint64_t condition = space->arch->abi->word == 8 ? 0x9 : 0xd;

	for (unsigned i = 0; i < 4; i++)
		if (space->watch[i])
			control |= (UINT64_C(1) << (2 * i)) | (condition << (16 + 4 * i));
	return control;
}

static void arm(struct thread *thread)
{
	const struct space *space = thread->process->space;

	pt_set_debug_register(thread->tid, 7, 0);
	for (unsigned i = 0; i < 4; i++)
		if (space->watch[i])
			pt_set_debug_register(thread->tid, i, space->watch[i]);
	pt_set_debug_register(thread->tid, 7, control_word(space));
	thread->watch_generation = space->watch_generation;
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
	if (thread->process->space->watch_generation)
		arm(thread);
	else
		pt_set_debug_register(thread->tid, 7, 0);
	pt_set_debug_register(thread->tid, 6, 0);
}

void trap_thread_sync(struct thread *thread)
{
	const struct space *space = thread->process->space;

	if (space && thread->watch_generation != space->watch_generation)
		arm(thread);
}

int trap_watch(struct thread *thread, uint64_t address)
{
	struct space *space = thread->process->space;

	if (address & (space->arch->abi->word - 1))
		return -EINVAL;
	for (unsigned i = 0; i < 4; i++)
		if (space->watch[i] == address)
			return 0;
	for (unsigned i = 0; i < 4; i++) {
		if (space->watch[i])
			continue;
		space->watch[i] = address;
		space->watch_generation++;
		arm(thread);
		return 0;
	}
	return -ENOSPC;
}

void trap_unwatch(struct space *space, uint64_t address)
{
	for (unsigned i = 0; i < 4; i++)
		if (space->watch[i] == address) {
			space->watch[i] = 0;
			space->watch_generation++;
		}
}

bool watch_serve(const struct engine_events *events, struct thread *thread)
{
	const struct space *space = thread->process->space;
	uint64_t status = 0;
	siginfo_t info;

	/*
	 * Also when nothing is watched any more: the word may have been seen before the trap was
	 * told.
	 */
	if (!thread->watch_generation)
		return false;
	if (pt_get_siginfo(thread->tid, &info) != 0 || info.si_code != TRAP_HWBKPT ||
	    pt_get_debug_register(thread->tid, 6, &status) != 0)
		return false;
	pt_set_debug_register(thread->tid, 6, 0);
	for (unsigned i = 0; i < 4; i++)
		if (status & (1U << i) && space->watch[i])
			events->watched(events->context, thread, space->watch[i]);
	trap_thread_sync(thread);
	thread_resume(thread, 0);
	return true;
}

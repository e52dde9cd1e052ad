/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SIGTRAP in Go programs without a C library. Their runtime sets dispositions by its own system
 * calls, for all signals as it starts. That would remove the tracer's handler, and a killed tracer
 * would take the program along. So the runtime's function for that, runtime.rt_sigaction, is
 * hooked like libc's sigaction().
 *
 * The runtime's handlers block all signals. A breakpoint hit in such a handler would make the
 * kernel reset the disposition each time, and would kill the program once it is not traced. So the
 * kernel gets a mask without SIGTRAP: the mask is changed in the structure that the runtime has
 * made for the call and does not use again. Each such signal is noted first (handlers_opened), and
 * gets its own mask back at detach.
 *
 * The function takes (signal, new, old, size) on the stack, as words, and the kernel's struct
 * sigaction: handler, flags, restorer, mask. It returns the system call's result in ax as well
 * (runtime/sys_linux_amd64.s).
 */
#include "engine/trap/sigtrap_go.h"

#include "engine/trap/sigmask_history.h"
#include "engine/trap/sigtrap.h"
#include "engine/trap/trap_state.h"
#include "tracee/journal.h"
#include "tracee/remote.h"
#include "tracee/space.h"

#include <signal.h>

enum { WORD = 8, FLAGS = WORD, MASK = 3 * WORD, NUMBER = WORD, NEW = 2 * WORD, OLD = 3 * WORD };
enum { SIGNALS = 64, ACTION = 4 * WORD, SCRATCH = 256 /* bytes below sp, as in sigtrap.c */ };

static uint64_t read_word(const struct space *space, uint64_t address)
{
	uint64_t word = 0;

	memory_read_word(&space->memory, address, sizeof word, &word);
	return word;
}

static void note_opened(struct process *process, uint64_t signal, bool is_opened)
{
	const uint64_t bit = UINT64_C(1) << (signal - 1);
	struct journal_subject *subject = journal_subject(process->space->journal);

	process->trap->handlers_opened &= ~bit;
	process->trap->handlers_opened |= is_opened ? bit : 0;
	if (subject->pid == process->pid)
		subject->handlers_opened = process->trap->handlers_opened;
}

/*
 * Removes SIGTRAP from the mask in `action`, which is about to be set for `signal`. Returns the
 * mask that the handler will have.
 */
static uint64_t open_handler(struct process *process, uint64_t signal, uint64_t action)
{
	struct space *space = process->space;
	const uint64_t flags = read_word(space, action + FLAGS);
	const uint64_t mask = read_word(space, action + MASK);
	const uint64_t opened = mask & ~TRAP_BIT;
	const bool is_opened = mask != opened && signal != SIGTRAP;

	note_opened(process, signal, is_opened);
	if (is_opened)
		space_write(space, action + MASK, &opened, sizeof opened);
	return (is_opened ? opened : mask) | (flags & SA_NODEFER ? 0 : UINT64_C(1) << (signal - 1));
}

bool sigtrap_go_will_call(struct thread *thread, const struct regs *regs)
{
	struct process *process = thread->process;
	const struct space *space = process->space;
	const uint64_t sp = regs->r[REG_SP];
	const uint64_t signal = read_word(space, sp + NUMBER);
	const uint64_t new = read_word(space, sp + NEW);
	const uint64_t handler = new ? read_word(space, new) : 0;

	if (new &&signal >= 1 && signal <= SIGNALS)
		sigmask_of_handler(process, (uint32_t)signal,
				   handler > (uintptr_t)SIG_IGN ? open_handler(process, signal, new)
								: 0);
	if (signal != SIGTRAP)
		return false;
	thread->trap->sigtrap_changes = new != 0;
	thread->trap->sigtrap_handler = handler;
	thread->trap->sigtrap_flags = new ? read_word(space, new + FLAGS) : 0;
	thread->trap->sigtrap_old = 0; /* see sigtrap_go_called() */
	return true;
}

void sigtrap_go_called(struct thread *thread, uint64_t result)
{
	const struct process *process = thread->process;
	struct regs regs;

	if ((uint32_t)result == 0 && process->trap->sigtrap_guarded &&
	    regs_load(thread->tid, &regs) == 0) {
		/* The return address was popped. */
		const uint64_t old = read_word(process->space, regs.r[REG_SP] + OLD - WORD);

		if (old)
			space_write(process->space, old, process->trap->sigtrap_action,
				    sizeof process->trap->sigtrap_action);
	}
	sigtrap_called(thread, result);
}

/* ------------------------------------------------------------------ at detach */

static bool call_sigaction(struct thread *thread, uint64_t signal, uint64_t new, uint64_t old)
{
	const uint64_t arguments[6] = {signal, new, old, SIGNALS / 8};
	int64_t result = -1;

	return remote_syscall(thread, thread->process->space->arch->sys_rt_sigaction, arguments,
			      &result) == 0 &&
	       result == 0;
}

/* Makes the handler of `signal` block SIGTRAP again. `place`: room for a struct sigaction. */
static void close_handler(struct thread *thread, uint64_t signal, uint64_t place)
{
	struct space *space = thread->process->space;

	if (!call_sigaction(thread, signal, 0, place) ||
	    read_word(space, place) <= (uintptr_t)SIG_IGN)
		return;
	const uint64_t mask = read_word(space, place + MASK) | TRAP_BIT;

	if (space_write(space, place + MASK, &mask, sizeof mask) == 0)
		call_sigaction(thread, signal, place, 0);
}

void sigtrap_go_end(struct thread *thread)
{
	struct process *process = thread->process;
	struct space *space = process->space;
	uint8_t before[ACTION];
	struct regs regs;

	if (!process->trap->handlers_opened || regs_load(thread->tid, &regs) != 0)
		return;
	const uint64_t place = (regs.r[REG_SP] - SCRATCH) & ~UINT64_C(15);

	if (!memory_read_exact(&space->memory, place, before, sizeof before))
		return;
	for (uint64_t signal = 1; signal <= SIGNALS; signal++) {
		if (!(process->trap->handlers_opened >> (signal - 1) & 1))
			continue;
		close_handler(thread, signal, place);
		note_opened(process, signal, false);
	}
	space_write(space, place, before, sizeof before);
}

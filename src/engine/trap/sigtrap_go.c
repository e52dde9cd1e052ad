/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SIGTRAP in programs of Go that have no C library: their runtime sets dispositions by system calls
 * of its own, those of all signals as it starts. Our handler would be gone from then on, and a
 * tracer that is killed would take the program along. So the function by which it does that,
 * runtime.rt_sigaction, is watched like libc's sigaction().
 *
 * It takes (signal, new, old, size) on the stack, as words, and has the kernel's struct sigaction:
 * the handler, flags, a restorer and the mask. It returns with the system call's result in ax as
 * well (runtime/sys_linux_amd64.s).
 */
#include "engine/trap/sigtrap_go.h"

#include "engine/trap/masks.h"
#include "engine/trap/sigtrap.h"

#include <signal.h>

enum { WORD = 8, FLAGS = WORD, MASK = 3 * WORD, NUMBER = WORD, NEW = 2 * WORD, OLD = 3 * WORD };

static uint64_t read_word(const struct space *space, uint64_t address)
{
	uint64_t word = 0;

	memory_read_word(&space->memory, address, sizeof word, &word);
	return word;
}

bool sigtrap_go_will_call(struct thread *thread, const struct regs *regs)
{
	const struct space *space = thread->process->space;
	const uint64_t sp = regs->r[REG_SP];
	const uint64_t signal = read_word(space, sp + NUMBER);
	const uint64_t new = read_word(space, sp + NEW);
	const uint64_t handler = new ? read_word(space, new) : 0;
	const uint64_t flags = new ? read_word(space, new + FLAGS) : 0;
	const bool is_handled = handler > (uintptr_t)SIG_IGN;

	if (new &&signal >= 1 && signal <= 64)
		masks_of_handler(
			thread->process, (uint32_t)signal,
			!is_handled
				? 0
				: read_word(space, new + MASK) |
					  (flags & SA_NODEFER ? 0 : UINT64_C(1) << (signal - 1)));
	if (signal != SIGTRAP)
		return false;
	thread->sigtrap_changes = new != 0;
	thread->sigtrap_handler = handler;
	thread->sigtrap_flags = flags;
	thread->sigtrap_old = 0; /* see sigtrap_go_called() */
	return true;
}

void sigtrap_go_called(struct thread *thread, uint64_t result)
{
	const struct process *process = thread->process;
	struct regs regs;

	if ((uint32_t)result == 0 && process->sigtrap_guarded &&
	    regs_load(thread->tid, &regs) == 0) {
		/* The return address has been popped. */
		const uint64_t old = read_word(process->space, regs.r[REG_SP] + OLD - WORD);

		if (old)
			space_write(process->space, old, process->sigtrap_action,
				    sizeof process->sigtrap_action);
	}
	sigtrap_called(thread, result);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See sigtrap.h. (The kernel: force_sig_info_to_task().)
 *
 * Most programs leave SIGTRAP alone: then only its bit in the mask of a thread that blocks
 * everything is lost, which shows in nothing but the mask itself until the program sets it
 * again. For those that handle or ignore it, the disposition is learned when the process is
 * first looked at and whenever libc's functions for that return (a hook on them), and after
 * each stop at a breakpoint /proc tells whether the kernel has reset it.
 *
 * A handler that is gone says that the signal was blocked, so the mask gets its bit back. To
 * set the disposition, the thread makes the system call for us (remote.c, without a trap that
 * would undo it at once).
 */
#include "engine/trap/sigtrap.h"

#include "inferior/proc.h"
#include "inferior/ptrace.h"
#include "inferior/remote.h"

#include <signal.h>
#include <string.h>

enum {
	SCRATCH = 1024, /* below the stack pointer, out of the red zone's way */
	MASK_BYTES = 8
};

static const uint64_t TRAP_BIT = UINT64_C(1) << (SIGTRAP - 1);

static enum sigtrap_state current_state(pid_t tid)
{
	uint64_t ignored;
	uint64_t caught;

	if (!proc_signals(tid, &ignored, &caught))
		return SIGTRAP_DEFAULT;
	if (caught & TRAP_BIT)
		return SIGTRAP_HANDLED;
	return ignored & TRAP_BIT ? SIGTRAP_IGNORED : SIGTRAP_DEFAULT;
}

/* Where struct sigaction can lie for the call; also how large the kernel's is there. */
static bool scratch_place(const struct thread *thread, uint64_t *place)
{
	struct regs regs;

	if (regs_load(thread->tid, &regs) != 0)
		return false;
	*place = (regs.r[REG_SP] - SCRATCH) & ~UINT64_C(15);
	return true;
}

/* Notes that state, and for a handler what the kernel knows of it. */
static void learn_as(struct thread *thread, enum sigtrap_state state)
{
	struct process *process = thread->process;
	const struct arch *arch = process->space->arch;
	uint64_t place;
	int64_t result;

	process->sigtrap = SIGTRAP_DEFAULT;
	memset(process->sigtrap_action, 0, sizeof process->sigtrap_action);
	if (state == SIGTRAP_IGNORED) {
		process->sigtrap_action[0] = (uint8_t)(uintptr_t)SIG_IGN;
		process->sigtrap = state;
	}
	if (state != SIGTRAP_HANDLED || !scratch_place(thread, &place))
		return;
	uint64_t arguments[6] = {SIGTRAP, 0, place, MASK_BYTES};

	if (remote_syscall(thread, arch->sys_rt_sigaction, arguments, &result) == 0 && !result &&
	    memory_read_exact(&process->space->memory, place, process->sigtrap_action,
			      sizeof process->sigtrap_action))
		process->sigtrap = state;
}

void sigtrap_learn(struct thread *thread)
{
	learn_as(thread, current_state(thread->tid));
}

void sigtrap_repair(struct thread *thread)
{
	struct process *process = thread->process;
	struct space *space = process->space;
	uint64_t place;
	uint64_t mask;
	int64_t result;

	if (process->sigtrap == SIGTRAP_DEFAULT || current_state(thread->tid) != SIGTRAP_DEFAULT ||
	    !scratch_place(thread, &place))
		return;
	if (space_write(space, place, process->sigtrap_action, sizeof process->sigtrap_action))
		return;
	uint64_t arguments[6] = {SIGTRAP, place, 0, MASK_BYTES};

	remote_syscall(thread, space->arch->sys_rt_sigaction, arguments, &result);
	if (process->sigtrap == SIGTRAP_HANDLED && pt_get_sigmask(thread->tid, &mask) == 0)
		pt_set_sigmask(thread->tid, mask | TRAP_BIT);
}

void sigtrap_inherit(struct process *child, const struct process *parent)
{
	child->sigtrap = parent->sigtrap;
	memcpy(child->sigtrap_action, parent->sigtrap_action, sizeof child->sigtrap_action);
}

/* Integer argument `index` (0 or 1) of the function that begins here. */
static uint64_t argument(const struct space *space, const struct regs *regs, unsigned index)
{
	const struct abi *abi = space->arch->abi;
	uint64_t value = 0;

	if (index < abi->int_args)
		return regs->r[abi->int_arg[index]];
	memory_read_word(&space->memory, regs->r[REG_SP] + abi->stack_first + index * abi->word,
			 abi->word, &value);
	return value;
}

bool sigtrap_will_change(const struct thread *thread, const struct regs *regs, bool by_struct)
{
	const struct space *space = thread->process->space;
	uint64_t handler = argument(space, regs, 1);

	if ((uint32_t)argument(space, regs, 0) != SIGTRAP || (by_struct && !handler))
		return false;
	/* The handler is the first member of libc's struct sigaction. */
	if (by_struct &&
	    !memory_read_word(&space->memory, handler, space->arch->abi->word, &handler))
		return false;
	thread->process->sigtrap_next = handler == (uintptr_t)SIG_DFL	? SIGTRAP_DEFAULT
					: handler == (uintptr_t)SIG_IGN ? SIGTRAP_IGNORED
									: SIGTRAP_HANDLED;
	return true;
}

void sigtrap_changed(struct thread *thread)
{
	struct process *process = thread->process;

	/*
	 * What /proc says now may be the kernel's doing: this return was a breakpoint, too. Then the
	 * handler cannot be asked for, and what was known before is kept.
	 */
	if (process->sigtrap_next != SIGTRAP_HANDLED ||
	    current_state(thread->tid) == SIGTRAP_HANDLED)
		learn_as(thread, process->sigtrap_next);
}

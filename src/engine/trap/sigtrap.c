/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See sigtrap.h. (The kernel: force_sig_info_to_task().)
 *
 * The disposition is learned when the process is first looked at and whenever libc's sigaction(), on
 * which all of libc's other ways are built, returns. That function is let through to the kernel, so
 * that what the kernel gets is libc's own; when it has returned, what it stored for the program is
 * made the program's own previous disposition, what the kernel has now is learned, and our handler
 * is put back in its place.
 *
 * Whether the kernel has reset the disposition is asked of /proc: after each stop where the program
 * itself cares, now and then where only our handler is concerned, which costs nothing but the
 * protection of a moment. That a handler is gone says that the signal was blocked, so the mask gets
 * its bit back; only where it is not known which thread it was, it does not.
 *
 * A program that makes the system call itself is not seen doing so. Then our handler is gone, and
 * what the program wants holds; should the tracer be killed, it is hit by what is left behind.
 *
 * An ignored SIGTRAP is inherited through exec, and our handler in its place is not: it is ignored
 * again in the new program (sigtrap_begin()).
 */
#include "engine/trap/sigtrap.h"

#include "engine/trap/stackview.h"
#include "inferior/journal.h"
#include "inferior/proc.h"
#include "inferior/ptrace.h"
#include "inferior/remote.h"
#include "inferior/rescue.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

enum {
	SCRATCH =
		1024, /* below the stack pointer, out of the red zone's way and of the landing's */
	MASK_BYTES = 8,
	LIBC_MASK_BYTES = 128 /* sigset_t */
};

static const uint64_t TRAP_BIT = UINT64_C(1) << (SIGTRAP - 1);
static const uint64_t CHECK_NS = 50 * 1000000;

_Static_assert(sizeof(((struct process *)0)->sigtrap_action) == RESCUE_ACTION, "one size");

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

static enum sigtrap_state state_of_handler(uint64_t handler)
{
	if (handler == (uintptr_t)SIG_DFL)
		return SIGTRAP_DEFAULT;
	return handler == (uintptr_t)SIG_IGN ? SIGTRAP_IGNORED : SIGTRAP_HANDLED;
}

static uint64_t handler_of(const struct space *space, const uint8_t *action)
{
	uint64_t handler = 0;

	memcpy(&handler, action, space->arch->abi->word);
	return handler;
}

/* ------------------------------------------------------------------ the kernel's side */

/* Where struct sigaction can lie for a call. */
static int scratch_place(const struct thread *thread, uint64_t *place)
{
	struct regs regs;
	int error = regs_load(thread->tid, &regs);

	*place = (regs.r[REG_SP] - SCRATCH) & ~UINT64_C(15);
	return error;
}

/* Puts back what was at the place, as a small stack may end before it, and hands `error` on. */
static int leave_place(struct thread *thread, uint64_t place, const uint8_t before[RESCUE_ACTION],
		       int error)
{
	space_write(thread->process->space, place, before, RESCUE_ACTION);
	return error;
}

static int call_sigaction(struct thread *thread, uint64_t new, uint64_t old)
{
	const uint64_t arguments[6] = {SIGTRAP, new, old, MASK_BYTES};
	int64_t result = 0;
	int error = remote_syscall(thread, thread->process->space->arch->sys_rt_sigaction,
				   arguments, &result);

	return error ? error : (int)result;
}

static int kernel_get(struct thread *thread, uint8_t action[RESCUE_ACTION])
{
	const struct memory_source *memory = &thread->process->space->memory;
	uint8_t before[RESCUE_ACTION];
	uint64_t place;
	int error = scratch_place(thread, &place);

	if (!error && !memory_read_exact(memory, place, before, sizeof before))
		error = -EFAULT;
	if (error)
		return error;
	error = call_sigaction(thread, 0, place);
	if (!error && !memory_read_exact(memory, place, action, RESCUE_ACTION))
		error = -EFAULT;
	return leave_place(thread, place, before, error);
}

static int kernel_set(struct thread *thread, const uint8_t action[RESCUE_ACTION])
{
	struct space *space = thread->process->space;
	uint8_t before[RESCUE_ACTION];
	uint64_t place;
	int error = scratch_place(thread, &place);

	if (!error && !memory_read_exact(&space->memory, place, before, sizeof before))
		error = -EFAULT;
	if (!error)
		error = space_write(space, place, action, RESCUE_ACTION);
	return error ? error : leave_place(thread, place, before, call_sigaction(thread, place, 0));
}

/* It is no child that lives in another one's memory. */
static bool owns_space(const struct process *process)
{
	return journal_subject(process->space->journal)->pid == process->pid;
}

/* What the guardian has to know, if it is this process's journal. */
static void tell_journal(const struct process *process)
{
	struct journal_subject *subject = journal_subject(process->space->journal);

	if (!owns_space(process))
		return;
	subject->rescue = rescue_base(process->space);
	memcpy(subject->action, process->sigtrap_action, sizeof subject->action);
	subject->guarded = process->sigtrap_guarded;
}

/* Gives the kernel our handler, or without one what the program wants itself. */
static void kernel_set_ours(struct thread *thread)
{
	struct process *process = thread->process;
	bool before = process->sigtrap_guarded;
	uint8_t guarded[RESCUE_ACTION];

	if (rescue_guard(process->space, process->sigtrap_action, owns_space(process), guarded) ==
	    0) {
		process->sigtrap_guarded = true;
		tell_journal(process); /* before it is so, as it may be the last that we do */
		if (kernel_set(thread, guarded) != 0)
			process->sigtrap_guarded = before; /* what the kernel has is as it was */
		tell_journal(process);
	} else if (process->sigtrap != SIGTRAP_DEFAULT) {
		kernel_set(thread, process->sigtrap_action);
	}
}

/* ------------------------------------------------------------------ the program's side */

/* Notes a state of which there is no more to know, or what the kernel knows of it. */
static void learn_as(struct thread *thread, enum sigtrap_state state)
{
	struct process *process = thread->process;
	uint8_t action[RESCUE_ACTION] = {0};

	if (state == SIGTRAP_IGNORED)
		action[0] = (uint8_t)(uintptr_t)SIG_IGN;
	if (state == SIGTRAP_HANDLED && kernel_get(thread, action) != 0)
		return;
	process->sigtrap = state_of_handler(handler_of(process->space, action));
	memcpy(process->sigtrap_action, action, sizeof action);
}

void sigtrap_begin(struct thread *thread)
{
	struct process *process = thread->process;
	bool ignored = process->sigtrap_guarded && process->sigtrap == SIGTRAP_IGNORED;

	process->sigtrap = SIGTRAP_DEFAULT;
	process->sigtrap_guarded = false;
	memset(process->sigtrap_action, 0, sizeof process->sigtrap_action);
	learn_as(thread, ignored ? SIGTRAP_IGNORED : current_state(thread->tid));
	bool installed = rescue_install(thread) == 0;

	if (installed && process->sigtrap == SIGTRAP_HANDLED &&
	    rescue_absorb(thread, process->sigtrap_action))
		process->sigtrap =
			state_of_handler(handler_of(process->space, process->sigtrap_action));
	if (installed || ignored)
		kernel_set_ours(thread);
}

int sigtrap_end(struct thread *thread)
{
	struct process *process = thread->process;

	if (!process->sigtrap_guarded)
		return 0;
	int error = kernel_set(thread, process->sigtrap_action);

	if (!error) {
		process->sigtrap_guarded = false;
		tell_journal(process);
	}
	return error;
}

/*
 * Whether the kernel has unblocked SIGTRAP for this thread at this stop. If nothing else changed since
 * the signal was last seen blocked, it has. Otherwise the disposition tells, which the kernel resets
 * along with that; unless it was reset before, by another thread, and not looked after yet.
 */
static bool was_blocked(struct thread *thread, uint64_t mask, uint64_t now)
{
	struct process *process = thread->process;
	bool cares = process->sigtrap != SIGTRAP_DEFAULT;
	bool known = thread->mask_seen == mask;
	bool told = process->sigtrap_guarded || process->sigtrap == SIGTRAP_HANDLED;
	bool reset_before = process->sigtrap_reset;

	if (!cares && thread->mask_seen == (mask | TRAP_BIT) && !known) {
		process->sigtrap_reset = true;
		return true;
	}
	if (!cares &&
	    (!process->sigtrap_guarded || (known && now - process->sigtrap_checked < CHECK_NS)))
		return false;
	process->sigtrap_checked = now;
	process->sigtrap_reset = false;
	if (current_state(thread->tid) != SIGTRAP_DEFAULT)
		return false;
	kernel_set_ours(thread);
	return told && !reset_before && (cares || !known);
}

void sigtrap_repair(struct thread *thread, uint64_t now)
{
	uint64_t mask = 0;

	if (pt_get_sigmask(thread->tid, &mask) != 0)
		return;
	bool blocked = !(mask & TRAP_BIT) && was_blocked(thread, mask, now);

	if (blocked)
		pt_set_sigmask(thread->tid, mask | TRAP_BIT);
	thread->mask_seen = blocked ? mask | TRAP_BIT : mask;
}

void sigtrap_inherit(struct process *child, const struct process *parent)
{
	child->sigtrap = parent->sigtrap;
	child->sigtrap_guarded = parent->sigtrap_guarded;
	memcpy(child->sigtrap_action, parent->sigtrap_action, sizeof child->sigtrap_action);
}

/* Whether the kernel has our handler for this process. */
static bool is_guarded(struct thread *thread)
{
	const struct process *process = thread->process;
	uint8_t action[RESCUE_ACTION];

	if (current_state(thread->tid) != SIGTRAP_HANDLED)
		return false;
	return process->sigtrap != SIGTRAP_HANDLED || kernel_get(thread, action) != 0 ||
	       handler_of(process->space, action) == rescue_base(process->space);
}

void sigtrap_born(struct thread *thread)
{
	struct process *process = thread->process;

	if (!process->space || !process->sigtrap_guarded)
		return;
	if (owns_space(process))
		rescue_forget_missing(process->space);
	if (!process->space->rescue)
		sigtrap_begin(thread);
	else if (!is_guarded(thread))
		kernel_set_ours(thread);
}

/* ------------------------------------------------------------------ sigaction() */

bool sigtrap_will_call(struct thread *thread, const struct regs *regs)
{
	const struct space *space = thread->process->space;
	uint64_t new = stackview_argument(space, regs, 1);
	uint64_t handler = 0;

	if ((uint32_t)stackview_argument(space, regs, 0) != SIGTRAP)
		return false;
	/* The handler is the first member of libc's struct sigaction. */
	thread->sigtrap_changes = new &&memory_read_word(&space->memory, new,
							 space->arch->abi->word, &handler);
	thread->sigtrap_next = state_of_handler(handler);
	thread->sigtrap_flags = 0;
	if (thread->sigtrap_changes)
		memory_read_word(&space->memory, new + space->arch->abi->word + LIBC_MASK_BYTES,
				 sizeof(uint32_t), &thread->sigtrap_flags);
	thread->sigtrap_old = stackview_argument(space, regs, 2);
	return true;
}

/* What the program finds in libc's struct sigaction: its own, instead of our handler. */
static void show_own(struct space *space, const uint8_t *action, uint64_t place)
{
	size_t word = space->arch->abi->word;
	const size_t flags = word + LIBC_MASK_BYTES;

	space_write(space, place, action, word);
	space_write(space, place + word, action + 3 * word, MASK_BYTES);
	space_write(space, place + flags, action + word, sizeof(int));
	space_write(space, place + flags + word, action + 2 * word, word);
}

void sigtrap_called(struct thread *thread, uint64_t result)
{
	struct process *process = thread->process;
	struct space *space = process->space;
	uint8_t action[RESCUE_ACTION] = {0};

	if ((uint32_t)result != 0)
		return;
	if (process->sigtrap_guarded && thread->sigtrap_old)
		show_own(space, process->sigtrap_action, thread->sigtrap_old);
	if (!thread->sigtrap_changes)
		return;
	/*
	 * The kernel may have reset it already: this return was a breakpoint, too. Then a handler
	 * cannot be asked for, and what was known before is kept.
	 */
	if (kernel_get(thread, action) == 0 &&
	    state_of_handler(handler_of(space, action)) == thread->sigtrap_next) {
		process->sigtrap = thread->sigtrap_next;
		memcpy(process->sigtrap_action, action, sizeof action);
	} else if (thread->sigtrap_next != SIGTRAP_HANDLED) {
		learn_as(thread, thread->sigtrap_next);
		memcpy(process->sigtrap_action + space->arch->abi->word, &thread->sigtrap_flags,
		       space->arch->abi->word);
	}
	if (process->sigtrap_guarded || space->rescue)
		kernel_set_ours(thread);
}

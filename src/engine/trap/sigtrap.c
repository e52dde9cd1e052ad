/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See sigtrap.h. (In the kernel: force_sig_info_to_task().)
 *
 * The disposition is learned when the process is first seen and at each return of libc's
 * sigaction(), which all other functions of libc use. The call itself goes to the kernel, so that
 * the kernel gets what libc passes. When it returns, the previous disposition that it has stored
 * for the program is replaced by the program's own, the kernel's present one is learned, and the
 * tracer's handler is set again.
 *
 * The other bits of a thread's mask mostly tell whether it blocked the signal (sigmask_history.h).
 * Where they do not, the disposition is read from /proc: after each stop if the program has a
 * disposition of its own; now and then if only the tracer's handler is concerned, which may then
 * be missing for a moment. If the handler is gone, the signal was blocked, and is blocked again;
 * but not if several threads have hit breakpoints and more than one has an unknown mask. A mask
 * that is too closed does more harm than one that is too open.
 *
 * A SIGTRAP of the program's own, blocked and pending for the thread, is in the queue when the
 * int3's comes, and the kernel does not queue a second one: the thread stops for the program's,
 * behind the breakpoint. The hit is handled as usual, and the thread is resumed *with* that signal
 * after SIGTRAP is blocked again: the kernel then queues the blocked signal again, with its
 * siginfo. A SIGTRAP that is pending for the whole process is in another queue. It would come
 * behind the int3's, so the mask is restored before anything can resume the thread.
 *
 * CLONE_VM children (vfork) are not followed until exec, or not at all. They have the tracer's
 * handler until they run another program, and need none of their own: see sigtrap_answered().
 *
 * A program that makes the system call itself is not noticed. Then the tracer's handler is gone,
 * and the program's own disposition is in effect; if the tracer is killed, the remaining
 * breakpoints hit it.
 *
 * An ignored SIGTRAP is inherited through exec, but the tracer's handler in its place is not:
 * SIGTRAP is ignored again in the new program (sigtrap_begin()).
 */
#include "engine/trap/sigtrap.h"

#include "engine/core/stackview.h"
#include "engine/trap/breakpoint.h"
#include "engine/trap/sigmask_history.h"
#include "engine/trap/sigmask_shadow.h"
#include "engine/trap/stale_handler_drain.h"
#include "engine/trap/trap_state.h"
#include "recovery/rescue.h"
#include "tracee/clock.h"
#include "tracee/journal.h"
#include "tracee/proc.h"
#include "tracee/ptrace.h"
#include "tracee/remote.h"
#include "tracee/space.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

enum {
	SCRATCH = 256, /* bytes below sp: between the red zone and what the remote-call stub uses */
	MASK_BYTES = 8,
	LIBC_MASK_BYTES = 128 /* sigset_t */
};

static const uint64_t CHECK_NS = 50 * 1000000;
static const uint64_t SET_NS = 2 * 1000000;

_Static_assert(sizeof(((struct trap_process *)0)->sigtrap_action) == RESCUE_ACTION, "one size");

/* The new action of a sigaction() call. */
struct new_action {
	uint64_t handler, mask, flags;
};

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

uint64_t sigtrap_handler(const struct space *space, const uint8_t *action)
{
	uint64_t handler = 0;

	memcpy(&handler, action, space->arch->abi->word);
	return handler;
}

/* ------------------------------------------------------------------ the kernel's side */

/* Finds a place below sp for a struct sigaction. */
static int scratch_place(const struct thread *thread, uint64_t *place)
{
	struct regs regs;
	int error = regs_load(thread->tid, &regs);

	*place = error ? 0 : (regs.r[REG_SP] - SCRATCH) & ~UINT64_C(15);
	return error;
}

/* Restores the bytes at `place`, because a small stack may end above it. Returns `error`. */
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

/* Returns false for a CLONE_VM child, which lives in its parent's memory. */
static bool owns_space(const struct process *process)
{
	return journal_subject(process->space->journal)->pid == process->pid;
}

/* Writes what the guardian needs to know, if the journal is this process's. */
static void tell_journal(const struct process *process)
{
	struct journal_subject *subject = journal_subject(process->space->journal);

	if (!owns_space(process))
		return;
	subject->rescue = rescue_base(process->space);
	memcpy(subject->action, process->trap->sigtrap_action, sizeof subject->action);
	subject->guarded = process->trap->sigtrap_guarded;
}

/* Sets the tracer's handler in the kernel; if there is none, the program's own disposition. */
static void kernel_set_ours(struct thread *thread)
{
	struct process *process = thread->process;
	bool before = process->trap->sigtrap_guarded;
	uint8_t guarded[RESCUE_ACTION];

	thread->trap->sigtrap_gone = false;
	process->trap->sigtrap_reset = false;
	process->trap->sigtrap_sets++;
	process->trap->sigtrap_set = clock_now();
	if (rescue_guard(process->space, process->trap->sigtrap_action, owns_space(process),
			 guarded) == 0) {
		process->trap->sigtrap_guarded = true;
		tell_journal(process); /* before the call, in case the tracer is killed then */
		if (kernel_set(thread, guarded) != 0)
			process->trap->sigtrap_guarded =
				before; /* the kernel has the same as before */
		tell_journal(process);
	} else if (process->trap->sigtrap != SIGTRAP_DEFAULT) {
		kernel_set(thread, process->trap->sigtrap_action);
	}
}

/* ------------------------------------------------------------------ the program's side */

/* Notes the program's disposition; for a handler, reads the kernel's struct sigaction. */
static void learn_as(struct thread *thread, enum sigtrap_state state)
{
	struct process *process = thread->process;
	uint8_t action[RESCUE_ACTION] = {0};

	if (state == SIGTRAP_IGNORED)
		action[0] = (uint8_t)(uintptr_t)SIG_IGN;
	if (state == SIGTRAP_HANDLED && kernel_get(thread, action) != 0)
		return;
	process->trap->sigtrap = state_of_handler(sigtrap_handler(process->space, action));
	memcpy(process->trap->sigtrap_action, action, sizeof action);
}

int sigtrap_begin(struct thread *thread)
{
	struct process *process = thread->process;
	bool ignored = process->trap->sigtrap_guarded && process->trap->sigtrap == SIGTRAP_IGNORED;
	uint64_t earlier[RESCUE_GENERATIONS];

	process->trap->sigtrap = SIGTRAP_DEFAULT;
	process->trap->sigtrap_guarded = false;
	memset(process->trap->sigtrap_action, 0, sizeof process->trap->sigtrap_action);
	sigmask_begin(process);
	learn_as(thread, ignored ? SIGTRAP_IGNORED : current_state(thread->tid));
	int error = rescue_install(thread);
	size_t count = 0;

	rescue_look_for_filters(thread, clock_now());
	if (!error && process->trap->sigtrap == SIGTRAP_HANDLED)
		count = rescue_absorb(thread, process->trap->sigtrap_action, earlier);
	process->trap->sigtrap_stale = count > 0;
	if (count)
		process->trap->sigtrap = state_of_handler(
			sigtrap_handler(process->space, process->trap->sigtrap_action));
	if (!error || ignored)
		kernel_set_ours(thread);
	stale_handlers_drain(thread, earlier, count);
	return error;
}

int sigtrap_end(struct thread *thread)
{
	struct process *process = thread->process;

	if (!process->trap->sigtrap_guarded)
		return 0;
	int error = kernel_set(thread, process->trap->sigtrap_action);

	if (!error) {
		process->trap->sigtrap_guarded = false;
		tell_journal(process);
	}
	return error;
}

/* ------------------------------------------------------------------ at a breakpoint */

/*
 * Decides by the disposition if a thread whose mask is not enough blocked SIGTRAP at a breakpoint.
 * The kernel resets the disposition if so. If the tracer's handler is set, and was when the thread
 * was resumed, SIGTRAP was not blocked. If it is gone, some thread blocked SIGTRAP.
 */
static bool told_by_disposition(struct thread *thread, uint64_t mask, enum sigmask_guess guess)
{
	struct process *process = thread->process;
	bool cares = process->trap->sigtrap != SIGTRAP_DEFAULT;
	bool reset_before = process->trap->sigtrap_reset;

	if (current_state(thread->tid) != SIGTRAP_DEFAULT) {
		bool certain = process->trap->sigtrap_guarded &&
			       thread->trap->sigtrap_sets == process->trap->sigtrap_sets;

		process->trap->sigtrap_reset = false;
		return !certain && (guess == MASKS_BLOCKED ||
				    (guess == MASKS_UNKNOWN && sigmask_block_all(mask)));
	}
	thread->trap->sigtrap_gone = true;
	if (guess == MASKS_BLOCKED)
		return true;
	if (guess == MASKS_OPEN && !cares)
		return false;
	if (guess == MASKS_UNKNOWN && sigmask_block_all(mask))
		return true;
	/* Without a handler, the tracer's or the program's, the signal may have been ignored. */
	return (process->trap->sigtrap_guarded || process->trap->sigtrap == SIGTRAP_HANDLED) &&
	       !reset_before && !sigmask_others_hit(thread);
}

/* Returns true if the thread, which has `mask` after a breakpoint hit, blocked SIGTRAP. */
static bool was_blocked(struct thread *thread, uint64_t mask, uint64_t now)
{
	struct process *process = thread->process;
	enum sigmask_guess guess = sigmask_guess(thread, mask);
	bool cares = process->trap->sigtrap != SIGTRAP_DEFAULT;
	bool reset = process->trap->sigtrap_reset && now - process->trap->sigtrap_set < SET_NS;
	bool due = now - process->trap->sigtrap_checked >= CHECK_NS;

	/* Right after sigaction() the disposition is the new one, which may be reset as well. */
	if (thread->trap->sigtrap_changes || (!cares && !process->trap->sigtrap_guarded))
		return guess == MASKS_BLOCKED;
	if (!cares && ((guess == MASKS_OPEN && !due) || (guess == MASKS_BLOCKED && reset)))
		return guess == MASKS_BLOCKED;
	process->trap->sigtrap_checked = now;
	bool blocked = told_by_disposition(thread, mask, guess);

	/* The next hit with this mask resets the handler again: set it once per SET_NS only. */
	if (thread->trap->sigtrap_gone && !cares && guess == MASKS_BLOCKED &&
	    !sigmask_block_most(mask)) {
		thread->trap->sigtrap_gone = now - process->trap->sigtrap_set >= SET_NS;
		process->trap->sigtrap_reset = !thread->trap->sigtrap_gone;
	}
	return blocked;
}

void sigtrap_hit(struct thread *thread, uint64_t now)
{
	uint64_t mask = 0;
	siginfo_t info;

	thread->trap->sigtrap_own = thread->trap->sigtrap_blocked = false;
	rescue_look_for_filters(thread, now);
	if (pt_get_sigmask(thread->tid, &mask) != 0 || sigmask_shadow_is_ours(thread, mask))
		return;
	if (!(mask & TRAP_BIT) && was_blocked(thread, mask, now)) {
		mask |= TRAP_BIT;
		thread->trap->sigtrap_blocked = true;
		pt_set_sigmask(thread->tid, mask);
		thread->trap->sigtrap_own = pt_get_siginfo(thread->tid, &info) == 0 &&
					    info.si_code <= 0;
	}
	if (!sigmask_shadow_recall(thread, mask))
		sigmask_seen(thread, mask);
}

/*
 * Returns true if a SIGTRAP of the program's own has taken the place of the int3's: it was in the
 * queue, and the kernel does not queue a second one.
 */
static bool hides_hit(struct thread *thread)
{
	const struct process *process = thread->process;
	siginfo_t info;
	uint64_t mask;

	if (pt_get_siginfo(thread->tid, &info) != 0 || info.si_code > 0 ||
	    pt_get_sigmask(thread->tid, &mask) != 0 || mask & TRAP_BIT ||
	    sigmask_shadow_is_ours(thread, mask))
		return false;
	return sigmask_guess(thread, mask) == MASKS_BLOCKED ||
	       (process->trap->sigtrap_guarded && !process->trap->sigtrap_reset &&
		!thread->trap->sigtrap_changes && current_state(thread->tid) == SIGTRAP_DEFAULT);
}

bool sigtrap_is_hit(struct thread *thread)
{
	return breakpoint_is_hit(thread) || hides_hit(thread);
}

int sigtrap_to_deliver(const struct thread *thread)
{
	return thread->trap->sigtrap_own ? SIGTRAP : 0;
}

void sigtrap_stepped(struct thread *thread, uint64_t mask)
{
	siginfo_t info;

	if (!(mask & TRAP_BIT))
		return;
	pt_set_sigmask(thread->tid, mask);
	thread->trap->sigtrap_gone = true;
	thread->trap->sigtrap_own = pt_get_siginfo(thread->tid, &info) == 0 && info.si_code <= 0;
}

void sigtrap_repair(struct thread *thread)
{
	if (thread->trap->sigtrap_gone)
		kernel_set_ours(thread);
	thread->trap->sigtrap_gone = false;
	if (thread->trap->sigtrap_blocked)
		sigmask_shadow_thread(thread);
	thread->trap->sigtrap_sets = thread->process->trap->sigtrap_sets;
}

/* ------------------------------------------------------------------ other processes */

bool sigtrap_is_handled(const struct process *process)
{
	return process->trap->sigtrap == SIGTRAP_HANDLED;
}

void sigtrap_adopt(struct process *process, const struct journal_subject *subject)
{
	process->trap->sigtrap_guarded = subject->guarded;
	process->trap->handlers_opened = subject->handlers_opened;
	memcpy(process->trap->sigtrap_action, subject->action,
	       sizeof process->trap->sigtrap_action);
}

void sigtrap_inherit(struct process *child, const struct process *parent)
{
	child->trap->sigtrap = parent->trap->sigtrap;
	child->trap->sigtrap_guarded = parent->trap->sigtrap_guarded;
	child->trap->sigtrap_stale = parent->trap->sigtrap_stale;
	child->trap->handlers_opened = parent->trap->handlers_opened;
	memcpy(child->trap->sigtrap_action, parent->trap->sigtrap_action,
	       sizeof child->trap->sigtrap_action);
	memcpy(child->trap->handler_masks, parent->trap->handler_masks,
	       sizeof child->trap->handler_masks);
}

/*
 * Returns true if the kernel has the tracer's handler for this process. If the program has none,
 * any handler is the tracer's, unless an earlier tracer has left its own: a child made before its
 * parent got this tracer's handler has that one, which does not know the present breakpoints.
 */
static bool is_guarded(struct thread *thread)
{
	const struct process *process = thread->process;
	bool others = process->trap->sigtrap == SIGTRAP_HANDLED || process->trap->sigtrap_stale;
	uint8_t action[RESCUE_ACTION];

	if (current_state(thread->tid) != SIGTRAP_HANDLED)
		return false;
	return !others || kernel_get(thread, action) != 0 ||
	       sigtrap_handler(process->space, action) == rescue_base(process->space);
}

void sigtrap_born(struct thread *thread)
{
	struct process *process = thread->process;

	if (!process->space || !process->trap->sigtrap_guarded)
		return;
	if (!process->space->rescue)
		sigtrap_begin(thread);
	else if (!is_guarded(thread))
		kernel_set_ours(thread);
}

/* ------------------------------------------------------------------ sigaction() */

/* Reads libc's struct sigaction: the handler, the mask (longer than the kernel's), int flags. */
static bool read_new(const struct space *space, uint64_t place, struct new_action *action)
{
	unsigned word = space->arch->abi->word;

	*action = (struct new_action){0};
	return place && memory_read_word(&space->memory, place, word, &action->handler) &&
	       memory_read_exact(&space->memory, place + word, &action->mask, MASK_BYTES) &&
	       memory_read_word(&space->memory, place + word + LIBC_MASK_BYTES, sizeof(uint32_t),
				&action->flags);
}

bool sigtrap_will_call(struct thread *thread, const struct regs *regs)
{
	const struct space *space = thread->process->space;
	uint32_t signal = (uint32_t)stackview_argument(space, regs, 0);
	struct new_action new;
	bool changes = read_new(space, stackview_argument(space, regs, 1), &new);

	if (changes && state_of_handler(new.handler) != SIGTRAP_HANDLED)
		sigmask_of_handler(thread->process, signal, 0);
	else if (changes && signal >= 1 && signal <= 64)
		sigmask_of_handler(
			thread->process, signal,
			new.mask | (new.flags &SA_NODEFER ? 0 : UINT64_C(1) << (signal - 1)));
	if (signal != SIGTRAP)
		return false;
	thread->trap->sigtrap_changes = changes;
	thread->trap->sigtrap_handler = new.handler;
	thread->trap->sigtrap_flags = new.flags;
	thread->trap->sigtrap_old = stackview_argument(space, regs, 2);
	return true;
}

/* Writes the program's own disposition to a struct sigaction of libc's layout. */
static void show_own(struct space *space, const uint8_t *action, uint64_t place)
{
	size_t word = space->arch->abi->word;
	const size_t flags = word + LIBC_MASK_BYTES;

	space_write(space, place, action, word);
	space_write(space, place + word, action + 3 * word, MASK_BYTES);
	space_write(space, place + flags, action + word, sizeof(int));
	space_write(space, place + flags + word, action + 2 * word, word);
}

/*
 * Learns what a sigaction() that has just returned has set. The breakpoint at its return may have
 * made the kernel reset the disposition; that removes the handler, and nothing else.
 */
static void learn_new(struct thread *thread)
{
	struct process *process = thread->process;
	const struct space *space = process->space;
	enum sigtrap_state state = state_of_handler(thread->trap->sigtrap_handler);
	uint8_t action[RESCUE_ACTION] = {0};
	bool known = kernel_get(thread, action) == 0;

	/* The tracer's handler was set again meanwhile, after another thread's breakpoint hit. */
	if (known && space->rescue && sigtrap_handler(space, action) == rescue_base(space))
		known = false;
	if (known) {
		memcpy(action, &thread->trap->sigtrap_handler, space->arch->abi->word);
		memcpy(process->trap->sigtrap_action, action, sizeof action);
		process->trap->sigtrap = state;
	} else if (state != SIGTRAP_HANDLED) {
		learn_as(thread, state);
		memcpy(process->trap->sigtrap_action + space->arch->abi->word,
		       &thread->trap->sigtrap_flags, space->arch->abi->word);
	}
}

void sigtrap_called(struct thread *thread, uint64_t result)
{
	struct process *process = thread->process;
	struct space *space = process->space;
	bool changes = thread->trap->sigtrap_changes;

	thread->trap->sigtrap_changes = false;
	if ((uint32_t)result != 0)
		return;
	if (process->trap->sigtrap_guarded && thread->trap->sigtrap_old)
		show_own(space, process->trap->sigtrap_action, thread->trap->sigtrap_old);
	if (!changes)
		return;
	learn_new(thread);
	if (process->trap->sigtrap_guarded || space->rescue)
		kernel_set_ours(thread);
}

bool sigtrap_answered(const struct thread *thread, const struct regs *regs)
{
	const struct process *process = thread->process;
	struct space *space = process->space;
	uint64_t old = stackview_argument(space, regs, 2);
	struct new_action new;
	bool changes = read_new(space, stackview_argument(space, regs, 1), &new);

	if (!process->shares_parent_vm || !process->trap->sigtrap_guarded ||
	    (uint32_t)stackview_argument(space, regs, 0) != SIGTRAP ||
	    (changes && state_of_handler(new.handler) != SIGTRAP_DEFAULT))
		return false;
	if (old)
		show_own(space, process->trap->sigtrap_action, old);
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See sigtrap.h. (The kernel: force_sig_info_to_task().)
 *
 * The disposition is learned when the process is first looked at and whenever libc's sigaction(),
 * on which all of libc's other ways are built, returns. That function is let through to the kernel,
 * so that what the kernel gets is libc's own; when it has returned, what it stored for the program
 * is made the program's own previous disposition, what the kernel has now is learned, and our
 * handler is put back in its place.
 *
 * Whether a thread blocked the signal is mostly known from the other bits of its mask (masks.h).
 * Where that is not enough the disposition is asked of /proc: after each stop where the program
 * itself cares, now and then where only our handler is concerned, which costs nothing but the
 * protection of a moment. That a handler is gone says that the signal was blocked, so the mask gets
 * its bit back. When several threads have run into breakpoints, and of more than one the mask is
 * not known, it does not: a thread that blocks what the program thinks it does not is worse off
 * than the other way round.
 *
 * A SIGTRAP of the program's own, blocked and pending for the thread, is in the queue when the
 * int3's comes, and the kernel does not queue a second one: the thread stops for the program's,
 * behind our breakpoint. It is served like any other, and the thread sent on *with* that signal
 * after the mask has its bit again. What is to be delivered and turns out to be blocked the kernel
 * puts back in the queue, with the siginfo it came with. One that waits for the whole process is in
 * another queue. It would come behind the int3's, so the mask is put right before anything can send
 * the thread on.
 *
 * Children in their parent's memory (vfork) are not followed through that, or not at all. They have
 * our handler until they have another program, and no use for one of their own: see
 * sigtrap_answered().
 *
 * A program that makes the system call itself is not seen doing so. Then our handler is gone, and
 * what the program wants holds; should the tracer be killed, it is hit by what is left behind.
 *
 * A SIGTRAP of the program's own would go through our handler, where the next signal may find it:
 * the program would see a pc that is none of its own. So it is delivered by a single step, for
 * which the kernel makes the signal frame and stops before the handler's first instruction; there
 * the thread is sent to the program's handler instead. Should we be killed in between, ours hands
 * it on. Of the step the kernel leaves nothing in the frame, unless the instruction to come may set
 * the flag for steps itself (user_disable_single_step()). SA_RESETHAND is left to our handler, too.
 *
 * An ignored SIGTRAP is inherited through exec, and our handler in its place is not: it is ignored
 * again in the new program (sigtrap_begin()).
 */
#include "engine/trap/sigtrap.h"

#include "engine/trap/breakpoint.h"
#include "engine/trap/earlier.h"
#include "engine/trap/masks.h"
#include "engine/trap/stackview.h"
#include "engine/trap/unblock.h"
#include "inferior/journal.h"
#include "inferior/proc.h"
#include "inferior/ptrace.h"
#include "inferior/remote.h"
#include "inferior/rescue.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

enum {
	SCRATCH = 256, /* below sp: between the red zone and what the landing takes */
	MASK_BYTES = 8,
	LIBC_MASK_BYTES = 128, /* sigset_t */
	DELIVERY_MS = 2000
};

static const uint64_t CHECK_NS = 50 * 1000000;
static const uint64_t SET_NS = 2 * 1000000;

_Static_assert(sizeof(((struct process *)0)->sigtrap_action) == RESCUE_ACTION, "one size");

/* What a call of sigaction() is to set. */
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

	thread->sigtrap_gone = false;
	process->sigtrap_reset = false;
	process->sigtrap_sets++;
	process->sigtrap_set = inferior_clock();
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

int sigtrap_begin(struct thread *thread)
{
	struct process *process = thread->process;
	bool ignored = process->sigtrap_guarded && process->sigtrap == SIGTRAP_IGNORED;
	uint64_t earlier[RESCUE_GENERATIONS];

	process->sigtrap = SIGTRAP_DEFAULT;
	process->sigtrap_guarded = false;
	memset(process->sigtrap_action, 0, sizeof process->sigtrap_action);
	masks_begin(process);
	learn_as(thread, ignored ? SIGTRAP_IGNORED : current_state(thread->tid));
	int error = rescue_install(thread);
	size_t count = 0;

	rescue_look_for_filters(thread, inferior_clock());
	if (!error && process->sigtrap == SIGTRAP_HANDLED)
		count = rescue_absorb(thread, process->sigtrap_action, earlier);
	process->sigtrap_earlier = count > 0;
	if (count)
		process->sigtrap =
			state_of_handler(handler_of(process->space, process->sigtrap_action));
	if (!error || ignored)
		kernel_set_ours(thread);
	earlier_leave(thread, earlier, count);
	return error;
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

/* ------------------------------------------------------------------ at a breakpoint */

/*
 * What the disposition tells of a thread that has hit a breakpoint and whose mask does not tell
 * enough. The kernel resets it when the signal was blocked, so if it is ours and was when the
 * thread was sent on, it was not; if it is gone, some thread has blocked it.
 */
static bool told_by_disposition(struct thread *thread, uint64_t mask, enum masks_guess guess)
{
	struct process *process = thread->process;
	bool cares = process->sigtrap != SIGTRAP_DEFAULT;
	bool reset_before = process->sigtrap_reset;

	if (current_state(thread->tid) != SIGTRAP_DEFAULT) {
		bool certain = process->sigtrap_guarded &&
			       thread->sigtrap_sets == process->sigtrap_sets;

		process->sigtrap_reset = false;
		return !certain && (guess == MASKS_BLOCKED ||
				    (guess == MASKS_UNKNOWN && masks_block_all(mask)));
	}
	thread->sigtrap_gone = true;
	if (guess == MASKS_BLOCKED)
		return true;
	if (guess == MASKS_OPEN && !cares)
		return false;
	if (guess == MASKS_UNKNOWN && masks_block_all(mask))
		return true;
	/* Without a handler of ours or the program's, it may have been ignored. */
	return (process->sigtrap_guarded || process->sigtrap == SIGTRAP_HANDLED) && !reset_before &&
	       !masks_others_hit(thread);
}

/* Whether the thread, which has hit a breakpoint with `mask` left, blocked SIGTRAP. */
static bool was_blocked(struct thread *thread, uint64_t mask, uint64_t now)
{
	struct process *process = thread->process;
	enum masks_guess guess = masks_guess(thread, mask);
	bool cares = process->sigtrap != SIGTRAP_DEFAULT;
	bool reset = process->sigtrap_reset && now - process->sigtrap_set < SET_NS;
	bool due = now - process->sigtrap_checked >= CHECK_NS;

	/* Behind a sigaction() it is the program's new one, and may have been reset as well. */
	if (thread->sigtrap_changes || (!cares && !process->sigtrap_guarded))
		return guess == MASKS_BLOCKED;
	if (!cares && ((guess == MASKS_OPEN && !due) || (guess == MASKS_BLOCKED && reset)))
		return guess == MASKS_BLOCKED;
	process->sigtrap_checked = now;
	bool blocked = told_by_disposition(thread, mask, guess);

	/* Its next call does the same again, unless it is given another mask (sigtrap_repair()). */
	if (thread->sigtrap_gone && !cares && guess == MASKS_BLOCKED && !masks_block_most(mask)) {
		thread->sigtrap_gone = now - process->sigtrap_set >= SET_NS;
		process->sigtrap_reset = !thread->sigtrap_gone;
	}
	return blocked;
}

void sigtrap_hit(struct thread *thread, uint64_t now)
{
	uint64_t mask = 0;
	siginfo_t info;

	thread->sigtrap_own = thread->sigtrap_blocked = false;
	rescue_look_for_filters(thread, now);
	if (pt_get_sigmask(thread->tid, &mask) != 0 || unblock_is_ours(thread, mask))
		return;
	if (!(mask & TRAP_BIT) && was_blocked(thread, mask, now)) {
		mask |= TRAP_BIT;
		thread->sigtrap_blocked = true;
		pt_set_sigmask(thread->tid, mask);
		thread->sigtrap_own = pt_get_siginfo(thread->tid, &info) == 0 && info.si_code <= 0;
	}
	if (!unblock_recall(thread, mask))
		masks_seen(thread, mask);
}

/*
 * Of the program's own: whether it was in the queue when the int3's came, as a second one is not
 * queued.
 */
static bool hides_hit(struct thread *thread)
{
	const struct process *process = thread->process;
	siginfo_t info;
	uint64_t mask;

	if (pt_get_siginfo(thread->tid, &info) != 0 || info.si_code > 0 ||
	    pt_get_sigmask(thread->tid, &mask) != 0 || mask & TRAP_BIT ||
	    unblock_is_ours(thread, mask))
		return false;
	return masks_guess(thread, mask) == MASKS_BLOCKED ||
	       (process->sigtrap_guarded && !process->sigtrap_reset && !thread->sigtrap_changes &&
		current_state(thread->tid) == SIGTRAP_DEFAULT);
}

bool sigtrap_is_hit(struct thread *thread)
{
	return breakpoint_is_hit(thread) || hides_hit(thread);
}

void sigtrap_stepped(struct thread *thread, uint64_t mask)
{
	siginfo_t info;

	if (!(mask & TRAP_BIT))
		return;
	pt_set_sigmask(thread->tid, mask);
	thread->sigtrap_gone = true;
	thread->sigtrap_own = pt_get_siginfo(thread->tid, &info) == 0 && info.si_code <= 0;
}

void sigtrap_repair(struct thread *thread)
{
	if (thread->sigtrap_gone)
		kernel_set_ours(thread);
	thread->sigtrap_gone = false;
	if (thread->sigtrap_blocked)
		unblock_thread(thread);
	thread->sigtrap_sets = thread->process->sigtrap_sets;
}

/* ------------------------------------------------------------------ the program's own */

/*
 * Whether a step with the signal leads to our handler, and there is one of the program's to go to.
 */
static bool can_deliver(const struct thread *thread)
{
	const struct process *process = thread->process;
	const struct space *space = process->space;
	uint64_t flags = 0;
	uint64_t mask;

	if (!space || !space->rescue || process->sigtrap != SIGTRAP_HANDLED ||
	    !process->sigtrap_guarded || process->starting)
		return false;
	memcpy(&flags, process->sigtrap_action + space->arch->abi->word, space->arch->abi->word);
	return !(flags & (unsigned)SA_RESETHAND) && pt_get_sigmask(thread->tid, &mask) == 0 &&
	       !(mask & TRAP_BIT);
}

/* At the handler's first instruction. `stepped`: the program was stepping itself. */
static void enter_own_handler(const struct thread *thread, struct regs *regs, bool stepped)
{
	const struct process *process = thread->process;
	struct space *space = process->space;
	const struct arch *arch = space->arch;
	uint64_t place = regs->r[arch->context_register] + arch->context_flags;
	uint64_t flags;

	if (!stepped && memory_read_word(&space->memory, place, arch->abi->word, &flags) &&
	    flags & arch->step_flag) {
		flags &= ~arch->step_flag;
		space_write(space, place, &flags, arch->abi->word);
	}
	regs->pc = handler_of(space, process->sigtrap_action);
	regs_store(thread->tid, regs);
}

bool sigtrap_deliver(struct thread *thread)
{
	const struct process *process = thread->process;
	struct regs regs;
	siginfo_t info;
	int status;

	if (!can_deliver(thread) || regs_load(thread->tid, &regs) != 0)
		return false;
	bool stepped = regs.flags & process->space->arch->step_flag;

	if (pt_step(thread->tid, SIGTRAP) != 0 || thread_wait(thread, &status, DELIVERY_MS) != 0) {
		thread->state = THREAD_RUNNING;
		return true;
	}
	struct stop_status stop = stop_status_decode(status);

	if (stop.kind != STOP_SIGNAL || stop.signal != SIGTRAP ||
	    pt_get_siginfo(thread->tid, &info) != 0 || info.si_code <= 0) {
		thread_defer(thread, status);
		return true;
	}
	thread->stop = STOP_TRAP;
	thread->stop_signal = 0;
	if (regs_load(thread->tid, &regs) == 0 && regs.pc == rescue_base(process->space))
		enter_own_handler(thread, &regs, stepped);
	return true;
}

void sigtrap_inherit(struct process *child, const struct process *parent)
{
	child->sigtrap = parent->sigtrap;
	child->sigtrap_guarded = parent->sigtrap_guarded;
	child->sigtrap_earlier = parent->sigtrap_earlier;
	child->handlers_opened = parent->handlers_opened;
	memcpy(child->sigtrap_action, parent->sigtrap_action, sizeof child->sigtrap_action);
	memcpy(child->handler_masks, parent->handler_masks, sizeof child->handler_masks);
}

/*
 * Whether the kernel has our handler for this process. A handler where the program wants none is
 * ours, unless an earlier tracer has left its own: a child that was made before the parent got
 * ours has that one, which knows nothing of our breakpoints.
 */
static bool is_guarded(struct thread *thread)
{
	const struct process *process = thread->process;
	bool others = process->sigtrap == SIGTRAP_HANDLED || process->sigtrap_earlier;
	uint8_t action[RESCUE_ACTION];

	if (current_state(thread->tid) != SIGTRAP_HANDLED)
		return false;
	return !others || kernel_get(thread, action) != 0 ||
	       handler_of(process->space, action) == rescue_base(process->space);
}

void sigtrap_born(struct thread *thread)
{
	struct process *process = thread->process;

	if (!process->space || !process->sigtrap_guarded)
		return;
	if (!process->space->rescue)
		sigtrap_begin(thread);
	else if (!is_guarded(thread))
		kernel_set_ours(thread);
}

/* ------------------------------------------------------------------ sigaction() */

/* Libc's struct sigaction: the handler, the mask (longer than the kernel's), int flags. */
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
		masks_of_handler(thread->process, signal, 0);
	else if (changes && signal >= 1 && signal <= 64)
		masks_of_handler(thread->process, signal,
				 new.mask |
					 (new.flags &SA_NODEFER ? 0 : UINT64_C(1) << (signal - 1)));
	if (signal != SIGTRAP)
		return false;
	thread->sigtrap_changes = changes;
	thread->sigtrap_handler = new.handler;
	thread->sigtrap_flags = new.flags;
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

/*
 * What a sigaction() that has just returned has set. The kernel may have reset it already, as this
 * return was a breakpoint, too; then the handler is gone and nothing else.
 */
static void learn_new(struct thread *thread)
{
	struct process *process = thread->process;
	const struct space *space = process->space;
	enum sigtrap_state state = state_of_handler(thread->sigtrap_handler);
	uint8_t action[RESCUE_ACTION] = {0};
	bool known = kernel_get(thread, action) == 0;

	/* Ours is there again, set after a breakpoint that another thread has hit meanwhile. */
	if (known && space->rescue && handler_of(space, action) == rescue_base(space))
		known = false;
	if (known) {
		memcpy(action, &thread->sigtrap_handler, space->arch->abi->word);
		memcpy(process->sigtrap_action, action, sizeof action);
		process->sigtrap = state;
	} else if (state != SIGTRAP_HANDLED) {
		learn_as(thread, state);
		memcpy(process->sigtrap_action + space->arch->abi->word, &thread->sigtrap_flags,
		       space->arch->abi->word);
	}
}

void sigtrap_called(struct thread *thread, uint64_t result)
{
	struct process *process = thread->process;
	struct space *space = process->space;
	bool changes = thread->sigtrap_changes;

	thread->sigtrap_changes = false;
	if ((uint32_t)result != 0)
		return;
	if (process->sigtrap_guarded && thread->sigtrap_old)
		show_own(space, process->sigtrap_action, thread->sigtrap_old);
	if (!changes)
		return;
	learn_new(thread);
	if (process->sigtrap_guarded || space->rescue)
		kernel_set_ours(thread);
}

bool sigtrap_answered(const struct thread *thread, const struct regs *regs)
{
	const struct process *process = thread->process;
	struct space *space = process->space;
	uint64_t old = stackview_argument(space, regs, 2);
	struct new_action new;
	bool changes = read_new(space, stackview_argument(space, regs, 1), &new);

	if (!process->borrower || !process->sigtrap_guarded ||
	    (uint32_t)stackview_argument(space, regs, 0) != SIGTRAP ||
	    (changes && state_of_handler(new.handler) != SIGTRAP_DEFAULT))
		return false;
	if (old)
		show_own(space, process->sigtrap_action, old);
	return true;
}

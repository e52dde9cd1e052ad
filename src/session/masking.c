/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of a program reads and sets signal masks, and is answered by engine/trap/unblock.h where
 * masks of threads are not their own.
 *
 * There are two ways. The functions, pthread_sigmask() and sigprocmask(), are hooked in all modules
 * as soon as a thread has been seen to block SIGTRAP; where they are traced, from the beginning.
 * And libc enters the kernel itself, to block everything while it makes, starts or ends a thread,
 * or a process, and then calls functions of its own. The first of these that is traced would be hit
 * with SIGTRAP blocked, so where much of libc is traced, these system calls are hooked before.
 * Where few functions are, hardly one is among them; then it is done when one turns out to be. A
 * hook that nobody needs is a danger without any use.
 *
 * So are those that set dispositions, for posix_spawn(): see disposition_answered().
 *
 * Those of getcontext(3) and its like do not block anything that the program has not blocked, and
 * some programs run through them all the time: they come with the functions.
 */
#include "session/private.h"

#include "engine/trap/masks.h"
#include "engine/trap/sigtrap.h"
#include "engine/trap/unblock.h"
#include "image/signal_calls.h"
#include "inferior/proc.h"
#include "inferior/ptrace.h"

#include <elf.h>
#include <string.h>

enum { UNBLOCK_MS = 1000 };

/* The second calls the first. */
static const char *const functions[] = {"pthread_sigmask", "sigprocmask"};
static const char *const contexts[] = {"getcontext", "setcontext", "swapcontext"};

/* ------------------------------------------------------------------ hooks */

static void function_called(struct hook *hook, struct thread *thread)
{
	struct regs regs;

	(void)hook;
	if (regs_load(thread->tid, &regs) != 0)
		return;
	struct mask_call call = masks_function_call(thread->process->space, &regs);

	masks_will_change(thread, &call);
}

static bool function_answered(struct hook *hook, struct thread *thread, const struct regs *regs,
			      uint64_t *result)
{
	struct mask_call call = masks_function_call(thread->process->space, regs);

	(void)hook;
	*result = 0;
	return unblock_will_change(thread, &call);
}

static void kernel_entered(struct hook *hook, struct thread *thread)
{
	struct mask_call call;
	struct regs regs;

	(void)hook;
	if (regs_load(thread->tid, &regs) == 0 &&
	    masks_system_call(thread->process->space, &regs, &call))
		masks_will_change(thread, &call);
}

static bool kernel_answered(struct hook *hook, struct thread *thread, const struct regs *regs,
			    uint64_t *result)
{
	struct mask_call call;

	(void)hook;
	*result = 0;
	return masks_system_call(thread->process->space, regs, &call) &&
	       unblock_will_change(thread, &call);
}

/*
 * What posix_spawn() has made, in the memory of its parent, wants no handlers there, and until it
 * has another program our breakpoints. It keeps ours: a new program has none.
 */
static bool disposition_answered(struct hook *hook, struct thread *thread, const struct regs *regs,
				 uint64_t *result)
{
	const struct space *space = thread->process->space;
	const uint8_t *argument = space->arch->syscall_arg;
	uint64_t handler = 0;

	(void)hook;
	*result = 0;
	return thread->process->borrower &&
	       (uint32_t)regs->r[REG_AX] == (uint32_t)space->arch->sys_rt_sigaction &&
	       regs->r[argument[0]] == SIGTRAP && regs->r[argument[1]] && !regs->r[argument[2]] &&
	       memory_read_word(&space->memory, regs->r[argument[1]], space->arch->abi->word,
				&handler) &&
	       handler == (uint64_t)(uintptr_t)SIG_DFL;
}

static void behind(struct hook *hook, struct thread *thread)
{
	(void)hook;
	unblock_changed(thread);
}

void masking_init(struct session *session)
{
	session->sigmask = (struct hook){.entered = function_called,
					 .intercept = function_answered,
					 .answered = behind,
					 .when = JOURNAL_LAST};
	session->mask_opens = (struct hook){.entered = kernel_entered,
					    .intercept = kernel_answered,
					    .answered = behind,
					    .on_system_call = true};
	session->action_call = (struct hook){.intercept = disposition_answered,
					     .on_system_call = true};
	session->mask_blocks = session->mask_opens;
	/*
	 * A thread that is not answered any more and blocks everything must not find one that
	 * opens.
	 */
	session->mask_blocks.when = JOURNAL_LAST;
}

struct hook *masking_function_hook(struct session *session, const char *name)
{
	for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
		if (!strcmp(name, functions[i]))
			return &session->sigmask;
	return NULL;
}

/* ------------------------------------------------------------------ planting */

static bool begins_at(const struct module *module, const char *const *names, size_t count,
		      uint64_t address)
{
	for (size_t i = 0; i < count; i++) {
		const struct elf_symbol *symbol = elf_find_symbol(module->file, names[i]);

		if (symbol && symbol->value == address && symbol->type == STT_FUNC)
			return true;
	}
	return false;
}

/* Whether the memory has there what its file says. */
static bool is_unchanged(const struct space *space, const struct module *module, uint64_t address)
{
	uint8_t expected[2]; /* all have so many */
	uint8_t now[sizeof expected];

	return elf_read(module->file, address, expected, sizeof expected) &&
	       memory_read_exact(&space->memory, address + module->bias, now, sizeof now) &&
	       !memcmp(now, expected, sizeof now);
}

static struct hook *hook_of(struct session *session, const struct signal_call_site *site)
{
	if (site->call == SIGNAL_CALL_ACTION)
		return &session->action_call;
	return site->opens ? &session->mask_opens : &session->mask_blocks;
}

/* `first`: those by which a thread comes to block signals; else all others. */
static void hook_system_calls(struct session *session, struct thread *thread,
			      const struct module *module, bool all, bool first)
{
	size_t count;
	const struct signal_call_site *sites = signal_calls(module->file,
							    trap_decoder(session->trap), &count);

	for (size_t i = 0; i < count; i++)
		if ((hook_of(session, &sites[i]) == &session->mask_blocks) == first &&
		    !begins_at(module, functions, sizeof functions / sizeof functions[0],
			       sites[i].function) &&
		    (all || !begins_at(module, contexts, sizeof contexts / sizeof contexts[0],
				       sites[i].function)) &&
		    is_unchanged(thread->process->space, module, sites[i].address))
			trap_plant(session->trap, thread, sites[i].address + module->bias, NULL,
				   hook_of(session, &sites[i]));
}

/*
 * Whether the thread, stopped, has the number of that system call where it must be and has not made
 * it.
 */
static bool is_about_to_call(const struct thread *thread, const void *context)
{
	struct regs regs;

	(void)context;
	return regs_load(thread->tid, &regs) == 0 && regs.syscall == (uint64_t)-1 &&
	       (uint32_t)regs.r[REG_AX] ==
		       (uint32_t)thread->process->space->arch->sys_rt_sigprocmask;
}

/*
 * Stops a thread. One that was past the place of a hook and not yet in the kernel (on i386 the vDSO
 * lies between them) is let go on: from then on its mask can be seen.
 */
static void see_through(struct thread *thread, void *context)
{
	thread_stop_outside(thread, is_about_to_call, context);
}

static bool has_functions(const struct module *module)
{
	for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
		const struct elf_symbol *symbol = elf_find_symbol(module->file, functions[i]);

		if (symbol && symbol->value && symbol->type == STT_FUNC)
			return true;
	}
	return false;
}

/*
 * One that was past the place of the hook when that was planted has the default by now, and is
 * given our handler.
 */
static void guard_borrower(struct thread *thread, void *context)
{
	struct session *session = context;

	if (thread->process->borrower && thread_stop(session->inferior, thread, UNBLOCK_MS) == 0 &&
	    thread_is_clean_stop(thread) && !pt_trap_pending(thread->tid))
		sigtrap_born(thread);
}

/*
 * Planted first and, by handler and guardian, taken out last is what blocks: who blocks everything
 * while nobody answers must not run into anything else.
 */
void masking_module(struct session *session, struct thread *thread, const struct module *module,
		    bool traced)
{
	const struct modules *modules = thread->process->space->modules;

	if (!has_functions(module) || !(traced || modules->masks_hooked))
		return;
	hook_system_calls(session, thread, module, modules->masks_hooked, true);
	/*
	 * Threads that have come by before: they would run into what is planted next, in what they
	 * are in or at its end, with SIGTRAP blocked.
	 */
	space_each_thread(session->inferior, thread->process->space, see_through, NULL);
	masking_unblock(session, thread);
	for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
		plant_hook(session, thread, module, functions[i], &session->sigmask);
	hook_system_calls(session, thread, module, modules->masks_hooked, false);
	space_each_thread(session->inferior, thread->process->space, guard_borrower, session);
}

/* ------------------------------------------------------------------ threads */

static void note_tid(struct thread *thread, void *context)
{
	vec_push(context, &thread->tid);
}

/*
 * A thread that blocks SIGTRAP would not be safe at a breakpoint. One that is about to look at its
 * mask does so first: given another one, it would be let go on only then, before anything is there
 * to answer it.
 */
static bool unblock_early(struct session *session, struct thread *thread, struct vec *tids)
{
	uint64_t blocked;

	if (!proc_blocked(thread->tid, &blocked) || !(blocked & TRAP_BIT))
		return false;
	see_through(thread, NULL);
	if (thread_stop(session->inferior, thread, UNBLOCK_MS) != 0)
		return false;
	unblock_thread(thread);
	/* What it has just made, blocking everything, does the same, and may not be known yet. */
	const struct thread *made = tasks_announce_kept(session, thread);

	if (made)
		vec_push(tids, &made->tid);
	return thread->unblocked;
}

/* Hooks them in all that is loaded. */
static void hook_masks(struct session *session, struct thread *thread)
{
	struct modules *modules = thread->process->space->modules;

	if (!modules || modules->masks_hooked)
		return;
	modules->masks_hooked = true;
	for (size_t i = 0; i < modules->list.count; i++)
		masking_module(session, thread, *(struct module **)vec_at(&modules->list, i),
			       false);
}

/* Those threads, and what they have just made, which is added. `thread` is stopped. */
static void unblock_those(struct session *session, struct thread *thread, struct vec *tids)
{
	bool any = false;

	for (size_t i = 0; i < tids->count; i++) {
		struct thread *one = inferior_thread(session->inferior,
						     *(const pid_t *)vec_at(tids, i));

		any |= one && unblock_early(session, one, tids);
	}
	if (any)
		hook_masks(session, thread);
}

void masking_unblock(struct session *session, struct thread *thread)
{
	struct vec tids = VEC_OF(pid_t);

	space_each_thread(session->inferior, thread->process->space, note_tid, &tids);
	unblock_those(session, thread, &tids);
	vec_deinit(&tids);
}

void masking_unblock_one(struct session *session, struct thread *thread)
{
	struct vec tids = VEC_OF(pid_t);

	note_tid(thread, &tids);
	unblock_those(session, thread, &tids);
	vec_deinit(&tids);
}

/* ------------------------------------------------------------------ children in vfork(2) */

/*
 * Born with SIGTRAP blocked, as Python's subprocess makes them, they are given another mask at
 * once. But that lasts as long as we do: if the tracer is killed, the next one is born blocking it
 * and is ended by the first breakpoint. What helps is that the parent never blocks it, that is, to
 * hook its calls. It has blocked it by now, and cannot be given another mask before it comes back
 * from vfork(2); hooks that it would run into with SIGTRAP blocked are worse than none. So they are
 * planted when it stops behind that.
 */
void masking_matters(void *context, struct thread *thread)
{
	struct session *session = context;
	struct modules *modules = thread->process->space->modules;

	if (!thread->process->borrower)
		hook_masks(session, thread);
	else if (modules && !modules->masks_hooked)
		modules->masks_due = true;
}

void masking_child_gone(const struct session *session, const struct process *child)
{
	const struct thread *parent = inferior_thread(session->inferior, child->vforker);

	/* In a system call that is traced an interrupt might be seen: see later_stop(). */
	if (child->borrower && child->space && child->space->modules &&
	    child->space->modules->masks_due && parent && !session->syscalls && !session->leaving)
		pt_interrupt(parent->tid);
}

void masking_due(struct session *session, struct thread *thread)
{
	struct modules *modules = thread->process->space->modules;

	if (!modules || !modules->masks_due || thread->process->borrower || session->leaving ||
	    pt_trap_pending(thread->tid))
		return;
	modules->masks_due = false;
	hook_masks(session, thread);
}

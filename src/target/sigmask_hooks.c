/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hooks at code of the program that reads or sets signal masks. engine/trap/sigmask_shadow.h
 * answers for the kernel where a thread's mask is not what the program believes.
 *
 * There are two kinds. The functions pthread_sigmask() and sigprocmask() are hooked in all modules
 * as soon as a thread has been seen to block SIGTRAP; if they are traced, from the beginning. And
 * libc makes system calls itself: it blocks all signals while it creates, starts or ends a thread
 * or a process, and then calls functions of its own. The first of these that is traced would be hit
 * with SIGTRAP blocked. So where many functions of libc are traced, its system calls are hooked
 * before. Where few are, hardly any of them is called with signals blocked; if one is, the system
 * calls are hooked then. A hook that is not needed is a danger without any use.
 *
 * System calls that set dispositions are hooked likewise, for posix_spawn(): see
 * disposition_answered().
 *
 * System calls of getcontext(3), setcontext(3) and swapcontext(3) block nothing that the program
 * has not blocked, and some programs make them all the time. They are hooked together with the
 * functions.
 */
#include "target/sigmask_hooks.h"

#include "code/signal_calls.h"
#include "engine/trap/sigmask_history.h"
#include "engine/trap/sigmask_shadow.h"
#include "engine/trap/sigtrap.h"
#include "object/elf_symbols.h"
#include "target/forks.h"
#include "target/hooks.h"
#include "target/target_state.h"
#include "target/task_state.h"
#include "tracee/proc.h"
#include "tracee/ptrace.h"

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
	struct mask_call call = sigmask_function_call(thread->process->space, &regs);

	sigmask_will_change(thread, &call);
}

static bool function_answered(struct hook *hook, struct thread *thread, const struct regs *regs,
			      uint64_t *result)
{
	struct mask_call call = sigmask_function_call(thread->process->space, regs);

	(void)hook;
	*result = 0;
	return sigmask_shadow_will_change(thread, &call);
}

static void kernel_entered(struct hook *hook, struct thread *thread)
{
	struct mask_call call;
	struct regs regs;

	(void)hook;
	if (regs_load(thread->tid, &regs) == 0 &&
	    sigmask_system_call(thread->process->space, &regs, &call))
		sigmask_will_change(thread, &call);
}

static bool kernel_answered(struct hook *hook, struct thread *thread, const struct regs *regs,
			    uint64_t *result)
{
	struct mask_call call;

	(void)hook;
	*result = 0;
	return sigmask_system_call(thread->process->space, regs, &call) &&
	       sigmask_shadow_will_change(thread, &call);
}

/*
 * A child of posix_spawn(), which runs in its parent's memory, resets all handlers, and could hit
 * breakpoints until it execs. It keeps the tracer's SIGTRAP handler; the exec resets that.
 */
static bool disposition_answered(struct hook *hook, struct thread *thread, const struct regs *regs,
				 uint64_t *result)
{
	const struct space *space = thread->process->space;
	const uint8_t *argument = space->arch->syscall_arg;
	uint64_t handler = 0;

	(void)hook;
	*result = 0;
	return thread->process->shares_parent_vm &&
	       (uint32_t)regs->r[REG_AX] == (uint32_t)space->arch->sys_rt_sigaction &&
	       regs->r[argument[0]] == SIGTRAP && regs->r[argument[1]] && !regs->r[argument[2]] &&
	       memory_read_word(&space->memory, regs->r[argument[1]], space->arch->abi->word,
				&handler) &&
	       handler == (uint64_t)(uintptr_t)SIG_DFL;
}

static void behind(struct hook *hook, struct thread *thread)
{
	(void)hook;
	sigmask_shadow_changed(thread);
}

void sigmask_hooks_init(struct target *target)
{
	target->sigmask = (struct hook){.entered = function_called,
					.intercept = function_answered,
					.answered = behind,
					.when = JOURNAL_LAST};
	target->mask_opens = (struct hook){.entered = kernel_entered,
					   .intercept = kernel_answered,
					   .answered = behind,
					   .on_system_call = true};
	target->action_call = (struct hook){.intercept = disposition_answered,
					    .on_system_call = true};
	target->mask_blocks = target->mask_opens;
	/*
	 * The guardian takes these out last: a thread that then really blocks all signals must not
	 * hit a breakpoint at the call that unblocks them.
	 */
	target->mask_blocks.when = JOURNAL_LAST;
}

struct hook *sigmask_hooks_function_hook(struct target *target, const char *name)
{
	for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
		if (!strcmp(name, functions[i]))
			return &target->sigmask;
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

/* Returns true if the memory holds what the file has at that address. */
static bool is_unchanged(const struct space *space, const struct module *module, uint64_t address)
{
	uint8_t expected[2]; /* all calls have at least this length */
	uint8_t now[sizeof expected];

	return elf_read(module->file, address, expected, sizeof expected) &&
	       memory_read_exact(&space->memory, address + module->bias, now, sizeof now) &&
	       !memcmp(now, expected, sizeof now);
}

static struct hook *hook_of(struct target *target, const struct signal_call_site *site)
{
	if (site->call == SIGNAL_CALL_ACTION)
		return &target->action_call;
	return site->opens ? &target->mask_opens : &target->mask_blocks;
}

/* `first`: hooks the calls by which a thread comes to block signals; otherwise all other calls. */
static void hook_system_calls(struct target *target, struct thread *thread,
			      const struct module *module, bool all, bool first)
{
	size_t count;
	const struct signal_call_site *sites = signal_calls(module->file,
							    trap_decoder(target->trap), &count);

	for (size_t i = 0; i < count; i++)
		if ((hook_of(target, &sites[i]) == &target->mask_blocks) == first &&
		    !begins_at(module, functions, sizeof functions / sizeof functions[0],
			       sites[i].function) &&
		    (all || !begins_at(module, contexts, sizeof contexts / sizeof contexts[0],
				       sites[i].function)) &&
		    is_unchanged(thread->process->space, module, sites[i].address))
			trap_plant(target->trap, thread, sites[i].address + module->bias, NULL,
				   hook_of(target, &sites[i]));
}

/*
 * Returns true if the stopped thread has the call's number in its register and has not made the
 * call.
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
 * Stops a thread. If it was past the place of a hook and not yet in the kernel (on i386 the vDSO
 * lies between them), it is first let run on: after that its mask can be read.
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
 * A CLONE_VM child that was past the place of the hook when that was planted has the default
 * disposition by now. It is given the tracer's handler.
 */
static void guard_vm_child(struct thread *thread, void *context)
{
	struct target *target = context;

	if (thread->process->shares_parent_vm &&
	    thread_stop(target->tracees, thread, UNBLOCK_MS) == 0 && thread_is_safe_stop(thread) &&
	    !pt_trap_pending(thread->tid))
		sigtrap_born(thread);
}

/*
 * Calls that block signals are hooked first; the SIGTRAP handler and the guardian take these hooks
 * out last. A thread that really blocks all signals, as its call is not answered, must not hit any
 * other breakpoint.
 */
void sigmask_hooks_module(struct target *target, struct thread *thread, const struct module *module,
			  bool traced)
{
	const struct modules *modules = thread->process->space->modules;

	if (!has_functions(module) || !(traced || modules->masks_hooked))
		return;
	hook_system_calls(target, thread, module, modules->masks_hooked, true);
	/*
	 * Threads that made such a call before it was hooked have SIGTRAP blocked, and would hit
	 * what is planted next.
	 */
	space_each_thread(target->tracees, thread->process->space, see_through, NULL);
	sigmask_hooks_unblock(target, thread);
	for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
		hooks_plant(target, thread, module, functions[i], &target->sigmask);
	hook_system_calls(target, thread, module, modules->masks_hooked, false);
	space_each_thread(target->tracees, thread->process->space, guard_vm_child, target);
}

/* ------------------------------------------------------------------ threads */

static void note_tid(struct thread *thread, void *context)
{
	vec_push(context, &thread->tid);
}

/*
 * A thread that blocks SIGTRAP would be killed by a breakpoint, so it gets another mask. If it is
 * about to read its mask it makes that call first: with another mask it would read a wrong one, as
 * no hook is there yet to answer.
 */
static bool unblock_early(struct target *target, struct thread *thread, struct vec *tids)
{
	uint64_t blocked;

	if (!proc_blocked(thread->tid, &blocked) || !(blocked & TRAP_BIT))
		return false;
	see_through(thread, NULL);
	if (thread_stop(target->tracees, thread, UNBLOCK_MS) != 0)
		return false;
	sigmask_shadow_thread(thread);
	/*
	 * A task that this thread has just made also blocks all signals, and may not be known yet.
	 */
	const struct thread *made = tasks_announce_kept(target, thread);

	if (made)
		vec_push(tids, &made->tid);
	return sigmask_shadow_is_given(thread);
}

/* Hooks the functions and system calls in all loaded modules. */
static void hook_masks(struct target *target, struct thread *thread)
{
	struct modules *modules = thread->process->space->modules;

	if (!modules || modules->masks_hooked)
		return;
	modules->masks_hooked = true;
	for (size_t i = 0; i < modules->list.count; i++)
		sigmask_hooks_module(target, thread, *(struct module **)vec_at(&modules->list, i),
				     false);
}

/*
 * Unblocks SIGTRAP in those threads and in tasks that they have just made, which are added to
 * `tids`. `thread` is stopped.
 */
static void unblock_those(struct target *target, struct thread *thread, struct vec *tids)
{
	bool any = false;

	for (size_t i = 0; i < tids->count; i++) {
		struct thread *one = tracees_thread(target->tracees,
						    *(const pid_t *)vec_at(tids, i));

		any |= one && unblock_early(target, one, tids);
	}
	if (any)
		hook_masks(target, thread);
}

void sigmask_hooks_unblock(struct target *target, struct thread *thread)
{
	struct vec tids = VEC_OF(pid_t);

	space_each_thread(target->tracees, thread->process->space, note_tid, &tids);
	unblock_those(target, thread, &tids);
	vec_deinit(&tids);
}

void sigmask_hooks_unblock_one(struct target *target, struct thread *thread)
{
	struct vec tids = VEC_OF(pid_t);

	note_tid(thread, &tids);
	unblock_those(target, thread, &tids);
	vec_deinit(&tids);
}

/* ------------------------------------------------------------------ children in vfork(2) */

/*
 * Children that are born with SIGTRAP blocked, as those of Python's subprocess are, get another
 * mask at once. But that needs the tracer: if it is killed, the next child is born blocking SIGTRAP
 * and the first breakpoint kills it. The cure is that the parent never really blocks SIGTRAP, so
 * its calls are hooked. But the parent blocks it now, cannot be given another mask before it is
 * back from vfork(2), and would be killed by the hooks. So they are planted at its first stop after
 * vfork(2).
 */
void sigmask_hooks_matters(void *context, struct thread *thread)
{
	struct target *target = context;
	struct modules *modules = thread->process->space->modules;

	if (!thread->process->shares_parent_vm)
		hook_masks(target, thread);
	else if (modules && !modules->masks_hooked)
		deferred_work_want(&target->work, &modules->work, WORK_MASKS);
}

void sigmask_hooks_child_gone(const struct target *target, const struct process *child)
{
	struct thread *parent = tracees_thread(target->tracees, child->session->vforker);

	if (child->shares_parent_vm && child->space && child->space->modules &&
	    deferred_work_is_wanted(&child->space->modules->work, WORK_MASKS) && parent)
		deferred_work_ask(&target->work, parent);
}

void sigmask_hooks_due(void *context, struct thread *thread)
{
	struct target *target = context;

	if (thread->stop != STOP_TRAP || thread->process->shares_parent_vm || target->leaving ||
	    pt_trap_pending(thread->tid))
		return;
	deferred_work_is_done(&thread->process->space->modules->work, WORK_MASKS);
	hook_masks(target, thread);
}

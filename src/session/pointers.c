/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls by pointers: code that calls functions of other modules by no PLT stub (-fno-plt, rustc).
 *
 * A GOT slot that such code calls through, or loads into a register, also serves the program as the
 * function's address. It is not changed: the program would see that a function has two addresses.
 * Nor is the function's entry of use, which everybody else comes by, too. What is planted are the
 * places in the calling code itself (image/slot_calls.h). They are hooks, as one place may be that
 * of several functions, and of others that nobody has asked for: which one it is the engine tells
 * by where the call leads to, and that is compared with what the slots hold at that moment. Whether
 * they are bound by then, or to an IFUNC, makes no difference.
 *
 * A place that is reached often is caught inside the process, where that can be done
 * (engine/agent/calls.c). One that is reached very often, and by other calls only, is given up.
 *
 * The places of a module go with its breakpoints; the hooks are dropped when nothing refers to
 * them any more, like those of plant.c.
 */
#include "session/private.h"

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "engine/agent/agent.h"
#include "inferior/proc.h"

#include <errno.h>
#include <stdlib.h>

/* A function that may be called at a place. */
struct callee {
	uint64_t slot; /* address in the process */
	/* Where the slot leads before it is bound, and who binds it goes (REL); 0: nowhere. */
	uint64_t resolver;
	bool in_code; /* no slot: the call can be that of no other function */
	const struct probe_site *site;
};

struct pointer_hook {
	struct hook hook;   /* first: the engine hands this back */
	struct vec callees; /* struct callee */
	struct session *session;
	uint64_t address; /* of the place, which a forked child has, too */
	uint64_t hits;	  /* that were served */
	uint64_t next;	  /* at so many it is tried to catch it inside */
	/* Since `since` (inferior_clock()): calls of what is traced, and others. */
	uint64_t calls, others, since;
	bool is_unknown; /* what it calls: undefined.c */
	bool in_use;
};

/*
 * A place that was reached so often is worth a look through its code; if nothing comes of that,
 * again when it was reached so many times as often.
 */
enum { OFTEN = 32 };
/*
 * So many stops of one place within that time, of which hardly any is for a call of what is traced,
 * slow the program down for nothing.
 */
enum { TOO_OFTEN = 10000, SELDOM = 100 };
#define SOON_NS UINT64_C(10000000000)

void pointers_init(struct session *session)
{
	vec_init(&session->pointers, sizeof(struct pointer_hook *));
}

static const struct probe_site *find_callee(const struct pointer_hook *pointer,
					    const struct space *space, uint64_t target)
{
	for (size_t i = 0; i < pointer->callees.count; i++) {
		const struct callee *callee = vec_at(&pointer->callees, i);
		uint64_t value;

		if (callee->in_code)
			return callee->site;
		if (memory_read_word(&space->memory, callee->slot, space->arch->abi->word,
				     &value) &&
		    value == target && target != callee->resolver)
			return callee->site;
	}
	return NULL;
}

/* It may be caught without a stop if nothing but one function's slot leads there. */
static void wish(struct pointer_hook *pointer, struct space *space, bool is_worth_it)
{
	const struct callee *callee = vec_at(&pointer->callees, 0);
	const struct agent_call call = {.address = pointer->address,
					.slot = callee->slot,
					.site = callee->site,
					.hook = &pointer->hook,
					.is_worth_it = is_worth_it};

	if (pointer->callees.count == 1 && !callee->in_code && !callee->resolver)
		inprocess_wish_call(pointer->session, space,
				    modules_find(space->modules, pointer->address), &call);
}

/* What is called there is not traced any more. A thread is at the place. */
static void give_up(const struct pointer_hook *pointer, struct space *space)
{
	trap_unplant(space, pointer->address);
	for (size_t i = 0; i < pointer->callees.count; i++) {
		const struct probe_info *info =
			((const struct callee *)vec_at(&pointer->callees, i))->site->info;
		_cleanup_free_ char *reason = xasprintf(
			"more calls by the pointer at 0x%llx: it has stopped %llu times, nearly "
			"always for other calls",
			(unsigned long long)pointer->address, (unsigned long long)pointer->hits);

		untraced_function(pointer->session->untraced, info->module, info->name, true,
				  reason);
	}
}

static bool is_in_vain(struct pointer_hook *pointer, bool is_call)
{
	const uint64_t now = inferior_clock();

	if (now - pointer->since > SOON_NS) {
		pointer->since = now;
		pointer->calls = pointer->others = 0;
	}
	pointer->calls += is_call;
	pointer->others += !is_call;
	return pointer->others >= TOO_OFTEN && pointer->calls * SELDOM < pointer->others &&
	       pointer->session->options->engine != ENGINE_TRAP &&
	       !pointer->session->options->strict;
}

static const struct probe_site *chosen(struct hook *hook, struct thread *thread, uint64_t target)
{
	struct pointer_hook *pointer = (struct pointer_hook *)(void *)hook;
	struct space *space = thread->process->space;
	const struct probe_site *site = find_callee(pointer, space, target);

	if (++pointer->hits == pointer->next && !pointer->is_unknown && space->modules) {
		pointer->next *= OFTEN;
		wish(pointer, space, true);
	}
	if (is_in_vain(pointer, site) && !site)
		give_up(pointer, space);
	return site;
}

/* False: it is there already. */
static bool add_callee(struct pointer_hook *pointer, const struct callee *callee)
{
	for (size_t i = 0; i < pointer->callees.count; i++)
		if (((struct callee *)vec_at(&pointer->callees, i))->slot == callee->slot)
			return false;
	vec_push(&pointer->callees, callee);
	return true;
}

static struct pointer_hook *make_hook(struct session *session, uint64_t address)
{
	struct pointer_hook *made = xcalloc(1, sizeof *made);

	made->session = session;
	made->address = address;
	made->next = OFTEN;
	made->hook.chosen = chosen;
	vec_init(&made->callees, sizeof(struct callee));
	vec_push(&session->pointers, &made);
	return made;
}

/*
 * A call is emulated at a breakpoint, and that does not write to a shadow stack: the return would
 * be fatal.
 */
static bool has_shadow_stack(const struct thread *thread)
{
	enum { NO = 1, YES };
	struct modules *modules = thread->process->space->modules;

	if (!modules->shadowed)
		modules->shadowed = proc_has_shadow_stack(thread->tid) ? YES : NO;
	return modules->shadowed == YES;
}

void pointers_plant(struct session *session, struct thread *thread, const struct match *match,
		    const struct probe_request *request)
{
	struct space *space = thread->process->space;
	uint64_t address = match->address + request->module->bias;

	if (agent_has(space, address))
		return;
	const struct probe_site *site = sites_get(session, space, request->kind, address,
						  request->name, request->module);
	struct hook *known = trap_hook_at(space, address);
	bool is_ours = known && known->chosen == chosen;
	struct pointer_hook *pointer = is_ours ? (struct pointer_hook *)(void *)known
					       : make_hook(session, address);
	char safe[256];

	const uint64_t bias = request->module->bias;
	const struct callee callee = {.slot = match->slot + bias,
				      .resolver = match->resolver ? match->resolver + bias : 0,
				      .in_code = match->in_code,
				      .site = site};

	const bool is_unknown = add_callee(pointer, &callee) &&
				undefined_note(space->modules, request, address, callee.slot);

	pointer->is_unknown |= is_unknown;

	if (is_ours)
		return;
	int error = has_shadow_stack(thread) ? -ENOTSUP
		    : known || agent_moves(space, address)
			    ? -EBUSY
			    : trap_plant(session->trap, thread, address, NULL, &pointer->hook);

	if (error)
		plant_list_refused(session, thread, request, error);
	else if (!is_unknown)
		wish(pointer, space, false);
	session->planted += !error;
	if (!error && debug_wanted(session, DEBUG_FUNCTIONS))
		diag("process %d: %s by a pointer at 0x%llx", (int)thread->process->pid,
		     diag_safe(safe, sizeof safe, site->info->display),
		     (unsigned long long)address);
}

void pointers_settle(struct space *space, uint64_t address, uint64_t slot,
		     const struct probe_site *site)
{
	struct hook *hook = trap_hook_at(space, address);
	struct pointer_hook *pointer = (struct pointer_hook *)(void *)hook;

	if (!hook || hook->chosen != chosen)
		return;
	for (size_t i = 0; i < pointer->callees.count; i++) {
		struct callee *callee = vec_at(&pointer->callees, i);

		if (callee->slot == slot)
			callee->site = site;
	}
	pointer->is_unknown = false;
	wish(pointer, space, false);
}

const struct probe_site *pointers_site(const struct hook *hook)
{
	const struct pointer_hook *pointer = (const struct pointer_hook *)(const void *)hook;

	if (hook->chosen != chosen || !pointer->callees.count)
		return NULL;
	return ((const struct callee *)vec_at(&pointer->callees, 0))->site;
}

void pointers_each_site(const struct hook *hook,
			void (*visit)(void *context, const struct probe_site *site), void *context)
{
	const struct pointer_hook *pointer = (const struct pointer_hook *)(const void *)hook;

	for (size_t i = 0; hook->chosen == chosen && i < pointer->callees.count; i++)
		visit(context, ((const struct callee *)vec_at(&pointer->callees, i))->site);
}

static struct pointer_hook *hook_at(const struct session *session, size_t index)
{
	return *(struct pointer_hook **)vec_at(&session->pointers, index);
}

void pointers_mark(struct session *session, struct hook *hook)
{
	struct pointer_hook *pointer = (struct pointer_hook *)(void *)hook;

	if (hook->chosen != chosen || pointer->in_use)
		return;
	pointer->in_use = true;
	for (size_t i = 0; i < pointer->callees.count; i++)
		sites_mark(session, ((struct callee *)vec_at(&pointer->callees, i))->site);
}

static void free_hook(struct pointer_hook *pointer)
{
	vec_deinit(&pointer->callees);
	free(pointer);
}

void pointers_drop(struct session *session)
{
	for (size_t i = session->pointers.count; i-- > 0;) {
		struct pointer_hook *pointer = hook_at(session, i);

		if (!pointer->in_use) {
			free_hook(pointer);
			vec_remove_fast(&session->pointers, i);
		} else {
			pointer->in_use = false;
		}
	}
}

void pointers_deinit(struct session *session)
{
	for (size_t i = 0; i < session->pointers.count; i++)
		free_hook(hook_at(session, i));
	vec_deinit(&session->pointers);
}

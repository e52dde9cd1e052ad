/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Indirect calls: code that calls functions of other modules without a PLT stub (-fno-plt, rustc).
 *
 * A GOT slot that such code calls through, or loads into a register, also serves the program as the
 * function's address. The slot is not changed, because the program would see two addresses of one
 * function. A breakpoint at the function's entry is no use either, as calls from everywhere else
 * hit it, too. So breakpoints are planted at the places in the calling code (code/slot_calls.h).
 * They are hooks, as one place may call several functions, also such as are not traced. The engine
 * computes where the call leads to; that is compared with what the GOT slots hold at that moment,
 * so it makes no difference whether they are bound by then, or to an IFUNC.
 *
 * A place that is reached often is caught inside the process, where possible
 * (engine/agent/got_calls.c). A place that is reached very often, and nearly always for other
 * calls, is given up.
 *
 * The breakpoints of a module's places go with the module. The hooks are freed when nothing refers
 * to them any more (sweep.c).
 */
#include "target/indirect_calls.h"

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "engine/agent/agent.h"
#include "engine/agent/got_calls.h"
#include "engine/trap/breakpoint_takeover.h"
#include "engine/trap/references.h"
#include "target/agent_policy.h"
#include "target/debug.h"
#include "target/module.h"
#include "target/plant_site.h"
#include "target/sites.h"
#include "target/target_state.h"
#include "target/unresolved_calls.h"
#include "tracee/clock.h"
#include "tracee/proc.h"

#include <errno.h>
#include <stdlib.h>

/* A function that may be called at a place. */
struct callee {
	uint64_t slot; /* address of the GOT slot in the process */
	/* Where the slot points before it is bound: to the code that binds it (REL). 0: nowhere. */
	uint64_t resolver;
	bool in_code; /* no GOT slot: the call has a relocation, and so one target only */
	const struct probe_site *site;
};

struct pointer_hook {
	struct hook hook;
	struct vec callees; /* struct callee */
	struct target *target;
	uint64_t address; /* address of the place, also in forked children */
	uint64_t hits;	  /* number of stops handled */
	uint64_t next;	  /* at this many hits, catching inside is tried */
	/* Calls of traced functions, and others, since `since` (clock_now()). */
	uint64_t calls, others, since;
	bool is_unknown; /* no module defines the callee yet: unresolved_calls.c */
	bool in_use;
};

/*
 * After this many hits a place is worth decoding its code; if that fails, it is tried again at this
 * factor times as many hits.
 */
enum { OFTEN = 32 };
/*
 * A place is given up after TOO_OFTEN other calls within SOON_NS, if traced calls are fewer than
 * one in SELDOM: its stops slow the program down for nothing.
 */
enum { TOO_OFTEN = 10000, SELDOM = 100 };
#define SOON_NS UINT64_C(10000000000)

void indirect_init(struct target *target)
{
	vec_init(&target->pointers, sizeof(struct pointer_hook *));
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

/* Makes the place a patch candidate, if one GOT slot alone leads there. */
static void candidate(struct pointer_hook *pointer, struct space *space, bool is_worth_it)
{
	const struct callee *callee = vec_at(&pointer->callees, 0);
	const struct agent_call call = {.address = pointer->address,
					.got_slot = callee->slot,
					.site = callee->site,
					.hook = &pointer->hook,
					.is_worth_it = is_worth_it};

	if (pointer->callees.count == 1 && !callee->in_code && !callee->resolver)
		agent_policy_add_call(pointer->target, space,
				      modules_find(space->modules, pointer->address), &call);
}

/* Gives up a place; calls that it makes are not traced any more. A thread is stopped at it. */
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

		untraced_function(pointer->target->untraced, info->module, info->name, true,
				  reason);
	}
}

static bool is_in_vain(struct pointer_hook *pointer, bool is_call)
{
	const uint64_t now = clock_now();

	if (now - pointer->since > SOON_NS) {
		pointer->since = now;
		pointer->calls = pointer->others = 0;
	}
	pointer->calls += is_call;
	pointer->others += !is_call;
	return pointer->others >= TOO_OFTEN && pointer->calls * SELDOM < pointer->others &&
	       pointer->target->options->engine != ENGINE_TRAP && !pointer->target->options->strict;
}

static const struct probe_site *chosen(struct hook *hook, struct thread *thread, uint64_t target)
{
	struct pointer_hook *pointer = hook->context;
	struct space *space = thread->process->space;
	const struct probe_site *site = find_callee(pointer, space, target);

	if (++pointer->hits == pointer->next && !pointer->is_unknown && space->modules) {
		pointer->next *= OFTEN;
		candidate(pointer, space, true);
	}
	if (is_in_vain(pointer, site) && !site)
		give_up(pointer, space);
	return site;
}

/* Returns false if the slot is there already. */
static bool add_callee(struct pointer_hook *pointer, const struct callee *callee)
{
	for (size_t i = 0; i < pointer->callees.count; i++)
		if (((struct callee *)vec_at(&pointer->callees, i))->slot == callee->slot)
			return false;
	vec_push(&pointer->callees, callee);
	return true;
}

static struct pointer_hook *make_hook(struct target *target, uint64_t address)
{
	struct pointer_hook *made = xcalloc(1, sizeof *made);

	made->target = target;
	made->address = address;
	made->next = OFTEN;
	made->hook = (struct hook){.context = made, .chosen = chosen};
	vec_init(&made->callees, sizeof(struct callee));
	vec_push(&target->pointers, &made);
	return made;
}

/*
 * At a breakpoint a call is emulated, which does not write to a shadow stack: the return would kill
 * the program.
 */
static bool has_shadow_stack(const struct thread *thread)
{
	enum { NO = 1, YES };
	struct modules *modules = thread->process->space->modules;

	if (!modules->shadowed)
		modules->shadowed = proc_has_shadow_stack(thread->tid) ? YES : NO;
	return modules->shadowed == YES;
}

void indirect_plant(struct target *target, struct thread *thread, const struct match *match,
		    const struct probe_request *request)
{
	struct space *space = thread->process->space;
	uint64_t address = match->address + request->module->bias;

	if (agent_has(space, address))
		return;
	const struct probe_site *site = sites_get(target, space, request->kind, address,
						  request->name, request->module);
	struct hook *known = trap_hook_at(space, address);
	bool is_ours = known && known->chosen == chosen;
	struct pointer_hook *pointer = is_ours ? known->context : make_hook(target, address);
	char safe[256];

	const uint64_t bias = request->module->bias;
	const struct callee callee = {.slot = match->slot + bias,
				      .resolver = match->resolver ? match->resolver + bias : 0,
				      .in_code = match->in_code,
				      .site = site};

	const bool is_unknown = add_callee(pointer, &callee) &&
				unresolved_note(space->modules, request, address, callee.slot);

	pointer->is_unknown |= is_unknown;

	if (is_ours)
		return;
	int error = has_shadow_stack(thread) ? -ENOTSUP
		    : known || agent_moves(space, address)
			    ? -EBUSY
			    : trap_plant(target->trap, thread, address, NULL, &pointer->hook);

	if (error)
		plant_list_refused(target, thread, request, error);
	else if (!is_unknown)
		candidate(pointer, space, false);
	target->planted += !error;
	if (!error && debug_wanted(target, DEBUG_FUNCTIONS))
		diag("process %d: %s by a pointer at 0x%llx", (int)thread->process->pid,
		     diag_safe(safe, sizeof safe, site->info->display),
		     (unsigned long long)address);
}

void indirect_settle(struct space *space, uint64_t address, uint64_t slot,
		     const struct probe_site *site)
{
	struct hook *hook = trap_hook_at(space, address);

	if (!hook || hook->chosen != chosen)
		return;
	struct pointer_hook *pointer = hook->context;

	for (size_t i = 0; i < pointer->callees.count; i++) {
		struct callee *callee = vec_at(&pointer->callees, i);

		if (callee->slot == slot)
			callee->site = site;
	}
	pointer->is_unknown = false;
	candidate(pointer, space, false);
}

const struct probe_site *indirect_site(const struct hook *hook)
{
	const struct pointer_hook *pointer = hook->context;

	if (hook->chosen != chosen || !pointer->callees.count)
		return NULL;
	return ((const struct callee *)vec_at(&pointer->callees, 0))->site;
}

void indirect_each_site(const struct hook *hook,
			void (*visit)(void *context, const struct probe_site *site), void *context)
{
	const struct pointer_hook *pointer = hook->context;

	for (size_t i = 0; hook->chosen == chosen && i < pointer->callees.count; i++)
		visit(context, ((const struct callee *)vec_at(&pointer->callees, i))->site);
}

static struct pointer_hook *hook_at(const struct target *target, size_t index)
{
	return *(struct pointer_hook **)vec_at(&target->pointers, index);
}

void indirect_mark(struct target *target, struct hook *hook)
{
	struct pointer_hook *pointer = hook->context;

	if (hook->chosen != chosen || pointer->in_use)
		return;
	pointer->in_use = true;
	for (size_t i = 0; i < pointer->callees.count; i++)
		sites_mark(target, ((struct callee *)vec_at(&pointer->callees, i))->site);
}

static void free_hook(struct pointer_hook *pointer)
{
	vec_deinit(&pointer->callees);
	free(pointer);
}

void indirect_drop(struct target *target)
{
	for (size_t i = target->pointers.count; i-- > 0;) {
		struct pointer_hook *pointer = hook_at(target, i);

		if (!pointer->in_use) {
			free_hook(pointer);
			vec_remove_fast(&target->pointers, i);
		} else {
			pointer->in_use = false;
		}
	}
}

void indirect_deinit(struct target *target)
{
	for (size_t i = 0; i < target->pointers.count; i++)
		free_hook(hook_at(target, i));
	vec_deinit(&target->pointers);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A function known by a data word that holds its address is planted when that word points into the
 * code of a module. Until then the word is under hardware watch, so the very write that fills it in
 * is seen. It is also looked at whenever the linker says something and a few times a second, as
 * another thread may write it.
 *
 * The table itself may be hidden, too, and a function that returns its address be all there is
 * (PHP's mysqlnd and its prepared statements). Then several words lead to the function: the one
 * with the getter's address, maybe a pointer that the getter returns, the table's own. The first of
 * these that is not filled in yet is the one that is watched.
 */
#include "session/tables.h"

#include "base/xalloc.h"
#include "image/accessor.h"
#include "session/private.h"

#include <errno.h>
#include <stdlib.h>

enum { SLOT_POLL_US = 50000 };

/* The code that a word points to by now, or 0. */
static uint64_t code_at(const struct space *space, uint64_t address)
{
	uint64_t value;

	if (!memory_read_word(&space->memory, address, space->arch->abi->word, &value))
		return 0;
	const struct module *module = modules_find(space->modules, value);
	size_t count = 0;
	const struct elf_segment *segments = module ? elf_segments(module->file, &count) : NULL;

	for (size_t i = 0; i < count; i++)
		if ((segments[i].flags & 1) && value - module->bias >= segments[i].address &&
		    value - module->bias - segments[i].address < segments[i].memory_size)
			return value;
	return 0;
}

/*
 * The function that a pending word leads to. -EAGAIN: the word at *address, which is where the
 * function's address will be or a step on the way there, is not filled in yet. -ENOTSUP: a function
 * on the way does more than return the address of a table.
 */
static int find_function(const struct session *session, const struct space *space,
			 const struct pending_slot *slot, uint64_t *address, uint64_t *function)
{
	struct accessor getter;
	uint64_t table;

	*address = slot->address;
	*function = code_at(space, *address);
	if (!*function)
		return -EAGAIN;
	if (!slot->is_getter)
		return 0;
	if (accessor_find(trap_decoder(session->trap), space->arch, &space->memory, *function,
			  &getter) ||
	    getter.of_argument || getter.loads > 1)
		return -ENOTSUP;
	table = *address = getter.offset[0];
	if (getter.loads &&
	    (!memory_read_word(&space->memory, *address, space->arch->abi->word, &table) || !table))
		return modules_find(space->modules, *address) ? -EAGAIN : -ENOTSUP;
	table += getter.offset[1];
	*address = table + slot->table_offset;
	*function = code_at(space, *address);
	return *function ? 0 : -EAGAIN;
}

bool tables_have_news(const struct session *session, const struct space *space)
{
	for (size_t i = 0; space->modules && i < space->modules->slots.count; i++) {
		const struct pending_slot *slot = vec_at(&space->modules->slots, i);
		uint64_t address, function;

		if (find_function(session, space, slot, &address, &function) != -EAGAIN ||
		    address != slot->watched)
			return true;
	}
	return false;
}

static void list(struct session *session, const struct modules *modules,
		 const struct pending_slot *slot, const char *reason)
{
	const struct module *module = modules_find(modules, slot->address);

	untraced_function(session->untraced, module ? module->base_name : NULL, slot->name, false,
			  reason);
}

/* Watches the word that a function waits for; several may wait for one. */
static void watch(struct session *session, struct thread *thread, const struct pending_slot *slot)
{
	/* Another thread than the one that fills the word in may then call the function unseen. */
	if (trap_watch(thread, slot->watched) != 0)
		list(session, thread->process->space->modules, slot,
		     "calls in the moment after its address is known: there is no hardware watch "
		     "for the word that will hold it");
	if (!session->poll_us)
		interrupts_tick(session->interrupts, SLOT_POLL_US);
}

/* Ends the watch on a word, unless a function waits for it. */
static void unwatch(struct space *space, uint64_t address)
{
	const struct vec *slots = &space->modules->slots;

	for (size_t i = 0; i < slots->count; i++)
		if (((const struct pending_slot *)vec_at(slots, i))->watched == address)
			return;
	trap_unwatch(space, address);
}

static void plant(struct session *session, struct thread *thread, const struct pending_slot *slot,
		  int error, uint64_t function)
{
	slot->rule->matched = true;
	if (error)
		list(session, thread->process->space->modules, slot,
		     "the function that returns the address of its table does more than that");
	else
		plant_found(session, thread, function, slot->name, false);
	free(slot->name);
}

/* Looks where each function is by now; words that nobody waits for any more go into `left`. */
static void look(struct session *session, struct thread *thread, struct vec *left)
{
	struct space *space = thread->process->space;
	struct vec *slots = &space->modules->slots;

	for (size_t i = slots->count; i-- > 0;) {
		struct pending_slot slot = *(struct pending_slot *)vec_at(slots, i);
		uint64_t address, function;
		int error = find_function(session, space, &slot, &address, &function);

		if (slot.watched && (error != -EAGAIN || slot.watched != address))
			vec_push(left, &slot.watched);
		if (error == -EAGAIN) {
			((struct pending_slot *)vec_at(slots, i))->watched = address;
			continue;
		}
		vec_remove(slots, i);
		plant(session, thread, &slot, error, function);
	}
}

void tables_plant(struct session *session, struct thread *thread)
{
	struct space *space = thread->process->space;
	struct modules *modules = space->modules;
	struct vec left = VEC_OF(uint64_t);

	if (!modules || !modules->slots.count)
		return;
	look(session, thread, &left);
	/* There are few registers: those that are free now go first. */
	for (size_t i = 0; i < left.count; i++)
		unwatch(space, *(uint64_t *)vec_at(&left, i));
	trap_thread_sync(thread);
	for (size_t i = modules->slots.count; i-- > 0;)
		watch(session, thread, vec_at(&modules->slots, i));
	vec_deinit(&left);
}

void tables_forget(struct space *space, uint64_t low, uint64_t high)
{
	struct vec *slots = &space->modules->slots;

	for (size_t i = slots->count; i-- > 0;) {
		const struct pending_slot slot = *(struct pending_slot *)vec_at(slots, i);

		if (slot.address < low || slot.address >= high)
			continue;
		vec_remove(slots, i);
		unwatch(space, slot.watched);
		free(slot.name);
	}
}

void tables_add(struct modules *modules, uint64_t address, const struct match *match)
{
	struct pending_slot slot = {.address = address,
				    .is_getter = match->kind == MATCH_GETTER,
				    .table_offset = match->table_offset,
				    .rule = match->rule};

	for (size_t i = 0; i < modules->slots.count; i++) {
		const struct pending_slot *known = vec_at(&modules->slots, i);

		if (known->address == address && known->is_getter == slot.is_getter &&
		    known->table_offset == slot.table_offset)
			return;
	}
	slot.name = xstrdup(match->name);
	vec_push(&modules->slots, &slot);
}

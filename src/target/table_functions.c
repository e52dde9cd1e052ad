/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that are known by a data word that holds their address.
 *
 * Such a function is planted when the word points into the code of a module. Until then the word is
 * under hardware watch, so that the tracer sees the write that fills it in. The word is also read
 * whenever the linker's list changes, and every WORDS_TICK_US, as another thread may write it.
 *
 * The table that contains the word may be hidden, and only a function that returns its address may
 * be known (PHP's mysqlnd and its prepared statements). Then several words lead to the function:
 * the word with the address of the getter, perhaps a pointer that the getter returns, and the word
 * in the table. The first of these that is not filled in yet is watched.
 */
#include "target/table_functions.h"

#include "base/xalloc.h"
#include "code/accessor.h"
#include "engine/trap/watch.h"
#include "object/elf_text.h"
#include "target/module.h"
#include "target/plant_site.h"
#include "target/target_state.h"

#include <errno.h>
#include <stdlib.h>

/* Returns the address of code that a word holds, or 0 if it holds no such address yet. */
static uint64_t code_at(const struct space *space, uint64_t address)
{
	uint64_t value;

	if (!memory_read_word(&space->memory, address, space->arch->abi->word, &value))
		return 0;
	const struct module *module = modules_find(space->modules, value);

	return module && elf_is_code(module->file, value - module->bias) ? value : 0;
}

/*
 * Finds the function that a pending word leads to. -EAGAIN: the word at *address is not filled in
 * yet; the function's address will be there, or a step on the way to it. -ENOTSUP: a function on
 * the way does more than return the address of a table.
 */
static int find_function(const struct target *target, const struct space *space,
			 const struct pending_word *slot, uint64_t *address, uint64_t *function)
{
	struct accessor getter;
	uint64_t table;

	*address = slot->address;
	*function = code_at(space, *address);
	if (!*function)
		return -EAGAIN;
	if (!slot->is_getter)
		return 0;
	if (accessor_find(trap_decoder(target->trap), space->arch, &space->memory, *function,
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

bool table_functions_are_due(void *context, const struct space *space, uint64_t now)
{
	(void)context;
	(void)now;
	return space->modules && space->modules->slots.count;
}

void table_functions_piece(void *context, struct thread *thread)
{
	table_functions_plant(context, thread);
}

bool table_functions_have_news(void *context, const struct space *space)
{
	const struct target *target = context;

	for (size_t i = 0; space->modules && i < space->modules->slots.count; i++) {
		const struct pending_word *slot = vec_at(&space->modules->slots, i);
		uint64_t address, function;

		if (find_function(target, space, slot, &address, &function) != -EAGAIN ||
		    address != slot->watched)
			return true;
	}
	return false;
}

static void list(struct target *target, const struct modules *modules,
		 const struct pending_word *slot, const char *reason)
{
	const struct module *module = modules_find(modules, slot->address);

	untraced_function(target->untraced, module ? module->base_name : NULL, slot->name, false,
			  reason);
}

/* Watches the word that a function waits for. Several functions may wait for one word. */
static void watch(struct target *target, struct thread *thread, const struct pending_word *slot)
{
	/*
	 * Without a watch, the function may be called unseen between the write of its address and
	 * the next poll.
	 */
	if (trap_watch(thread, slot->watched) != 0)
		list(target, thread->process->space->modules, slot,
		     "calls in the moment after its address is known: there is no hardware watch "
		     "for the word that will hold it");
	deferred_work_tick_for(&target->work, WORK_WORDS);
}

/* Ends the watch on a word, unless a function still waits for it. */
static void unwatch(struct space *space, uint64_t address)
{
	const struct vec *slots = &space->modules->slots;

	for (size_t i = 0; i < slots->count; i++)
		if (((const struct pending_word *)vec_at(slots, i))->watched == address)
			return;
	trap_unwatch(space, address);
}

static void plant(struct target *target, struct thread *thread, const struct pending_word *slot,
		  int error, uint64_t function)
{
	slot->rule->matched = true;
	if (error)
		list(target, thread->process->space->modules, slot,
		     "the function that returns the address of its table does more than that");
	else
		plant_found(target, thread, function, slot->name, false);
	free(slot->name);
}

/* Looks each function up again. Adds to `left` the words that it does not wait for any more. */
static void mapped(struct target *target, struct thread *thread, struct vec *left)
{
	struct space *space = thread->process->space;
	struct vec *slots = &space->modules->slots;

	for (size_t i = slots->count; i-- > 0;) {
		struct pending_word slot = *(struct pending_word *)vec_at(slots, i);
		uint64_t address, function;
		int error = find_function(target, space, &slot, &address, &function);

		if (slot.watched && (error != -EAGAIN || slot.watched != address))
			vec_push(left, &slot.watched);
		if (error == -EAGAIN) {
			((struct pending_word *)vec_at(slots, i))->watched = address;
			continue;
		}
		vec_remove(slots, i);
		plant(target, thread, &slot, error, function);
	}
}

void table_functions_plant(struct target *target, struct thread *thread)
{
	struct space *space = thread->process->space;
	struct modules *modules = space->modules;
	struct vec left = VEC_OF(uint64_t);

	if (!modules || !modules->slots.count)
		return;
	mapped(target, thread, &left);
	/* There are few debug registers, so those that are free now are released first. */
	for (size_t i = 0; i < left.count; i++)
		unwatch(space, *(uint64_t *)vec_at(&left, i));
	trap_thread_sync(thread);
	for (size_t i = modules->slots.count; i-- > 0;)
		watch(target, thread, vec_at(&modules->slots, i));
	vec_deinit(&left);
}

void table_functions_forget(struct space *space, uint64_t low, uint64_t high)
{
	struct vec *slots = &space->modules->slots;

	for (size_t i = slots->count; i-- > 0;) {
		const struct pending_word slot = *(struct pending_word *)vec_at(slots, i);

		if (slot.address < low || slot.address >= high)
			continue;
		vec_remove(slots, i);
		unwatch(space, slot.watched);
		free(slot.name);
	}
}

void table_functions_add(struct modules *modules, uint64_t address, const struct match *match)
{
	struct pending_word slot = {.address = address,
				    .is_getter = match->kind == MATCH_GETTER,
				    .table_offset = match->table_offset,
				    .rule = match->rule};

	for (size_t i = 0; i < modules->slots.count; i++) {
		const struct pending_word *known = vec_at(&modules->slots, i);

		if (known->address == address && known->is_getter == slot.is_getter &&
		    known->table_offset == slot.table_offset)
			return;
	}
	slot.name = xstrdup(match->name);
	vec_push(&modules->slots, &slot);
}

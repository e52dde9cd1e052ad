/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See rescue.h, rescue_abi.h for the layout, sysdeps/x86/rescue.c for what runs in the tracee.
 *
 * Everything lies in memory that the tracee can execute and read but not write; it is filled
 * through /proc/PID/mem. Entries are written whole before the table says that they are in use, so
 * a handler that runs at any moment finds a table that is true.
 *
 * The handler is told to the kernel with the flags and the mask of the program's own, which it
 * hands on to: then a handler of the program's runs with the signals blocked, on the stack and
 * with system calls restarted as it was meant to. SA_SIGINFO is always set (a handler without it
 * finds its argument in the same place), and SA_RESETHAND is left to the handler. A frame of the
 * program's handler must not return into our memory, which may be gone by then: the restorer is
 * the program's own wherever it has a handler that has got one for this kind of frame.
 */
#include "inferior/rescue.h"

#include "base/vec.h"
#include "base/xalloc.h"
#include "inferior/arena.h"
#include "inferior/inferior.h"
#include "inferior/remote.h"
#include "inferior/rescue_abi.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_SA_RESTORER 0x04000000u

_Static_assert((int)RESCUE_BLOCK == (int)ARENA_BYTES, "a block is what is mapped at a time");

struct table {
	uint64_t block;	  /* what is mapped */
	uint64_t address; /* of struct rescue_table */
	uint64_t used;
	uint64_t capacity;
};

struct rescue {
	struct vec tables;	/* struct table; the first one's block has code and head */
	struct vec free_places; /* uint64_t: addresses of entries */
};

/* The parts of a kernel's struct sigaction: words, then the mask. */
struct action {
	uint64_t handler, flags, restorer, mask;
};

static struct action action_read(const struct space *space, const uint8_t *bytes)
{
	struct action action = {0};
	unsigned word = space->arch->abi->word;

	memcpy(&action.handler, bytes, word);
	memcpy(&action.flags, bytes + word, word);
	memcpy(&action.restorer, bytes + (size_t)2 * word, word);
	memcpy(&action.mask, bytes + (size_t)3 * word, sizeof action.mask);
	return action;
}

static void action_write(const struct space *space, const struct action *action, uint8_t *bytes)
{
	unsigned word = space->arch->abi->word;

	memset(bytes, 0, RESCUE_ACTION);
	memcpy(bytes, &action->handler, word);
	memcpy(bytes + word, &action->flags, word);
	memcpy(bytes + (size_t)2 * word, &action->restorer, word);
	memcpy(bytes + (size_t)3 * word, &action->mask, sizeof action->mask);
}

static struct table *table_at(const struct rescue *rescue, size_t index)
{
	return vec_at(&rescue->tables, index);
}

static uint64_t head_address(const struct rescue *rescue)
{
	return table_at(rescue, 0)->block + RESCUE_CODE;
}

static uint64_t capacity_behind(const struct table *table)
{
	uint64_t first = table->address + offsetof(struct rescue_table, entries);

	return (table->block + RESCUE_BLOCK - first) / sizeof(struct rescue_entry);
}

int rescue_install(struct thread *thread)
{
	struct space *space = thread->process->space;
	struct table table = {0};

	if (space->rescue)
		return 0;
	int error = arena_map_near(thread, space->landing, &table.block);

	if (error)
		return error;
	error = space_write(space, table.block, space->arch->rescue_code,
			    space->arch->rescue_length);
	if (error) {
		remote_unmap(thread, table.block, RESCUE_BLOCK);
		return error;
	}
	table.address = table.block + RESCUE_CODE + offsetof(struct rescue_head, table);
	table.capacity = capacity_behind(&table);
	space->rescue = xcalloc(1, sizeof *space->rescue);
	vec_init(&space->rescue->tables, sizeof(struct table));
	vec_init(&space->rescue->free_places, sizeof(uint64_t));
	vec_push(&space->rescue->tables, &table);
	return 0;
}

int rescue_guard(struct space *space, const uint8_t action[RESCUE_ACTION],
		 uint8_t guarded[RESCUE_ACTION])
{
	struct action program = action_read(space, action);
	struct action ours = {.flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART, .mask = ~UINT64_C(0)};

	if (!space->rescue)
		return -ENOENT;
	uint64_t told[2] = {program.handler, program.flags};
	int error = space_write(space, head_address(space->rescue), told, sizeof told);

	if (error)
		return error;
	if (program.handler > (uintptr_t)SIG_IGN) {
		ours.mask = program.mask;
		ours.flags = (program.flags & ~(uint64_t)SA_RESETHAND) | SA_SIGINFO;
		ours.restorer = program.restorer;
		if (!space->arch->rescue_restores && !(program.flags & SA_SIGINFO))
			ours.flags &= ~(uint64_t)KERNEL_SA_RESTORER;
	} else if (space->arch->rescue_restores) {
		ours.flags |= KERNEL_SA_RESTORER;
		ours.restorer = table_at(space->rescue, 0)->block + RESCUE_RESTORER;
	}
	if (!(ours.flags & KERNEL_SA_RESTORER))
		ours.restorer = 0;
	ours.handler = table_at(space->rescue, 0)->block;
	action_write(space, &ours, guarded);
	return 0;
}

bool rescue_is_handler(const struct space *space, const uint8_t action[RESCUE_ACTION])
{
	return space->rescue &&
	       action_read(space, action).handler == table_at(space->rescue, 0)->block;
}

/* Another table, with the last one pointing to it. */
static int add_table(struct thread *thread)
{
	struct space *space = thread->process->space;
	struct rescue *rescue = space->rescue;
	struct table *last = table_at(rescue, rescue->tables.count - 1);
	struct table table = {0};
	int error = arena_map_near(thread, space->landing, &table.block);

	if (error)
		return error;
	table.address = table.block;
	table.capacity = capacity_behind(&table);
	error = space_write(space, last->address, &table.address, sizeof table.address);
	if (error)
		remote_unmap(thread, table.block, RESCUE_BLOCK);
	else
		vec_push(&rescue->tables, &table);
	return error;
}

static uint64_t place_in(const struct table *table, uint64_t index)
{
	return table->address + offsetof(struct rescue_table, entries) +
	       index * sizeof(struct rescue_entry);
}

/* A place for an entry; *grown is the table whose `used` is to be told, if any. */
static int take_place(struct thread *thread, uint64_t *place, struct table **grown)
{
	struct rescue *rescue = thread->process->space->rescue;
	struct table *table = table_at(rescue, rescue->tables.count - 1);

	*grown = NULL;
	if (rescue->free_places.count) {
		*place = *(uint64_t *)vec_at(&rescue->free_places, rescue->free_places.count - 1);
		vec_remove_fast(&rescue->free_places, rescue->free_places.count - 1);
		return 0;
	}
	if (table->used == table->capacity) {
		int error = add_table(thread);

		if (error)
			return error;
		table = table_at(rescue, rescue->tables.count - 1);
	}
	*place = place_in(table, table->used++);
	*grown = table;
	return 0;
}

void rescue_note(struct thread *thread, uint64_t address, const uint8_t *before, uint64_t *place)
{
	struct space *space = thread->process->space;
	const struct rescue_entry entry = {.address = address, .before = before[0]};
	struct table *grown;

	*place = 0;
	if (!space->rescue || take_place(thread, place, &grown) != 0)
		return;
	if (space_write(space, *place, &entry, sizeof entry) != 0)
		*place = 0;
	else if (grown)
		space_write(space, grown->address + offsetof(struct rescue_table, used),
			    &grown->used, sizeof grown->used);
}

void rescue_forget(struct space *space, uint64_t place)
{
	static const struct rescue_entry none;

	if (!place || !space->rescue)
		return;
	space_write(space, place, &none, sizeof none);
	vec_push(&space->rescue->free_places, &place);
}

struct rescue *rescue_copy(const struct rescue *rescue)
{
	if (!rescue)
		return NULL;
	struct rescue *copy = xcalloc(1, sizeof *copy);

	vec_init(&copy->tables, sizeof(struct table));
	vec_init(&copy->free_places, sizeof(uint64_t));
	for (size_t i = 0; i < rescue->tables.count; i++)
		vec_push(&copy->tables, vec_at(&rescue->tables, i));
	for (size_t i = 0; i < rescue->free_places.count; i++)
		vec_push(&copy->free_places, vec_at(&rescue->free_places, i));
	return copy;
}

void rescue_destroy(struct rescue *rescue)
{
	if (!rescue)
		return;
	vec_deinit(&rescue->tables);
	vec_deinit(&rescue->free_places);
	free(rescue);
}

int rescue_unmap(struct thread *thread)
{
	struct space *space = thread->process->space;
	int first = 0;

	for (size_t i = 0; space->rescue && i < space->rescue->tables.count; i++) {
		int error = remote_unmap(thread, table_at(space->rescue, i)->block, RESCUE_BLOCK);

		if (!first)
			first = error;
	}
	rescue_destroy(space->rescue);
	space->rescue = NULL;
	return first;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See rescue.h. The layout is in rescue_abi.h, the code that runs in the tracee in
 * sysdeps/x86/rescue.c.
 *
 * All blocks lie in memory that the tracee can execute and read but not write; the tracer fills it
 * through /proc/PID/mem. An entry is written completely before `used` includes it, so the handler
 * sees a valid table at any moment. A free entry keeps its contents until some others have been
 * freed after it: a thread may have hit the breakpoint before it was removed, and if the tracer
 * dies then, the handler has to know the address. As each write is a system call, `used` is
 * advanced in large steps: memory that was never written reads as free entries.
 *
 * The handler is set with the flags and the mask of the program's own handler, which it calls: so
 * that one runs with the signals blocked, the stack, and the restart of system calls that the
 * program asked for. SA_SIGINFO is always set (a handler without it finds its argument in the same
 * place), and the handler itself implements SA_RESETHAND. The frame of the program's handler must
 * not return into the tracer's memory, which may be unmapped by then. So the restorer is the
 * program's own, if the program has a handler with a restorer for this kind of frame.
 */
#include "recovery/rescue.h"

#include "base/vec.h"
#include "base/xalloc.h"
#include "tracee/arena.h"
#include "tracee/arena_map.h"
#include "tracee/journal.h"
#include "tracee/remote_map.h"
#include "tracee/rescue_abi.h"
#include "tracee/sandbox.h"
#include "tracee/space.h"
#include "tracee/tracee.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_SA_RESTORER 0x04000000u

enum { PAGE = 4096 };

_Static_assert((int)RESCUE_BLOCK == (int)ARENA_BYTES, "a block is what is mapped at a time");

struct table {
	uint64_t block;	  /* address of the block */
	uint64_t address; /* address of the struct rescue_table */
	uint64_t used;
	/* the value of `used` in the tracee; the entries up to `announced` are free */
	uint64_t announced;
	uint64_t capacity;
};

struct rescue {
	struct vec tables;	/* struct table; the first table's block also has code and head */
	struct vec free_places; /* uint64_t: addresses of free entries, the longest free first */
	size_t next_free;	/* index of the first that is still free */
	bool is_filtered;	/* the value of `filtered` that the handler has been told */
	uint64_t looked;	/* clock_now() of the last check for filters */
};

enum { KEPT = 64, MAX_TABLES = 256, ANNOUNCED_AHEAD = 64, LOOK_AGAIN_NS = 100000000 };

/* The fields of the kernel's struct sigaction: three words, then the mask. */
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

static struct rescue *rescue_create(void)
{
	struct rescue *rescue = xcalloc(1, sizeof *rescue);

	vec_init(&rescue->tables, sizeof(struct table));
	vec_init(&rescue->free_places, sizeof(uint64_t));
	return rescue;
}

static void destroy(struct rescue *rescue)
{
	vec_deinit(&rescue->tables);
	vec_deinit(&rescue->free_places);
	free(rescue);
}

bool rescue_holds(const struct space *space, uint64_t place)
{
	for (size_t i = 0; space->rescue && i < space->rescue->tables.count; i++)
		if (place - table_at(space->rescue, i)->block < RESCUE_BLOCK)
			return true;
	return false;
}

static bool is_rescue_code(const struct space *space, uint64_t address)
{
	size_t length = space->arch->rescue_length;
	uint8_t *code = xmalloc(length);
	bool same = !(address % PAGE) && memory_read_exact(&space->memory, address, code, length) &&
		    !memcmp(code, space->arch->rescue_code, length);

	free(code);
	return same;
}

static void forget_missing(struct space *space)
{
	struct rescue *rescue = space->rescue;
	size_t there = 0;
	uint8_t byte;

	while (there < rescue->tables.count &&
	       memory_read_exact(&space->memory, table_at(rescue, there)->address, &byte, 1) &&
	       (there || is_rescue_code(space, table_at(rescue, 0)->block)))
		there++;
	if (there == rescue->tables.count)
		return;
	rescue->tables.count = there;
	rescue->free_places.count = rescue->next_free = 0;
	if (there)
		return;
	destroy(rescue);
	space->rescue = NULL;
}

static const struct rescue_ops ops = {
	.destroy = destroy, .forget_missing = forget_missing, .holds = rescue_holds};

static void keep(struct space *space, struct rescue *rescue)
{
	space->rescue = rescue;
	space->rescue_ops = &ops;
}

int rescue_install(struct thread *thread)
{
	struct space *space = thread->process->space;
	struct table table = {0};
	struct regs regs;

	if (space->rescue)
		return 0;
	/* Near code: programs put what must lie at a fixed place at low addresses. */
	int error = regs_load(thread->tid, &regs);

	if (!error)
		error = arena_map_near(thread, regs.pc, &table.block);
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
	keep(space, rescue_create());
	vec_push(&space->rescue->tables, &table);
	return 0;
}

void rescue_adopt(struct space *space, uint64_t base,
		  bool (*is_ours)(const struct space *space, uint64_t block))
{
	struct rescue *rescue;
	struct table table = {.block = base};
	uint64_t next = 0;

	if (!base || !is_ours(space, base))
		return;
	rescue = rescue_create();
	table.address = base + RESCUE_CODE + offsetof(struct rescue_head, table);
	for (int i = 0; i < MAX_TABLES; i++) {
		vec_push(&rescue->tables, &table);
		if (!memory_read_exact(&space->memory, table.address, &next, sizeof next) ||
		    !next || !is_ours(space, next))
			break;
		table.block = table.address = next;
	}
	keep(space, rescue);
}

int rescue_guard(struct space *space, const uint8_t action[RESCUE_ACTION], bool tell,
		 uint8_t guarded[RESCUE_ACTION])
{
	struct action program = action_read(space, action);
	struct action ours = {.flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART, .mask = ~UINT64_C(0)};

	if (!space->rescue)
		return -ENOENT;
	uint64_t announced[2] = {program.handler, program.flags};
	int error = tell ? space_write(space, head_address(space->rescue), announced,
				       sizeof announced)
			 : 0;

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

void rescue_tell_step(struct space *space, const struct rescue_step *step)
{
	const struct rescue_step announced = step ? *step : (struct rescue_step){0};

	journal_subject(space->journal)->step = announced;
	if (space->rescue)
		space_write(space, head_address(space->rescue) + offsetof(struct rescue_head, step),
			    &announced, sizeof announced);
}

void rescue_look_for_filters(const struct thread *thread, uint64_t now)
{
	struct space *space = thread->process->space;
	struct rescue *rescue = space ? space->rescue : NULL;

	if (!rescue || rescue->is_filtered || now - rescue->looked < LOOK_AGAIN_NS)
		return;
	const uint64_t filtered = sandbox_may_kill(thread);

	rescue->looked = now;
	rescue->is_filtered =
		filtered &&
		space_write(space, head_address(rescue) + offsetof(struct rescue_head, filtered),
			    &filtered, sizeof filtered) == 0;
}

uint64_t rescue_base(const struct space *space)
{
	return space->rescue ? table_at(space->rescue, 0)->block : 0;
}

bool rescue_runs(const struct space *space, uint64_t pc)
{
	const uint64_t base = rescue_base(space);

	return base && pc - base < RESCUE_CODE;
}

bool rescue_owns(const struct space *space, uint64_t block)
{
	for (size_t i = 0; space->rescue && i < space->rescue->tables.count; i++)
		if (table_at(space->rescue, i)->block == block)
			return true;
	return false;
}

/* Adds a table and links it to the last one. */
static int add_table(struct thread *thread)
{
	struct space *space = thread->process->space;
	struct rescue *rescue = space->rescue;
	struct table *last = table_at(rescue, rescue->tables.count - 1);
	struct table table = {0};
	int error = arena_map_near(thread, space->remote_stub, &table.block);

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

/* Takes the entry that has been free for longest, if more than KEPT entries are free. */
static bool take_free(struct rescue *rescue, uint64_t *place)
{
	struct vec *places = &rescue->free_places;

	if (places->count - rescue->next_free <= KEPT)
		return false;
	*place = *(uint64_t *)vec_at(places, rescue->next_free++);
	if (rescue->next_free == places->count / 2) {
		uint64_t *items = places->items;

		places->count -= rescue->next_free;
		memmove(items, items + rescue->next_free, places->count * sizeof *items);
		rescue->next_free = 0;
	}
	return true;
}

/* Makes the handler read the next TOLD_AHEAD entries, too. */
static int tell_ahead(struct space *space, struct table *table)
{
	uint64_t announced = table->announced + ANNOUNCED_AHEAD;

	if (announced > table->capacity)
		announced = table->capacity;
	int error = space_write(space, table->address + offsetof(struct rescue_table, used),
				&announced, sizeof announced);

	if (!error)
		table->announced = announced;
	return error;
}

static int take_place(struct thread *thread, uint64_t *place)
{
	struct rescue *rescue = thread->process->space->rescue;
	struct table *table = table_at(rescue, rescue->tables.count - 1);
	int error = 0;

	if (take_free(rescue, place))
		return 0;
	if (table->used == table->capacity)
		error = add_table(thread);
	if (!error) {
		table = table_at(rescue, rescue->tables.count - 1);
		if (table->used >= table->announced)
			error = tell_ahead(thread->process->space, table);
	}
	if (!error)
		*place = place_in(table, table->used++);
	return error;
}

static void note(struct thread *thread, const struct rescue_entry *entry, uint64_t *place)
{
	struct space *space = thread->process->space;

	*place = 0;
	if (space->rescue && take_place(thread, place) == 0 &&
	    space_write(space, *place, entry, sizeof *entry) != 0)
		*place = 0;
}

void rescue_note(struct thread *thread, uint64_t address, const uint8_t *before, uint64_t *place)
{
	note(thread, &(struct rescue_entry){.address = address, .before = before[0]}, place);
}

void rescue_mark(struct space *space, uint64_t place, uint64_t flag)
{
	struct rescue_entry entry;

	if (!place || !space->rescue ||
	    !memory_read_exact(&space->memory, place, &entry, sizeof entry))
		return;
	entry.before = (uint8_t)entry.before | flag;
	space_write(space, place, &entry, sizeof entry);
}

void rescue_forget(struct space *space, uint64_t place)
{
	if (rescue_holds(space, place))
		vec_push(&space->rescue->free_places, &place);
}

void rescue_beat(struct space *space)
{
	const uint64_t base = journal_subject(space->journal)->rescue;
	const uint64_t place = base + RESCUE_CODE + offsetof(struct rescue_head, beats);
	uint64_t beats;

	if (!base || !is_rescue_code(space, base) ||
	    !memory_read_exact(&space->memory, place, &beats, sizeof beats))
		return;
	beats++;
	space_write(space, place, &beats, sizeof beats);
}

/* ------------------------------------------------------------------ earlier, killed tracers */

/*
 * Removes a breakpoint of an earlier tracer. That tracer's handler may be running in a thread, and
 * would remove this tracer's breakpoints at the same places; so the entry is marked RESCUE_GONE,
 * which the handler skips. `where`: address of the entry.
 */
static void absorb_entry(struct thread *thread, struct rescue_entry *entry, uint64_t where)
{
	struct space *space = thread->process->space;
	const uint8_t before = (uint8_t)entry->before;
	uint8_t now;
	uint64_t place;

	if (memory_read_exact(&space->memory, entry->address, &now, 1) &&
	    now == space->arch->breakpoint[0])
		space_write(space, entry->address, &before, 1);
	entry->before |= RESCUE_GONE;
	space_write(space, where, entry, sizeof *entry);
	note(thread, entry, &place);
}

/*
 * Absorbs the entries of one table whose flags are `last`: 0, RESCUE_LAST or RESCUE_WAIT. The
 * contents are not trusted. Returns false if the table cannot be read. *next: address of the next
 * table.
 */
static bool absorb_table(struct thread *thread, uint64_t address, uint64_t last, uint64_t *next)
{
	const struct space *space = thread->process->space;
	struct rescue_table table;
	struct rescue_entry entry;

	if (!memory_read_exact(&space->memory, address, &table, sizeof table))
		return false;
	if (table.used > RESCUE_BLOCK / sizeof entry)
		table.used = RESCUE_BLOCK / sizeof entry;
	for (uint64_t i = table.used; i-- > 0;) {
		uint64_t where = address + sizeof table + i * sizeof entry;

		if (!memory_read_exact(&space->memory, where, &entry, sizeof entry))
			return false;
		if (entry.address &&
		    (entry.before & (RESCUE_LAST | RESCUE_GONE | RESCUE_WAIT)) == last)
			absorb_entry(thread, &entry, where);
	}
	*next = table.next;
	return true;
}

static void absorb_tables(struct thread *thread, uint64_t first, uint64_t last)
{
	uint64_t table = first;

	for (int tables = 0; table && tables < MAX_TABLES; tables++)
		if (!absorb_table(thread, table, last, &table))
			return;
}

size_t rescue_absorb(struct thread *thread, uint8_t action[RESCUE_ACTION],
		     uint64_t blocks[RESCUE_GENERATIONS])
{
	struct space *space = thread->process->space;
	struct action what = action_read(space, action);
	struct rescue_head head;
	size_t count = 0;

	while (count < RESCUE_GENERATIONS && is_rescue_code(space, what.handler)) {
		uint64_t table = what.handler + RESCUE_CODE + offsetof(struct rescue_head, table);

		if (!memory_read_exact(&space->memory, what.handler + RESCUE_CODE, &head,
				       sizeof head))
			break;
		absorb_tables(thread, table, 0);
		absorb_tables(thread, table, RESCUE_LAST);
		absorb_tables(thread, table, RESCUE_WAIT);
		blocks[count++] = what.handler;
		what.handler = head.handler;
		what.flags = head.flags;
	}
	if (count && what.handler <= (uintptr_t)SIG_IGN)
		what.flags = what.restorer = what.mask = 0;
	action_write(space, &what, action);
	return count;
}

void rescue_copy(struct space *child, const struct space *parent)
{
	const struct rescue *rescue = parent->rescue;

	if (!rescue)
		return;
	struct rescue *copy = rescue_create();

	copy->is_filtered = rescue->is_filtered;
	for (size_t i = 0; i < rescue->tables.count; i++)
		vec_push(&copy->tables, vec_at(&rescue->tables, i));
	for (size_t i = rescue->next_free; i < rescue->free_places.count; i++)
		vec_push(&copy->free_places, vec_at(&rescue->free_places, i));
	keep(child, copy);
}

int rescue_unmap(struct thread *thread)
{
	struct space *space = thread->process->space;
	int first = 0;

	for (size_t i = 0; space->rescue && i < space->rescue->tables.count; i++) {
		int error = arena_unmap_block(thread, table_at(space->rescue, i)->block);

		if (!first)
			first = error;
	}
	if (space->rescue)
		destroy(space->rescue);
	space->rescue = NULL;
	return first;
}

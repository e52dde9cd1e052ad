/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See rescue.h, rescue_abi.h for the layout, sysdeps/x86/rescue.c for what runs in the tracee.
 *
 * Everything lies in memory that the tracee can execute and read but not write; it is filled
 * through /proc/PID/mem. Entries are written whole before the table says that they are in use, so a
 * handler that runs at any moment finds a table that is true. An entry that is not needed any more
 * is kept until a few others have followed it: a thread may have run into the breakpoint before it
 * was taken out, and if the tracer dies then, the handler has to know the place. How many are in
 * use is told ahead, as each write is a system call: memory that was never written is free entries.
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
#include "inferior/journal.h"
#include "inferior/remote.h"
#include "inferior/rescue_abi.h"
#include "inferior/sandbox.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_SA_RESTORER 0x04000000u

enum { PAGE = 4096 };

_Static_assert((int)RESCUE_BLOCK == (int)ARENA_BYTES, "a block is what is mapped at a time");

struct table {
	uint64_t block;	  /* what is mapped */
	uint64_t address; /* of struct rescue_table */
	uint64_t used;
	uint64_t told; /* the `used` that stands there; what is between them is free */
	uint64_t capacity;
};

struct rescue {
	struct vec tables;	/* struct table; the first one's block has code and head */
	struct vec free_places; /* uint64_t: addresses of entries, in the order they became free */
	size_t next_free;	/* the first of these that is free still */
	bool is_filtered;	/* as the handler has been told */
	uint64_t looked;	/* when it was looked for that: inferior_clock() */
};

enum { KEPT = 64, MAX_TABLES = 256, TOLD_AHEAD = 64, LOOK_AGAIN_NS = 100000000 };

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

static struct rescue *rescue_create(void)
{
	struct rescue *rescue = xcalloc(1, sizeof *rescue);

	vec_init(&rescue->tables, sizeof(struct table));
	vec_init(&rescue->free_places, sizeof(uint64_t));
	return rescue;
}

int rescue_install(struct thread *thread)
{
	struct space *space = thread->process->space;
	struct table table = {0};
	struct regs regs;

	if (space->rescue)
		return 0;
	/* Beside code: low addresses are where programs put what must lie at a fixed place. */
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
	space->rescue = rescue_create();
	vec_push(&space->rescue->tables, &table);
	return 0;
}

struct rescue *rescue_adopt(struct space *space, uint64_t base,
			    bool (*is_ours)(const struct space *space, uint64_t block))
{
	struct rescue *rescue;
	struct table table = {.block = base};
	uint64_t next = 0;

	if (!base || !is_ours(space, base))
		return NULL;
	rescue = rescue_create();
	table.address = base + RESCUE_CODE + offsetof(struct rescue_head, table);
	for (int i = 0; i < MAX_TABLES; i++) {
		vec_push(&rescue->tables, &table);
		if (!memory_read_exact(&space->memory, table.address, &next, sizeof next) ||
		    !next || !is_ours(space, next))
			break;
		table.block = table.address = next;
	}
	return rescue;
}

int rescue_guard(struct space *space, const uint8_t action[RESCUE_ACTION], bool tell,
		 uint8_t guarded[RESCUE_ACTION])
{
	struct action program = action_read(space, action);
	struct action ours = {.flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART, .mask = ~UINT64_C(0)};

	if (!space->rescue)
		return -ENOENT;
	uint64_t told[2] = {program.handler, program.flags};
	int error = tell ? space_write(space, head_address(space->rescue), told, sizeof told) : 0;

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
	const struct rescue_step told = step ? *step : (struct rescue_step){0};

	journal_subject(space->journal)->step = told;
	if (space->rescue)
		space_write(space, head_address(space->rescue) + offsetof(struct rescue_head, step),
			    &told, sizeof told);
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

bool rescue_owns(const struct space *space, uint64_t block)
{
	for (size_t i = 0; space->rescue && i < space->rescue->tables.count; i++)
		if (table_at(space->rescue, i)->block == block)
			return true;
	return false;
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

/* The place that has been free for longest, if there are enough of them. */
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

/* Makes the handler look at the next entries, too. */
static int tell_ahead(struct space *space, struct table *table)
{
	uint64_t told = table->told + TOLD_AHEAD;

	if (told > table->capacity)
		told = table->capacity;
	int error = space_write(space, table->address + offsetof(struct rescue_table, used), &told,
				sizeof told);

	if (!error)
		table->told = told;
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
		if (table->used >= table->told)
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

bool rescue_holds(const struct space *space, uint64_t place)
{
	for (size_t i = 0; space->rescue && i < space->rescue->tables.count; i++)
		if (place - table_at(space->rescue, i)->block < RESCUE_BLOCK)
			return true;
	return false;
}

void rescue_forget(struct space *space, uint64_t place)
{
	if (rescue_holds(space, place))
		vec_push(&space->rescue->free_places, &place);
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

void rescue_forget_missing(struct space *space)
{
	struct rescue *rescue = space->rescue;
	size_t there = 0;
	uint8_t byte;

	if (!rescue)
		return;
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
	rescue_destroy(rescue);
	space->rescue = NULL;
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

/* ------------------------------------------------------------------ what others left behind */

/*
 * Its handler may be at work in a thread, and would take out ours at the same places: those that
 * are gone it passes over. `where` the entry stands.
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
 * Goes through a table of whoever wrote it, for those entries that are to be put back last, or the
 * others; false when it cannot be read. *next is the next one.
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

struct rescue *rescue_copy(const struct rescue *rescue)
{
	if (!rescue)
		return NULL;
	struct rescue *copy = rescue_create();

	copy->is_filtered = rescue->is_filtered;
	for (size_t i = 0; i < rescue->tables.count; i++)
		vec_push(&copy->tables, vec_at(&rescue->tables, i));
	for (size_t i = rescue->next_free; i < rescue->free_places.count; i++)
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
		int error = arena_unmap_block(thread, table_at(space->rescue, i)->block);

		if (!first)
			first = error;
	}
	rescue_destroy(space->rescue);
	space->rescue = NULL;
	return first;
}

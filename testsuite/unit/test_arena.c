/* SPDX-License-Identifier: GPL-2.0-or-later */
/* XOL slots near any code of a process. */
#include "tracee/arena.h"

#include "tasks.h"
#include "tracee/arena_map.h"
#include "tracee/remote_map.h"
#include "tracee/resume.h"

#include <sys/mman.h>

static void check_slot(const struct thread *thread, uint64_t address, uint64_t slot)
{
	struct arena *arena = thread->process->space->arena;
	uint64_t distance = slot > address ? slot - address : address - slot;
	uint64_t begin = 0;
	struct mapping mapping = {0};

	assert_int_equal(slot % ARENA_XOL_SLOT, 0);
	if (host_arch()->abi->word == 8)
		assert_true(distance < INT32_MAX - ARENA_XOL_SLOT);
	assert_true(is_mapped(thread, slot, &mapping));
	assert_true(mapping.executable && !mapping.writable);
	assert_true(arena_xol_slot_at(arena, slot + ARENA_XOL_SLOT - 1, &begin));
	assert_int_equal(begin, slot);
}

static void test_arena(void **state)
{
	enum { MANY = 3000 }; /* more than one mapping holds */
	struct tracees *tracees = *state;
	struct thread *thread = launch(tracees, "exit");
	uint64_t places[3];
	uint64_t slots[MANY];
	uint64_t begin;
	int owner;

	make_clean(tracees, thread);
	struct space *space = thread->process->space;
	struct maps maps;

	assert_int_equal(maps_read(thread->tid, &maps), 0);
	places[0] = registers_of(thread).pc; /* in the dynamic linker */
	places[1] = maps.mappings[0].start;  /* the lowest mapping */
	const struct mapping *vdso = maps_find_path(&maps, "[vdso]");

	places[2] = vdso ? vdso->start : places[0];
	maps_deinit(&maps);
	for (size_t i = 0; i < MANY; i++) {
		int error = arena_take(space->arena, thread, places[i % 3], &slots[i]);

		if (error == -EPERM || error == -ENOENT)
			skip();
		assert_int_equal(error, 0);
		if (i < 6)
			check_slot(thread, places[i % 3], slots[i]);
		assert_null(arena_owner(space->arena, slots[i]));
		arena_set_owner(space->arena, slots[i], &slots[i]);
	}
	for (size_t i = 0; i < MANY; i++)
		assert_ptr_equal(arena_owner(space->arena, slots[i]),
				 &slots[i]); /* no slot is given twice */
	check_slot(thread, places[(MANY - 1) % 3], slots[MANY - 1]);
	assert_false(arena_xol_slot_at(space->arena, places[0], &begin));
	assert_null(arena_owner(space->arena, places[0]));
	/* An XOL slot that was given back is given out again for the same code. */
	arena_give(space->arena, slots[0]);
	assert_null(arena_owner(space->arena, slots[0]));
	assert_int_equal(arena_take(space->arena, thread, places[0], &begin), 0);
	assert_int_equal(begin, slots[0]);
	arena_set_owner(space->arena, begin, &owner);

	struct arena *copy = arena_create();

	arena_copy(copy, space->arena);
	assert_true(arena_xol_slot_at(copy, slots[7] + 3, &begin));
	assert_int_equal(begin, slots[7]);
	assert_null(arena_owner(copy, slots[7]));
	arena_destroy(copy);

	assert_true(mappings_noted(space->journal) >= 2);
	assert_int_equal(arena_unmap(space->arena, thread), 0);
	assert_int_equal(mappings_noted(space->journal), 0);
	assert_false(is_mapped(thread, slots[0], NULL));
	assert_false(is_mapped(thread, slots[MANY - 1], NULL));
	assert_false(arena_xol_slot_at(space->arena, slots[0], &begin));
	thread_resume(thread, 0);
	assert_int_equal(run_to_end(tracees), 42);
}

/* Code at the very beginning of a mapping, with room only below it. */
static void test_arena_below(void **state)
{
	static const uint64_t place = UINT64_C(0x200000000000);
	static const uint64_t wall = UINT64_C(0x200000000); /* 8 GiB */
	struct tracees *tracees = *state;
	struct thread *thread = launch(tracees, "exit");
	uint64_t mapped;
	uint64_t slot;

	make_clean(tracees, thread);
	if (host_arch()->abi->word != 8 || remote_map(thread, place, wall, PROT_NONE, &mapped) != 0)
		skip();
	assert_int_equal(arena_take(thread->process->space->arena, thread, place, &slot), 0);
	assert_true(slot < place);
	check_slot(thread, place, slot);
	/* In the middle of the wall there is no room near. */
	assert_int_equal(arena_take(thread->process->space->arena, thread, place + wall / 2, &slot),
			 -ENOSPC);
	thread_resume(thread, 0);
	assert_int_equal(run_to_end(tracees), 42);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		STORY(test_arena),
		STORY(test_arena_below),
	};

	begin(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

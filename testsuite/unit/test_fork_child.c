/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes the memory of an address space to what the tracer's tables say: a forked child may lack
 * some of it.
 */
#include "engine/trap/breakpoint.h"

#include "code/relocate.h"
#include "engine/trap/fork_child.h"
#include "engine/trap/spaces.h"
#include "tasks.h"
#include "tracee/arena.h"
#include "tracee/arena_map.h"
#include "tracee/resume.h"
#include "tracee/space.h"

struct planted {
	struct decoder *decoder;
	struct thread *thread;
	struct space *space;
	uint64_t address;
};

/* Sets a breakpoint on the first instruction of the dynamic linker, which an XOL slot can hold. */
static void plant(struct tracees *tracees, struct planted *planted)
{
	struct breakpoint *breakpoint = NULL;

	planted->thread = launch(tracees, "exit");
	make_clean(tracees, planted->thread);
	planted->space = planted->thread->process->space;
	planted->decoder = decoder_create();
	assert_non_null(planted->decoder);
	planted->address = registers_of(planted->thread).pc;
	int error = breakpoint_insert(planted->decoder, planted->thread, planted->address,
				      &breakpoint);

	if (error == -EPERM)
		skip(); /* a seccomp filter around the test */
	assert_int_equal(error, 0);
	assert_true(breakpoint->xol_slot);
}

static void assert_whole(const struct planted *planted)
{
	const struct space *space = planted->space;
	const struct breakpoint *breakpoint = breakpoint_find(space, planted->address);
	uint8_t expected[DISPLACED_CODE_MAX];
	uint8_t now[DISPLACED_CODE_MAX];
	size_t length;

	assert_non_null(breakpoint);
	assert_true(breakpoint->xol_slot);
	assert_int_equal(
		displaced_emit(&breakpoint->displaced, breakpoint->xol_slot, expected, &length), 0);
	assert_true(memory_read_exact(&space->memory, breakpoint->xol_slot, now, length));
	assert_memory_equal(now, expected, length);
	assert_true(memory_read_exact(&space->memory, planted->address, now,
				      space->arch->breakpoint_length));
	assert_memory_equal(now, space->arch->breakpoint, space->arch->breakpoint_length);
}

/* Removes the breakpoint. The program must run as if it had not been there. */
static void end(struct tracees *tracees, struct planted *planted)
{
	breakpoint_remove(planted->space, breakpoint_find(planted->space, planted->address));
	trap_space_gone(planted->space);
	thread_resume(planted->thread, 0);
	assert_int_equal(run_to_end(tracees), 42);
	decoder_destroy(planted->decoder);
}

static void test_nothing_lacks(void **state)
{
	struct planted planted;

	plant(*state, &planted);
	uint64_t slot = breakpoint_find(planted.space, planted.address)->xol_slot;

	breakpoints_complete(planted.decoder, planted.thread);
	assert_whole(&planted);
	assert_int_equal(breakpoint_find(planted.space, planted.address)->xol_slot, slot);
	end(*state, &planted);
}

static void test_byte_lacks(void **state)
{
	struct planted planted;

	plant(*state, &planted);
	const struct breakpoint *breakpoint = breakpoint_find(planted.space, planted.address);
	const struct journal_entry *entry = journal_entry(planted.space->journal,
							  breakpoint->journal);

	assert_int_equal(space_write(planted.space, planted.address, entry->before, entry->length),
			 0);
	breakpoints_complete(planted.decoder, planted.thread);
	assert_whole(&planted);
	end(*state, &planted);
}

/* The XOL slot has the copy for another breakpoint, from before the memory was copied. */
static void test_slot_holds_something_else(void **state)
{
	static const uint8_t other[] = {0x85, 0xc0, 0xe9, 1, 2, 3, 4};
	struct planted planted;

	plant(*state, &planted);
	assert_int_equal(space_write(planted.space,
				     breakpoint_find(planted.space, planted.address)->xol_slot,
				     other, sizeof other),
			 0);
	breakpoints_complete(planted.decoder, planted.thread);
	assert_whole(&planted);
	end(*state, &planted);
}

/* The XOL slot was mapped after the memory had been copied; the breakpoint is older. */
static void test_slot_lacks(void **state)
{
	struct planted planted;

	plant(*state, &planted);
	uint64_t slot = breakpoint_find(planted.space, planted.address)->xol_slot;

	assert_int_equal(arena_unmap_block(planted.thread, arena_block(planted.space->arena, slot)),
			 0);
	breakpoints_complete(planted.decoder, planted.thread);
	assert_whole(&planted);
	end(*state, &planted);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		STORY(test_nothing_lacks),
		STORY(test_byte_lacks),
		STORY(test_slot_holds_something_else),
		STORY(test_slot_lacks),
	};

	begin(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

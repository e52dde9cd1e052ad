/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rings: what is held back while a thread is in the middle of a record. */
#include "engine/agent/rings.h"
#include "engine/agent/rings_abi.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include <cmocka.h>

enum { FIRST = 101, SECOND = 102, PLACE = 0x1000, MS = 1000000 };

struct fixture {
	struct rings *rings;
	uint8_t *memory;
};

/* What a thread's code has of its ring. */
static struct agent_thread *entry_of(const struct fixture *fixture, uint64_t fs_base)
{
	struct agent_thread *entries = (struct agent_thread *)(void *)fixture->memory;

	for (size_t i = 0; i < AGENT_THREAD_COUNT; i++)
		if (entries[i].base == fs_base)
			return &entries[i];
	return NULL;
}

static void set_up(struct fixture *fixture)
{
	fixture->memory = mmap(NULL, AGENT_RINGS_BYTES, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_ptr_not_equal(fixture->memory, MAP_FAILED);
	fixture->rings = rings_over(fixture->memory, PLACE);
	assert_true(rings_bind(fixture->rings, FIRST, 0x7000));
	assert_true(rings_bind(fixture->rings, SECOND, 0x8000));
}

/* As the agent's code would be: in the middle of one; and the next one after that. */
static void test_floor(void **state)
{
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	struct agent_thread *entry = entry_of(&fixture, 0x8000);

	assert_non_null(entry);
	rings_look(fixture.rings, 100, 1 * MS);
	assert_true(rings_floor(fixture.rings) == UINT64_MAX);
	entry->busy = 1;
	rings_look(fixture.rings, 200, 2 * MS);
	assert_int_equal(rings_floor(fixture.rings), 100);
	rings_look(fixture.rings, 300, 3 * MS);
	assert_int_equal(rings_floor(fixture.rings), 100);
	/* It got on, and is in the middle of the next. */
	entry->head += 40;
	rings_look(fixture.rings, 400, 4 * MS);
	assert_int_equal(rings_floor(fixture.rings), 300);
	rings_look(fixture.rings, 500, 33 * MS);
	assert_int_equal(rings_floor(fixture.rings), 300);
	/* Nobody is waited for without end. */
	rings_look(fixture.rings, 600, 35 * MS);
	assert_true(rings_floor(fixture.rings) == UINT64_MAX);
	rings_look(fixture.rings, 700, 36 * MS);
	assert_true(rings_floor(fixture.rings) == UINT64_MAX);
	entry->busy = 0;
	rings_look(fixture.rings, 800, 37 * MS);
	entry->busy = 1;
	rings_look(fixture.rings, 900, 38 * MS);
	assert_int_equal(rings_floor(fixture.rings), 800);
	entry->busy = 0;
	rings_look(fixture.rings, 1000, 39 * MS);
	assert_true(rings_floor(fixture.rings) == UINT64_MAX);
	rings_destroy(fixture.rings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_floor)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

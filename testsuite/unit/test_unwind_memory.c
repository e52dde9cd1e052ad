/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The windows through which walks read stacks: nothing is read behind an end that is known. */
#include "unwind/unwind_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { PAGE = 4096, WORD = 8 };

static const uint64_t stack_start = 0x7fff00000000;

/* Memory of some pages, whose words are their own addresses. */
struct pages {
	uint64_t end;
	unsigned reads, reads_behind;
};

static void read_pages(void *context, struct memory_range *ranges, size_t count)
{
	struct pages *pages = context;

	pages->reads++;
	for (size_t i = 0; i < count; i++) {
		const uint64_t start = ranges[i].address;

		pages->reads_behind += start + ranges[i].length > pages->end;
		ranges[i].done = 0;
		for (uint64_t at = start; at + WORD <= pages->end && at < start + ranges[i].length;
		     at += WORD) {
			memcpy((char *)ranges[i].buffer + ranges[i].done, &at, WORD);
			ranges[i].done += WORD;
		}
	}
}

/* Reads a word of each 64 bytes, as a walk does. */
static void walk(struct unwind_memory *memory, uint64_t start, uint64_t end)
{
	uint64_t word;

	unwind_memory_forget(memory);
	for (uint64_t at = start; at < end; at += 64) {
		assert_true(unwind_memory_read(memory, at, WORD, &word));
		assert_int_equal(word, at);
	}
}

static void ends_are_known(void **state)
{
	struct pages pages = {.end = stack_start + 10 * PAGE};
	const struct memory_source source = {.readv = read_pages, .context = &pages};
	struct unwind_memory memory;
	uint64_t word;

	(void)state;
	unwind_memory_init(&memory, &source);
	walk(&memory, stack_start + 100 * WORD, pages.end);
	assert_int_equal(pages.reads_behind, 1);
	for (unsigned i = 0; i < 10; i++)
		walk(&memory, stack_start + 7 * PAGE + 64 * i, pages.end);
	assert_int_equal(pages.reads_behind, 1);
	/* Something was mapped behind: what is needed of it is read. */
	pages.end += 4 * PAGE;
	walk(&memory, stack_start, pages.end);
	assert_false(unwind_memory_read(&memory, pages.end, WORD, &word));
	unwind_memory_deinit(&memory);
}

/* Threads have stacks of their own, with ends of their own. */
static void ends_of_some_stacks(void **state)
{
	struct pages pages = {.end = stack_start + 2 * PAGE};
	const struct memory_source source = {.readv = read_pages, .context = &pages};
	struct unwind_memory memory;

	(void)state;
	unwind_memory_init(&memory, &source);
	for (unsigned round = 0; round < 3; round++)
		for (uint64_t stack = 0; stack < UNWIND_ENDS; stack++) {
			pages.end = stack_start + (stack << 24) + 2 * PAGE;
			walk(&memory, pages.end - PAGE, pages.end);
		}
	assert_int_equal(pages.reads_behind, UNWIND_ENDS);
	unwind_memory_deinit(&memory);
}

/* A long stack takes some reads only. */
static void windows_grow(void **state)
{
	struct pages pages = {.end = stack_start + 256 * PAGE};
	const struct memory_source source = {.readv = read_pages, .context = &pages};
	struct unwind_memory memory;

	(void)state;
	unwind_memory_init(&memory, &source);
	walk(&memory, stack_start, pages.end);
	assert_in_range(pages.reads, 2, 24);
	unwind_memory_deinit(&memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_are_known),
		cmocka_unit_test(ends_of_some_stacks),
		cmocka_unit_test(windows_grow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

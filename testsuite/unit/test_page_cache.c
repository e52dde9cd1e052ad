/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pages that are kept for a walk: always those of now, and read at once where the last walks
 * have needed them.
 */
#include "unwind/script/page_cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A process whose words tell their page and a version. Pages with an odd hundred are not there. */
struct process {
	uint64_t version;
	unsigned reads; /* calls of readv */
	size_t pages;
};

static uint64_t word_at(const struct process *process, uint64_t number)
{
	return number << 16 | process->version;
}

static void read_pages(void *context, struct memory_range *ranges, size_t count)
{
	struct process *process = context;

	process->reads++;
	process->pages += count;
	/* From the end: a source may read what has failed again, later. */
	for (size_t i = count; i-- > 0;) {
		const uint64_t number = ranges[i].address / PAGE_CACHE_BYTES;

		ranges[i].done = number / 100 % 2 ? 0 : ranges[i].length;
		for (size_t at = 0; at < ranges[i].done; at += sizeof(uint64_t)) {
			const uint64_t word = word_at(process, number);

			memcpy((char *)ranges[i].buffer + at, &word, sizeof word);
		}
	}
}

struct fixture {
	struct process process;
	struct memory_source memory;
	struct page_cache *cache;
};

static struct fixture *fixture_create(void)
{
	struct fixture *fixture = calloc(1, sizeof *fixture);

	assert_non_null(fixture);
	fixture->memory = (struct memory_source){.readv = read_pages, .context = &fixture->process};
	fixture->cache = malloc(sizeof *fixture->cache);
	assert_non_null(fixture->cache);
	page_cache_init(fixture->cache, &fixture->memory);
	return fixture;
}

static void fixture_destroy(struct fixture *fixture)
{
	free(fixture->cache);
	free(fixture);
}

static void begin_walk(struct fixture *fixture)
{
	page_cache_clear(fixture->cache);
	fixture->process.version++;
	fixture->process.reads = 0;
	fixture->process.pages = 0;
}

/* Reads a word of each page, twice. */
static void read_words(struct fixture *fixture, uint64_t first, uint64_t step, unsigned count)
{
	for (unsigned i = 0; i < 2 * count; i++) {
		const uint64_t number = first + i % count * step;
		uint64_t word;
		const bool is_there = page_cache_number(
			fixture->cache, number * PAGE_CACHE_BYTES + 8, sizeof word, &word);

		assert_int_equal(is_there, number / 100 % 2 == 0);
		if (is_there)
			assert_int_equal(word, word_at(&fixture->process, number));
	}
}

static void reads_at_once_what_was_needed(void **state)
{
	struct fixture *fixture = fixture_create();

	(void)state;
	begin_walk(fixture);
	read_words(fixture, 200, 1, 10);
	assert_int_equal(fixture->process.reads, 10);
	for (unsigned walk = 0; walk < 10; walk++) {
		begin_walk(fixture);
		read_words(fixture, 200, 1, 10);
		assert_int_equal(fixture->process.reads, 1);
		assert_int_equal(fixture->process.pages, 10);
	}
	begin_walk(fixture);
	assert_int_equal(fixture->process.reads, 0);
	fixture_destroy(fixture);
}

static void forgets_what_is_not_needed(void **state)
{
	struct fixture *fixture = fixture_create();

	(void)state;
	begin_walk(fixture);
	read_words(fixture, 200, 1, 20);
	for (unsigned walk = 0; walk < 5; walk++) {
		begin_walk(fixture);
		read_words(fixture, 200, 1, 2);
	}
	assert_int_equal(fixture->process.pages, 2);
	/* two stacks in turns are both expected */
	for (unsigned walk = 0; walk < 6; walk++) {
		begin_walk(fixture);
		read_words(fixture, walk % 2 ? 400 : 600, 1, 3);
	}
	assert_int_equal(fixture->process.reads, 1);
	fixture_destroy(fixture);
}

/* More pages than are expected, pages of one place, and pages that are not there. */
static void has_the_pages_of_now(void **state)
{
	static const struct {
		uint64_t first, step;
		unsigned count;
	} walks[] = {{200, 1, 90},   {200, 1, 90}, {260, 7, 60},
		     {90, 1, 20},    {90, 1, 20},  {0, 200, 3000},
		     {0, 200, 3000}, {200, 1, 1},  {UINT64_C(1) << 40, 200, 40}};
	struct fixture *fixture = fixture_create();

	(void)state;
	for (unsigned round = 0; round < 3; round++)
		for (size_t i = 0; i < sizeof walks / sizeof *walks; i++) {
			begin_walk(fixture);
			read_words(fixture, walks[i].first, walks[i].step, walks[i].count);
		}
	fixture_destroy(fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_at_once_what_was_needed),
		cmocka_unit_test(forgets_what_is_not_needed),
		cmocka_unit_test(has_the_pages_of_now),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

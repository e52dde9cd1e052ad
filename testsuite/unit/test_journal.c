/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The patch journal, on the test's own memory. */
#include "tracee/journal.h"

#include "tracee/journal_undo.h"
#include "tracee/space.h"
#include "tracee/tracee.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

/* More entries than the first mapping of the journal holds. */
enum { MANY = 3000, PAGE = 4096 };

static unsigned char target[MANY];

static struct space *own_space(void)
{
	int error = 0;
	struct space *space = space_create(getpid(), &arch_x86_64, &error);

	if (!space)
		fprintf(stderr, "/proc/self/mem: error %d\n", -error);
	assert_non_null(space);
	return space;
}

static uint64_t address_of(const void *place)
{
	return (uint64_t)(uintptr_t)place;
}

/* Notes and makes a change, like the engine. */
static size_t patch(struct space *space, unsigned char *place, const char *after, size_t length)
{
	size_t number = journal_bytes(space->journal, address_of(place), place, after, length);

	assert_int_equal(space_write(space, address_of(place), after, length), 0);
	return number;
}

static void test_entries(void **state)
{
	struct journal *journal = journal_create(getpid());

	(void)state;
	assert_int_equal(journal_count(journal), 0);
	assert_null(journal_entry(journal, 0));
	size_t bytes = journal_bytes(journal, 0x1234, "abcdefgh", "ABCDEFGH", 8);
	size_t mapping = journal_mapping(journal, 0x10000, 0x4000);
	const struct journal_entry *entry = journal_entry(journal, bytes);

	assert_int_equal(journal_count(journal), 2);
	assert_int_not_equal(bytes, mapping);
	assert_int_equal(entry->kind, JOURNAL_BYTES);
	assert_int_equal(entry->address, 0x1234);
	assert_int_equal(entry->length, 8);
	assert_memory_equal(entry->before, "abcdefgh", 8);
	assert_memory_equal(entry->after, "ABCDEFGH", 8);
	entry = journal_entry(journal, mapping);
	assert_int_equal(entry->kind, JOURNAL_MAPPING);
	assert_int_equal(entry->address, 0x10000);
	assert_int_equal(entry->length, 0x4000);
	journal_destroy(journal);
	journal_destroy(NULL);
}

static void test_numbers(void **state)
{
	struct journal *journal = journal_create(getpid());

	(void)state;
	for (size_t i = 0; i < MANY; i++)
		assert_int_equal(journal_mapping(journal, 0x1000 * i, i), i);
	assert_int_equal(journal_count(journal), MANY);
	for (size_t i = 0; i < MANY; i++) {
		const struct journal_entry *entry = journal_entry(journal, i);

		assert_int_equal(entry->address, 0x1000 * i);
		assert_int_equal(entry->length, i);
	}
	assert_null(journal_entry(journal, MANY));
	assert_null(journal_entry(journal, (size_t)-1));
	/* Entries that are forgotten again do not make the journal grow. */
	for (int round = 0; round < 10000; round++) {
		size_t number = journal_mapping(journal, 1, 1);

		assert_int_equal(number, MANY);
		journal_forget(journal, number);
		assert_null(journal_entry(journal, number));
	}
	assert_int_equal(journal_count(journal), MANY + 1);
	journal_destroy(journal);
}

/* An entry that is forgotten twice is free once: its number is not given out twice. */
static void test_forget_twice(void **state)
{
	struct journal *journal = journal_create(getpid());

	(void)state;
	size_t first = journal_mapping(journal, 1, 1);

	journal_forget(journal, first);
	journal_forget(journal, first);
	journal_forget(journal, 17);
	size_t second = journal_mapping(journal, 2, 1);
	size_t third = journal_mapping(journal, 3, 1);

	assert_int_equal(second, first);
	assert_int_not_equal(third, second);
	journal_destroy(journal);
}

static void test_undo(void **state)
{
	struct space *space = own_space();
	struct journal *journal = space->journal;

	(void)state;
	memset(target, '.', sizeof target);
	size_t one = patch(space, &target[10], "X", 1);
	size_t eight = patch(space, &target[20], "12345678", 8);

	assert_memory_equal(&target[9], ".X.", 3);
	assert_memory_equal(&target[19], ".12345678.", 10);
	journal_undo_bytes(journal, space, one);
	assert_memory_equal(&target[9], "...", 3);
	assert_memory_equal(&target[19], ".12345678.", 10);
	assert_null(journal_entry(journal, one));
	/* Forgetting it again, or a number that was never given out, does nothing. */
	target[10] = 'X';
	journal_undo_bytes(journal, space, one);
	journal_undo_bytes(journal, space, 99);
	assert_int_equal(target[10], 'X');
	journal_undo_bytes(journal, space, eight);
	assert_memory_equal(&target[19], "..........", 10);
	space_unref(space);
}

/* What the program has written over a patch stays. */
static void test_undo_not_ours(void **state)
{
	struct space *space = own_space();
	unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				   -1, 0);

	(void)state;
	memset(target, '.', sizeof target);
	size_t changed = patch(space, &target[20], "1234", 4);
	size_t unmapped = patch(space, page, "1234", 4);

	target[23] = '!';
	munmap(page, 4096);
	journal_undo_bytes(space->journal, space, changed);
	journal_undo_bytes(space->journal, space, unmapped);
	assert_memory_equal(&target[19], ".123!.", 6);
	assert_null(journal_entry(space->journal, changed));
	assert_null(journal_entry(space->journal, unmapped));
	space_unref(space);
}

/* The program cannot write its text, but the tracer can. */
static void test_undo_read_only(void **state)
{
	struct space *space = own_space();
	unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
				   -1, 0);

	(void)state;
	size_t number = patch(space, page + 100, "\xcc", 1);

	assert_int_equal(page[100], 0xcc);
	journal_undo_bytes(space->journal, space, number);
	assert_int_equal(page[100], 0);
	munmap(page, 4096);
	space_unref(space);
}

static void test_undo_all(void **state)
{
	struct space *space = own_space();
	struct journal *journal = space->journal;

	(void)state;
	for (size_t i = 0; i < MANY; i++)
		target[i] = (unsigned char)(i * 7);
	size_t mapping = journal_mapping(journal, 0x10000, 0x1000);

	for (size_t i = 0; i < MANY; i++)
		patch(space, &target[i], "\xcc", 1);
	target[5] = 0x55;
	journal_undo_all_bytes(journal, space);
	assert_int_equal(target[5], 0x55);
	target[5] = 5 * 7;
	for (size_t i = 0; i < MANY; i++)
		assert_int_equal(target[i], (unsigned char)(i * 7));
	/* Only the mapping is left to undo. */
	for (size_t i = 0; i < journal_count(journal); i++)
		assert_true((journal_entry(journal, i) != NULL) == (i == mapping));
	space_unref(space);
}

/* Overlapping patches; the later one has a number that was free again. */
static void test_undo_overlapping(void **state)
{
	struct space *space = own_space();

	(void)state;
	memset(target, '.', sizeof target);
	size_t gone = patch(space, &target[100], "X", 1);

	patch(space, &target[10], "1111", 4);
	journal_undo_bytes(space->journal, space, gone);
	assert_int_equal(patch(space, &target[12], "2222", 4), gone);
	patch(space, &target[13], "3", 1);
	assert_memory_equal(&target[9], ".112322.", 8);
	journal_undo_all_bytes(space->journal, space);
	assert_memory_equal(&target[9], "........", 8);
	space_unref(space);
}

/*
 * Patches across the end of a page, at the end of a mapping, and where nothing is mapped any more.
 */
static void test_undo_at_ends_of_pages(void **state)
{
	struct space *space = own_space();
	unsigned char *pages = mmap(NULL, 5 * PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(pages != MAP_FAILED);
	memset(pages, '.', 5 * PAGE);
	assert_int_equal(munmap(pages + 2 * PAGE, PAGE), 0);
	patch(space, pages + PAGE - 2, "1111", 4);
	patch(space, pages + PAGE + 9, "2", 1);
	patch(space, pages + 2 * PAGE - 4, "3333", 4);
	patch(space, pages + 3 * PAGE, "4444", 4);
	patch(space, pages + 5 * PAGE - 8, "5555", 4);
	/* Overwritten by the program since. */
	patch(space, pages + PAGE + 100, "6666", 4);
	pages[PAGE + 102] = '!';
	patch(space, pages + 4 * PAGE - 2, "7777", 4);
	assert_int_equal(munmap(pages + 4 * PAGE, PAGE), 0);
	journal_undo_all_bytes(space->journal, space);
	for (size_t i = 0; i < 4 * PAGE; i++) {
		if (i / PAGE == 2)
			continue;
		if (i >= PAGE + 100 && i < PAGE + 104)
			assert_int_equal(pages[i], "66!6"[i - PAGE - 100]);
		else if (i >= 4 * PAGE - 2)
			assert_int_equal(pages[i], '7');
		else
			assert_int_equal(pages[i], '.');
	}
	for (size_t i = 0; i < journal_count(space->journal); i++)
		assert_null(journal_entry(space->journal, i));
	munmap(pages, 2 * PAGE);
	munmap(pages + 3 * PAGE, PAGE);
	space_unref(space);
}

/*
 * Undoes jumps only. Breakpoints, and their entries, stay; so do jumps that are marked to stay,
 * until they are asked for, too.
 */
static void test_undo_jumps(void **state)
{
	struct space *space = own_space();

	(void)state;
	memset(target, '.', sizeof target);
	size_t number = patch(space, &target[20], "\xcc", 1);

	journal_jump(space->journal, address_of(&target[10]), &target[10], "JUMP!", 5);
	assert_int_equal(space_write(space, address_of(&target[10]), "JUMP!", 5), 0);
	size_t stays = journal_jump(space->journal, address_of(&target[30]), &target[30], "STAY!",
				    5);

	journal_set_when(space->journal, stays, JOURNAL_STAYS);
	assert_int_equal(space_write(space, address_of(&target[30]), "STAY!", 5), 0);
	journal_undo_jumps(space->journal, space, false);
	assert_memory_equal(&target[9], "...........\xcc.", 13);
	assert_memory_equal(&target[30], "STAY!", 5);
	journal_undo_jumps(space->journal, space, true);
	assert_memory_equal(&target[30], ".....", 5);
	for (size_t i = 0; i < journal_count(space->journal); i++)
		assert_true((journal_entry(space->journal, i) != NULL) == (i == number));
	space_unref(space);
}

/* A forked child's journal: the same entries with the same numbers; free numbers stay free. */
static void test_copy(void **state)
{
	struct journal *from = journal_create(getpid());
	struct journal *to = journal_create(getpid());
	bool taken[MANY] = {false};

	(void)state;
	for (size_t i = 0; i < MANY; i++)
		journal_bytes(from, i, &(char){(char)i}, &(char){(char)(i + 1)}, 1);
	for (size_t i = 0; i < MANY; i += 3)
		journal_forget(from, i);
	journal_copy(to, from);
	assert_int_equal(journal_count(to), journal_count(from));
	for (size_t i = 0; i < MANY; i++) {
		const struct journal_entry *one = journal_entry(from, i);
		const struct journal_entry *other = journal_entry(to, i);

		assert_true((one != NULL) == (other != NULL));
		if (one)
			assert_memory_equal(one, other, sizeof *one);
	}
	/*
	 * Each free number is given out once, and entries made in the copy are not in the original.
	 */
	for (size_t i = 0; i < MANY; i += 3) {
		size_t number = journal_mapping(to, 7, 7);

		assert_true(number < MANY && number % 3 == 0 && !taken[number]);
		taken[number] = true;
		assert_null(journal_entry(from, number));
	}
	assert_int_equal(journal_mapping(to, 7, 7), MANY);
	assert_int_equal(journal_count(from), MANY);
	journal_destroy(from);
	assert_int_equal(journal_entry(to, 1)->address, 1);
	journal_destroy(to);
}

/* A change is seen at once by its writer, and by a process that has received the journal. */
static void test_in_agent(void **state)
{
	struct journal *journal = journal_create(getpid());

	(void)state;
	journal_mapping(journal, 0x10000, 0x4000);
	assert_false(journal_in_agent(journal, 0x10000));
	size_t first = journal_agent(journal, 0x20000, 0x1000);
	struct journal *adopted = journal_adopt(dup(journal_fd(journal)));

	assert_non_null(adopted);
	journal_agent(journal, 0x40000, 0x1000);
	for (const struct journal *one = journal; one; one = one == journal ? adopted : NULL) {
		assert_true(journal_in_agent(one, 0x20000) && journal_in_agent(one, 0x20fff));
		assert_false(journal_in_agent(one, 0x1ffff) || journal_in_agent(one, 0x21000));
		assert_true(journal_in_agent(one, 0x40800));
	}
	journal_forget(journal, first);
	assert_false(journal_in_agent(journal, 0x20000));
	assert_int_equal(journal_mapping(journal, 0x20000, 0x1000), first);
	assert_false(journal_in_agent(journal, 0x20000));
	journal_destroy(adopted);
	struct journal *copy = journal_create(getpid());

	journal_copy(copy, journal);
	assert_true(journal_in_agent(copy, 0x40800));
	journal_destroy(copy);
	journal_destroy(journal);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_forget_twice),
		cmocka_unit_test(test_undo),
		cmocka_unit_test(test_undo_not_ours),
		cmocka_unit_test(test_undo_read_only),
		cmocka_unit_test(test_undo_all),
		cmocka_unit_test(test_undo_overlapping),
		cmocka_unit_test(test_undo_at_ends_of_pages),
		cmocka_unit_test(test_undo_jumps),
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_in_agent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

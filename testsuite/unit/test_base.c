/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The containers, compared with simple references, and text that is made safe to print. */
#include "base/diag.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/sorted.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "base/xalloc.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* xorshift64: the same numbers in every run. */
static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

struct keyed {
	char before[3];
	uint64_t key;
	char behind;
};

static size_t count_below(const struct sorted *sorted, uint64_t key, bool or_equal)
{
	const struct keyed *items = sorted->items;
	size_t below = 0;

	for (size_t i = 0; i < sorted->count; i++)
		below += items[i].key < key || (or_equal && items[i].key == key);
	return below;
}

/* Keys are repeated, and are searched for below, between and above all of them. */
static void test_sorted(void **state)
{
	(void)state;
	uint64_t seed = 77;

	for (size_t count = 0; count < 40; count++) {
		struct keyed items[40] = {0};
		uint64_t words[40], key = next_random(&seed) % 3;

		for (size_t i = 0; i < count; i++)
			items[i].key = words[i] = key += next_random(&seed) % 3;
		const struct sorted sorted = SORTED(struct keyed, key, items, count);
		const struct sorted plain = SORTED_WORDS(words, count);

		for (uint64_t wanted = 0; wanted < key + 2; wanted++) {
			assert_int_equal(sorted_from(&sorted, wanted),
					 count_below(&sorted, wanted, false));
			assert_int_equal(sorted_above(&sorted, wanted),
					 count_below(&sorted, wanted, true));
			assert_int_equal(sorted_above(&plain, wanted),
					 count_below(&sorted, wanted, true));
		}
		assert_int_equal(sorted_above(&sorted, UINT64_MAX), count);
	}
}

/* Ranges of one to three addresses, with gaps of up to two between them. */
static void test_sorted_around(void **state)
{
	(void)state;
	struct range {
		uint64_t start, end;
	} ranges[20];
	uint64_t seed = 78, next = 0;

	for (size_t i = 0; i < 20; i++) {
		ranges[i].start = next + next_random(&seed) % 3;
		next = ranges[i].end = ranges[i].start + 1 + next_random(&seed) % 3;
	}
	const struct sorted ends = SORTED(struct range, end, ranges, 20);

	for (uint64_t address = 0; address < next + 2; address++) {
		const struct range *expected = NULL;

		for (size_t i = 0; i < 20; i++)
			if (address >= ranges[i].start && address < ranges[i].end)
				expected = &ranges[i];
		assert_ptr_equal(sorted_around(&ends, offsetof(struct range, start), address),
				 expected);
	}
}

static void test_vec(void **state)
{
	enum { MOST = 400, STEPS = 20000 };
	struct vec vec = VEC_OF(uint32_t);
	uint32_t reference[MOST];
	size_t count = 0;
	uint64_t seed = 1;

	(void)state;
	for (int step = 0; step < STEPS; step++) {
		uint32_t value = (uint32_t)next_random(&seed);
		size_t index = count ? next_random(&seed) % count : 0;
		unsigned what = next_random(&seed) % 16;

		if (what < 10 && count < MOST) {
			assert_int_equal(*(uint32_t *)vec_push(&vec, &value), value);
			reference[count++] = value;
		} else if (what < 12 && count) {
			vec_remove(&vec, index);
			memmove(&reference[index], &reference[index + 1],
				(--count - index) * sizeof *reference);
		} else if (what < 15 && count) {
			vec_remove_fast(&vec, index);
			reference[index] = reference[--count];
		} else if (step % 997 == 0) {
			vec_clear(&vec);
			count = 0;
		}
		assert_int_equal(vec.count, count);
		if (count)
			assert_memory_equal(vec.items, reference, count * sizeof *reference);
	}
	vec_clear(&vec);
	assert_int_equal(*(uint32_t *)vec_push(&vec, NULL), 0);
	vec_deinit(&vec);
	assert_null(vec.items);
	assert_int_equal(vec.count, 0);
	assert_int_equal(vec.item_size, sizeof(uint32_t));
}

/* Keys like those of a tracer: small, close together, page-aligned, and the ends of the range. */
static uint64_t key_of(unsigned number)
{
	switch (number % 4) {
	case 0:
		return number / 4;
	case 1:
		return UINT64_C(0x7f0000000000) + number / 4 * 4096;
	case 2:
		return UINT64_MAX - number / 4;
	default:
		return UINT64_C(0x555500001000) + number / 4 * 5;
	}
}

static void check_map(const struct map *map, void *const *reference, unsigned keys)
{
	size_t cursor = 0;
	size_t seen = 0;
	size_t expected = 0;
	uint64_t key;
	void *value;

	for (unsigned i = 0; i < keys; i++) {
		assert_ptr_equal(map_get(map, key_of(i)), reference[i]);
		expected += reference[i] != NULL;
	}
	while (map_next(map, &cursor, &key, &value)) {
		seen++;
		assert_ptr_equal(map_get(map, key), value);
	}
	assert_int_equal(seen, expected);
	assert_int_equal(map->count, expected);
	assert_false(map_next(map, &cursor, &key, &value));
}

static void test_map(void **state)
{
	enum { KEYS = 1500, STEPS = 60000 };
	static char values[KEYS][2];
	static void *reference[KEYS];
	struct map map = {0};
	uint64_t seed = 2;

	(void)state;
	assert_null(map_get(&map, 0));
	assert_null(map_remove(&map, 0));
	for (int step = 0; step < STEPS; step++) {
		unsigned number = (unsigned)(next_random(&seed) % KEYS);
		/* The map grows and shrinks in turn. */
		bool put = next_random(&seed) % 8 < (step / 10000 % 2 ? 2 : 6);

		if (put) {
			reference[number] = values[number] + next_random(&seed) % 2;
			map_put(&map, key_of(number), reference[number]);
		} else {
			assert_ptr_equal(map_remove(&map, key_of(number)), reference[number]);
			reference[number] = NULL;
		}
		assert_ptr_equal(map_get(&map, key_of(number)), reference[number]);
		if (step % 5000 == 0)
			check_map(&map, reference, KEYS);
	}
	check_map(&map, reference, KEYS);
	for (unsigned i = 0; i < KEYS; i++)
		assert_ptr_equal(map_remove(&map, key_of(i)), reference[i]);
	assert_int_equal(map.count, 0);
	assert_null(map_get(&map, key_of(7)));
	map_deinit(&map);
	assert_null(map_get(&map, key_of(7)));
}

static void test_strbuf(void **state)
{
	struct strbuf buffer = {0};
	char expected[8192] = "";
	size_t length = 0;
	uint64_t seed = 3;

	(void)state;
	strbuf_clear(&buffer);
	assert_null(buffer.text);
	strbuf_add(&buffer, "");
	assert_string_equal(buffer.text, "");
	while (length < 7000) {
		unsigned count = (unsigned)(next_random(&seed) % 300);

		switch (next_random(&seed) % 3) {
		case 0:
			strbuf_add_repeated(&buffer, 'x', count);
			memset(expected + length, 'x', count);
			length += count;
			break;
		case 1:
			strbuf_printf(&buffer, "%*d|", (int)count, 7);
			length += (size_t)sprintf(expected + length, "%*d|", (int)count, 7);
			break;
		default:
			strbuf_add_char(&buffer, '-');
			strbuf_add_bytes(&buffer, "a\0b", 3);
			memcpy(expected + length, "-a\0b", 4);
			length += 4;
		}
		expected[length] = '\0';
		assert_int_equal(buffer.length, length);
		assert_true(buffer.capacity > length);
		assert_memory_equal(buffer.text, expected, length + 1);
	}
	strbuf_clear(&buffer);
	strbuf_printf(&buffer, "%s", "");
	assert_int_equal(buffer.length, 0);
	assert_string_equal(buffer.text, "");
	strbuf_deinit(&buffer);
	assert_null(buffer.text);
}

/* Texts as long as the room that is left, one byte less and one byte more. */
static void test_strbuf_edges(void **state)
{
	(void)state;
	for (unsigned before = 0; before < 70; before++)
		for (unsigned more = 50; more < 140; more++) {
			struct strbuf buffer = {0};

			strbuf_add_repeated(&buffer, 'a', before);
			strbuf_printf(&buffer, "%0*d", (int)more, 0);
			assert_int_equal(buffer.length, before + more);
			assert_int_equal(strlen(buffer.text), before + more);
			strbuf_deinit(&buffer);
		}
}

static void test_diag_safe(void **state)
{
	char buffer[64];
	char guard[12];

	(void)state;
	assert_string_equal(diag_safe(buffer, sizeof buffer, "plain ~text"), "plain ~text");
	assert_string_equal(diag_safe(buffer, sizeof buffer, "a\033[2J\n\x7f"),
			    "a\\033[2J\\012\\177");
	assert_string_equal(diag_safe(buffer, sizeof buffer, "\xc3\xa9\xff"), "\\303\\251\\377");
	assert_string_equal(diag_safe(buffer, sizeof buffer, ""), "");
	for (size_t size = 1; size < sizeof guard; size++) {
		memset(guard, '#', sizeof guard);
		diag_safe(guard, size, "ab\1\2\3\4\5\6cdefgh");
		assert_true(strlen(guard) < size);
		for (size_t i = size; i < sizeof guard; i++)
			assert_int_equal(guard[i], '#');
	}
	memset(guard, '#', sizeof guard);
	diag_safe(guard, 0, "text");
	assert_int_equal(guard[0], '#');
}

/* A message is one line, complete, and written at once. */
static void test_diag(void **state)
{
	char line[256] = "";
	int ends[2];
	int stderr_copy = dup(STDERR_FILENO);

	(void)state;
	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	diag("no %s: %d", "luck", 13);
	diag("%s", "a\033[2J\n\xff\\");
	dup2(stderr_copy, STDERR_FILENO);
	assert_true(read(ends[0], line, sizeof line - 1) > 0);
	assert_string_equal(line, "tracer: no luck: 13\ntracer: a\\033[2J\\012\\377\\\n");
	close(stderr_copy);
	close(ends[0]);
	close(ends[1]);
}

static void test_out_of_memory(void **state)
{
	char line[256] = "";
	int ends[2];
	int status;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();

	if (pid == 0) {
		dup2(ends[1], STDERR_FILENO);
		out_of_memory();
	}
	close(ends[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	assert_true(read(ends[0], line, sizeof line - 1) > 0);
	assert_string_equal(line, "tracer: out of memory\n");
	close(ends[0]);
}

static void test_xalloc(void **state)
{
	(void)state;
	free(xmalloc(0));
	free(xcalloc(0, 0));
	free(xrealloc(xmalloc(1), 0));
	free(xreallocarray(NULL, 0, 8));
	char *text = xasprintf("%s-%d", "a", 1);
	char *part = xstrndup("abcdef", 3);
	char *copy = xmemdup("a\0b", 3);

	assert_string_equal(text, "a-1");
	assert_string_equal(part, "abc");
	assert_memory_equal(copy, "a\0b", 3);
	free(text);
	free(part);
	free(copy);
}

/* Memory is readable from BASE on for SIZE bytes. */
enum { BASE = 0x1000, SIZE = 600 };

static void read_simulated(void *context, struct memory_range *ranges, size_t count)
{
	const char *bytes = context;

	for (size_t i = 0; i < count; i++) {
		uint64_t address = ranges[i].address;
		uint64_t end = address + ranges[i].length;

		ranges[i].done = 0;
		if (address < BASE || address >= BASE + SIZE)
			continue;
		ranges[i].done = (end > BASE + SIZE ? BASE + SIZE : end) - address;
		memcpy(ranges[i].buffer, bytes + (address - BASE), ranges[i].done);
	}
}

static void test_memory(void **state)
{
	char bytes[SIZE];
	char buffer[SIZE * 2];
	const struct memory_source source = {.readv = read_simulated, .context = bytes};
	uint64_t word;

	(void)state;
	memset(bytes, 'm', sizeof bytes);
	memcpy(bytes, "\x01\x02\x03\x04\x05\x06\x07\x08", 8);
	bytes[SIZE - 1] = '\0';
	assert_true(memory_read_word(&source, BASE, 8, &word));
	assert_int_equal(word, 0x0807060504030201);
	assert_true(memory_read_word(&source, BASE, 4, &word));
	assert_int_equal(word, 0x04030201);
	assert_true(memory_read_word(&source, BASE, 1, &word));
	assert_int_equal(word, 1);
	assert_false(memory_read_word(&source, BASE, 16, &word));
	assert_false(memory_read_word(&source, BASE + SIZE - 4, 8, &word));
	assert_false(memory_read_exact(&source, BASE + SIZE - 4, buffer, 5));
	assert_int_equal(memory_read(&source, BASE + SIZE - 4, buffer, 9), 4);
	assert_int_equal(memory_read(&source, 0, buffer, 9), 0);

	assert_int_equal(memory_read_string(&source, BASE + 8, buffer, sizeof buffer), SIZE - 9);
	assert_int_equal(strlen(buffer), SIZE - 9);
	/* Exactly enough room, and one byte less. */
	assert_int_equal(memory_read_string(&source, BASE + 8, buffer, SIZE - 8), SIZE - 9);
	assert_int_equal(memory_read_string(&source, BASE + 8, buffer, SIZE - 9), -ENAMETOOLONG);
	assert_int_equal(strlen(buffer), SIZE - 10);
	bytes[SIZE - 1] = 'm'; /* the string runs into unreadable memory */
	assert_int_equal(memory_read_string(&source, BASE + 8, buffer, sizeof buffer),
			 -ENAMETOOLONG);
	assert_int_equal(strlen(buffer), SIZE - 8);
	assert_int_equal(memory_read_string(&source, 8, buffer, sizeof buffer), -EFAULT);
	assert_string_equal(buffer, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sorted),	      cmocka_unit_test(test_sorted_around),
		cmocka_unit_test(test_vec),	      cmocka_unit_test(test_map),
		cmocka_unit_test(test_strbuf),	      cmocka_unit_test(test_strbuf_edges),
		cmocka_unit_test(test_diag_safe),     cmocka_unit_test(test_diag),
		cmocka_unit_test(test_out_of_memory), cmocka_unit_test(test_xalloc),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

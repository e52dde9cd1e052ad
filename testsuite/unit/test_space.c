/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory of a process, and whether two processes share one. */
#include "tasks.h"

#include "tracee/arena.h"
#include "tracee/memory_batch.h"
#include "tracee/space.h"

#include <sys/mman.h>

static uint64_t address_of(const void *place)
{
	return (uint64_t)(uintptr_t)place;
}

/* Many ranges, some of them cut or missing: each is read as far as possible. */
static void read_many(struct space *space)
{
	enum { RANGES = 150, PAGES = 100 };
	unsigned char *memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct memory_range ranges[RANGES];
	size_t expected[RANGES];
	size_t size = (PAGES + 2) * (size_t)PAGE;
	unsigned char *buffers = malloc(RANGES * size);

	assert_true(memory != MAP_FAILED && buffers);
	for (size_t i = 0; i < PAGES * (size_t)PAGE; i++)
		memory[i] = (unsigned char)(i * 31 + i / PAGE);
	munmap(memory + 70 * PAGE, 30 * (size_t)PAGE);
	for (size_t i = 0; i < RANGES; i++) {
		size_t start = i * 1999 % (72 * PAGE);
		size_t length = i % 7 ? i * 37 % 9000 : 90 * PAGE;

		expected[i] = start >= 70 * PAGE	   ? 0
			      : start + length > 70 * PAGE ? 70 * PAGE - start
							   : length;
		ranges[i] = (struct memory_range){.address = address_of(memory + start),
						  .buffer = buffers + i * size,
						  .length = length,
						  .done = 12345};
	}
	ranges[3].address = 0;
	ranges[4].address = UINT64_MAX - 10;
	ranges[5].address = UINT64_C(1) << 63;
	expected[3] = expected[4] = expected[5] = 0;
	space->memory.readv(space->memory.context, ranges, RANGES);
	for (size_t i = 0; i < RANGES; i++) {
		assert_int_equal(ranges[i].done, expected[i]);
		if (expected[i])
			assert_memory_equal(ranges[i].buffer, memory + i * 1999 % (72 * PAGE),
					    expected[i]);
	}
	munmap(memory, 70 * (size_t)PAGE);
	free(buffers);
}

static void test_memory(void **state)
{
	int error = 0;
	struct space *space = space_create(getpid(), host_arch(), &error);
	char text[] = "before";

	(void)state;
	assert_non_null(space);
	read_many(space);
	space->reader = 0x7fffffff; /* like where process_vm_readv(2) is refused */
	read_many(space);
	assert_int_equal(space_write(space, address_of(text), "after", 6), 0);
	assert_string_equal(text, "after");
	assert_true(space_write(space, 8, "x", 1) < 0);
	assert_ptr_equal(space_ref(space), space);
	space_unref(space);
	space_unref(space);
	assert_null(space_create(0x7fffffff, host_arch(), &error));
	assert_int_equal(error, -ENOENT);
}

/*
 * Writes in a batch are read back at once, and are in the memory at the end. Those in the arena are
 * made first.
 */
static void test_gather(void **state)
{
	int error = 0;
	struct space *space = space_create(getpid(), host_arch(), &error);
	unsigned char *memory = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const uint64_t start = address_of(memory);
	char read[8] = "";

	(void)state;
	assert_true(space && memory != MAP_FAILED);
	memset(memory, 'x', 3 * PAGE); /* the last page has never been touched */
	mprotect(memory, PAGE, PROT_READ);
	munmap(memory + PAGE, PAGE);
	assert_true(memory_batch_begin(space));
	assert_false(memory_batch_begin(space));
	read_many(space);

	assert_int_equal(space_write(space, start + PAGE - 4, "abcd", 4), 0);
	assert_int_equal(space_write(space, start + PAGE - 8, "12", 2), 0);
	assert_int_equal(space_write(space, start + 2 * PAGE - 1, "??", 2), -EFAULT);
	assert_int_equal(space_write(space, start + 2 * PAGE, "second", 6), 0);
	assert_memory_equal(memory + PAGE - 8, "xxxxxxxx", 8);
	assert_memory_equal(memory + 2 * PAGE, "xxxxxx", 6);
	assert_true(memory_read_exact(&space->memory, start + PAGE - 8, read, 8));
	assert_memory_equal(read, "12xxabcd", 8);
	assert_int_equal(memory_read(&space->memory, start + PAGE - 4, read, 8), 4);

	/* Before a thread runs, the batch is written; afterwards the thread's changes are seen. */
	memory_batch_pause(space);
	assert_memory_equal(memory + PAGE - 8, "12xxabcd", 8);
	memory[2 * PAGE] = 'S';
	assert_int_equal(space_write(space, start + 2 * PAGE + 6, "!", 1), 0);
	assert_memory_equal(memory + 2 * PAGE, "Second!x", 8);
	memory_batch_go_on(space);
	assert_true(memory_read_exact(&space->memory, start + 2 * PAGE, read, 8));
	assert_memory_equal(read, "Second!x", 8);

	arena_add_region(space->arena, start + 3 * PAGE, PAGE);
	assert_int_equal(space_write(space, start + 3 * PAGE, "ours", 4), 0);
	assert_int_equal(space_write(space, start + 2 * PAGE, "third", 5), 0);
	memory_batch_end(space);
	assert_memory_equal(memory + 2 * PAGE, "thirdd!x", 8);
	assert_memory_equal(memory + 3 * PAGE, "ours", 4);
	assert_int_equal(space_write(space, start, "now", 3), 0);
	assert_memory_equal(memory, "now", 3);
	munmap(memory, 4 * PAGE);
	space_unref(space);
}

static void test_same_space(void **state)
{
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		for (;;)
			pause();
	/* If the kernel cannot tell, the result is the guess that was passed. */
	if (!same_space(getpid(), pid, true) || same_space(getpid(), getpid(), false)) {
		assert_false(same_space(getpid(), pid, true));
		assert_true(same_space(getpid(), getpid(), false));
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_gather),
		cmocka_unit_test(test_same_space),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

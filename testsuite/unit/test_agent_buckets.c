/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's code that keeps how long calls took, run in this process with a clock of the test's
 * own: which bucket it counts a time in, and what it leaves as it was.
 */
#include "base/arch.h"
#include "base/histogram.h"
#include "engine/agent/agent_arch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <cmocka.h>

#if defined(__x86_64__)

enum { PROBE = 7, NUMBER = 3, ARRAY = 1 << AGENT_BUCKETS_SHIFT };

struct unit {
	uint8_t *base;
	uint8_t *arrays; /* buckets of PROBE */
};

/* The clock that the agent's code reads: clock_gettime(). */
static struct timespec now;

static int read_clock(int clock, struct timespec *time)
{
	*time = now;
	return clock - 1; /* CLOCK_MONOTONIC */
}

static uint64_t *word_at(const struct unit *unit, uint64_t offset)
{
	return (uint64_t *)(void *)(unit->base + offset);
}

static uint64_t *counter(const struct unit *unit, unsigned which)
{
	return word_at(unit, AGENT_COUNTERS + PROBE * AGENT_COUNTER + which);
}

static void *map(size_t length)
{
	void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_true(memory != MAP_FAILED);
	return memory;
}

static int set_up(void **state)
{
	struct unit *unit = malloc(sizeof *unit);
	const struct agent_arch *arch = arch_x86_64.agent;
	const uint64_t function = (uint64_t)(uintptr_t)read_clock;

	unit->base = map(AGENT_COUNTING_BYTES);
	unit->arrays = map((size_t)ARRAY * AGENT_SHARDS);
	memcpy(unit->base, arch->code, arch->code_length);
	arch->use_system_clock(unit->base, arch->code_length);
	memcpy(unit->base + AGENT_CLOCK_FUNCTION, &function, sizeof function);
	arch->write_return_stub((uint64_t)(uintptr_t)unit->base, NUMBER, AGENT_RETURNS_TIMED,
				unit->base + AGENT_RETURN_CALLS + NUMBER * AGENT_RETURN_STUB);
	*counter(unit, AGENT_COUNTER_BUCKETS) = (uint64_t)(uintptr_t)unit->arrays;
	*state = unit;
	return 0;
}

static int tear_down(void **state)
{
	struct unit *unit = *state;

	munmap(unit->base, AGENT_COUNTING_BYTES);
	munmap(unit->arrays, (size_t)ARRAY * AGENT_SHARDS);
	free(unit);
	return 0;
}

/* What a return must leave as it was; `carry` is a flag. */
struct registers {
	uint64_t ax, cx, dx, si, di, r8, carry;
};

/* Returns to a return trampoline, as the function does whose call it has caught. */
static void return_to(const struct unit *unit, struct registers *registers)
{
	uint8_t *stub = unit->base + AGENT_RETURN_STUBS + NUMBER * AGENT_RETURN_STUB;
	uint64_t *back = word_at(unit, AGENT_TRAMPOLINES + NUMBER * AGENT_TRAMPOLINE +
					       AGENT_TRAMPOLINE_RETURN);
	uint64_t carry = registers->carry;

	__asm__ volatile("lea	-256(%%rsp), %%rsp\n\t" /* the red zone, and what the code uses */
			 "lea	1f(%%rip), %%r10\n\t"
			 "mov	%%r10, (%[back])\n\t"
			 "push	%[stub]\n\t"
			 "cmp	$1, %[carry]\n\t" /* CF: carry is 0 */
			 "ret\n"
			 "1:\n\t"
			 "setc	%b[carry]\n\t"
			 "lea	256(%%rsp), %%rsp"
			 : "+a"(registers->ax), "+c"(registers->cx), "+d"(registers->dx),
			   "+S"(registers->si), "+D"(registers->di), [carry] "+r"(carry)
			 : [back] "r"(back), [stub] "r"(stub)
			 : "r10", "memory", "cc");
	registers->carry = carry & 1;
}

/* A call of `duration` ns returns. */
static void return_after(const struct unit *unit, uint64_t duration)
{
	const uint64_t at = AGENT_TRAMPOLINES + NUMBER * AGENT_TRAMPOLINE;
	struct registers registers = {1, 2, 3, 4, 5, 6, duration & 1};
	struct registers before = registers;

	/* Times beyond INT64_MAX are the same bits. It has begun at 0. */
	now = (struct timespec){.tv_nsec = (long)duration};
	*word_at(unit, at + AGENT_TRAMPOLINE_TIME) = 0;
	*word_at(unit, at + AGENT_TRAMPOLINE_PROBE) = PROBE;
	return_to(unit, &registers);
	before.carry = !before.carry; /* as cmp has it */
	assert_memory_equal(&registers, &before, sizeof before);
}

/* Takes the count out of the only bucket that has one. Returns its index; checks `used`. */
static size_t take_bucket(const struct unit *unit)
{
	const uint64_t used = *counter(unit, AGENT_COUNTER_USED);
	const size_t page = (size_t)__builtin_ctzll(used);
	uint64_t *counts = (uint64_t *)(void *)(unit->arrays + page * AGENT_BUCKETS_PAGE);
	size_t found = 0;

	assert_int_equal(used & (used - 1), 0);
	for (size_t i = 0; i < AGENT_BUCKETS_PAGE / sizeof *counts; i++) {
		if (!counts[i])
			continue;
		assert_int_equal(counts[i], 1);
		assert_int_equal(found, 0);
		found = i + 1;
		counts[i] = 0;
	}
	assert_int_not_equal(found, 0);
	*counter(unit, AGENT_COUNTER_USED) = 0;
	return page % (ARRAY / AGENT_BUCKETS_PAGE) * (AGENT_BUCKETS_PAGE / sizeof *counts) + found -
	       1;
}

static void check_time(const struct unit *unit, uint64_t duration)
{
	return_after(unit, duration);
	assert_int_equal(take_bucket(unit), histogram_bucket(duration, AGENT_BUCKETS_BITS));
}

/* The first and the last time of each bucket. */
static void test_each_bucket(void **state)
{
	const size_t buckets = histogram_buckets(AGENT_BUCKETS_BITS);

	for (size_t bucket = 1; bucket < buckets; bucket++) {
		const uint64_t low = histogram_low(bucket, AGENT_BUCKETS_BITS);

		check_time(*state, low - 1);
		check_time(*state, low);
	}
	check_time(*state, UINT64_MAX);
}

/* The time is added to the sum, too, and the trampoline of a home is at rest. */
static void test_sum(void **state)
{
	const struct unit *unit = *state;

	for (uint64_t i = 1; i <= 100; i++)
		return_after(unit, i * 1000);
	assert_int_equal(*counter(unit, AGENT_COUNTER_TIME), 5050000);
	assert_int_equal(*word_at(unit, AGENT_TRAMPOLINES + NUMBER * AGENT_TRAMPOLINE) % 8,
			 AGENT_TRAMPOLINE_RESTS);
}

/* A call that seems to return before it began took no time. */
static void test_clock_runs_backwards(void **state)
{
	const struct unit *unit = *state;
	struct registers registers = {0};

	now = (struct timespec){.tv_nsec = 5};
	*word_at(unit, AGENT_TRAMPOLINES + NUMBER * AGENT_TRAMPOLINE + AGENT_TRAMPOLINE_TIME) = 6;
	*word_at(unit,
		 AGENT_TRAMPOLINES + NUMBER * AGENT_TRAMPOLINE + AGENT_TRAMPOLINE_PROBE) = PROBE;
	return_to(unit, &registers);
	assert_int_equal(take_bucket(unit), 0);
}

#define test(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(test_each_bucket),
		test(test_sum),
		test(test_clock_runs_backwards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return 77; /* the code is for x86-64 */
}

#endif

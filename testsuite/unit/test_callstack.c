/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pending calls of a thread, tested by scripted sequences and by random programs whose frames
 * are known: a call that returns must be reported as returned, and no live call as left.
 */
#include "engine/core/callstack.h"

#include "base/map.h"
#include "base/vec.h"
#include "base/xalloc.h"
#include "engine/core/stackset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct hook;
struct probe_site;

static char site_marker;
static char hook_marker;

/* The popped calls, in order: their numbers, negative if the call was left. */
struct log {
	struct vec numbers; /* int */
};

static void note(void *context, const struct call *call, bool returned)
{
	struct log *log = context;
	int number = (int)call->number;

	vec_push(&log->numbers, &(int){returned ? number : -number});
}

/* Compares the log with `expected`, which ends with 0, and empties it. */
static void expect(struct log *log, const int *expected)
{
	size_t count = 0;

	while (expected[count])
		count++;
	assert_int_equal(log->numbers.count, count);
	if (count)
		assert_memory_equal(log->numbers.items, expected, count * sizeof *expected);
	vec_clear(&log->numbers);
}

#define EXPECT(log, ...) expect(log, (const int[]){__VA_ARGS__ __VA_OPT__(, ) 0})

/* The mappings of a simulated process. */
struct range {
	uint64_t low, high;
	bool single;
};

struct world {
	struct range ranges[9000];
	size_t count;
	unsigned asked;
	struct range signal_stack;
	unsigned asked_signal_stack;
	/* stack word → its content, where that is no longer the return address */
	struct map words;
	/* stack word → the return address that the last call has written there */
	struct map returns;
	bool has_words;		/* read_frames() returns these words */
	unsigned char greenlet; /* whose frames are in memory */
	uint64_t stays;		/* the function there makes no tail calls */
};

static bool find_bounds(void *context, uint64_t sp, uint64_t *low, uint64_t *high, bool *single)
{
	struct world *world = context;

	world->asked++;
	for (size_t i = 0; i < world->count; i++)
		if (sp >= world->ranges[i].low && sp < world->ranges[i].high) {
			*low = world->ranges[i].low;
			*high = world->ranges[i].high;
			*single = world->ranges[i].single;
			return true;
		}
	return false;
}

static void read_words(void *context, size_t count, const uint64_t *slots, uint64_t *words)
{
	const struct world *world = context;

	for (size_t i = 0; i < count; i++) {
		const uint64_t *value = map_get(&world->words, slots[i]);

		if (value)
			words[i] = *value;
	}
}

/*
 * Simulated stack memory: one word of five tells whose frames these are; or it has what calls have
 * written to the stack, in words of four bytes.
 */
static size_t read_frames(void *context, uint64_t address, void *buffer, size_t length)
{
	const struct world *world = context;
	unsigned char *bytes = buffer;

	for (size_t i = 0; i < length; i++)
		bytes[i] = (address + i) / 8 % 5 ? (unsigned char)(address / 8) : world->greenlet;
	for (size_t i = 0; world->has_words && i < length; i++) {
		const uint64_t place = (address + i) & ~UINT64_C(3);
		const uintptr_t word = (uintptr_t)map_get(&world->returns, place);

		bytes[i] = map_get(&world->words, place)
				   ? 0xff
				   : (word >> 8 * (address + i - place)) & 0xff;
	}
	return length;
}

/* Written over a return address. */
static const uint64_t OTHER_WORD = 0xdead;

static void overwrite(struct world *world, uint64_t slot)
{
	map_put(&world->words, slot, (void *)(uintptr_t)&OTHER_WORD);
}

static bool find_signal_stack(void *context, uint64_t sp, uint64_t *low, uint64_t *high)
{
	struct world *world = context;

	world->asked_signal_stack++;
	*low = world->signal_stack.low;
	*high = world->signal_stack.high;
	return sp >= *low && sp < *high;
}

static bool may_jump(void *context, uint64_t from, uint64_t to)
{
	const struct world *world = context;

	(void)to;
	return from != world->stays;
}

static const struct stack_view view = {find_bounds, read_words, read_frames, find_signal_stack,
				       may_jump};

/* The thread's own stack, and two others. */
enum { OWN = 0x10000, FIBER = 0x30000, ALTERNATE = 0x50000, STACK_SIZE = 0x10000 };
enum { OWN_TOP = OWN + STACK_SIZE, FIBER_TOP = FIBER + STACK_SIZE };

struct fixture {
	struct world world;
	struct log log;
	struct callstacks *stacks;
};

static int set_up(void **state)
{
	struct fixture *fixture = xcalloc(1, sizeof *fixture);

	fixture->world.ranges[0] = (struct range){OWN, OWN + STACK_SIZE, true};
	fixture->world.ranges[1] = (struct range){FIBER, FIBER + STACK_SIZE, false};
	fixture->world.ranges[2] = (struct range){ALTERNATE, ALTERNATE + STACK_SIZE, false};
	fixture->world.count = 3;
	vec_init(&fixture->log.numbers, sizeof(int));
	fixture->stacks = callstacks_create(&view, &fixture->world);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	callstacks_destroy(fixture->stacks);
	vec_deinit(&fixture->log.numbers);
	map_deinit(&fixture->world.words);
	map_deinit(&fixture->world.returns);
	free(fixture);
	return 0;
}

static struct call *push_call(struct fixture *fixture, int number, uint64_t slot,
			      uint64_t return_address, uint64_t entry)
{
	struct call call = {.place = slot,
			    .return_address = return_address,
			    .entry = entry,
			    .site = (const struct probe_site *)&site_marker,
			    .number = (uint64_t)number};

	map_put(&fixture->world.returns, slot, (void *)(uintptr_t)return_address);
	map_remove(&fixture->world.words, slot);
	return callstacks_push(fixture->stacks, &call, note, &fixture->log);
}

static void push_hook(struct fixture *fixture, int number, uint64_t slot, uint64_t return_address,
		      uint64_t entry)
{
	struct call call = {.place = slot,
			    .return_address = return_address,
			    .entry = entry,
			    .hook = (struct hook *)&hook_marker,
			    .number = (uint64_t)number};

	callstacks_push(fixture->stacks, &call, note, &fixture->log);
}

static bool arrive(struct fixture *fixture, uint64_t pc, uint64_t sp, unsigned word)
{
	struct arrival arrival = {.pc = pc, .sp = sp, .word = word};

	return callstacks_return(fixture->stacks, &arrival, note, &fixture->log);
}

static void jump(struct fixture *fixture, uint64_t from, uint64_t target)
{
	const struct stack_jump jump = {.from = from, .target = target, .pc = 0x200000};

	callstacks_jump(fixture->stacks, &jump, note, &fixture->log);
}

/* ------------------------------------------------------------------ one stack */

static void test_nested(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(push_call(fixture, 1, OWN + 800, 0x10, 0x100)->depth, 0);
	assert_int_equal(push_call(fixture, 2, OWN + 700, 0x20, 0x200)->depth, 1);
	/* Recursion: the same return address again. */
	assert_int_equal(push_call(fixture, 3, OWN + 600, 0x20, 0x200)->depth, 2);
	assert_int_equal(push_call(fixture, 4, OWN + 500, 0x20, 0x200)->depth, 3);
	assert_int_equal(callstacks_depth(fixture->stacks), 4);
	EXPECT(&fixture->log);
	assert_true(arrive(fixture, 0x20, OWN + 508, 8));
	EXPECT(&fixture->log, 4);
	assert_true(arrive(fixture, 0x20, OWN + 608, 8));
	EXPECT(&fixture->log, 3);
	/*
	 * An address that no call returns to, at the right place; and the right address at another
	 * place.
	 */
	assert_false(arrive(fixture, 0x30, OWN + 708, 8));
	fixture->world.has_words = true;
	assert_false(arrive(fixture, 0x20, OWN + 616, 8));
	assert_false(arrive(fixture, 0x20, OWN + 700, 8));
	assert_false(arrive(fixture, 0x10, OWN + 708, 8));
	assert_int_equal(callstacks_depth(fixture->stacks), 2);
	assert_true(arrive(fixture, 0x20, OWN + 708, 8));
	assert_true(arrive(fixture, 0x10, OWN + 808, 8));
	EXPECT(&fixture->log, 2, 1);
	assert_false(arrive(fixture, 0x10, OWN + 808, 8));
	assert_int_equal(callstacks_depth(fixture->stacks), 0);
	assert_int_equal(fixture->world.asked, 1);
}

static void test_tail_calls(void **state)
{
	struct fixture *fixture = *state;

	push_call(fixture, 1, OWN + 800, 0x10, 0x100);
	push_call(fixture, 2, OWN + 700, 0x20, 0x200);
	push_call(fixture, 3, OWN + 700, 0x20, 0x300);
	push_call(fixture, 4, OWN + 700, 0x20, 0x400);
	EXPECT(&fixture->log);
	assert_true(arrive(fixture, 0x20, OWN + 708, 8));
	EXPECT(&fixture->log, 4, 3, 2);
	assert_int_equal(callstacks_depth(fixture->stacks), 1);
	/* A call from there, and both left by longjmp. */
	push_call(fixture, 5, OWN + 700, 0x20, 0x200);
	push_call(fixture, 6, OWN + 700, 0x20, 0x300);
	push_call(fixture, 7, OWN + 600, 0x30, 0x500);
	assert_true(arrive(fixture, 0x10, OWN + 808, 8));
	EXPECT(&fixture->log, -7, -6, -5, 1);
}

/* Calls of two functions from one place, of which an exception has left the first. */
static void test_no_tail_calls(void **state)
{
	struct fixture *fixture = *state;
	struct call call = {.place = OWN + 700,
			    .return_address = 0x20,
			    .entry = 0x200,
			    .site = (const struct probe_site *)&site_marker};

	fixture->world.stays = 0x300;
	push_call(fixture, 1, OWN + 800, 0x10, 0x100);
	push_call(fixture, 2, OWN + 700, 0x20, 0x300);
	push_call(fixture, 3, OWN + 700, 0x20, 0x400);
	EXPECT(&fixture->log, -2);
	/* A tail call to the one that makes none. */
	push_call(fixture, 4, OWN + 700, 0x20, 0x300);
	EXPECT(&fixture->log);
	assert_true(arrive(fixture, 0x20, OWN + 708, 8));
	EXPECT(&fixture->log, 4, 3);
	/* The registers of the caller are others, the same, not known. */
	for (int i = 0; i < 3; i++) {
		call.number = (uint64_t)(5 + 2 * i);
		call.entry = 0x200;
		call.registers = 7;
		callstacks_push(fixture->stacks, &call, note, &fixture->log);
		call.number++;
		call.entry = 0x400;
		call.registers = (const uint64_t[]){8, 7, 0}[i];
		callstacks_push(fixture->stacks, &call, note, &fixture->log);
		assert_true(arrive(fixture, 0x20, OWN + 708, 8));
	}
	EXPECT(&fixture->log, -5, 6, 8, 7, 10, 9);
	assert_true(arrive(fixture, 0x10, OWN + 808, 8));
	EXPECT(&fixture->log, 1);
}

static void test_longjmp(void **state)
{
	struct fixture *fixture = *state;

	push_call(fixture, 1, OWN + 800, 0x10, 0x100);
	push_call(fixture, 2, OWN + 700, 0x20, 0x200);
	push_call(fixture, 3, OWN + 600, 0x30, 0x300);
	/* Left to the frame of 1; the next call from there, at another place. */
	push_call(fixture, 4, OWN + 720, 0x40, 0x400);
	EXPECT(&fixture->log, -3, -2);
	assert_int_equal(callstacks_depth(fixture->stacks), 2);
	/* The same stack word, another return address. */
	push_call(fixture, 5, OWN + 720, 0x50, 0x400);
	EXPECT(&fixture->log, -4);
	/* The same call again; behind it a tail call that is left with it. */
	push_call(fixture, 6, OWN + 720, 0x50, 0x500);
	EXPECT(&fixture->log);
	push_call(fixture, 7, OWN + 720, 0x50, 0x400);
	EXPECT(&fixture->log, -6, -5);
	assert_true(arrive(fixture, 0x50, OWN + 728, 8));
	EXPECT(&fixture->log, 7);
	/* Left; then an older one returns. */
	push_call(fixture, 8, OWN + 500, 0x60, 0x600);
	assert_true(arrive(fixture, 0x10, OWN + 808, 8));
	EXPECT(&fixture->log, -8, 1);
	assert_int_equal(callstacks_depth(fixture->stacks), 0);
}

static void test_landing(void **state)
{
	struct fixture *fixture = *state;

	push_call(fixture, 1, OWN + 800, 0x10, 0x100);
	push_call(fixture, 2, OWN + 700, 0x20, 0x200);
	push_call(fixture, 3, OWN + 600, 0x30, 0x300);
	callstacks_leave(fixture->stacks, OWN + 600, note, &fixture->log);
	EXPECT(&fixture->log);
	/* The exception is caught in the frame that called 2. */
	callstacks_leave(fixture->stacks, OWN + 708, note, &fixture->log);
	EXPECT(&fixture->log, -3, -2);
	assert_int_equal(callstacks_depth(fixture->stacks), 1);
	/* On a stack without pending calls, known or not. */
	callstacks_leave(fixture->stacks, FIBER + 100, note, &fixture->log);
	callstacks_leave(fixture->stacks, 0, note, &fixture->log);
	EXPECT(&fixture->log);
	callstacks_leave(fixture->stacks, OWN_TOP, note, &fixture->log);
	EXPECT(&fixture->log, -1);
}

/* A function may pop its own arguments. */
static void tell_ret_n(struct fixture *fixture, unsigned word)
{
	fixture->world.has_words = true;
	push_call(fixture, 1, OWN + 800, 0x10, 0x100);
	push_call(fixture, 2, OWN + 700, 0x20, 0x200);
	assert_true(arrive(fixture, 0x20, OWN + 700 + 2 * word, word)); /* ret $word */
	EXPECT(&fixture->log, 2);
	/*
	 * Recursion in frames of 32 bytes: the innermost call below sp is meant, not another one in
	 * reach.
	 */
	for (int i = 0; i < 4; i++)
		push_call(fixture, 3 + i, (uint64_t)(OWN + 700 - 32 * i), 0x20, 0x200);
	for (int i = 3; i >= 0; i--) {
		assert_true(
			arrive(fixture, 0x20, (uint64_t)(OWN + 700 - 32 * i) + word + 16, word));
		EXPECT(&fixture->log, 3 + i);
	}
	push_call(fixture, 7, OWN + 700, 0x20, 0x200);
	assert_false(arrive(fixture, 0x20, OWN + 700 + word + 0x10000, word)); /* too far */
	assert_true(arrive(fixture, 0x20, OWN + 700 + word + 1024, word));
	EXPECT(&fixture->log, 7);
	/* Tail calls: the function that was jumped to pops the arguments. */
	push_call(fixture, 8, OWN + 700, 0x20, 0x200);
	push_call(fixture, 9, OWN + 700, 0x20, 0x300);
	assert_true(arrive(fixture, 0x20, OWN + 700 + word + 16, word));
	EXPECT(&fixture->log, 9, 8);
	assert_true(arrive(fixture, 0x10, OWN + 800 + word, word));
	EXPECT(&fixture->log, 1);
}

static void test_ret_n(void **state)
{
	tell_ret_n(*state, 4);
}

static void test_ret_n_64(void **state)
{
	tell_ret_n(*state, 8);
}

/* A return that pops nothing does not belong to a call that is pending further down. */
static void test_ret_n_among_fibers(void **state)
{
	struct fixture *fixture = *state;

	fixture->world.has_words = true;
	push_call(fixture, 1, FIBER + 1000, 0x10, 0x100);
	/* A fiber above has made that call unseen. */
	map_put(&fixture->world.returns, FIBER + 2000, (void *)0x10);
	assert_false(arrive(fixture, 0x10, FIBER + 2008, 8));
	map_put(&fixture->world.returns, FIBER + 3000, (void *)0x10);
	assert_false(arrive(fixture, 0x10, FIBER + 3024, 8));
	EXPECT(&fixture->log);
	assert_true(arrive(fixture, 0x10, FIBER + 1016, 8));
	EXPECT(&fixture->log, 1);
}

/*
 * A signal handler overwrites the arguments that a function has popped, before its return is
 * noticed.
 */
static void test_signal_behind_ret_n(void **state)
{
	struct fixture *fixture = *state;
	const struct arrival arrival = {.pc = 0x10, .sp = OWN + 1032, .word = 8};

	fixture->world.has_words = true;
	push_call(fixture, 1, OWN + 800, 0x10, 0x100);
	callstacks_interrupted(fixture->stacks, &arrival);
	overwrite(&fixture->world, OWN + 800);
	map_put(&fixture->world.returns, OWN + 900, (void *)0x10); /* the handler returns there */
	assert_true(arrive(fixture, arrival.pc, arrival.sp, arrival.word));
	EXPECT(&fixture->log, 1);
}

/* A hook and a site on one function: two entries for each call, and both return. */
static void test_hook_and_site(void **state)
{
	struct fixture *fixture = *state;

	push_hook(fixture, 1, OWN + 800, 0x10, 0x100);
	assert_int_equal(callstacks_depth(fixture->stacks), 0);
	assert_int_equal(push_call(fixture, 2, OWN + 800, 0x10, 0x100)->depth, 0);
	assert_int_equal(callstacks_depth(fixture->stacks), 1);
	EXPECT(&fixture->log);
	assert_true(arrive(fixture, 0x10, OWN + 808, 8));
	EXPECT(&fixture->log, 2, 1);
	/* Left by longjmp and made again: both old calls are over. */
	push_hook(fixture, 3, OWN + 800, 0x10, 0x100);
	push_call(fixture, 4, OWN + 800, 0x10, 0x100);
	push_hook(fixture, 5, OWN + 800, 0x10, 0x100);
	push_call(fixture, 6, OWN + 800, 0x10, 0x100);
	EXPECT(&fixture->log, -4, -3);
	assert_true(arrive(fixture, 0x10, OWN + 808, 8));
	EXPECT(&fixture->log, 6, 5);
	assert_int_equal(callstacks_depth(fixture->stacks), 0);
}

static void test_find(void **state)
{
	struct fixture *fixture = *state;

	assert_null(callstacks_find(fixture->stacks, OWN + 800, 0x10, 0x100));
	push_call(fixture, 1, OWN + 800, 0x10, 0x100);
	push_call(fixture, 2, OWN + 700, 0x20, 0x200);
	push_call(fixture, 3, OWN + 700, 0x20, 0x300);
	struct call *found = callstacks_find(fixture->stacks, OWN + 700, 0x20, 0x200);

	assert_non_null(found);
	assert_int_equal(found->number, 2);
	found->restarted = true;
	found = callstacks_find(fixture->stacks, OWN + 700, 0x20, 0x200);
	assert_true(found->restarted);
	assert_int_equal(callstacks_find(fixture->stacks, OWN + 800, 0x10, 0x100)->number, 1);
	assert_null(callstacks_find(fixture->stacks, OWN + 700, 0x20, 0x100));
	assert_null(callstacks_find(fixture->stacks, OWN + 700, 0x10, 0x200));
	assert_null(callstacks_find(fixture->stacks, OWN + 750, 0x20, 0x200));
	assert_null(callstacks_find(fixture->stacks, FIBER + 700, 0x20, 0x200));
}

static void test_unwind(void **state)
{
	struct fixture *fixture = *state;

	push_call(fixture, 1, OWN + 800, 0x10, 0x100)->saved =
		xcalloc(1, sizeof(struct capture_saved));
	push_hook(fixture, 2, OWN + 700, 0x20, 0x200);
	push_call(fixture, 3, FIBER + 800, 0x10, 0x100);
	callstacks_unwind(fixture->stacks, note, &fixture->log);
	EXPECT(&fixture->log, -3, -2, -1);
	assert_int_equal(callstacks_depth(fixture->stacks), 0);
	assert_false(arrive(fixture, 0x10, OWN + 808, 8));
	callstacks_destroy(NULL);
}

/* ------------------------------------------------------------------ several stacks */

static void test_fibers(void **state)
{
	struct fixture *fixture = *state;

	push_call(fixture, 1, OWN + 800, 0x10, 0x100);
	push_call(fixture, 2, FIBER + 900, 0x20, 0x200); /* higher, yet no call is over */
	push_call(fixture, 3, OWN + 700, 0x30, 0x300);
	push_call(fixture, 4, FIBER + 800, 0x20, 0x200);
	EXPECT(&fixture->log);
	assert_int_equal(callstacks_depth(fixture->stacks), 4);
	/* Each continues where it was, in any order. */
	assert_true(arrive(fixture, 0x30, OWN + 708, 8));
	assert_true(arrive(fixture, 0x20, FIBER + 808, 8));
	assert_true(arrive(fixture, 0x10, OWN + 808, 8));
	assert_true(arrive(fixture, 0x20, FIBER + 908, 8));
	EXPECT(&fixture->log, 3, 4, 1, 2);
	assert_int_equal(fixture->world.asked, 2);
}

/* A foreign stack may hold several stacks: only the same stack word shows that a call is over. */
static void test_foreign_order(void **state)
{
	struct fixture *fixture = *state;

	push_call(fixture, 1, OWN + 800, 0x10, 0x100);
	push_call(fixture, 2, FIBER + 500, 0x20, 0x200);
	push_call(fixture, 3, FIBER + 900, 0x30, 0x300);
	push_call(fixture, 4, FIBER + 300, 0x20, 0x200);
	callstacks_leave(fixture->stacks, FIBER + 950, note, &fixture->log);
	EXPECT(&fixture->log);
	assert_true(arrive(fixture, 0x20, FIBER + 508, 8));
	EXPECT(&fixture->log, 2);
	assert_true(arrive(fixture, 0x20, FIBER + 308, 8));
	EXPECT(&fixture->log, 4);
	/* Left by longjmp, and the stack word is used again. */
	push_call(fixture, 5, FIBER + 900, 0x30, 0x300);
	EXPECT(&fixture->log, -3);
	push_call(fixture, 6, FIBER + 900, 0x40, 0x300);
	EXPECT(&fixture->log, -5);
	push_call(fixture, 7, FIBER + 900, 0x40, 0x500); /* a tail call */
	assert_true(arrive(fixture, 0x40, FIBER + 908, 8));
	EXPECT(&fixture->log, 7, 6);
	assert_int_equal(callstacks_depth(fixture->stacks), 1);
}

static void test_signal_stack(void **state)
{
	struct fixture *fixture = *state;

	push_call(fixture, 1, OWN + 800, 0x10, 0x100);
	push_call(fixture, 2, OWN + 700, 0x20, 0x200);
	push_call(fixture, 3, ALTERNATE + 900, 0x50, 0x500);
	push_call(fixture, 4, ALTERNATE + 800, 0x60, 0x600);
	assert_true(arrive(fixture, 0x60, ALTERNATE + 808, 8));
	/* siglongjmp out of the handler. */
	assert_true(arrive(fixture, 0x10, OWN + 808, 8));
	EXPECT(&fixture->log, 4, -2, 1);
	assert_int_equal(callstacks_depth(fixture->stacks), 1);
}

/* A signal stack in the middle of the thread's own: above what is pending there. */
static void test_signal_stack_inside(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t inner = OWN + 0x8000;

	fixture->world.signal_stack = (struct range){inner, inner + 0x1000, false};
	push_call(fixture, 1, OWN + 800, 0x10, 0x100);
	push_call(fixture, 2, OWN + 700, 0x20, 0x200);
	assert_int_equal(fixture->world.asked_signal_stack, 0);
	push_call(fixture, 3, inner + 900, 0x30, 0x300);
	push_call(fixture, 4, inner + 800, 0x40, 0x400);
	callstacks_leave(fixture->stacks, inner + 800, note, &fixture->log);
	assert_true(arrive(fixture, 0x40, inner + 808, 8));
	EXPECT(&fixture->log, 4);
	assert_int_equal(fixture->world.asked_signal_stack, 1);
	/* The handler returns; the calls that it left pending are over. */
	assert_true(arrive(fixture, 0x20, OWN + 708, 8));
	EXPECT(&fixture->log, -3, 2);
	/* Another handler, which is left by siglongjmp. */
	push_call(fixture, 5, OWN + 600, 0x50, 0x500);
	push_call(fixture, 6, inner + 900, 0x60, 0x600);
	jump(fixture, inner + 400, OWN + 700);
	EXPECT(&fixture->log, -6, -5);
	push_call(fixture, 7, OWN + 650, 0x70, 0x700);
	assert_true(arrive(fixture, 0x10, OWN + 808, 8));
	EXPECT(&fixture->log, -7, 1);
	assert_int_equal(callstacks_depth(fixture->stacks), 0);
	/*
	 * The signal stack is not in use any more: its memory may be an ordinary part of the stack.
	 */
	fixture->world.signal_stack = (struct range){0, 0, false};
	push_call(fixture, 8, OWN + 600, 0x80, 0x800);
	push_call(fixture, 9, inner + 900, 0x90, 0x900);
	EXPECT(&fixture->log, -8);
}

/* The first call that is seen is made by a handler, on a stack of its own. */
static void test_signal_stack_first(void **state)
{
	struct fixture *fixture = *state;

	push_call(fixture, 1, ALTERNATE + 500, 0x50, 0x500);
	push_call(fixture, 2, ALTERNATE + 900, 0x60, 0x600); /* another stack in that mapping */
	EXPECT(&fixture->log);
	push_call(fixture, 3, OWN + 700, 0x20, 0x200);
	push_call(fixture, 4, OWN + 800, 0x10, 0x100);
	EXPECT(&fixture->log, -3);
}

/* The stack grows downwards: it stays one stack, and the thread's own. */
static void test_growth(void **state)
{
	struct fixture *fixture = *state;

	fixture->world.ranges[0].low = OWN + 0x8000;
	push_call(fixture, 1, OWN + 0x9000, 0x10, 0x100);
	push_call(fixture, 2, OWN + 0x8100, 0x20, 0x200);
	fixture->world.ranges[0].low = OWN + 0x4000;
	push_call(fixture, 3, OWN + 0x5000, 0x30, 0x300);
	EXPECT(&fixture->log);
	assert_true(arrive(fixture, 0x10, OWN + 0x9008, 8));
	EXPECT(&fixture->log, -3, -2, 1);
}

/* Stacks in the heap, which grows at its upper end while calls are pending further down. */
static void test_heap_grows(void **state)
{
	struct fixture *fixture = *state;

	push_call(fixture, 1, OWN + 800, 0x10, 0x100);
	push_call(fixture, 2, FIBER + 0x1000, 0x20, 0x200);
	fixture->world.ranges[1].high += 0x8000;
	push_call(fixture, 3, FIBER_TOP + 0x1000, 0x30, 0x300);
	EXPECT(&fixture->log);
	assert_true(arrive(fixture, 0x20, FIBER + 0x1008, 8));
	assert_true(arrive(fixture, 0x30, FIBER_TOP + 0x1008, 8));
	EXPECT(&fixture->log, 2, 3);
}

/* Two mappings become one; then the bounds of the own stack cannot be trusted, either. */
static void test_mappings_unite(void **state)
{
	struct fixture *fixture = *state;

	fixture->world.ranges[2] = (struct range){OWN_TOP + 0x1000, FIBER, false};
	push_call(fixture, 1, OWN + 800, 0x10, 0x100);
	push_call(fixture, 2, FIBER + 800, 0x20, 0x200);
	fixture->world.count = 1;
	fixture->world.ranges[0].high = FIBER_TOP;
	push_call(fixture, 3, OWN_TOP + 0x800, 0x30, 0x300);
	EXPECT(&fixture->log);
	assert_true(arrive(fixture, 0x20, FIBER + 808, 8));
	assert_true(arrive(fixture, 0x10, OWN + 808, 8));
	assert_true(arrive(fixture, 0x30, OWN_TOP + 0x808, 8));
	EXPECT(&fixture->log, 2, 1, 3);
	assert_int_equal(callstacks_depth(fixture->stacks), 0);
}

/* The bounds are not known: everything is one stack, and pending calls still return. */
static void test_unknown_bounds(void **state)
{
	struct fixture *fixture = *state;

	push_call(fixture, 1, OWN + 800, 0x10, 0x100);
	push_call(fixture, 2, 0x900000, 0x20, 0x200);
	assert_true(arrive(fixture, 0x10, OWN + 808, 8));
	assert_true(arrive(fixture, 0x20, 0x900008, 8));
	EXPECT(&fixture->log, 1, 2);

	struct callstacks *stacks = callstacks_create(NULL, NULL);
	struct call call = {.place = 800, .return_address = 0x10, .entry = 0x100, .number = 1};

	callstacks_push(stacks, &call, note, &fixture->log);
	struct arrival arrival = {.pc = 0x10, .sp = 808, .word = 8};

	assert_true(callstacks_return(stacks, &arrival, note, &fixture->log));
	EXPECT(&fixture->log, 1);
	callstacks_destroy(stacks);
}

/* More stacks than are remembered: the one unused longest is dropped, but not the own one. */
static void test_many_stacks(void **state)
{
	enum { MANY = 8700 };
	struct fixture *fixture = *state;
	size_t left = 0;

	push_call(fixture, 1, OWN + 800, 0x10, 0x100);
	fixture->world.count = 1;
	for (int i = 0; i < MANY; i++) {
		uint64_t low = 0x1000000 + (uint64_t)i * 0x2000;

		fixture->world.ranges[fixture->world.count++] = (struct range){low, low + 0x1000,
									       false};
		push_call(fixture, 2 + i, low + 800, 0x20, 0x200);
	}
	for (size_t i = 0; i < fixture->log.numbers.count; i++) {
		/* In the order in which they were used. */
		assert_int_equal(*(int *)vec_at(&fixture->log.numbers, i), -(int)(2 + i));
		left++;
	}
	assert_true(left > 0 && left < MANY);
	vec_clear(&fixture->log.numbers);
	assert_int_equal(callstacks_depth(fixture->stacks), 1 + MANY - left);
	assert_true(arrive(fixture, 0x10, OWN + 808, 8));
	EXPECT(&fixture->log, 1);
	assert_true(arrive(fixture, 0x20, 0x1000000 + (MANY - 1) * 0x2000 + 808, 8));
	EXPECT(&fixture->log, 1 + MANY);
}

/* The number of calls on a foreign stack is bounded. */
static void test_foreign_is_bounded(void **state)
{
	enum { MANY = 17500 };
	struct fixture *fixture = *state;

	fixture->world.ranges[1] = (struct range){0x1000000, 0x2000000, false};
	push_hook(fixture, 1, OWN + 800, 0x10, 0x100);
	for (int i = 0; i < MANY; i++)
		push_call(fixture, 2 + i, 0x1ffff00 - (uint64_t)i * 16, 0x20, 0x200);
	assert_true(fixture->log.numbers.count >= MANY - 16384);
	assert_int_equal(*(int *)fixture->log.numbers.items, -2);
	assert_int_equal(callstacks_depth(fixture->stacks), MANY - fixture->log.numbers.count);
}

/*
 * ------------------------------------------------------------------ arrivals that are no returns
 */

/*
 * An exception handler continues behind the call that was left: calls of its own used the stack
 * word.
 */
static void test_caught_behind_the_call(void **state)
{
	struct fixture *fixture = *state;

	push_call(fixture, 1, OWN + 800, 0x10, 0x100);
	push_call(fixture, 2, OWN + 700, 0x20, 0x200);
	push_call(fixture, 3, OWN + 700, 0x20, 0x300); /* a tail call */
	overwrite(&fixture->world, OWN + 700);
	assert_true(arrive(fixture, 0x20, OWN + 708, 8));
	EXPECT(&fixture->log, -3, -2);
	assert_true(arrive(fixture, 0x10, OWN + 808, 8));
	EXPECT(&fixture->log, 1);
}

/* A destructor runs, deeper than the call that was left. */
static void test_destructor(void **state)
{
	struct fixture *fixture = *state;

	push_call(fixture, 1, OWN + 800, 0x10, 0x100);
	push_call(fixture, 2, OWN + 700, 0x20, 0x200);
	push_call(fixture, 3, OWN + 600, 0x30, 0x300);
	overwrite(&fixture->world, OWN + 700);
	assert_int_equal(push_call(fixture, 4, OWN + 500, 0x40, 0x400)->depth, 1);
	EXPECT(&fixture->log, -3, -2);
	assert_true(arrive(fixture, 0x40, OWN + 508, 8));
	assert_true(arrive(fixture, 0x10, OWN + 808, 8));
	EXPECT(&fixture->log, 4, 1);
}

/* A signal handler overwrites stack words below the stack pointer: their calls had returned. */
static void test_signal_behind_the_return(void **state)
{
	struct fixture *fixture = *state;
	struct arrival arrival = {.pc = 0x20, .sp = OWN + 704, .word = 4};

	push_call(fixture, 1, OWN + 700, 0x20, 0x200);
	callstacks_interrupted(fixture->stacks, &arrival);
	overwrite(&fixture->world, OWN + 700);
	assert_true(arrive(fixture, 0x20, OWN + 704, 4));
	EXPECT(&fixture->log, 1);
	/* But not if the call had been left before the signal came. */
	push_call(fixture, 2, OWN + 700, 0x20, 0x200);
	overwrite(&fixture->world, OWN + 700);
	callstacks_interrupted(fixture->stacks, &arrival);
	assert_true(arrive(fixture, 0x20, OWN + 704, 4));
	EXPECT(&fixture->log, -2);
}

static void test_jump(void **state)
{
	struct fixture *fixture = *state;

	push_call(fixture, 1, OWN + 800, 0x10, 0x100);
	push_call(fixture, 2, OWN + 700, 0x20, 0x200);
	push_call(fixture, 3, OWN + 600, 0x30, 0x300);
	jump(fixture, OWN + 500, OWN + 600);
	EXPECT(&fixture->log);
	/* To the frame that called 2, which continues behind that call. */
	jump(fixture, OWN + 500, OWN + 708);
	EXPECT(&fixture->log, -3, -2);
	assert_false(arrive(fixture, 0x20, OWN + 708, 8));
	/* Out of a signal handler on a stack of its own. */
	push_call(fixture, 4, ALTERNATE + 950, 0x50, 0x500);
	push_call(fixture, 5, OWN + 700, 0x20, 0x200);
	callstacks_signal(fixture->stacks, OWN + 650);
	push_call(fixture, 6, ALTERNATE + 900, 0x50, 0x500);
	jump(fixture, ALTERNATE + 800, OWN + 708);
	EXPECT(&fixture->log, -6, -5);
	/* To another stack: a coroutine may yield in this way. */
	callstacks_signal(fixture->stacks, OWN + 650);
	push_call(fixture, 7, OWN + 700, 0x20, 0x200);
	push_call(fixture, 8, ALTERNATE + 900, 0x50, 0x500);
	jump(fixture, ALTERNATE + 800, OWN + 650);
	jump(fixture, ALTERNATE + 800, OWN + 708);
	EXPECT(&fixture->log, -7);
	/* The target is not known, or makes no sense. */
	jump(fixture, OWN + 500, 0x900000);
	jump(fixture, OWN + 500, OWN + 400);
	jump(fixture, OWN + 500, 0);
	EXPECT(&fixture->log);
	assert_true(arrive(fixture, 0x10, OWN + 808, 8));
	EXPECT(&fixture->log, 1);
}

/* In a shared mapping: what lies between is over; what lies deeper may be another stack's. */
/* The next call may use the stack words of the arguments of setjmp(): i386. */
static void test_jump_above_the_buffer(void **state)
{
	struct fixture *fixture = *state;
	const struct stack_jump jump = {
		.from = OWN + 500, .target = OWN + 700, .pc = 0x100020, .arguments = 16};

	push_call(fixture, 1, OWN + 740, 0x100100, 0x100);
	push_call(fixture, 2, OWN + 712, 0x100100, 0x100);
	callstacks_jump(fixture->stacks, &jump, note, &fixture->log);
	EXPECT(&fixture->log, -2);
	/* The call of the function that jumps back to itself. */
	push_call(fixture, 3, OWN + 712, 0x200000, 0x100);
	callstacks_jump(fixture->stacks, &jump, note, &fixture->log);
	EXPECT(&fixture->log);
	assert_true(arrive(fixture, 0x200000, OWN + 716, 4));
	assert_true(arrive(fixture, 0x100100, OWN + 744, 4));
	EXPECT(&fixture->log, 3, 1);
}

static void test_jump_among_fibers(void **state)
{
	struct fixture *fixture = *state;

	fixture->world.ranges[1].high = FIBER + 0x100000;
	fixture->world.ranges[2].low = fixture->world.ranges[2].high = 0;
	push_call(fixture, 1, OWN + 800, 0x10, 0x100);
	push_call(fixture, 2, FIBER + 0x9000, 0x20, 0x200);
	push_call(fixture, 3, FIBER + 0x8000, 0x30, 0x300);
	push_call(fixture, 4, FIBER + 0x4000, 0x40, 0x400);
	jump(fixture, FIBER + 0x7000, FIBER + 0x8800);
	EXPECT(&fixture->log, -3);
	/* Too far away: a coroutine that yields. */
	jump(fixture, FIBER + 0x3000, FIBER + 0x90000);
	EXPECT(&fixture->log);
	assert_true(arrive(fixture, 0x40, FIBER + 0x4008, 8));
	assert_true(arrive(fixture, 0x20, FIBER + 0x9008, 8));
	EXPECT(&fixture->log, 4, 2);
}

/* Fibers in one mapping: a stack word that holds something else shows that its call is over. */
static void test_overwritten(void **state)
{
	struct fixture *fixture = *state;

	push_call(fixture, 1, OWN + 800, 0x10, 0x100);
	push_call(fixture, 2, FIBER + 900, 0x20, 0x200);
	push_call(fixture, 3, FIBER + 800, 0x30, 0x300);
	push_call(fixture, 4, FIBER + 300, 0x40, 0x400);
	overwrite(&fixture->world, FIBER + 800);
	push_call(fixture, 5, FIBER + 850, 0x50, 0x500);
	EXPECT(&fixture->log, -3);
	assert_true(arrive(fixture, 0x40, FIBER + 308, 8));
	assert_true(arrive(fixture, 0x50, FIBER + 858, 8));
	assert_true(arrive(fixture, 0x20, FIBER + 908, 8));
	EXPECT(&fixture->log, 4, 5, 2);
}

/* A mapping with a guard page holds one stack. */
static void test_guarded_fiber(void **state)
{
	struct fixture *fixture = *state;

	fixture->world.ranges[1].single = true;
	push_call(fixture, 1, OWN + 800, 0x10, 0x100);
	push_call(fixture, 2, FIBER + 900, 0x20, 0x200);
	push_call(fixture, 3, FIBER + 800, 0x30, 0x300);
	EXPECT(&fixture->log);
	assert_true(arrive(fixture, 0x20, FIBER + 908, 8));
	EXPECT(&fixture->log, -3, 2);
}

/* The depth of a call counts only calls on its own stack. */
static void test_depth_by_stack(void **state)
{
	struct fixture *fixture = *state;

	fixture->world.ranges[1].high = FIBER + 0x100000;
	fixture->world.ranges[2].low = fixture->world.ranges[2].high = 0;
	assert_int_equal(push_call(fixture, 1, OWN + 800, 0x10, 0x100)->depth, 0);
	assert_int_equal(push_call(fixture, 2, FIBER + 0x9000, 0x20, 0x200)->depth, 0);
	assert_int_equal(push_call(fixture, 3, FIBER + 0x8000, 0x30, 0x300)->depth, 1);
	assert_int_equal(push_call(fixture, 4, FIBER + 0x8000, 0x30, 0x400)->depth, 2);
	/* On another fiber. */
	assert_int_equal(push_call(fixture, 5, FIBER + 0x1000, 0x20, 0x200)->depth, 0);
	assert_int_equal(push_call(fixture, 6, OWN + 700, 0x60, 0x100)->depth, 1);
	/* The depth at a place that is no call. */
	assert_int_equal(callstacks_depth_at(fixture->stacks, OWN + 600), 2);
	assert_int_equal(callstacks_depth_at(fixture->stacks, FIBER + 0x7800), 3);
	/* A call whose stack word has been used again does not count. */
	overwrite(&fixture->world, FIBER + 0x9000);
	assert_int_equal(push_call(fixture, 7, FIBER + 0x8800, 0x70, 0x200)->depth, 0);
}

/*
 * Stacks that are copied to one place in turn: two greenlets whose calls have the same stack words.
 */
static void test_exchanged(void **state)
{
	struct fixture *fixture = *state;
	struct call call = {.place = OWN + 700,
			    .return_address = 0x20,
			    .entry = 0x200,
			    .site = (const struct probe_site *)&site_marker};
	struct arrival arrival = {.pc = 0x20, .sp = OWN + 708, .word = 8};

	push_call(fixture, 1, OWN + 800, 0x10, 0x100);
	callstacks_exchange(fixture->stacks);
	for (uint64_t greenlet = 2; greenlet < 6; greenlet++) {
		call.number = fixture->world.greenlet = (unsigned char)greenlet;
		callstacks_push(fixture->stacks, &call, note, &fixture->log);
	}
	/* Higher on the stack, and the same call again in one of them. */
	push_call(fixture, 6, OWN + 750, 0x40, 0x100);
	EXPECT(&fixture->log);
	fixture->world.greenlet = 4;
	call.number = 7;
	callstacks_push(fixture->stacks, &call, note, &fixture->log);
	EXPECT(&fixture->log, -4);
	for (uint64_t i = 0; i < 4; i++) {
		static const unsigned char order[] = {3, 5, 4, 2};

		fixture->world.greenlet = order[i];
		assert_true(callstacks_return(fixture->stacks, &arrival, note, &fixture->log));
	}
	EXPECT(&fixture->log, 3, 5, 7, 2);
	assert_true(arrive(fixture, 0x40, OWN + 758, 8));
	assert_true(arrive(fixture, 0x10, OWN + 808, 8));
	EXPECT(&fixture->log, 6, 1);
	assert_int_equal(callstacks_depth(fixture->stacks), 0);
}

static void test_clone(void **state)
{
	struct fixture *fixture = *state;
	struct log log = {{.item_size = sizeof(int)}};

	push_call(fixture, 1, OWN + 800, 0x10, 0x100)->saved =
		xcalloc(1, sizeof(struct capture_saved));
	push_call(fixture, 2, FIBER + 800, 0x20, 0x200);
	struct callstacks *clone = callstacks_clone(fixture->stacks, &fixture->world);
	struct call *one = callstacks_find(fixture->stacks, OWN + 800, 0x10, 0x100);
	struct call *other = callstacks_find(clone, OWN + 800, 0x10, 0x100);

	assert_int_equal(callstacks_depth(clone), 2);
	assert_ptr_not_equal(one, other);
	assert_non_null(other->saved);
	assert_ptr_not_equal(one->saved, other->saved);
	/* Each continues. */
	assert_true(arrive(fixture, 0x10, OWN + 808, 8));
	EXPECT(&fixture->log, 1);
	struct arrival arrival = {.pc = 0x20, .sp = FIBER + 808, .word = 8};

	assert_true(callstacks_return(clone, &arrival, note, &log));
	arrival = (struct arrival){.pc = 0x10, .sp = OWN + 808, .word = 8};
	assert_true(callstacks_return(clone, &arrival, note, &log));
	EXPECT(&log, 2, 1);
	assert_int_equal(callstacks_depth(clone), 0);
	assert_int_equal(callstacks_depth(fixture->stacks), 1);
	callstacks_destroy(clone);
	vec_deinit(&log.numbers);
}

/* ------------------------------------------------------------------ random programs */

enum { STACKS = 4, FRAMES = 60, ENTRIES = 12, TAILS = 4 };

/* A frame of the simulated program: a call, and those tail-called from it. */
struct frame {
	uint64_t slot, return_address;
	unsigned cleared; /* bytes of arguments that the callee pops */
	int numbers[TAILS];
	unsigned entries[TAILS];
	unsigned count;
};

struct program {
	struct fixture *fixture;
	uint64_t seed;
	unsigned word;
	struct frame frames[STACKS][FRAMES];
	size_t depth[STACKS];
	uint64_t top[STACKS];
	bool *dead;    /* by number: left by longjmp */
	bool *removed; /* by number: reported, returned or left */
	int numbers;
	size_t pending;
};

static unsigned choose(struct program *program, unsigned bound)
{
	program->seed ^= program->seed << 13;
	program->seed ^= program->seed >> 7;
	program->seed ^= program->seed << 17;
	return (unsigned)(program->seed % bound);
}

/* Asserts that only dead calls are popped as left, and that no call is popped twice. */
static void check_popped(struct program *program, const struct frame *returned)
{
	struct vec *popped = &program->fixture->log.numbers;
	unsigned returns = 0;

	for (size_t i = 0; i < popped->count; i++) {
		int number = *(int *)vec_at(popped, i);
		int id = abs(number);

		assert_false(program->removed[id]);
		program->removed[id] = true;
		program->pending--;
		if (number < 0) {
			assert_true(program->dead[id]);
			continue;
		}
		assert_non_null(returned);
		assert_true(returns < returned->count);
		assert_int_equal(id, returned->numbers[returned->count - ++returns]);
	}
	assert_int_equal(returns, returned ? returned->count : 0);
	assert_int_equal(callstacks_depth(program->fixture->stacks), program->pending);
	vec_clear(popped);
}

static void enter(struct program *program, struct frame *frame, unsigned entry)
{
	int number = ++program->numbers;

	frame->entries[frame->count] = entry;
	frame->numbers[frame->count++] = number;
	program->pending++;
	push_call(program->fixture, number, frame->slot, frame->return_address,
		  0x1000 + entry * 0x10);
	check_popped(program, NULL);
}

static void do_call(struct program *program, unsigned stack)
{
	size_t depth = program->depth[stack];
	unsigned entry = choose(program, ENTRIES);
	unsigned cleared = choose(program, 5) * program->word;
	uint64_t above = depth ? program->frames[stack][depth - 1].slot : program->top[stack];
	uint64_t slot = above - program->word * (1 + choose(program, 20)) - cleared;

	if (depth == FRAMES)
		return;
	for (unsigned i = 0; i < cleared; i += program->word)
		overwrite(&program->fixture->world, slot + program->word + i);
	/* A call instruction calls one function; each function has two such instructions. */
	program->frames[stack][depth] =
		(struct frame){.slot = slot,
			       .return_address = 0x100 + entry * 4 + choose(program, 2),
			       .cleared = cleared};
	program->depth[stack]++;
	enter(program, &program->frames[stack][depth], entry);
}

static void do_tail_call(struct program *program, unsigned stack)
{
	size_t depth = program->depth[stack];
	struct frame *frame = depth ? &program->frames[stack][depth - 1] : NULL;
	unsigned entry = choose(program, ENTRIES);

	if (!frame || frame->count == TAILS)
		return;
	for (unsigned i = 0; i < frame->count; i++)
		if (frame->entries[i] == entry)
			return;
	enter(program, frame, entry);
}

static void do_return(struct program *program, unsigned stack)
{
	size_t depth = program->depth[stack];
	const struct frame *frame = depth ? &program->frames[stack][depth - 1] : NULL;

	if (!frame)
		return;
	assert_true(arrive(program->fixture, frame->return_address,
			   frame->slot + program->word + frame->cleared, program->word));
	program->depth[stack]--;
	check_popped(program, frame);
}

/* longjmp, or an exception whose landing is seen. */
static void do_jump(struct program *program, unsigned stack, bool seen)
{
	size_t depth = program->depth[stack];
	size_t target = depth ? choose(program, (unsigned)depth) : 0;

	if (!depth)
		return;
	uint64_t slot = program->frames[stack][target].slot;

	for (; depth > target; depth--) {
		const struct frame *frame = &program->frames[stack][depth - 1];

		for (unsigned i = 0; i < frame->count; i++)
			program->dead[frame->numbers[i]] = true;
	}
	program->depth[stack] = target;
	if (!seen)
		return;
	callstacks_leave(program->fixture->stacks, slot + program->word, note,
			 &program->fixture->log);
	check_popped(program, NULL);
}

static void run_program(struct fixture *fixture, unsigned word, uint64_t seed)
{
	enum { STEPS = 4000 };
	struct program *program = xcalloc(1, sizeof *program);
	unsigned stack = 0;

	program->fixture = fixture;
	fixture->world.has_words = true;
	program->seed = seed * 0x9e3779b97f4a7c15 + 1;
	program->word = word;
	program->dead = xcalloc(STEPS + 1, sizeof *program->dead);
	program->removed = xcalloc(STEPS + 1, sizeof *program->removed);
	/* The last two share a mapping. */
	program->top[0] = OWN + STACK_SIZE;
	program->top[1] = ALTERNATE + STACK_SIZE;
	program->top[2] = FIBER + STACK_SIZE;
	program->top[3] = FIBER + STACK_SIZE / 2;
	for (int step = 0; step < STEPS; step++) {
		unsigned what = choose(program, 100);

		if (what < 45)
			do_call(program, stack);
		else if (what < 55)
			do_tail_call(program, stack);
		else if (what < 90)
			do_return(program, stack);
		else if (what < 93 && word == 8)
			do_jump(program, stack, what == 92);
		else if (what >= 93 && step > 10)
			stack = choose(program, STACKS);
	}
	for (stack = 0; stack < STACKS; stack++)
		while (program->depth[stack])
			do_return(program, stack);
	callstacks_unwind(fixture->stacks, note, &fixture->log);
	check_popped(program, NULL);
	assert_int_equal(program->pending, 0);
	free(program->dead);
	free(program->removed);
	free(program);
}

static void test_random(void **state)
{
	for (uint64_t seed = 1; seed <= 40; seed++)
		run_program(*state, 8, seed);
}

static void test_random_32(void **state)
{
	for (uint64_t seed = 1; seed <= 40; seed++)
		run_program(*state, 4, seed);
}

#define STORY(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORY(test_nested),
		STORY(test_tail_calls),
		STORY(test_no_tail_calls),
		STORY(test_longjmp),
		STORY(test_landing),
		STORY(test_ret_n),
		STORY(test_ret_n_64),
		STORY(test_ret_n_among_fibers),
		STORY(test_signal_behind_ret_n),
		STORY(test_hook_and_site),
		STORY(test_find),
		STORY(test_unwind),
		STORY(test_fibers),
		STORY(test_foreign_order),
		STORY(test_signal_stack),
		STORY(test_signal_stack_inside),
		STORY(test_signal_stack_first),
		STORY(test_growth),
		STORY(test_heap_grows),
		STORY(test_mappings_unite),
		STORY(test_unknown_bounds),
		STORY(test_many_stacks),
		STORY(test_foreign_is_bounded),
		STORY(test_caught_behind_the_call),
		STORY(test_destructor),
		STORY(test_signal_behind_the_return),
		STORY(test_jump),
		STORY(test_jump_above_the_buffer),
		STORY(test_jump_among_fibers),
		STORY(test_overwritten),
		STORY(test_guarded_fiber),
		STORY(test_depth_by_stack),
		STORY(test_exchanged),
		STORY(test_clone),
		STORY(test_random),
		STORY(test_random_32),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

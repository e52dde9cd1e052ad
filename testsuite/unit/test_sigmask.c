/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal masks seen earlier, from which a thread's mask at a breakpoint is restored: SIGTRAP is
 * missing there.
 */
#include "engine/trap/sigmask_history.h"
#include "engine/trap/trap_state.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const uint64_t HUP = UINT64_C(1) << (SIGHUP - 1);
static const uint64_t USR1 = UINT64_C(1) << (SIGUSR1 - 1);
static const uint64_t USR2 = UINT64_C(1) << (SIGUSR2 - 1);

static void test_nothing_known(void **state)
{
	struct trap_thread own = {0};
	struct thread thread = {.trap = &own};

	(void)state;
	assert_int_equal(sigmask_guess(&thread, 0), MASKS_UNKNOWN);
	sigmask_seen(&thread, HUP);
	assert_int_equal(sigmask_guess(&thread, 0), MASKS_UNKNOWN);
}

static void test_the_other_bits_tell(void **state)
{
	struct trap_thread own = {0};
	struct thread thread = {.trap = &own};

	(void)state;
	sigmask_seen(&thread, 0);
	sigmask_seen(&thread, HUP | TRAP_BIT);
	sigmask_seen(&thread, USR1);
	assert_int_equal(sigmask_guess(&thread, 0), MASKS_OPEN);
	assert_int_equal(sigmask_guess(&thread, HUP), MASKS_BLOCKED);
	assert_int_equal(sigmask_guess(&thread, USR1), MASKS_OPEN);
	assert_int_equal(sigmask_guess(&thread, HUP | USR1), MASKS_UNKNOWN);
}

static void test_the_last_one_counts(void **state)
{
	struct trap_thread own = {0};
	struct thread thread = {.trap = &own};

	(void)state;
	sigmask_seen(&thread, HUP | TRAP_BIT);
	sigmask_seen(&thread, 0);
	sigmask_seen(&thread, HUP);
	assert_int_equal(sigmask_guess(&thread, HUP), MASKS_OPEN);
	assert_int_equal(own.masks_known, 2);
	sigmask_seen(&thread, HUP | TRAP_BIT);
	assert_int_equal(sigmask_guess(&thread, HUP), MASKS_BLOCKED);
	assert_int_equal(sigmask_guess(&thread, 0), MASKS_OPEN);
	assert_int_equal(own.masks_known, 2);
}

static void test_the_oldest_is_forgotten(void **state)
{
	struct trap_thread own = {0};
	struct thread thread = {.trap = &own};
	const unsigned places = sizeof own.masks / sizeof(uint64_t);

	(void)state;
	for (unsigned i = 0; i < places; i++)
		sigmask_seen(&thread, UINT64_C(1) << (40 + i) | TRAP_BIT);
	sigmask_seen(&thread, UINT64_C(1) << 40 | TRAP_BIT); /* now the last */
	sigmask_seen(&thread, USR2);
	assert_int_equal(own.masks_known, places);
	assert_int_equal(sigmask_guess(&thread, UINT64_C(1) << 41), MASKS_UNKNOWN);
	assert_int_equal(sigmask_guess(&thread, UINT64_C(1) << 40), MASKS_BLOCKED);
	assert_int_equal(sigmask_guess(&thread, USR2), MASKS_OPEN);
}

static void test_all_blocked(void **state)
{
	sigset_t set;
	uint64_t all = 0;

	(void)state;
	sigfillset(&set);
	for (int i = 1; i <= 64; i++)
		if (sigismember(&set, i) == 1)
			all |= UINT64_C(1) << (i - 1);
	assert_true(sigmask_block_all(all));
	assert_true(sigmask_block_all(all & ~TRAP_BIT));
	assert_true(sigmask_block_all(~UINT64_C(0)));
	assert_false(sigmask_block_all(all & ~USR1));
	assert_false(sigmask_block_all(0));
}

static void test_handlers(void **state)
{
	struct trap_process own = {0};
	struct process process = {.trap = &own};

	(void)state;
	sigmask_of_handler(&process, SIGUSR1, HUP | USR1);
	sigmask_of_handler(&process, 64, USR2);
	sigmask_of_handler(&process, 0,
			   ~UINT64_C(0)); /* no signals, but a program may use these numbers */
	sigmask_of_handler(&process, 65, ~UINT64_C(0));
	sigmask_of_handler(&process, 0x80000001U, ~UINT64_C(0));
	assert_int_equal(own.handler_masks[SIGUSR1 - 1], HUP | USR1);
	assert_int_equal(own.handler_masks[63], USR2);
	assert_int_equal(own.handler_masks[0], 0);
	assert_int_equal(own.handlers_opened, 0); /* the next field is not overwritten */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_known),
		cmocka_unit_test(test_the_other_bits_tell),
		cmocka_unit_test(test_the_last_one_counts),
		cmocka_unit_test(test_the_oldest_is_forgotten),
		cmocka_unit_test(test_all_blocked),
		cmocka_unit_test(test_handlers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

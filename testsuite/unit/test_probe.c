/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The set of probes: equal descriptions share an id, and pointers stay valid. */
#include "probe/probe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct type type_void = {.kind = TYPE_VOID};
static const struct prototype one = {.name = "f", .result = &type_void};
static const struct prototype other = {.name = "f", .result = &type_void};

static void test_sharing(void **state)
{
	struct probe_table *table = probe_table_create();
	const struct probe_info *f = probe_table_add(table, PROBE_CALL, "f", "m", "f", &one);

	(void)state;
	assert_int_equal(f->id, 0);
	assert_ptr_equal(probe_table_add(table, PROBE_CALL, "f", "m", "f", &one), f);
	assert_ptr_not_equal(probe_table_add(table, PROBE_ENTRY, "f", "m", "f", &one), f);
	assert_ptr_not_equal(probe_table_add(table, PROBE_CALL, "g", "m", "f", &one), f);
	assert_ptr_not_equal(probe_table_add(table, PROBE_CALL, "f", "n", "f", &one), f);
	assert_ptr_not_equal(probe_table_add(table, PROBE_CALL, "f", "m", "m->f", &one), f);
	assert_ptr_not_equal(probe_table_add(table, PROBE_CALL, "f", "m", "f", &other), f);
	/* The same letters, divided otherwise. */
	const struct probe_info *ab = probe_table_add(table, PROBE_CALL, "ab", "c", "d", &one);

	assert_ptr_not_equal(probe_table_add(table, PROBE_CALL, "a", "bc", "d", &one), ab);
	assert_int_equal(probe_table_add(table, PROBE_CALL, "new", "m", "new", &one)->id, 8);
	probe_table_destroy(table);
}

static void test_text_is_copied(void **state)
{
	struct probe_table *table = probe_table_create();
	char name[] = "strlen", module[] = "libc.so.6", display[] = "prog->strlen";
	const struct probe_info *info = probe_table_add(table, PROBE_ENTRY, name, module, display,
							&one);

	(void)state;
	memset(name, 'x', sizeof name - 1);
	memset(module, 'x', sizeof module - 1);
	memset(display, 'x', sizeof display - 1);
	assert_string_equal(info->name, "strlen");
	assert_string_equal(info->module, "libc.so.6");
	assert_string_equal(info->display, "prog->strlen");
	assert_int_equal(info->kind, PROBE_ENTRY);
	assert_ptr_equal(info->prototype, &one);
	info = probe_table_add(table, PROBE_ENTRY, "f", NULL, "f", &one);
	assert_string_equal(info->module, "");
	probe_table_destroy(table);
}

static void test_growth(void **state)
{
	enum { MANY = 5000 };
	struct probe_table *table = probe_table_create();
	const struct probe_info *infos[MANY];
	char name[32];

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (unsigned i = 0; i < MANY; i++) {
			snprintf(name, sizeof name, "function%u", i);
			const struct probe_info *info = probe_table_add(table, PROBE_CALL, name,
									"m", name, &one);

			if (round)
				assert_ptr_equal(info, infos[i]);
			infos[i] = info;
		}
	}
	for (unsigned i = 0; i < MANY; i++) {
		snprintf(name, sizeof name, "function%u", i);
		assert_ptr_equal(probe_table_get(table, i), infos[i]);
		assert_int_equal(infos[i]->id, i);
		assert_string_equal(infos[i]->name, name);
	}
	assert_null(probe_table_get(table, MANY));
	assert_null(probe_table_get(table, UINT32_MAX));
	probe_table_destroy(table);
	probe_table_destroy(NULL);
}

static void test_removal(void **state)
{
	enum { MANY = 3000 };
	struct probe_table *table = probe_table_create();
	char name[32];

	(void)state;
	for (unsigned i = 0; i < MANY; i++) {
		snprintf(name, sizeof name, "f%u", i);
		probe_table_add(table, PROBE_CALL, name, "m", name, &one);
	}
	for (unsigned i = 0; i < MANY; i++)
		if (i % 3)
			probe_table_remove(table, i);
	probe_table_remove(table, 1);
	probe_table_remove(table, MANY);
	for (unsigned i = 0; i < MANY; i++) {
		const struct probe_info *info = probe_table_get(table, i);

		snprintf(name, sizeof name, "f%u", i);
		if (i % 3) {
			assert_null(info);
			continue;
		}
		assert_string_equal(info->name, name);
		assert_ptr_equal(probe_table_add(table, PROBE_CALL, name, "m", name, &one), info);
	}
	/* Their ids are given to others, so that no more ids are needed than before. */
	for (unsigned i = 0; i < MANY - MANY / 3; i++) {
		snprintf(name, sizeof name, "g%u", i);
		const struct probe_info *info = probe_table_add(table, PROBE_CALL, name, "m", name,
								&one);

		assert_true(info->id < MANY && info->id % 3);
		assert_ptr_equal(probe_table_get(table, info->id), info);
	}
	assert_int_equal(probe_table_add(table, PROBE_CALL, "more", "m", "more", &one)->id, MANY);
	probe_table_destroy(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sharing),
		cmocka_unit_test(test_text_is_copied),
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_removal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

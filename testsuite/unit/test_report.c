/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of the report: columns of time that grow, the slowest calls, the tree of the flame graph, the time line;
 * and a report of records that make no sense.
 */
#include "base/xalloc.h"
#include "records.h"
#include "sink/report/report_cells.h"
#include "sink/report/report_flame.h"
#include "sink/report/report_grid.h"
#include "sink/report/report_json.h"
#include "sink/report/report_rows.h"
#include "sink/report/report_threads.h"
#include "sink/sink.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Numbers that are the same in each run. */
static uint64_t chance(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* ------------------------------------------------------------------ columns */

static uint64_t sum_of(const uint32_t *counts)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < REPORT_COLUMNS; i++)
		sum += counts[i];
	return sum;
}

/* Whatever the order of times, each is counted in the column that has it. */
static void test_columns(void **state)
{
	static const uint64_t ranges[] = {1000, 1000000, 1000000000000, UINT64_MAX};
	uint64_t seed = 1, times[2000];

	(void)state;
	for (size_t range = 0; range < sizeof ranges / sizeof *ranges; range++) {
		uint32_t counts[REPORT_COLUMNS] = {0}, expected[REPORT_COLUMNS] = {0};
		struct report_grid grid = {0};
		struct report_move move;

		for (unsigned i = 0; i < 2000; i++) {
			times[i] = chance(&seed) % ranges[range];
			if (report_grid_cover(&grid, times[i], &move))
				report_move_counts(&move, counts);
			report_count(&counts[report_grid_column(&grid, times[i])]);
			assert_true(grid.last - grid.first < REPORT_COLUMNS);
		}
		for (unsigned i = 0; i < 2000; i++) {
			const uint64_t column = (times[i] >> grid.shift) - grid.first;

			assert_true(column < REPORT_COLUMNS);
			expected[column]++;
		}
		assert_int_equal(sum_of(counts), 2000);
		assert_memory_equal(counts, expected, sizeof counts);
	}
}

static void test_full_counts(void **state)
{
	uint32_t counts[REPORT_COLUMNS] = {UINT32_MAX, 7};
	const struct report_move move = {0, 0, 1};

	(void)state;
	report_count(&counts[0]);
	assert_int_equal(counts[0], UINT32_MAX);
	report_move_counts(&move, counts);
	assert_int_equal(counts[0], UINT32_MAX);
	assert_int_equal(counts[1], 0);
}

/* ------------------------------------------------------------------ the slowest calls */

static int compare(const void *left, const void *right)
{
	const uint64_t *one = left, *other = right;

	return *one < *other ? 1 : *one > *other ? -1 : 0;
}

static void add_call(struct report_slowest *slowest, unsigned most, uint64_t duration)
{
	struct report_call *call = xcalloc(1, sizeof *call);

	call->users = 1;
	call->duration = duration;
	if (report_slowest_wants(slowest, most, duration))
		report_slowest_add(slowest, most, call);
	report_call_release(call);
}

static void test_slowest(void **state)
{
	static const unsigned sizes[] = {1, 3, 4, 5, 64, 1000};
	uint64_t seed = 2, durations[3000], kept[3000];

	(void)state;
	for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
		struct report_slowest slowest = {0};

		for (unsigned i = 0; i < 3000; i++) {
			durations[i] = chance(&seed) % 2000;
			add_call(&slowest, sizes[k], durations[i]);
		}
		qsort(durations, 3000, sizeof *durations, compare);
		assert_int_equal(slowest.count, sizes[k]);
		for (unsigned i = 0; i < slowest.count; i++)
			kept[i] = slowest.calls[i]->duration;
		qsort(kept, slowest.count, sizeof *kept, compare);
		assert_memory_equal(kept, durations, slowest.count * sizeof *kept);
		report_slowest_deinit(&slowest);
	}
}

/* When two cells become one, it has the slowest of both. */
static void test_cells(void **state)
{
	struct report_cells cells = {0};
	const struct report_move move = {10, 5, 1};

	(void)state;
	for (unsigned i = 0; i < REPORT_CELL_CALLS; i++) {
		add_call(report_cells_at(&cells, 0, 1000), REPORT_CELL_CALLS, 1000 + i);
		add_call(report_cells_at(&cells, 1, 1000), REPORT_CELL_CALLS, 1002 + i);
	}
	report_cells_move(&cells, &move);
	const struct report_slowest *cell = report_cells_at(&cells, 0, 1000);

	assert_int_equal(cell->count, REPORT_CELL_CALLS);
	assert_int_equal(cell->calls[0]->duration, 1003); /* of 1003 1003 1004 1005, or 1002 … */
	assert_int_equal(report_cells_at(&cells, 1, 1000)->count, 0);
	report_cells_deinit(&cells);
}

/* ------------------------------------------------------------------ the flame graph */

static void add_ended(struct report_flame *flame, struct vec *pieces, const char *name,
		      unsigned depth, uint64_t begun, uint64_t duration)
{
	report_flame_add(
		flame, pieces,
		&(struct report_ended){
			.name = name, .begun = begun, .duration = duration, .depth = depth});
}

/* Returns the node below `parent` of that name, which has to be there. */
static uint32_t below(const struct report_flame *flame, uint32_t parent, const char *name)
{
	uint32_t node = report_flame_node(flame, parent)->child;

	while (node &&
	       strcmp(flame->names.entries[report_flame_node(flame, node)->name].name, name) != 0)
		node = report_flame_node(flame, node)->next;
	assert_int_not_equal(node, 0);
	return node;
}

static void check_node(const struct report_flame *flame, uint32_t node, uint64_t calls,
		       uint64_t time)
{
	assert_int_equal(report_flame_node(flame, node)->calls, calls);
	assert_int_equal(report_flame_node(flame, node)->time, time);
}

static void test_calls_in_calls(void **state)
{
	struct vec pieces = VEC_OF(struct report_piece);
	struct report_flame flame = {0};

	(void)state;
	report_flame_begin(&flame);
	for (unsigned i = 0; i < 2; i++) {
		const uint64_t at = 1000 * i;

		add_ended(&flame, &pieces, "leaf", 2, at + 120, 10);
		add_ended(&flame, &pieces, "middle", 1, at + 110, 50);
		add_ended(&flame, &pieces, "leaf", 1, at + 170, 5);
		add_ended(&flame, &pieces, "leaf", 1, at + 180, 6);
		add_ended(&flame, &pieces, "outer", 0, at + 100, 100);
		assert_int_equal(pieces.count, 0);
	}
	const uint32_t outer = below(&flame, 0, "outer"), middle = below(&flame, outer, "middle");

	check_node(&flame, outer, 2, 2 * (100 - 50 - 5 - 6));
	check_node(&flame, middle, 2, 2 * (50 - 10));
	check_node(&flame, below(&flame, middle, "leaf"), 2, 20);
	check_node(&flame, below(&flame, outer, "leaf"), 4, 22);
	assert_int_equal(report_flame_node(&flame, outer)->next, 0);
	report_flame_deinit(&flame);
	vec_deinit(&pieces);
}

/* A call that nothing was seen around becomes a part of the tree at the end. */
static void test_calls_without_callers(void **state)
{
	struct vec pieces = VEC_OF(struct report_piece);
	struct report_flame flame = {0};

	(void)state;
	report_flame_begin(&flame);
	for (unsigned i = 0; i < 10000; i++) {
		add_ended(&flame, &pieces, i % 2 ? "one" : "other", 3 + i % 3, 10 * i, 10);
		assert_true(pieces.count < 5000);
	}
	report_flame_flush(&flame, &pieces);
	check_node(&flame, below(&flame, 0, "one"), 5000, 50000);
	check_node(&flame, below(&flame, 0, "other"), 5000, 50000);
	report_flame_deinit(&flame);
	vec_deinit(&pieces);
}

static uint64_t sum_calls(const struct report_flame *flame, uint32_t node, unsigned *height)
{
	uint64_t sum = report_flame_node(flame, node)->calls;
	unsigned highest = 0;

	for (uint32_t child = report_flame_node(flame, node)->child; child;
	     child = report_flame_node(flame, child)->next) {
		unsigned of_child = 0;

		sum += sum_calls(flame, child, &of_child);
		highest = of_child > highest ? of_child : highest;
	}
	*height = highest + 1;
	return sum;
}

/* Neither deep recursion nor ever new names take memory without end, and no call is lost track of. */
static void test_bounds_of_the_tree(void **state)
{
	enum { DEEP = 100000, NAMES = 300000 };
	struct vec pieces = VEC_OF(struct report_piece);
	struct report_flame flame = {0};
	unsigned height;
	char name[16];

	(void)state;
	report_flame_begin(&flame);
	for (unsigned i = DEEP; i-- > 0;)
		add_ended(&flame, &pieces, "deep", i, i, 3 * (DEEP - i));
	assert_int_equal(sum_calls(&flame, 0, &height), DEEP);
	assert_true(height < 1000);
	for (unsigned i = 0; i < NAMES; i++) {
		/* Of one name below another one: not all are neighbours. */
		snprintf(name, sizeof name, "n%u", i % 100);
		add_ended(&flame, &pieces, name, 1, 2000 + i, 1);
		snprintf(name, sizeof name, "o%u", i / 100);
		add_ended(&flame, &pieces, name, 0, 2000 + i, 1);
	}
	assert_int_equal(sum_calls(&flame, 0, &height) + flame.left_out, DEEP + 2 * NAMES);
	assert_true(flame.left_out > 0);
	assert_true(flame.nodes.count <= 100000);
	report_flame_deinit(&flame);
	vec_deinit(&pieces);
}

static void test_stacks(void **state)
{
	struct vec pieces = VEC_OF(struct report_piece);
	struct report_flame flame = {0};
	struct report_ended ended = {.name = "write",
				     .duration = 5,
				     .depth = 1,
				     .begun = 20,
				     .frames = ";main;run;flush",
				     .leaf = 1};

	(void)state;
	report_flame_begin(&flame);
	assert_false(report_flame_knows(&flame, 1));
	report_flame_add(&flame, &pieces, &ended);
	assert_true(report_flame_knows(&flame, 1));
	ended.frames = NULL;
	report_flame_add(&flame, &pieces, &ended);
	ended = (struct report_ended){
		.name = "fwrite", .duration = 30, .begun = 10, .frames = ";main;run", .leaf = 2};
	report_flame_add(&flame, &pieces, &ended);
	const uint32_t run = below(&flame, below(&flame, 0, "main"), "run");

	check_node(&flame, below(&flame, below(&flame, run, "flush"), "write"), 2, 10);
	check_node(&flame, below(&flame, run, "fwrite"), 1, 20);
	report_flame_deinit(&flame);
	vec_deinit(&pieces);
}

/* ------------------------------------------------------------------ the time line */

static void test_slices(void **state)
{
	enum { CALLS = 1000000 };
	struct report_threads threads = {.list = VEC_OF(struct report_thread *)};
	uint64_t seed = 3, longest_left = 0, shortest_kept = UINT64_MAX;
	uint64_t *lengths = xcalloc(CALLS, sizeof *lengths);
	bool is_new;
	struct report_thread *thread = report_threads_get(&threads, 1, 2, &is_new);

	(void)state;
	assert_true(is_new);
	assert_ptr_equal(report_threads_get(&threads, 1, 2, &is_new), thread);
	assert_false(is_new);
	for (unsigned i = 0; i < CALLS; i++) {
		lengths[i] = chance(&seed) % 5000000;
		report_threads_add(&threads, thread,
				   &(struct report_slice){.begun = i, .ended = i + lengths[i]});
		assert_true(thread->slices.count < 500000);
	}
	report_threads_trim(&threads);
	assert_int_equal(thread->slices.count + thread->left_out, CALLS);
	assert_true(thread->slices.count <= 200000 && thread->slices.count > 100000);
	for (size_t i = 0; i < thread->slices.count; i++) {
		const struct report_slice *slice = vec_at(&thread->slices, i);
		const uint64_t length = slice->ended - slice->begun;

		shortest_kept = length < shortest_kept ? length : shortest_kept;
		lengths[slice->begun] = 0;
	}
	for (unsigned i = 0; i < CALLS; i++)
		longest_left = lengths[i] > longest_left ? lengths[i] : longest_left;
	assert_true(longest_left <= thread->shortest);
	assert_true(shortest_kept >= thread->shortest);
	free(lengths);
	report_threads_deinit(&threads);
}

static void test_slices_of_one_length(void **state)
{
	struct report_threads threads = {.list = VEC_OF(struct report_thread *)};
	bool is_new;

	(void)state;
	for (int tid = 1; tid <= 3000; tid++)
		for (unsigned i = 0; i < 500; i++)
			report_threads_add(&threads, report_threads_get(&threads, 1, tid, &is_new),
					   &(struct report_slice){.begun = i, .ended = i});
	assert_int_equal(threads.by_id.count, 3000);
	assert_int_equal(threads.list.count, 1000);
	report_threads_trim(&threads);
	for (size_t i = 0; i < threads.list.count; i++) {
		const struct report_thread *thread = *(struct report_thread **)vec_at(&threads.list,
										      i);

		assert_int_equal(thread->slices.count, 200);
		assert_int_equal(thread->left_out, 300);
	}
	report_threads_deinit(&threads);
}

/* ------------------------------------------------------------------ JSON in HTML */

static void test_json_in_html(void **state)
{
	static const char text[] = "</script><!-- \xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa \"\\\xff";
	struct outbuf out;

	(void)state;
	outbuf_init(&out, -1);
	report_json_text(&out, text, sizeof text - 1);
	outbuf_char(&out, '\0');
	assert_string_equal(out.text, "\"\\u003c/script>\\u003c!-- \\u2028\\u2029\xe2\x80\xaa "
				      "\\\"\\\\\xf4\x8f\xbf\xbf\"");
	outbuf_deinit(&out);
}

/* ------------------------------------------------------------------ records */

/* A sink of records with members by chance writes a page to /dev/null, and ends. */
static void test_senseless_records(void **state)
{
	const struct outbuf_patience patience = {0};
	const struct output_options options = {.string_max = 32,
					       .array_max = 4,
					       .script_line = true,
					       .where = 4,
					       .traced = "x",
					       .patience = patience};
	struct probe_table *probes = probe_table_create();
	const struct sink_target target = {
		.probes = probes, .options = &options, .fd = open("/dev/null", O_WRONLY)};
	struct sink *sink = sink_create(sink_find("report"), &target);
	uint64_t seed = 4;

	(void)state;
	for (unsigned i = 0; i < 5; i++)
		probe_table_add(probes, PROBE_ENTRY, "f", "m", i % 2 ? "f" : "g",
				prototype_unknown());
	for (unsigned i = 0; i < 50000; i++) {
		const unsigned kind = 1 + chance(&seed) % RECORD_ABANDONED;
		struct made made = make_record((enum record_kind)kind, (int32_t)chance(&seed),
					       (uint32_t)(chance(&seed) % 8),
					       chance(&seed) % 100 << (chance(&seed) % 2 * 63));

		made.record.pid = (int32_t)(chance(&seed) % 4);
		made.record.tid = (int32_t)(chance(&seed) % 9);
		made.record.depth = (uint32_t)chance(&seed) >> (chance(&seed) % 32);
		made.record.time = chance(&seed) >> (chance(&seed) % 64);
		made.record.duration = chance(&seed) >> (chance(&seed) % 64);
		made.record.number = (int64_t)chance(&seed);
		made.record.stack = (uint32_t)chance(&seed);
		if (i % 3)
			add_word(&made, (unsigned)chance(&seed) % 256, 4, chance(&seed));
		assert_int_equal(sink->ops->record(sink, &made.record), 0);
	}
	assert_int_equal(sink->ops->finish(sink), 0);
	sink->ops->destroy(sink);
	close(target.fd);
	probe_table_destroy(probes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_full_counts),
		cmocka_unit_test(test_slowest),
		cmocka_unit_test(test_cells),
		cmocka_unit_test(test_calls_in_calls),
		cmocka_unit_test(test_calls_without_callers),
		cmocka_unit_test(test_bounds_of_the_tree),
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_slices),
		cmocka_unit_test(test_slices_of_one_length),
		cmocka_unit_test(test_json_in_html),
		cmocka_unit_test(test_senseless_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

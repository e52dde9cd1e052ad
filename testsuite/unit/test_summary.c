/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of -c. */
#include "records.h"
#include "sink/sink.h"
#include "sink/tables/summary.h"
#include "sink/tables/summary_table.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#define HEAD                                                                                       \
	"% time     seconds  usecs/call     calls      function\n"                                 \
	"------ ----------- ----------- --------- --------------------\n"
#define RULE "------ ----------- ----------- --------- --------------------\n"

static const struct prototype prototype = {.name = "f", .result = &type_void};

struct fixture {
	struct probe_table *probes;
	struct output_options options;
	struct sink *sink;
	int fd;
	uint64_t calls;
	char text[8192];
};

static struct sink *create(const struct fixture *fixture, int fd)
{
	const struct sink_target target = {
		.probes = fixture->probes, .options = &fixture->options, .fd = fd};

	return summary_sink_create(&target);
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof *fixture);

	fixture->probes = probe_table_create();
	fixture->fd = memfd_create("summary", MFD_CLOEXEC);
	fixture->sink = create(fixture, fixture->fd);
	*state = fixture;
	return fixture->fd < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	fixture->sink->ops->destroy(fixture->sink);
	probe_table_destroy(fixture->probes);
	close(fixture->fd);
	free(fixture);
	return 0;
}

static uint32_t probe(struct fixture *fixture, const char *name, const char *module)
{
	return probe_table_add(fixture->probes, PROBE_CALL, name, module, name, &prototype)->id;
}

static void record(struct fixture *fixture, enum record_kind kind, uint32_t id, uint64_t duration)
{
	struct made made = make_record(kind, 1, id, ++fixture->calls);

	made.record.duration = duration;
	assert_int_equal(fixture->sink->ops->record(fixture->sink, &made.record), 0);
}

static void call(struct fixture *fixture, uint32_t id, uint64_t duration)
{
	record(fixture, RECORD_CALL, id, 0);
	record(fixture, RECORD_RETURN, id, duration);
}

static const char *finish(struct fixture *fixture)
{
	assert_int_equal(fixture->sink->ops->finish(fixture->sink), 0);
	return file_text(fixture->fd, fixture->text, sizeof fixture->text);
}

static void test_nothing(void **state)
{
	assert_string_equal(finish(*state),
			    HEAD RULE "100.00    0.000000                     0 total\n");
}

static void test_table(void **state)
{
	struct fixture *fixture = *state;
	uint32_t usleep_probe = probe(fixture, "usleep", "prog");
	uint32_t strlen_probe = probe(fixture, "strlen", "prog");
	uint32_t exit_probe = probe(fixture, "exit", "prog");

	for (int i = 0; i < 3; i++)
		call(fixture, strlen_probe, 1500);
	call(fixture, usleep_probe, 1000000000);
	record(fixture, RECORD_CALL, exit_probe, 0); /* never returns */
	record(fixture, RECORD_EXITED, 0, 12345);
	assert_int_equal(fixture->sink->ops->flush(fixture->sink), 0);
	assert_string_equal(finish(fixture),
			    HEAD "100.00    1.000000     1000000         1 usleep\n"
				 "  0.00    0.000004           1         3 strlen\n"
				 "  0.00    0.000000           0         1 exit\n" RULE
				 "100.00    1.000004                     5 total\n");
}

/* Returns the text of what is written now, without its first line, which has the time. */
static const char *snapshot(struct fixture *fixture, bool is_anew)
{
	unsigned hour, minute, second, us, elapsed, elapsed_us;

	assert_int_equal(ftruncate(fixture->fd, 0), 0);
	assert_int_equal(lseek(fixture->fd, 0, SEEK_SET), 0);
	assert_int_equal(fixture->sink->ops->snapshot(fixture->sink, is_anew), 0);
	const char *text = file_text(fixture->fd, fixture->text, sizeof fixture->text);

	assert_int_equal(sscanf(text, "--- %2u:%2u:%2u.%6u, %u.%6u s ---\n", &hour, &minute,
				&second, &us, &elapsed, &elapsed_us),
			 6);
	return strchr(text, '\n') + 1;
}

static void test_snapshots(void **state)
{
	static const char nothing[] = HEAD RULE "100.00    0.000000                     0 total\n";
	static const char once[] = HEAD "100.00    0.000002           2         1 f\n" RULE
					"100.00    0.000002                     1 total\n";
	static const char twice[] = HEAD "100.00    0.000004           2         2 f\n" RULE
					 "100.00    0.000004                     2 total\n";
	static const char late[] = HEAD "100.00    0.000003           0         0 f\n" RULE
					"100.00    0.000003                     0 total\n";
	struct fixture *fixture = *state;
	const struct probe_info *f = probe_table_get(fixture->probes, probe(fixture, "f", "prog"));

	assert_string_equal(snapshot(fixture, false), nothing);
	call(fixture, f->id, 2000);
	assert_string_equal(snapshot(fixture, false), once);
	call(fixture, f->id, 2000);
	assert_string_equal(snapshot(fixture, true), twice);
	assert_string_equal(snapshot(fixture, true), nothing);
	/* The counts of a probe that is removed, too. */
	call(fixture, f->id, 2000);
	fixture->sink->ops->forget(fixture->sink, f);
	assert_string_equal(snapshot(fixture, true), once);
	assert_string_equal(snapshot(fixture, true), nothing);
	/* A call that returns later than the table. */
	record(fixture, RECORD_CALL, f->id, 0);
	snapshot(fixture, true);
	record(fixture, RECORD_RETURN, f->id, 3000);
	assert_string_equal(snapshot(fixture, true), late);
	call(fixture, f->id, 2000);
	assert_int_equal(ftruncate(fixture->fd, 0), 0);
	assert_int_equal(lseek(fixture->fd, 0, SEEK_SET), 0);
	assert_string_equal(finish(fixture), once);
}

/* Rounded like in ltrace: 2757 of 3621 µs are 76.14 %. */
static void test_shares(void **state)
{
	struct fixture *fixture = *state;

	call(fixture, probe(fixture, "b", "prog"), 864000);
	call(fixture, probe(fixture, "a", "prog"), 2757000);
	assert_string_equal(finish(fixture),
			    HEAD " 76.14    0.002757        2757         1 a\n"
				 " 23.86    0.000864         864         1 b\n" RULE
				 "100.00    0.003621                     2 total\n");
}

static void choose(struct fixture *fixture, const uint8_t *columns, unsigned count)
{
	memcpy(fixture->options.columns, columns, count);
	fixture->options.column_count = count;
}

/*
 * In the order asked for, with a name longer than its column, and no blanks at the ends of lines.
 */
static void test_columns(void **state)
{
	struct fixture *fixture = *state;
	uint32_t longer = probe(fixture, "a_name_of_twenty_five_let", "prog");
	uint32_t exit_probe = probe(fixture, "exit", "prog");

	call(fixture, longer, 2000);
	call(fixture, longer, 9000);
	call(fixture, longer, 4000);
	record(fixture, RECORD_CALL, exit_probe, 0);
	choose(fixture,
	       (const uint8_t[]){COLUMN_NAME, COLUMN_SHORTEST, COLUMN_LONGEST, COLUMN_CALLS,
				 COLUMN_AVERAGE},
	       5);
	assert_true(summary_needs_each_call(&fixture->options));
	assert_string_equal(
		finish(fixture),
		"     function               usecs min   usecs max     calls  usecs/call\n"
		"------------------------- ----------- ----------- --------- -----------\n"
		"a_name_of_twenty_five_let           2           9         3           5\n"
		"exit                                -           -         1           0\n"
		"------------------------- ----------- ----------- --------- -----------\n"
		"total                                                     4\n");
}

/* A row made of two keeps the shortest and the longest of both. */
static void test_extremes_of_merged_rows(void **state)
{
	struct fixture *fixture = *state;
	uint32_t first = probe(fixture, "f", "one"), second = probe(fixture, "f", "two");

	call(fixture, first, 5000);
	call(fixture, second, 7000);
	call(fixture, second, 3000);
	probe(fixture, "f", "three"); /* never called: its zero is no shortest */
	choose(fixture, (const uint8_t[]){COLUMN_TOTAL, COLUMN_SHORTEST, COLUMN_LONGEST}, 3);
	assert_string_equal(finish(fixture), "    seconds   usecs min   usecs max\n"
					     "----------- ----------- -----------\n"
					     "   0.000015           3           7\n"
					     "----------- ----------- -----------\n"
					     "   0.000015\n");
}

static void test_sums_need_no_single_calls(void **state)
{
	struct fixture *fixture = *state;

	assert_false(summary_needs_each_call(&fixture->options));
	choose(fixture, (const uint8_t[]){COLUMN_AVERAGE, COLUMN_TOTAL, COLUMN_SHARE, COLUMN_NAME},
	       4);
	assert_false(summary_needs_each_call(&fixture->options));
}

/*
 * A name that is found in two modules, or traced in two ways, is one row. Ids and rows differ in
 * order.
 */
static void test_merging(void **state)
{
	struct fixture *fixture = *state;
	uint32_t z = probe(fixture, "z", "one");
	uint32_t a = probe(fixture, "a", "one");
	uint32_t again = probe(fixture, "z", "two");

	call(fixture, again, 2000000);
	call(fixture, a, 1000000);
	call(fixture, z, 1000000);
	assert_string_equal(finish(fixture),
			    HEAD " 75.00    0.003000        1500         2 z\n"
				 " 25.00    0.001000        1000         1 a\n" RULE
				 "100.00    0.004000                     3 total\n");
}

static void forget(struct fixture *fixture, uint32_t id)
{
	fixture->sink->ops->forget(fixture->sink, probe_table_get(fixture->probes, id));
	probe_table_remove(fixture->probes, id);
}

/* The counts of a probe stay when it is removed, and its id counts for another. */
static void test_forgotten(void **state)
{
	struct fixture *fixture = *state;
	uint32_t a = probe(fixture, "a", "one"), b = probe(fixture, "b", "one");

	call(fixture, a, 1000000);
	call(fixture, b, 4000000);
	forget(fixture, a);
	uint32_t c = probe(fixture, "c", "one");

	assert_int_equal(c, a);
	call(fixture, c, 2000000);
	uint32_t again = probe(fixture, "a", "two"), unused = probe(fixture, "unused", "two");

	call(fixture, again, 2000000);
	forget(fixture, again);
	forget(fixture, unused);
	call(fixture, probe(fixture, "a", "three"), 1000000);
	assert_string_equal(finish(fixture),
			    HEAD " 40.00    0.004000        1333         3 a\n"
				 " 40.00    0.004000        4000         1 b\n"
				 " 20.00    0.002000        2000         1 c\n" RULE
				 "100.00    0.010000                     5 total\n");
}

static void assert_order(struct fixture *fixture, int sort, const char *order)
{
	uint32_t c = probe(fixture, "ccc", "prog"), a = probe(fixture, "aaa", "prog");
	uint32_t b = probe(fixture, "bbb", "prog");
	char found[4] = "";

	fixture->options.sort = sort;
	call(fixture, a, 2000);
	call(fixture, c, 1000);
	call(fixture, c, 500);
	call(fixture, b, 3000);
	for (const char *line = finish(fixture); (line = strchr(line, '\n')); line++) {
		const char *name = strpbrk(line + 1, "abc\n");

		/* Names of rows end in three equal letters. */
		if (name && name[0] == name[1] && name[0] == name[2] && strlen(found) < 3)
			found[strlen(found)] = *name;
	}
	assert_string_equal(found, order);
}

static void test_sort_time(void **state)
{
	assert_order(*state, SORT_TIME, "bac");
}

static void test_sort_calls(void **state)
{
	assert_order(*state, SORT_CALLS, "cba");
}

static void test_sort_name(void **state)
{
	assert_order(*state, SORT_NAME, "abc");
}

/* Ids without a probe allocate nothing; huge counts and hostile names are shown. */
static void test_hostile(void **state)
{
	struct fixture *fixture = *state;
	uint32_t evil = probe(fixture, "evil\x1b[2J", "prog");

	record(fixture, RECORD_CALL, UINT32_MAX, 0);
	record(fixture, RECORD_RETURN, 1, 5000);
	record(fixture, RECORD_RETURN, evil, 99999999999999999); /* its call was not seen */
	assert_string_equal(finish(fixture),
			    HEAD "100.00 99999999.999999           0         0 evil\\033[2J\n" RULE
				 "100.00 99999999.999999                     0 total\n");
}

/* What is kept of calls is decided when the sink is made. */
static void choose_anew(struct fixture *fixture, const uint8_t *columns, unsigned count)
{
	choose(fixture, columns, count);
	fixture->sink->ops->destroy(fixture->sink);
	fixture->sink = create(fixture, fixture->fd);
}

static void counted(struct fixture *fixture, uint32_t id, const struct record_bucket *buckets,
		    size_t count)
{
	struct made made = make_record(RECORD_COUNTED, 1, id, 0);
	const struct record_value value = {
		.kind = VALUE_STRING, .size = 8, .length = (uint32_t)(count * sizeof *buckets)};

	for (size_t i = 0; i < count; i++) {
		made.record.number += (int64_t)buckets[i].calls;
		made.record.duration += buckets[i].calls * buckets[i].duration;
	}
	add_value(&made, value, buckets);
	assert_int_equal(fixture->sink->ops->record(fixture->sink, &made.record), 0);
}

#define PERCENTILES                                                                                \
	"    calls   usecs p50   usecs p90   usecs p95   usecs p99 usecs p99.9\n"                  \
	"--------- ----------- ----------- ----------- ----------- -----------\n"
#define PERCENTILES_END "--------- ----------- ----------- ----------- ----------- -----------\n"
static const uint8_t percentiles[] = {COLUMN_CALLS, COLUMN_P50, COLUMN_P90,
				      COLUMN_P95,   COLUMN_P99, COLUMN_P999};

/* Of 1 to 400 ns, each so many times; 400 of single calls, the rest of two counted records. */
static void test_percentiles(void **state)
{
	struct fixture *fixture = *state;

	choose_anew(fixture, percentiles, sizeof percentiles);
	uint32_t f = probe(fixture, "f", "one"), g = probe(fixture, "f", "two");
	uint32_t exit_probe = probe(fixture, "exit", "one");

	for (uint64_t i = 1; i <= 400; i++)
		call(fixture, i % 2 ? f : g, i);
	for (uint64_t i = 1; i <= 400; i += 4) {
		const struct record_bucket buckets[] = {{i, 9}, {i + 1, 9}, {i + 2, 9}, {i + 3, 9}};

		counted(fixture, i % 8 == 1 ? f : g, buckets, 4);
	}
	record(fixture, RECORD_CALL, exit_probe, 0);
	assert_false(summary_needs_each_call(&fixture->options));
	assert_true(summary_needs_buckets(&fixture->options));
	assert_string_equal(finish(fixture),
			    PERCENTILES "     4000       0.200       0.360       0.380       0.396"
					"       0.400\n"
					"        1           -           -           -           -"
					"           -\n" PERCENTILES_END "     4001\n");
}

/* What is known of each call is exact: a percentile is not beyond the greatest time. */
static void test_percentile_of_one_call(void **state)
{
	struct fixture *fixture = *state;

	choose_anew(fixture, (const uint8_t[]){COLUMN_P50, COLUMN_P999, COLUMN_LONGEST}, 3);
	call(fixture, probe(fixture, "f", "one"), 123456789);
	assert_string_equal(finish(fixture), "  usecs p50 usecs p99.9   usecs max\n"
					     "----------- ----------- -----------\n"
					     " 123456.789  123456.789      123456\n"
					     "----------- ----------- -----------\n"
					     "\n");
}

/* Percentiles stay with the name of a probe that is removed. */
static void test_forgotten_percentiles(void **state)
{
	struct fixture *fixture = *state;

	choose_anew(fixture, (const uint8_t[]){COLUMN_P50, COLUMN_P90, COLUMN_NAME}, 3);
	uint32_t a = probe(fixture, "a", "one");

	for (uint64_t i = 0; i < 10; i++)
		call(fixture, a, 100);
	forget(fixture, a);
	a = probe(fixture, "b", "one");
	call(fixture, a, 50);
	a = probe(fixture, "a", "two");
	for (uint64_t i = 0; i < 10; i++)
		call(fixture, a, 200);
	assert_string_equal(finish(fixture), "  usecs p50   usecs p90      function\n"
					     "----------- ----------- --------------------\n"
					     "      0.100       0.200 a\n"
					     "      0.050       0.050 b\n"
					     "----------- ----------- --------------------\n"
					     "                        total\n");
}

/* A record with buckets that it does not have room for counts calls, and no buckets. */
static void test_damaged_buckets(void **state)
{
	struct fixture *fixture = *state;

	choose_anew(fixture, (const uint8_t[]){COLUMN_CALLS, COLUMN_P50}, 2);
	uint32_t f = probe(fixture, "f", "one");
	struct made made = make_record(RECORD_COUNTED, 1, f, 0);

	made.record.number = 5;
	add_value(&made, (struct record_value){.kind = VALUE_STRING, .length = 64}, NULL);
	made.record.size -= 8;
	assert_int_equal(fixture->sink->ops->record(fixture->sink, &made.record), 0);
	made.record.size = sizeof made.record + 8;
	assert_int_equal(fixture->sink->ops->record(fixture->sink, &made.record), 0);
	made.record.size = sizeof made.record;
	assert_int_equal(fixture->sink->ops->record(fixture->sink, &made.record), 0);
	assert_string_equal(finish(fixture), "    calls   usecs p50\n"
					     "--------- -----------\n"
					     "       15           -\n"
					     "--------- -----------\n"
					     "       15\n");
}

/* All cells have one scale: 256 ns to 17 s, and the rest at the ends. Trailing blanks are left out. */
static void test_histogram_cell(void **state)
{
	struct fixture *fixture = *state;

	choose_anew(fixture, (const uint8_t[]){COLUMN_HISTOGRAM, COLUMN_NAME}, 2);
	uint32_t f = probe(fixture, "f", "one"), g = probe(fixture, "g", "one");
	const struct record_bucket buckets[] = {{0, 500},	 {255, 500},	   {256, 1},
						{1024, 750},	 {1 << 20, 1},	   {1 << 30, 499},
						{1ULL << 34, 1}, {UINT64_MAX, 124}};

	counted(fixture, f, buckets, 8);
	call(fixture, g, 2048);
	record(fixture, RECORD_CALL, probe(fixture, "exit", "one"), 0);
	fixture->options.sort = SORT_NAME;
	assert_string_equal(finish(fixture), "...1us.......1ms.......1s...      function\n"
					     "---------------------------- --------------------\n"
					     "                           - exit\n"
					     "@. *         .         =   . f\n"
					     "    @                        g\n"
					     "---------------------------- --------------------\n"
					     "                             total\n");
}

static void test_histogram_cell_in_utf8(void **state)
{
	struct fixture *fixture = *state;
	const struct record_bucket buckets[] = {{0, 8}, {256, 1}, {512, 4}};

	fixture->options.utf8 = true;
	choose_anew(fixture, (const uint8_t[]){COLUMN_NAME, COLUMN_HISTOGRAM, COLUMN_CALLS}, 3);
	counted(fixture, probe(fixture, "f", "one"), buckets, 3);
	assert_non_null(strstr(finish(fixture), "f                    \u2588\u2581\u2584"
						"                                 13\n"));
}

static void test_histogram_lines(void **state)
{
	struct fixture *fixture = *state;
	const struct record_bucket buckets[] = {
		{40, 1}, {64, 3}, {100, 5}, {256, 80}, {1ULL << 63, 1}};

	fixture->options.histogram = true;
	choose_anew(fixture, (const uint8_t[]){COLUMN_CALLS, COLUMN_NAME}, 2);
	counted(fixture, probe(fixture, "f", "one"), buckets, 4);
	counted(fixture, probe(fixture, "g", "one"), buckets + 4, 1);
	record(fixture, RECORD_CALL, probe(fixture, "exit", "one"), 0);
	fixture->options.sort = SORT_CALLS;
	assert_string_equal(
		finish(fixture),
		"    calls      function\n"
		"--------- --------------------\n"
		"       89 f\n"
		"        from ns          to ns          calls\n"
		"             32             63              1 |#                                       |\n"
		"             64            127              8 |####                                    |\n"
		"            128            255              0 |                                        |\n"
		"            256            511             80 |########################################|\n"
		"        1 g\n"
		"        from ns          to ns          calls\n"
		" 9223372036854775808 18446744073709551615              1 |"
		"########################################|\n"
		"        1 exit\n"
		"--------- --------------------\n"
		"       91 total\n");
}

static void at(struct fixture *fixture, enum record_kind kind, uint32_t id, uint64_t time,
	       int64_t number)
{
	struct made made = make_record(kind, 1, id, ++fixture->calls);

	made.record.time = time;
	made.record.number = number;
	made.record.duration = 1000000000;
	assert_int_equal(fixture->sink->ops->record(fixture->sink, &made.record), 0);
}

/* By the entries of calls, in whatever order they come; a call from before the attach counts. */
static void test_first_and_last(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t noon = 1700000000000000000;

	setenv("TZ", "UTC0", 1);
	choose_anew(fixture, (const uint8_t[]){COLUMN_FIRST, COLUMN_LAST, COLUMN_NAME}, 3);
	uint32_t f = probe(fixture, "f", "one"), g = probe(fixture, "f", "two");
	uint32_t h = probe(fixture, "h", "one");

	at(fixture, RECORD_CALL, f, noon + 2000000, 0);
	at(fixture, RECORD_RETURN, f, noon + 9000000000, 0);
	at(fixture, RECORD_CALL, g, noon + 1000999, 0);
	at(fixture, RECORD_CALL, f, noon + 1500000, 0);
	at(fixture, RECORD_RETURN, h, noon + 1000000000, RECORD_SINCE_ATTACH);
	at(fixture, RECORD_RETURN, probe(fixture, "i", "one"), noon, RECORD_INHERITED);
	fixture->options.sort = SORT_NAME;
	assert_true(summary_needs_each_call(&fixture->options));
	assert_false(summary_needs_buckets(&fixture->options));
	assert_string_equal(finish(fixture),
			    "       first call         last call      function\n"
			    "----------------- ----------------- --------------------\n"
			    "  22:13:20.001000   22:13:20.002000 f\n"
			    "  22:13:20.000000   22:13:20.000000 h\n"
			    "----------------- ----------------- --------------------\n"
			    "                                    total\n");
}

static void test_first_since_the_epoch(void **state)
{
	struct fixture *fixture = *state;

	fixture->options.time_stamp = 3;
	choose_anew(fixture, (const uint8_t[]){COLUMN_FIRST, COLUMN_CALLS}, 2);
	at(fixture, RECORD_CALL, probe(fixture, "f", "one"), 1700000000000123456, 0);
	assert_non_null(strstr(finish(fixture), "\n1700000000.000123         1\n"));
}

static void test_full_disk(void **state)
{
	struct fixture *fixture = *state;
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	if (full < 0)
		skip();
	struct sink *sink = create(fixture, full);

	assert_int_equal(sink->ops->finish(sink), -ENOSPC);
	sink->ops->destroy(sink);
	close(full);
}

#define test(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(test_nothing),
		test(test_table),
		test(test_snapshots),
		test(test_shares),
		test(test_merging),
		test(test_sort_time),
		test(test_sort_calls),
		test(test_sort_name),
		test(test_hostile),
		test(test_full_disk),
		test(test_forgotten),
		test(test_columns),
		test(test_extremes_of_merged_rows),
		test(test_sums_need_no_single_calls),
		test(test_percentiles),
		test(test_percentile_of_one_call),
		test(test_forgotten_percentiles),
		test(test_damaged_buckets),
		test(test_histogram_cell),
		test(test_histogram_cell_in_utf8),
		test(test_histogram_lines),
		test(test_first_and_last),
		test(test_first_since_the_epoch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

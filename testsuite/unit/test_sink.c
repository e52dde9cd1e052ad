/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of sinks: what its rows say, and that each creates a sink that works. */
#include "records.h"
#include "sink/sink.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static const struct prototype prototype = {.name = "f", .result = &type_void};

static void rows_have_names(void **state)
{
	(void)state;
	assert_string_equal(sink_find("text")->name, "text");
	assert_string_equal(sink_find("summary")->name, "summary");
	assert_null(sink_find("tex"));
	assert_null(sink_find(""));
}

static void lines_show_values_at_once(void **state)
{
	const struct sink_kind *text = sink_find("text");
	const struct output_options options = {0};

	(void)state;
	assert_true(text->shows_values);
	assert_false(text->only_at_end);
	assert_true(sink_needs_each_call(text, &options));
	assert_false(sink_needs_buckets(text, &options));
}

static void a_table_needs_sums(void **state)
{
	const struct sink_kind *summary = sink_find("summary");
	struct output_options options = {0};

	(void)state;
	assert_false(summary->shows_values);
	assert_true(summary->only_at_end);
	assert_false(sink_needs_each_call(summary, &options));
	assert_false(sink_needs_buckets(summary, &options));
	options.columns[options.column_count++] = COLUMN_P99;
	assert_true(sink_needs_buckets(summary, &options));
	assert_false(sink_needs_each_call(summary, &options));
	options.columns[options.column_count++] = COLUMN_LONGEST;
	assert_true(sink_needs_each_call(summary, &options));
}

/* What a sink of that kind, alone or for each process, writes of one call. */
static void write_call(const char *kind, bool per_process, char *text, size_t size)
{
	const struct output_options options = {.string_max = 32};
	struct probe_table *probes = probe_table_create();
	uint32_t probe = probe_table_add(probes, PROBE_CALL, "f", "prog", "f", &prototype)->id;
	const struct sink_target target = {.probes = probes,
					   .options = &options,
					   .per_process = per_process,
					   .fd = memfd_create("sink", MFD_CLOEXEC)};
	struct sink *sink = sink_create(sink_find(kind), &target);

	for (int i = 0; i < 2; i++) {
		struct made made = make_record(i ? RECORD_RETURN : RECORD_CALL, 7, probe, 1);

		made.record.pid = 7;
		assert_int_equal(sink->ops->record(sink, &made.record), 0);
	}
	assert_int_equal(sink->ops->finish(sink), 0);
	sink->ops->destroy(sink);
	file_text(target.fd, text, size);
	close(target.fd);
	probe_table_destroy(probes);
}

static void rows_create_their_sinks(void **state)
{
	char text[2048];

	(void)state;
	write_call("text", false, text, sizeof text);
	assert_string_equal(text, "f() = <void>\n");
	write_call("text", true, text, sizeof text);
	assert_string_equal(text, "f() = <void>\n");
	write_call("summary", false, text, sizeof text);
	assert_non_null(strstr(text, " total\n"));
	assert_null(strstr(text, "process 7\n"));
	write_call("summary", true, text, sizeof text);
	assert_non_null(strstr(text, " total\n"));
	assert_non_null(strstr(text, "process 7\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_have_names),
		cmocka_unit_test(lines_show_values_at_once),
		cmocka_unit_test(a_table_needs_sums),
		cmocka_unit_test(rows_create_their_sinks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

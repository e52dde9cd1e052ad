/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file or a table for each process: where each record goes, and when files are opened and closed.
 */
#include "records.h"
#include "sink/sink.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static const struct prototype prototype = {.name = "f", .result = &type_void};

struct fixture {
	char directory[64];
	char path[80];
	struct probe_table *probes;
	uint32_t probe;
	struct output_options options;
	int table; /* where tables go */
	struct sink *sink;
	char text[8192];
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof *fixture);

	snprintf(fixture->directory, sizeof fixture->directory, "/tmp/test-split-XXXXXX");
	assert_non_null(mkdtemp(fixture->directory));
	snprintf(fixture->path, sizeof fixture->path, "%s/trace", fixture->directory);
	fixture->probes = probe_table_create();
	fixture->probe =
		probe_table_add(fixture->probes, PROBE_CALL, "f", "prog", "f", &prototype)->id;
	fixture->options.to_file = true;
	fixture->table = memfd_create("table", MFD_CLOEXEC);
	*state = fixture;
	return 0;
}

static void create(struct fixture *fixture, const char *kind, bool files)
{
	const struct sink_target target = {.probes = fixture->probes,
					   .options = &fixture->options,
					   .path = files ? fixture->path : NULL,
					   .per_process = !files,
					   .fd = fixture->table};

	fixture->sink = sink_create(sink_find(kind), &target);
}

static char *file_of(struct fixture *fixture, int32_t pid, char *path, size_t size)
{
	snprintf(path, size, "%s.%d", fixture->path, pid);
	return path;
}

static const char *text_of(struct fixture *fixture, int32_t pid)
{
	char path[128];
	FILE *file = fopen(file_of(fixture, pid, path, sizeof path), "re");

	if (!file)
		return NULL;
	fixture->text[fread(fixture->text, 1, sizeof fixture->text - 1, file)] = '\0';
	fclose(file);
	return fixture->text;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	char path[128];

	fixture->sink->ops->destroy(fixture->sink);
	probe_table_destroy(fixture->probes);
	close(fixture->table);
	for (int32_t pid = 1; pid < 10; pid++)
		unlink(file_of(fixture, pid, path, sizeof path));
	assert_int_equal(rmdir(fixture->directory), 0);
	free(fixture);
	return 0;
}

static int tell(struct fixture *fixture, enum record_kind kind, int32_t pid, uint64_t call)
{
	struct made made = make_record(kind, pid, fixture->probe, call);

	made.record.pid = pid;
	return fixture->sink->ops->record(fixture->sink, &made.record);
}

static void call(struct fixture *fixture, int32_t pid, uint64_t number)
{
	assert_int_equal(tell(fixture, RECORD_CALL, pid, number), 0);
	assert_int_equal(tell(fixture, RECORD_RETURN, pid, number), 0);
}

static unsigned open_files(void)
{
	DIR *directory = opendir("/proc/self/fd");
	unsigned count = 0;

	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

static void a_file_for_each(void **state)
{
	struct fixture *fixture = *state;
	unsigned before = open_files();

	create(fixture, "text", true);
	assert_int_equal(tell(fixture, RECORD_THREAD, 3, 0), 0);
	call(fixture, 3, 1);
	call(fixture, 4, 2);
	assert_int_equal(tell(fixture, RECORD_CALL, 3, 3), 0);
	assert_int_equal(tell(fixture, RECORD_CALL, 4, 4), 0); /* the line of 3 stays open */
	assert_int_equal(tell(fixture, RECORD_RETURN, 3, 3), 0);
	assert_int_equal(open_files(), before + 2);
	assert_int_equal(tell(fixture, RECORD_EXITED, 3, 0), 0);
	assert_int_equal(open_files(), before + 1);
	assert_int_equal(fixture->sink->ops->finish(fixture->sink), 0);
	assert_int_equal(open_files(), before);
	assert_string_equal(text_of(fixture, 3),
			    "f() = <void>\nf() = <void>\n+++ exited (status 0) +++\n");
	assert_string_equal(text_of(fixture, 4), "f() = <void>\nf( <unfinished ...>\n");
}

/* The first process with a number truncates the file; a later one with the same number does not. */
static void numbers_come_again(void **state)
{
	struct fixture *fixture = *state;
	char path[128];
	FILE *file = fopen(file_of(fixture, 5, path, sizeof path), "we");

	assert_non_null(file);
	fputs("of yesterday\n", file);
	fclose(file);
	create(fixture, "text", true);
	call(fixture, 5, 1);
	assert_int_equal(tell(fixture, RECORD_KILLED, 5, 0), 0);
	call(fixture, 5, 2);
	assert_int_equal(fixture->sink->ops->finish(fixture->sink), 0);
	assert_string_equal(text_of(fixture, 5),
			    "f() = <void>\n+++ killed by SIG0 +++\nf() = <void>\n");
}

static void what_is_of_nobody_goes_to_the_oldest(void **state)
{
	struct fixture *fixture = *state;

	create(fixture, "text", true);
	assert_int_equal(tell(fixture, RECORD_PROBES, 0, 0), 0); /* not into trace.0 */
	assert_int_equal(tell(fixture, RECORD_UNTRACED, 0, 0), 0);
	call(fixture, 6, 1);
	call(fixture, 7, 2);
	assert_int_equal(tell(fixture, RECORD_UNTRACED, 0, 0), 0);
	assert_int_equal(tell(fixture, RECORD_EXITED, 6, 0), 0);
	assert_int_equal(tell(fixture, RECORD_EXITED, 7, 0), 0);
	assert_non_null(strstr(text_of(fixture, 6), "!!! not traced: "));
	assert_null(strstr(text_of(fixture, 7), "!!!"));
	/* When all processes have ended, the file of the last one is continued. */
	assert_int_equal(tell(fixture, RECORD_UNTRACED, 0, 0), 0);
	assert_int_equal(fixture->sink->ops->finish(fixture->sink), 0);
	assert_string_equal(text_of(fixture, 7),
			    "f() = <void>\n+++ exited (status 0) +++\n!!! not traced: ?: ? !!!\n");
	assert_null(text_of(fixture, 0));
}

static void a_file_that_cannot_be(void **state)
{
	struct fixture *fixture = *state;

	snprintf(fixture->path, sizeof fixture->path, "%s/none/trace", fixture->directory);
	create(fixture, "text", true);
	assert_int_equal(tell(fixture, RECORD_THREAD, 3, 0), -ENOENT);
	assert_int_equal(fixture->sink->ops->finish(fixture->sink), 0);
}

static void a_table_for_each(void **state)
{
	struct fixture *fixture = *state;

	fixture->options.columns[0] = COLUMN_CALLS;
	fixture->options.columns[1] = COLUMN_NAME;
	fixture->options.column_count = 2;
	create(fixture, "summary", false);
	assert_int_equal(tell(fixture, RECORD_THREAD, 9, 0), 0); /* calls nothing: no table */
	call(fixture, 3, 1);
	call(fixture, 4, 2);
	call(fixture, 3, 3);
	assert_int_equal(tell(fixture, RECORD_UNTRACED, 0, 0), 0);
	assert_int_equal(tell(fixture, RECORD_EXITED, 4, 0), 0);
	assert_int_equal(fixture->sink->ops->finish(fixture->sink), 0);
	assert_string_equal(file_text(fixture->table, fixture->text, sizeof fixture->text),
			    "process 4\n"
			    "    calls      function\n"
			    "--------- --------------------\n"
			    "        1 f\n"
			    "--------- --------------------\n"
			    "        1 total\n"
			    "\n"
			    "process 3\n"
			    "    calls      function\n"
			    "--------- --------------------\n"
			    "        2 f\n"
			    "--------- --------------------\n"
			    "        2 total\n"
			    "\n"
			    "!!! not traced: ?: ? !!!\n");
}

#define test(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(a_file_for_each),
		test(numbers_come_again),
		test(what_is_of_nobody_goes_to_the_oldest),
		test(a_file_that_cannot_be),
		test(a_table_for_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

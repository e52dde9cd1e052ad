/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --format=ctf: classes that say what the events have, and records that are not what they should
 * be. That readers understand it is what testsuite/e2e/ctf.test shows.
 */
#include "records.h"
#include "sink/sink.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static const struct type number = {.kind = TYPE_INT, .width = WIDTH_INT, .is_signed = true};
static const struct type string = {.kind = TYPE_STRING};
static const struct type real = {.kind = TYPE_FLOAT, .width = WIDTH_DOUBLE};
static const struct parameter parameters[] = {
	{.type = &number, .name = "count"},
	{.type = &string, .name = "count"},
	{.type = &real, .name = "odd name"},
	{.type = &number, .on_return = true},
};
static const struct prototype prototype = {
	.name = "f", .result = &number, .parameters = parameters, .parameter_count = 4};

struct fixture {
	char path[32];
	int directory;
	struct output_options options;
	struct probe_table *probes;
	uint32_t probe;
	struct sink *sink;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof *fixture);

	snprintf(fixture->path, sizeof fixture->path, "/tmp/tracer-ctf-XXXXXX");
	assert_non_null(mkdtemp(fixture->path));
	fixture->directory = open(fixture->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fixture->options.string_max = 32;
	fixture->probes = probe_table_create();
	fixture->probe =
		probe_table_add(fixture->probes, PROBE_ENTRY, "f", "prog", "f", &prototype)->id;
	const struct sink_target target = {
		.probes = fixture->probes, .options = &fixture->options, .fd = fixture->directory};

	fixture->sink = sink_create(sink_find("ctf"), &target);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	fixture->sink->ops->destroy(fixture->sink);
	probe_table_destroy(fixture->probes);
	unlinkat(fixture->directory, "metadata", 0);
	unlinkat(fixture->directory, "stream", 0);
	close(fixture->directory);
	assert_int_equal(rmdir(fixture->path), 0); /* there was nothing else in it */
	free(fixture);
	return 0;
}

static char *read_file(const struct fixture *fixture, const char *name, size_t *length)
{
	const int fd = openat(fixture->directory, name, O_RDONLY | O_CLOEXEC);
	const size_t size = (size_t)lseek(fd, 0, SEEK_END);
	char *text = calloc(1, size + 1);

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, text, size, 0), (ssize_t)size);
	close(fd);
	*length = size;
	return text;
}

static uint64_t load(const char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof word);
	return word;
}

/* Checks that the stream is made of whole packets. Returns the bytes of events in them. */
static size_t check_packets(const struct fixture *fixture)
{
	enum { HEADER = 72, PAGE = 4096 };
	size_t length, bytes = 0;
	char *stream = read_file(fixture, "stream", &length);

	for (size_t at = 0; at < length;) {
		const uint64_t first = load(stream + at + 24), last = load(stream + at + 32);
		const uint64_t content = load(stream + at + 40) / 8,
			       size = load(stream + at + 48) / 8;

		assert_memory_equal(stream + at, "\xc1\x1f\xfc\xc1", 4);
		assert_true(first <= last && last <= INT64_MAX);
		assert_true(size % PAGE == 0 && size <= length - at);
		assert_true(content > HEADER && content <= size);
		bytes += content - HEADER;
		at += size;
	}
	free(stream);
	return bytes;
}

static void emit(const struct fixture *fixture, const struct made *made)
{
	assert_int_equal(fixture->sink->ops->record(fixture->sink, &made->record), 0);
}

static struct made make_entry(const struct fixture *fixture)
{
	struct made made = make_record(RECORD_CALL, 7, fixture->probe, 1);

	made.record.time = 1000;
	add_word(&made, 0, 4, (uint64_t)-5);
	add_string(&made, 1, "text", 0);
	add_double(&made, 2, 1.5);
	return made;
}

static struct made make_return(const struct fixture *fixture)
{
	struct made made = make_record(RECORD_RETURN, 7, fixture->probe, 1);

	made.record.time = 2000;
	add_word(&made, VALUE_RESULT, 4, 3);
	add_word(&made, 3, 4, 4);
	return made;
}

static void classes_have_fields(void **state)
{
	const struct fixture *fixture = *state;
	const struct made entry = make_entry(fixture), end = make_return(fixture);
	size_t length;

	emit(fixture, &entry);
	emit(fixture, &end);
	assert_int_equal(fixture->sink->ops->flush(fixture->sink), 0);
	char *metadata = read_file(fixture, "metadata", &length);

	assert_non_null(strstr(metadata, "name = \"f:entry\";"));
	assert_non_null(strstr(metadata, "\t\tint64_t _count;\n\t\tstring _count_;\n"
					 "\t\treal_t _odd_name;\n\t};"));
	assert_non_null(strstr(metadata, "\t\tint64_t _arg4;\n\t\tint64_t _result;\n\t};"));
	free(metadata);
	/* headers, contexts, and the values: an empty caller, -5, "text", 1.5; 3, 4 */
	assert_int_equal(check_packets(fixture),
			 (10 + 8) + (4 + 8 + 1) + 8 + 5 + 8 + (10 + 8) + (4 + 8 + 8) + 8 + 8);
}

/* A packet that is not full is written again, with more events. */
static void packets_grow(void **state)
{
	const struct fixture *fixture = *state;
	const struct made entry = make_entry(fixture);
	size_t bytes = 0;

	for (unsigned i = 0; i < 200; i++) {
		emit(fixture, &entry);
		assert_int_equal(fixture->sink->ops->flush(fixture->sink), 0);
		const size_t now = check_packets(fixture);

		assert_true(now > bytes);
		bytes = now;
	}
	assert_int_equal(bytes, 200 * 52);
}

/* A value that could not be read is in no number, so the common class is taken. */
static void values_that_do_not_fit(void **state)
{
	const struct fixture *fixture = *state;
	struct made entry = make_entry(fixture);
	size_t length;

	((struct record_value *)(void *)(entry.bytes + sizeof entry.record))->flags = VALUE_FAULT;
	emit(fixture, &entry);
	assert_int_equal(fixture->sink->ops->finish(fixture->sink), 0);
	char *stream = read_file(fixture, "stream", &length);

	assert_memory_equal(stream + 72, "\0", 2); /* CTF_ENTRY */
	assert_memory_equal(stream + 72 + 10 + 8 + 12 + 1, "f\0prog\0?, \"text\", 1.500000", 26);
	free(stream);
}

/* Records that are damaged in any way end up in whole packets. */
static void damaged_records(void **state)
{
	const struct fixture *fixture = *state;
	uint32_t random = 1;

	for (unsigned i = 0; i < 20000; i++) {
		struct made made = i % 2 ? make_entry(fixture) : make_return(fixture);
		const uint32_t size = made.record.size;

		for (unsigned k = 0; k < 1 + i % 5; k++) {
			random = random * 1664525 + 1013904223;
			made.bytes[4 + (random >> 8) % (size - 4)] = (unsigned char)(random >> 24);
		}
		emit(fixture, &made);
	}
	assert_int_equal(fixture->sink->ops->finish(fixture->sink), 0);
	assert_true(check_packets(fixture) > 20000);
}

static void names_that_come_and_go(void **state)
{
	const struct fixture *fixture = *state;
	size_t length;
	char name[32];

	for (unsigned i = 0; i < 10000; i++) {
		snprintf(name, sizeof name, "f%u", i);
		const struct probe_info *probe = probe_table_add(fixture->probes, PROBE_ENTRY, name,
								 "prog", name, &prototype);
		struct made entry = make_entry(fixture);

		entry.record.probe = probe->id;
		emit(fixture, &entry);
		fixture->sink->ops->forget(fixture->sink, probe);
		probe_table_remove(fixture->probes, probe->id);
	}
	assert_int_equal(fixture->sink->ops->finish(fixture->sink), 0);
	char *metadata = read_file(fixture, "metadata", &length);

	assert_non_null(strstr(metadata, "\"f8191:entry\""));
	assert_null(strstr(metadata, "\"f8192:entry\""));
	free(metadata);
	check_packets(fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(classes_have_fields, set_up, tear_down),
		cmocka_unit_test_setup_teardown(packets_grow, set_up, tear_down),
		cmocka_unit_test_setup_teardown(values_that_do_not_fit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(damaged_records, set_up, tear_down),
		cmocka_unit_test_setup_teardown(names_that_come_and_go, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

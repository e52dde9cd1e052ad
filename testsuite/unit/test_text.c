/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text output: the lines that a sequence of records makes. */
#include "records.h"
#include "sink/forms/text.h"
#include "sink/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

/* int puts(string); int nest(); void tick(); int read(int, +string, ulong); */
static const struct parameter puts_parameters[] = {{.type = &type_string}};
static const struct parameter read_parameters[] = {
	{.type = &type_int}, {.type = &type_string, .on_return = true}, {.type = &type_ulong}};
static const struct prototype puts_prototype = {
	.name = "puts", .result = &type_int, .parameters = puts_parameters, .parameter_count = 1};
static const struct prototype nest_prototype = {.name = "nest", .result = &type_int};
static const struct prototype tick_prototype = {.name = "tick", .result = &type_void};
static const struct prototype read_prototype = {
	.name = "read", .result = &type_int, .parameters = read_parameters, .parameter_count = 3};

enum { PUTS, NEST, TICK, READ, LONG, EVIL, SYSTEM }; /* ids, in the order of set_up() */

struct fixture {
	struct probe_table *probes;
	struct output_options options;
	struct sink *sink;
	int fd;
	char text[16384];
};

static struct sink *create(const struct fixture *fixture, int fd)
{
	const struct sink_target target = {
		.probes = fixture->probes, .options = &fixture->options, .fd = fd};

	return text_sink_create(&target);
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof *fixture);
	struct probe_table *probes = probe_table_create();

	probe_table_add(probes, PROBE_CALL, "puts", "prog", "puts", &puts_prototype);
	probe_table_add(probes, PROBE_CALL, "nest", "prog", "prog->nest", &nest_prototype);
	probe_table_add(probes, PROBE_CALL, "tick", "prog", "tick", &tick_prototype);
	probe_table_add(probes, PROBE_CALL, "read", "prog", "read", &read_prototype);
	probe_table_add(probes, PROBE_CALL, "long", "prog", "a_very_very_long_name",
			&tick_prototype);
	probe_table_add(probes, PROBE_CALL, "ev\x1bil", "prog", "ev\x1bil", &tick_prototype);
	probe_table_add(probes, PROBE_SYSTEM, "sync", "SYS", "sync@SYS", &nest_prototype);
	fixture->probes = probes;
	fixture->options = (struct output_options){.align = 20, .string_max = 32};
	fixture->fd = memfd_create("lines", MFD_CLOEXEC);
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

static void write_record(struct fixture *fixture, const struct record *record)
{
	assert_int_equal(fixture->sink->ops->record(fixture->sink, record), 0);
}

/* Records without values: an event, or a call of a function without parameters. */
static void event(struct fixture *fixture, enum record_kind kind, int tid, int64_t number)
{
	struct made made = make_record(kind, tid, 0, 0);

	made.record.number = number;
	write_record(fixture, &made.record);
}

static void call(struct fixture *fixture, int tid, uint32_t probe, uint64_t number)
{
	struct made made = make_record(RECORD_CALL, tid, probe, number);

	write_record(fixture, &made.record);
}

static void returns(struct fixture *fixture, int tid, uint32_t probe, uint64_t number,
		    uint64_t result)
{
	struct made made = make_record(RECORD_RETURN, tid, probe, number);

	if (probe == NEST || probe == PUTS)
		add_word(&made, VALUE_RESULT, 4, result);
	write_record(fixture, &made.record);
}

static void call_puts(struct fixture *fixture, int tid, uint64_t number, const char *text)
{
	struct made made = make_record(RECORD_CALL, tid, PUTS, number);

	add_string(&made, 0, text, 0);
	write_record(fixture, &made.record);
}

/* Returns the text written so far. */
static const char *lines(struct fixture *fixture)
{
	assert_int_equal(fixture->sink->ops->flush(fixture->sink), 0);
	return file_text(fixture->fd, fixture->text, sizeof fixture->text);
}

static void test_plain(void **state)
{
	struct fixture *fixture = *state;

	call_puts(fixture, 7, 1, "hi");
	returns(fixture, 7, PUTS, 1, 3);
	call(fixture, 7, TICK, 2);
	returns(fixture, 7, TICK, 2, 0);
	call(fixture, 7, LONG, 3);
	returns(fixture, 7, LONG, 3, 0);
	assert_string_equal(lines(fixture), "puts(\"hi\")         = 3\n"
					    "tick()             = <void>\n"
					    "a_very_very_long_name() = <void>\n");
}

static void system_call(struct fixture *fixture, uint64_t number, int64_t error)
{
	struct made made = make_record(RECORD_RETURN, 7, SYSTEM, number);

	call(fixture, 7, SYSTEM, number);
	made.record.number = error;
	add_word(&made, VALUE_RESULT, 4, -(uint64_t)error);
	write_record(fixture, &made.record);
}

static void test_system_calls(void **state)
{
	struct fixture *fixture = *state;

	system_call(fixture, 1, 0);
	system_call(fixture, 2, ENOENT);
	system_call(fixture, 3, 514);
	system_call(fixture, 4, RECORD_NEVER);
	system_call(fixture, 5, 4000);
	system_call(fixture, 6, INT64_MAX);
	system_call(fixture, 7, INT64_MIN);
	assert_string_equal(
		lines(fixture),
		"sync@SYS()         = 0\n"
		"sync@SYS()         = -1 ENOENT (No such file or directory)\n"
		"sync@SYS()         = ? ERESTARTNOHAND (made again, unless a handler runs)\n"
		"sync@SYS()         = ?\n"
		"sync@SYS()         = -1 errno 4000\n"
		"sync@SYS()         = -1 errno 9223372036854775807\n"
		"sync@SYS()         = ?\n");
}

/* An error number is shown as a name for system calls only. */
static void test_number_of_a_function(void **state)
{
	struct fixture *fixture = *state;
	struct made made = make_record(RECORD_RETURN, 7, NEST, 1);

	call(fixture, 7, NEST, 1);
	made.record.number = ENOENT;
	add_word(&made, VALUE_RESULT, 4, 5);
	write_record(fixture, &made.record);
	assert_string_equal(lines(fixture), "prog->nest()       = 5\n");
}

/* "= " begins at column `align`; if ") " ends there, no space is added. */
static void test_alignment(void **state)
{
	struct fixture *fixture = *state;

	for (unsigned align = 0; align < 11; align++) {
		fixture->options.align = align;
		call(fixture, 7, TICK, align);
		returns(fixture, 7, TICK, align, 0);
	}
	assert_string_equal(lines(fixture), "tick() = <void>\ntick() = <void>\ntick() = <void>\n"
					    "tick() = <void>\ntick() = <void>\ntick() = <void>\n"
					    "tick() = <void>\ntick() = <void>\ntick() = <void>\n"
					    "tick()  = <void>\ntick()   = <void>\n");
}

/* A call that is still running is shown at once, and its line is continued later. */
static void test_flush_in_call(void **state)
{
	struct fixture *fixture = *state;

	call_puts(fixture, 7, 1, "hi");
	assert_string_equal(lines(fixture), "puts(\"hi\"");
	returns(fixture, 7, PUTS, 1, 3);
	assert_string_equal(lines(fixture), "puts(\"hi\")         = 3\n");
}

static void test_nesting(void **state)
{
	struct fixture *fixture = *state;

	call(fixture, 7, NEST, 1);
	call_puts(fixture, 7, 2, "a");
	returns(fixture, 7, PUTS, 2, 1);
	call_puts(fixture, 7, 3, "b");
	returns(fixture, 7, PUTS, 3, 2);
	returns(fixture, 7, NEST, 1, 9);
	assert_string_equal(lines(fixture), "prog->nest( <unfinished ...>\n"
					    "puts(\"a\")          = 1\n"
					    "puts(\"b\")          = 2\n"
					    "<... nest resumed> ) = 9\n");
}

/* The open line is another call of the same thread, which was left without a record. */
static void test_return_past_open_line(void **state)
{
	struct fixture *fixture = *state;

	call(fixture, 7, NEST, 1);
	call(fixture, 7, TICK, 2);
	returns(fixture, 7, NEST, 1, 9);
	assert_string_equal(lines(fixture), "prog->nest( <unfinished ...>\n"
					    "tick( <unfinished ...>\n"
					    "<... nest resumed> ) = 9\n");
}

static void test_arguments_on_return(void **state)
{
	struct fixture *fixture = *state;

	for (uint64_t number = 1; number < 3; number++) {
		struct made made = make_record(RECORD_CALL, 7, READ, number);

		add_word(&made, 0, 4, 3);
		write_record(fixture, &made.record);
		if (number == 2)
			event(fixture, RECORD_SIGNAL, 7, SIGCHLD);
		made = make_record(RECORD_RETURN, 7, READ, number);
		add_word(&made, VALUE_RESULT, 4, 2);
		add_string(&made, 1, "hi", 0);
		add_word(&made, 2, 8, 100);
		write_record(fixture, &made.record);
	}
	assert_string_equal(lines(fixture), "read(3, \"hi\", 100) = 2\n"
					    "read(3 <unfinished ...>\n"
					    "--- SIGCHLD (Child exited) ---\n"
					    "<... read resumed> , \"hi\", 100) = 2\n");
}

static void test_threads(void **state)
{
	struct fixture *fixture = *state;

	event(fixture, RECORD_THREAD, 7, 0);
	call(fixture, 7, TICK, 1);
	returns(fixture, 7, TICK, 1, 0);
	call(fixture, 7, NEST, 2);
	event(fixture, RECORD_THREAD, 8, 0);
	call(fixture, 8, NEST, 3);
	returns(fixture, 7, NEST, 2, 0);
	event(fixture, RECORD_THREAD_END, 8, 0);
	call(fixture, 7, TICK, 4);
	event(fixture, RECORD_THREAD_END, 7, 0);
	event(fixture, RECORD_EXITED, 7, 0);
	assert_string_equal(lines(fixture), "tick()             = <void>\n"
					    "prog->nest( <unfinished ...>\n"
					    "[pid 8] prog->nest( <unfinished ...>\n"
					    "[pid 7] <... nest resumed> ) = 0\n"
					    "[pid 7] tick( <unfinished ...>\n"
					    "[pid 7] +++ exited (status 0) +++\n");
}

/* A line that cannot be continued is ended at once. */
static void test_thread_end(void **state)
{
	struct fixture *fixture = *state;

	call(fixture, 7, TICK, 1);
	event(fixture, RECORD_THREAD_END, 8, 0);
	assert_string_equal(lines(fixture), "tick(");
	event(fixture, RECORD_THREAD_END, 7, 0);
	assert_string_equal(lines(fixture), "tick( <unfinished ...>\n");
}

/* The same call number in another thread is another call: a fork returns twice. */
static void test_fork(void **state)
{
	struct fixture *fixture = *state;

	fixture->options.to_file = true;
	call(fixture, 7, NEST, 1);
	returns(fixture, 8, NEST, 1, 0);
	returns(fixture, 7, NEST, 1, 8);
	assert_string_equal(lines(fixture), "prog->nest( <unfinished ...>\n"
					    "8 <... nest resumed> ) = 0\n"
					    "7 <... nest resumed> ) = 8\n");
}

static void test_ends(void **state)
{
	struct fixture *fixture = *state;

	call_puts(fixture, 7, 1, "x");
	event(fixture, RECORD_EXITED, 7, 7);
	event(fixture, RECORD_KILLED, 7, SIGSEGV);
	call(fixture, 7, TICK, 2);
	event(fixture, RECORD_EXEC, 7, 0);
	call(fixture, 7, TICK, 3);
	assert_int_equal(fixture->sink->ops->finish(fixture->sink), 0);
	assert_string_equal(lines(fixture), "puts(\"x\" <unfinished ...>\n"
					    "+++ exited (status 7) +++\n"
					    "+++ killed by SIGSEGV +++\n"
					    "tick( <unfinished ...>\n"
					    "--- Called exec() ---\n"
					    "tick( <unfinished ...>\n");
}

static void test_no_signals(void **state)
{
	struct fixture *fixture = *state;

	fixture->options.no_signals = true;
	call(fixture, 7, TICK, 1);
	event(fixture, RECORD_SIGNAL, 7, SIGUSR1);
	returns(fixture, 7, TICK, 1, 0);
	event(fixture, RECORD_KILLED, 7, SIGKILL);
	assert_string_equal(lines(fixture), "tick()             = <void>\n"
					    "+++ killed by SIGKILL +++\n");
}

static void test_unwound(void **state)
{
	struct fixture *fixture = *state;
	struct made made;

	fixture->options.durations = true;
	call(fixture, 7, NEST, 1);
	call(fixture, 7, TICK, 2);
	made = make_record(RECORD_UNWOUND, 7, TICK, 2);
	write_record(fixture, &made.record);
	made = make_record(RECORD_UNWOUND, 7, NEST, 1);
	write_record(fixture, &made.record);
	assert_string_equal(lines(fixture), "prog->nest( <unfinished ...>\n"
					    "tick()             = <unwound>\n"
					    "<... nest resumed> ) = <unwound>\n");
}

/* Everything in front of the name, in ltrace's order, and what follows the result. */
static void test_decorations(void **state)
{
	struct fixture *fixture = *state;
	struct made made = make_record(RECORD_CALL, 7, TICK, 1);

	event(fixture, RECORD_THREAD, 6, 0);
	fixture->options = (struct output_options){.time_stamp = 3,
						   .durations = true,
						   .return_address = true,
						   .indent = 2,
						   .align = 60};
	made.record.time = 1795222651080583999;
	made.record.pc = 0x4011e8;
	made.record.depth = 2;
	write_record(fixture, &made.record);
	made.record.kind = RECORD_RETURN;
	made.record.duration = 1000600999;
	write_record(fixture, &made.record);
	write_record(fixture, &made.record); /* as if something had come between */
	assert_string_equal(
		lines(fixture),
		"[pid 7] 1795222651.080583 [0x4011e8]     tick()            = <void> <1.000600>\n"
		"[pid 7] 1795222651.080583 [0x4011e8]     <... tick resumed> ) = <void> <1.000600>\n");
}

static void at(struct fixture *fixture, uint64_t time)
{
	struct made made = make_record(RECORD_EXEC, 7, 0, 0);

	made.record.time = time;
	write_record(fixture, &made.record);
}

static void test_clock(void **state)
{
	struct fixture *fixture = *state;

	setenv("TZ", "UTC-3", 1);
	tzset();
	fixture->options.time_stamp = 1;
	at(fixture, 0);
	at(fixture, 45296ULL * 1000000000);
	fixture->options.time_stamp = 2;
	at(fixture, 45296ULL * 1000000000 + 42999);
	at(fixture, 45297ULL * 1000000000);
	assert_string_equal(lines(fixture), "03:00:00 --- Called exec() ---\n"
					    "15:34:56 --- Called exec() ---\n"
					    "15:34:56.000042 --- Called exec() ---\n"
					    "15:34:57.000000 --- Called exec() ---\n");
}

static void test_relative(void **state)
{
	struct fixture *fixture = *state;

	fixture->options.relative_time = true;
	at(fixture, 5000000000);
	at(fixture, 5001290000);
	at(fixture, 5001000000); /* another processor's clock is behind */
	at(fixture, 17001000000);
	assert_string_equal(lines(fixture), "  0.000000 --- Called exec() ---\n"
					    "  0.001290 --- Called exec() ---\n"
					    "  0.000000 --- Called exec() ---\n"
					    " 12.000000 --- Called exec() ---\n");
}

static void test_hostile(void **state)
{
	struct fixture *fixture = *state;
	struct made made = make_record(RECORD_CALL, 7, 4711, 1);

	write_record(fixture, &made.record);
	made.record.kind = RECORD_RETURN;
	write_record(fixture, &made.record);
	call(fixture, 7, EVIL, 2);
	event(fixture, 99, 7, 0);
	event(fixture, RECORD_SIGNAL, 7, INT64_MIN);
	returns(fixture, 7, EVIL, 2, 0);
	call(fixture, 7, PUTS, 3); /* without its argument */
	made = make_record(RECORD_RETURN, 7, PUTS, 3);
	made.record.value_count = 9;
	write_record(fixture, &made.record);
	assert_string_equal(
		lines(fixture),
		"?()                = ?\n"
		"ev\\033il( <unfinished ...>\n"
		"--- SIG-9223372036854775808 (Unknown signal -9223372036854775808) ---\n"
		"<... ev\\033il resumed> ) = <void>\n"
		"puts(?)            = ?\n");
}

static void test_deep_recursion(void **state)
{
	struct fixture *fixture = *state;
	struct made made = make_record(RECORD_CALL, 7, TICK, 1);

	fixture->options.indent = UINT32_MAX;
	made.record.depth = UINT32_MAX;
	write_record(fixture, &made.record);
	assert_in_range(strlen(lines(fixture)), 100, 1000);
}

/* Much more than the buffer, through a pipe that holds less: all of it arrives, in order. */
static void test_pipe(void **state)
{
	enum { CALLS = 20000, LINE = sizeof "tick()             = <void>\n" - 1 };
	struct fixture *fixture = *state;
	int ends[2];
	int status;
	size_t length = 0;
	char got[4096];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		struct sink *sink = create(fixture, ends[1]);
		int error = 0;

		close(ends[0]); /* a failed test would otherwise leave the writer waiting */
		for (uint64_t i = 0; i < CALLS && !error; i++) {
			struct made made = make_record(RECORD_CALL, 7, TICK, i);

			error = sink->ops->record(sink, &made.record);
			made.record.kind = RECORD_RETURN;
			if (!error)
				error = sink->ops->record(sink, &made.record);
		}
		_exit(error || sink->ops->finish(sink) ? 1 : 0);
	}
	close(ends[1]);
	for (ssize_t n; (n = read(ends[0], got, sizeof got)) > 0;) {
		for (ssize_t i = 0; i < n; i++, length++)
			if (got[i] != "tick()             = <void>\n"[length % LINE])
				fail_msg("byte %zu differs", length);
	}
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(length, (size_t)CALLS * LINE);
}

static void test_full_disk(void **state)
{
	struct fixture *fixture = *state;
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct made made = make_record(RECORD_EXEC, 7, 0, 0);

	if (full < 0)
		skip();
	struct sink *sink = create(fixture, full);

	assert_int_equal(sink->ops->flush(sink), 0);
	assert_int_equal(sink->ops->record(sink, &made.record), 0);
	assert_int_equal(sink->ops->flush(sink), -ENOSPC);
	/* From then on the error is returned at once. */
	assert_int_equal(sink->ops->record(sink, &made.record), -ENOSPC);
	assert_int_equal(sink->ops->finish(sink), -ENOSPC);
	sink->ops->destroy(sink);
	close(full);
}

static void test_closed_pipe(void **state)
{
	struct fixture *fixture = *state;
	struct made made = make_record(RECORD_EXEC, 7, 0, 0);
	int ends[2];
	int error = 0;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	close(ends[0]);
	signal(SIGPIPE, SIG_IGN);
	struct sink *sink = create(fixture, ends[1]);

	for (int i = 0; i < 10000 && !error; i++)
		error = sink->ops->record(sink, &made.record);
	assert_int_equal(error, -EPIPE);
	sink->ops->destroy(sink);
	close(ends[1]);
}

#define test(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(test_plain),
		test(test_system_calls),
		test(test_number_of_a_function),
		test(test_alignment),
		test(test_flush_in_call),
		test(test_nesting),
		test(test_return_past_open_line),
		test(test_arguments_on_return),
		test(test_threads),
		test(test_thread_end),
		test(test_fork),
		test(test_ends),
		test(test_no_signals),
		test(test_unwound),
		test(test_decorations),
		test(test_clock),
		test(test_relative),
		test(test_hostile),
		test(test_deep_recursion),
		test(test_pipe),
		test(test_full_disk),
		test(test_closed_pipe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

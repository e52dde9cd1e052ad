/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of what cannot be traced: each item once, grouped on stderr, complete in records,
 * bounded.
 */
#include "base/strbuf.h"
#include "sink/render/render.h"
#include "sink/sink.h"
#include "target/untraced.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
	struct untraced *untraced;
	struct strbuf records; /* as lines */
	size_t count;
	int saved_stderr;
	FILE *said;
};

static void take(void *context, const struct record *record)
{
	struct fixture *fixture = context;
	struct outbuf out;

	assert_int_equal(record->kind, RECORD_UNTRACED);
	assert_int_equal(record->size % 8, 0);
	outbuf_init(&out, -1);
	render_untraced(&out, record);
	strbuf_add_bytes(&fixture->records, out.text, out.length);
	strbuf_add_char(&fixture->records, '\n');
	outbuf_deinit(&out);
	fixture->count++;
}

static struct fixture *set_up(bool verbose)
{
	struct fixture *fixture = calloc(1, sizeof *fixture);

	assert_non_null(fixture);
	fixture->untraced = untraced_create(take, fixture, verbose);
	fixture->said = tmpfile();
	fixture->saved_stderr = dup(STDERR_FILENO);
	dup2(fileno(fixture->said), STDERR_FILENO);
	return fixture;
}

/* Shows the list, and checks what was reported since the fixture was made. */
static void shows(struct fixture *fixture, const char *said, const char *records)
{
	char text[8192];

	untraced_show(fixture->untraced);
	ssize_t length = pread(fileno(fixture->said), text, sizeof text - 1, 0);

	assert_true(length >= 0);
	text[length] = '\0';
	assert_string_equal(text, said);
	assert_string_equal(fixture->records.text ? fixture->records.text : "", records);
}

static void tear_down(struct fixture *fixture)
{
	dup2(fixture->saved_stderr, STDERR_FILENO);
	close(fixture->saved_stderr);
	fclose(fixture->said);
	untraced_destroy(fixture->untraced);
	strbuf_deinit(&fixture->records);
	free(fixture);
}

static void add_many(struct fixture *fixture, const char *module, unsigned count,
		     const char *reason)
{
	char name[32];

	for (unsigned i = 0; i < count; i++) {
		snprintf(name, sizeof name, "f%u", i);
		untraced_function(fixture->untraced, module, name, true, reason);
	}
}

static void each_thing_is_listed_once(void **state)
{
	struct fixture *fixture = set_up(false);

	(void)state;
	for (int i = 0; i < 3; i++) {
		untraced_function(fixture->untraced, "liba.so", "f", false, "odd");
		untraced_thing(fixture->untraced, "/lib/b.so", "damaged");
		untraced_process(fixture->untraced, 7, "gone %d", 1);
		untraced_show(fixture->untraced);
	}
	untraced_function(fixture->untraced, "libb.so", "f", false, "odd");
	untraced_function(fixture->untraced, "liba.so", "f", false, "even");
	shows(fixture,
	      "tracer: not traced: f@liba.so: odd\n"
	      "tracer: not traced: /lib/b.so: damaged\n"
	      "tracer: not traced: process 7: gone 1\n"
	      "tracer: not traced: f@libb.so: odd\n"
	      "tracer: not traced: f@liba.so: even\n",
	      "!!! not traced: f@liba.so: odd !!!\n"
	      "!!! not traced: /lib/b.so: damaged !!!\n"
	      "!!! not traced: process 7: gone 1 !!!\n"
	      "!!! not traced: f@libb.so: odd !!!\n"
	      "!!! not traced: f@liba.so: even !!!\n");
	assert_int_equal(untraced_count(fixture->untraced), 5);
	tear_down(fixture);
}

static void many_of_a_pattern_are_one_line(void **state)
{
	struct fixture *fixture = set_up(false);

	(void)state;
	add_many(fixture, "liba.so", 4, "odd");
	add_many(fixture, "libb.so", 3, "odd");
	untraced_function(fixture->untraced, "liba.so", "named", false, "odd");
	shows(fixture,
	      "tracer: not traced: 4 functions of liba.so (f0, f1, f2, ...): odd\n"
	      "tracer: not traced: f0@libb.so: odd\n"
	      "tracer: not traced: f1@libb.so: odd\n"
	      "tracer: not traced: f2@libb.so: odd\n"
	      "tracer: not traced: named@liba.so: odd\n",
	      "!!! not traced: f0@liba.so: odd !!!\n"
	      "!!! not traced: f1@liba.so: odd !!!\n"
	      "!!! not traced: f2@liba.so: odd !!!\n"
	      "!!! not traced: f3@liba.so: odd !!!\n"
	      "!!! not traced: f0@libb.so: odd !!!\n"
	      "!!! not traced: f1@libb.so: odd !!!\n"
	      "!!! not traced: f2@libb.so: odd !!!\n"
	      "!!! not traced: named@liba.so: odd !!!\n");
	assert_int_equal(untraced_count(fixture->untraced), 8);
	tear_down(fixture);
}

static void verbose_names_them_all(void **state)
{
	struct fixture *fixture = set_up(true);

	(void)state;
	add_many(fixture, "liba.so", 4, "odd");
	untraced_show(fixture->untraced);
	shows(fixture,
	      "tracer: not traced: f0@liba.so: odd\ntracer: not traced: f1@liba.so: odd\n"
	      "tracer: not traced: f2@liba.so: odd\ntracer: not traced: f3@liba.so: odd\n",
	      "!!! not traced: f0@liba.so: odd !!!\n!!! not traced: f1@liba.so: odd !!!\n"
	      "!!! not traced: f2@liba.so: odd !!!\n!!! not traced: f3@liba.so: odd !!!\n");
	tear_down(fixture);
}

static void names_are_cut_and_escaped(void **state)
{
	struct fixture *fixture = set_up(false);
	char *endless = malloc(100000);

	(void)state;
	memset(endless, 'x', 99999);
	endless[99999] = '\0';
	untraced_function(fixture->untraced, endless, endless, false, endless);
	untraced_show(fixture->untraced);
	assert_int_equal(fixture->count, 1);
	assert_true(fixture->records.length < 4096);
	tear_down(fixture);
	fixture = set_up(false);
	untraced_function(fixture->untraced, "lib\033.so", "f\n", false, "odd");
	shows(fixture, "tracer: not traced: f\\012@lib\\033.so: odd\n",
	      "!!! not traced: f\\n@lib\\033.so: odd !!!\n");
	tear_down(fixture);
	free(endless);
}

static void the_list_has_an_end(void **state)
{
	struct fixture *fixture = set_up(false);
	unsigned many = UNTRACED_LISTED_MAX + 500;

	(void)state;
	add_many(fixture, "liba.so", many, "odd");
	untraced_show(fixture->untraced);
	add_many(fixture, "libb.so", many, "odd");
	untraced_show(fixture->untraced);
	/* One for each, and one that says that there are more. */
	assert_int_equal(fixture->count, UNTRACED_LISTED_MAX + 1);
	assert_int_equal(untraced_count(fixture->untraced), 500 + many + UNTRACED_LISTED_MAX);
	tear_down(fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_thing_is_listed_once),
		cmocka_unit_test(many_of_a_pattern_are_one_line),
		cmocka_unit_test(verbose_names_them_all),
		cmocka_unit_test(names_are_cut_and_escaped),
		cmocka_unit_test(the_list_has_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

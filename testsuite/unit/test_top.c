/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --top without a terminal: numbers, columns, the last calls of a row, what keys do. */
#include "probe/probe.h"
#include "sink/tables/top.h"
#include "sink/whole_calls.h"
#include "view/top_cells.h"
#include "view/top_view.h"

#include "records.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { CALLS = 1000 };

static const uint64_t SECOND = 1000000000;

static void check_number(void (*put)(struct outbuf *, uint64_t), uint64_t number, const char *text)
{
	struct outbuf out;

	outbuf_init(&out, -1);
	put(&out, number);
	outbuf_char(&out, '\0');
	assert_string_equal(out.text, text);
	outbuf_deinit(&out);
}

static void test_numbers(void **state)
{
	static const struct {
		uint64_t number;
		const char *count, *time;
	} numbers[] = {
		{0, "0", "0ns"},
		{999, "999", "999ns"},
		{1000, "1000", "1.00us"},
		{9994, "9994", "9.99us"},
		{9995, "9995", "10.0us"},
		{999499, "999499", "999us"},
		{999500, "999500", "1.00ms"},
		{999999, "999999", "1.00ms"},
		{1000000, "1000k", "1.00ms"},
		{99999999, "100M", "100ms"},
		{UINT64_C(999999999999), "1000G", "1000s"},
		{UINT64_MAX, "18.4E", "18446744074s"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		check_number(top_cells_put_time, numbers[i].number, numbers[i].time);
		if (numbers[i].number <= 1000000)
			check_number(top_cells_put_count, numbers[i].number, numbers[i].count);
	}
}

/* All that is shown has room, whatever the screen's size. */
static void test_columns(void **state)
{
	(void)state;
	for (unsigned columns = 1; columns <= 300; columns++) {
		const struct top_widths widths = top_cells_fit(columns);
		unsigned used = 1;

		for (unsigned i = 0; i < TOP_NAME; i++)
			used += widths.of[i] ? widths.of[i] + 1 : 0;
		assert_true(widths.of[TOP_NAME] >= 1);
		assert_true(used == 1 || used + 16 <= columns);
	}
	const struct top_widths usual = top_cells_fit(80);

	for (unsigned i = 0; i < TOP_COLUMNS; i++)
		assert_true(usual.of[i] != 0);
	assert_int_equal(top_cells_fit(40).of[TOP_STRIP], 0);
	assert_int_equal(top_cells_fit(120).of[TOP_STRIP], HISTOGRAM_CELL_WIDTH);
}

/* ------------------------------------------------------------------ a view of some calls */

struct setting {
	struct probe_table *probes;
	struct output_options options;
	struct vec keys;
	struct top *top;
	struct sink *sink;
	struct top_view *view;
	uint32_t ids[2];
	uint64_t calls;
};

static void set_up(struct setting *setting)
{
	const struct prototype *unknown = prototype_unknown();

	*setting = (struct setting){.probes = probe_table_create(),
				    .options = {.max_groups = 3, .string_max = 32}};
	setting->ids[0] =
		probe_table_add(setting->probes, PROBE_ENTRY, "one", "lib", "one@lib", unknown)->id;
	setting->ids[1] =
		probe_table_add(setting->probes, PROBE_ENTRY, "two", "lib", "two@lib", unknown)->id;
	const struct sink_target target = {.probes = setting->probes,
					   .options = &setting->options,
					   .top = &setting->top,
					   .fd = -1};

	setting->sink = whole_calls_create(sink_find("top"), &target);
	setting->view = top_view_create(setting->top, "what");
}

static void tear_down(struct setting *setting)
{
	top_view_destroy(setting->view);
	setting->sink->ops->destroy(setting->sink);
	probe_table_destroy(setting->probes);
}

static void make_call(struct setting *setting, unsigned which, uint64_t duration)
{
	const uint64_t id = ++setting->calls;
	struct made made = make_record(RECORD_CALL, 7, setting->ids[which], id);

	made.record.time = id * SECOND;
	assert_int_equal(setting->sink->ops->record(setting->sink, &made.record), 0);
	made = make_record(RECORD_RETURN, 7, setting->ids[which], id);
	made.record.time = id * SECOND + duration;
	made.record.duration = duration;
	assert_int_equal(setting->sink->ops->record(setting->sink, &made.record), 0);
}

static bool press(struct setting *setting, enum view_key_kind kind, const char *text)
{
	struct view_key key = {.kind = kind};

	strcpy(key.text, text);
	return top_view_key(setting->view, &key);
}

/* Returns true if a line of the view begins, or ends, so. */
static bool has_line(struct setting *setting, const char *begin, const char *end)
{
	struct frame *frame = top_view_draw(setting->view, 24, 80);
	bool found = false;

	for (unsigned i = 0; i < frame->height; i++) {
		const char *text = frame->content[i].text ? frame->content[i].text : "";
		const size_t length = strlen(text);

		found |= !strncmp(text, begin, strlen(begin)) && length >= strlen(end) &&
			 !strcmp(text + length - strlen(end), end);
	}
	frame_destroy(frame);
	return found;
}

static void test_last_calls(void **state)
{
	struct setting setting;
	size_t kept = 0;

	(void)state;
	set_up(&setting);
	for (unsigned i = 0; i < CALLS; i++)
		make_call(&setting, i % 2, i);
	const struct top_rows *rows = top_rows(setting.top);

	assert_int_equal(top_rows_number(rows), 2);
	for (const struct top_call *call = rows->newest; call; call = call->older)
		kept++;
	assert_int_equal(kept, 200);
	assert_int_equal(rows->newest->end->duration, CALLS - 1);
	assert_int_equal(top_rows_at(rows, 0)->oldest->end->duration, CALLS - 200);
	setting.sink->ops->forget(setting.sink, probe_table_get(setting.probes, setting.ids[0]));
	assert_null(top_rows_at(rows, 0)->oldest);
	assert_null(top_rows_at(rows, 0)->newest);
	assert_int_equal(top_rows_at(rows, 1)->kept, 100);
	assert_int_equal(top_rows_at(rows, 0)->tally.calls, CALLS / 2);
	tear_down(&setting);
}

static void test_keys(void **state)
{
	struct setting setting;

	(void)state;
	set_up(&setting);
	assert_true(has_line(&setting, " no call has ended yet", ""));
	make_call(&setting, 0, 5 * SECOND);
	make_call(&setting, 1, 1000);
	make_call(&setting, 1, 3000);
	top_view_tick(setting.view, 9, 0, NULL);
	assert_true(has_line(&setting, ">", "one@lib"));
	assert_true(press(&setting, KEY_IS_TEXT, "c"));
	assert_true(has_line(&setting, ">", "two@lib"));
	assert_true(press(&setting, KEY_IS_DOWN, ""));
	assert_true(has_line(&setting, ">", "one@lib"));
	assert_true(press(&setting, KEY_IS_DOWN, ""));
	assert_true(has_line(&setting, ">", "one@lib"));
	/* What is selected stays so in another order of the same calls. */
	make_call(&setting, 0, 1);
	make_call(&setting, 0, 1);
	top_view_tick(setting.view, 9, 0, NULL);
	assert_true(has_line(&setting, ">", "one@lib"));
	assert_true(press(&setting, KEY_IS_ENTER, ""));
	assert_true(has_line(&setting, "the last calls of one@lib", ""));
	assert_true(press(&setting, KEY_IS_ESCAPE, ""));
	assert_true(press(&setting, KEY_IS_TEXT, " "));
	make_call(&setting, 0, 1);
	top_view_tick(setting.view, 9, 0, NULL);
	assert_true(has_line(&setting, "PAUSED", ""));
	assert_int_equal(top_rows(setting.top)->all.calls, 5);
	assert_true(press(&setting, KEY_IS_TEXT, " "));
	top_view_tick(setting.view, 9, 0, NULL);
	assert_int_equal(top_rows(setting.top)->all.calls, 6);
	assert_false(press(&setting, KEY_IS_TEXT, "q"));
	tear_down(&setting);
}

/* A filter that is wrong, one that holds for some calls, and none again. */
static void test_filter(void **state)
{
	static const char *const words[] = {"f", "u", "n", "c", "t", "i", "o", "n", "=", "="};
	struct setting setting;

	(void)state;
	set_up(&setting);
	make_call(&setting, 0, 1);
	assert_true(press(&setting, KEY_IS_TEXT, "/"));
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		assert_true(press(&setting, KEY_IS_TEXT, words[i]));
	assert_true(press(&setting, KEY_IS_ENTER, ""));
	assert_true(has_line(&setting, "column 11: ", ""));
	assert_true(has_line(&setting, "filter: function==", ""));
	assert_null(top_filter(setting.top));
	/* 'q' is a letter here. */
	assert_true(press(&setting, KEY_IS_TEXT, "q"));
	assert_true(press(&setting, KEY_IS_BACKSPACE, ""));
	assert_true(press(&setting, KEY_IS_TEXT, "\"two\""));
	assert_true(press(&setting, KEY_IS_ENTER, ""));
	assert_string_equal(top_filter(setting.top), "function==\"two\"");
	make_call(&setting, 0, 1);
	make_call(&setting, 1, 1);
	top_view_tick(setting.view, 9, 0, NULL);
	assert_int_equal(top_rows(setting.top)->all.calls, 1);
	assert_true(press(&setting, KEY_IS_TEXT, "/"));
	assert_true(press(&setting, KEY_IS_ERASE_LINE, ""));
	assert_true(press(&setting, KEY_IS_ENTER, ""));
	assert_null(top_filter(setting.top));
	top_view_tick(setting.view, 9, 0, NULL);
	assert_int_equal(top_rows(setting.top)->all.calls, 3);
	tear_down(&setting);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),	   cmocka_unit_test(test_columns),
		cmocka_unit_test(test_last_calls), cmocka_unit_test(test_keys),
		cmocka_unit_test(test_filter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

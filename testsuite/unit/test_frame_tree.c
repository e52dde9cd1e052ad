/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tree of frames, and the folded lines and the picture that are made of it. */
#include "sink/stacks/flame.h"
#include "sink/stacks/flame_change.h"
#include "sink/stacks/frame_lines.h"
#include "sink/stacks/frame_tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct output_options by_calls = {.weighs = WEIGHS_CALLS};

/* The node of a way down from the root. */
static struct frame_node *way(struct frame_tree *tree, const char *const *names, size_t count)
{
	struct frame_node *node = frame_tree_root(tree);

	for (size_t i = 0; i < count; i++)
		node = frame_tree_child(tree, node, names[i],
					i + 1 < count ? FRAME_NATIVE : FRAME_TRACED);
	return node;
}

#define WAY(tree, ...)                                                                             \
	way(tree, (const char *[]){__VA_ARGS__},                                                   \
	    sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *))

static char *lines_of(struct frame_tree *tree, const struct output_options *options)
{
	struct outbuf out;

	outbuf_init(&out, -1);
	frame_tree_arrange(tree);
	assert_int_equal(frame_lines_put(&out, tree, options), 0);
	outbuf_char(&out, '\0');
	return out.text;
}

static void lines_are_sorted(void **state)
{
	struct frame_tree *tree = frame_tree_create();

	(void)state;
	frame_node_count(WAY(tree, "main", "b", "read"), 1);
	frame_node_count(WAY(tree, "main", "a", "write"), 1);
	frame_node_count(WAY(tree, "main", "a", "read"), 1);
	frame_node_count(WAY(tree, "main", "b", "read"), 1);
	frame_node_count(WAY(tree, "main", "a"), 1);
	char *lines = lines_of(tree, &by_calls);

	assert_string_equal(lines, "main;a 1\nmain;a;read 1\nmain;a;write 1\nmain;b;read 2\n");
	free(lines);
	assert_true(frame_node_total(frame_tree_root(tree)) == 5);
	assert_true(frame_node_total(WAY(tree, "main", "a")) == 3);
	assert_int_equal(WAY(tree, "main", "a")->kind, FRAME_TRACED);
	frame_tree_destroy(tree);
}

static void names_break_no_line(void **state)
{
	struct frame_tree *tree = frame_tree_create();

	(void)state;
	frame_node_count(WAY(tree, "a;b\n1", "\xff\xc3\xa9\x1b[m"), 1);
	char *lines = lines_of(tree, &by_calls);

	assert_string_equal(lines, "a:b\\n1;\\377\xc3\xa9\\033[m 1\n");
	free(lines);
	frame_tree_destroy(tree);
}

/* More is counted after the first look. */
static void weights_add_up(void **state)
{
	const struct output_options by_time = {.weighs = WEIGHS_TIME};
	struct frame_tree *tree = frame_tree_create();
	struct frame_node *one = WAY(tree, "main", "one");

	(void)state;
	frame_node_count(one, 1400);
	frame_node_count(WAY(tree, "main", "less"), -3000);
	frame_tree_arrange(tree);
	assert_true(frame_node_total(frame_tree_root(tree)) == 1400);
	frame_node_count(one, 200);
	char *lines = lines_of(tree, &by_time);

	assert_string_equal(lines, "main;less 0\nmain;one 2\n");
	free(lines);
	assert_true(frame_node_total(frame_tree_root(tree)) == 1600);
	frame_tree_destroy(tree);
}

static void depth_has_a_bound(void **state)
{
	struct frame_tree *tree = frame_tree_create();
	struct frame_node *node = frame_tree_root(tree);
	unsigned walked = 0;

	(void)state;
	for (unsigned i = 0; i < 5000; i++) {
		node = frame_tree_child(tree, node, i % 2 ? "odd" : "even", FRAME_TRACED);
		assert_true(node->depth <= FRAME_DEPTH_MAX);
		frame_node_count(node, 1);
	}
	frame_tree_arrange(tree);
	for (node = frame_tree_root(tree); node; node = frame_node_after(node))
		walked++;
	assert_int_equal(walked, FRAME_DEPTH_MAX + 2); /* the last two are siblings */
	assert_int_equal(walked, frame_tree_size(tree));
	assert_true(frame_node_total(frame_tree_root(tree)) == 5000);
	frame_tree_destroy(tree);
}

static void size_has_a_bound(void **state)
{
	enum { MANY = (1 << 20) + 1000 };
	struct frame_tree *tree = frame_tree_create();
	struct outbuf out;
	char name[16];

	(void)state;
	for (unsigned i = 0; i < MANY; i++) {
		snprintf(name, sizeof name, "%u", i);
		frame_node_count(frame_tree_child(tree, frame_tree_root(tree), name, FRAME_NATIVE),
				 1);
	}
	assert_int_equal(frame_tree_size(tree), (1 << 20) + 1);
	assert_int_equal(frame_tree_refused(tree), 1000);
	frame_tree_arrange(tree);
	assert_true(frame_node_total(frame_tree_root(tree)) == MANY);
	outbuf_init(&out, -1);
	flame_put(&out, tree, &by_calls);
	assert_in_range(out.length, 1000, 100000);
	outbuf_deinit(&out);
	frame_tree_destroy(tree);
}

static void check_change(const struct flame_change *change, const struct frame_node *node,
			 enum flame_change_kind kind, double share, double by)
{
	double found_share, found_by;

	assert_int_equal(flame_change_of(change, node, &found_by, &found_share), kind);
	assert_true(found_share == share);
	assert_true(found_by == by);
}

/* Shares are compared: the trace of now is twice as long. */
static void trees_are_compared(void **state)
{
	struct frame_tree *now = frame_tree_create(), *before = frame_tree_create();
	const struct frame_node *largest;
	double share;

	(void)state;
	frame_node_count(WAY(before, "main", "same"), 2);
	frame_node_count(WAY(before, "main", "less"), 3);
	frame_node_count(WAY(before, "main", "more"), 1);
	frame_node_count(WAY(before, "main", "gone", "below"), 1);
	frame_node_count(WAY(before, "other"), 1);
	frame_node_count(WAY(now, "main", "same"), 4);
	frame_node_count(WAY(now, "main", "less"), 2);
	frame_node_count(WAY(now, "main", "more"), 8);
	frame_node_count(WAY(now, "main", "new", "same"), 2);
	frame_tree_arrange(now);
	frame_tree_arrange(before);
	struct flame_change *change = flame_change_create(now, before);

	check_change(change, frame_tree_root(now), CHANGE_NONE, 1, 0);
	check_change(change, WAY(now, "main"), CHANGE_MORE, 0.875, 0.125);
	check_change(change, WAY(now, "main", "same"), CHANGE_NONE, 0.25, 0);
	check_change(change, WAY(now, "main", "less"), CHANGE_LESS, 0.375, -0.25);
	check_change(change, WAY(now, "main", "more"), CHANGE_MORE, 0.125, 0.375);
	check_change(change, WAY(now, "main", "new"), CHANGE_NEW, 0, 0.125);
	check_change(change, WAY(now, "main", "new", "same"), CHANGE_NEW, 0, 0.125);
	assert_int_equal(flame_change_gone(change, &largest, &share), 3);
	assert_string_equal(largest->name, "gone");
	assert_true(share == 0.125);
	flame_change_destroy(change);
	frame_tree_destroy(now);
	frame_tree_destroy(before);
}

static void nothing_is_compared(void **state)
{
	struct frame_tree *now = frame_tree_create(), *before = frame_tree_create();
	const struct frame_node *largest;
	double share;

	(void)state;
	frame_node_count(WAY(now, "main"), 1);
	frame_tree_arrange(now);
	frame_tree_arrange(before);
	struct flame_change *change = flame_change_create(now, before);

	check_change(change, WAY(now, "main"), CHANGE_NEW, 0, 1);
	assert_int_equal(flame_change_gone(change, &largest, &share), 0);
	assert_null(largest);
	assert_true(share == 0);
	flame_change_destroy(change);
	change = flame_change_create(before, now);
	check_change(change, frame_tree_root(before), CHANGE_LESS, 1, -1);
	assert_int_equal(flame_change_gone(change, &largest, &share), 1);
	assert_string_equal(largest->name, "main");
	flame_change_destroy(change);
	frame_tree_destroy(now);
	frame_tree_destroy(before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_sorted),    cmocka_unit_test(names_break_no_line),
		cmocka_unit_test(weights_add_up),      cmocka_unit_test(depth_has_a_bound),
		cmocka_unit_test(size_has_a_bound),    cmocka_unit_test(trees_are_compared),
		cmocka_unit_test(nothing_is_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

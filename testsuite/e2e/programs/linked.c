/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "linked.h"

#include <stddef.h>
#include <stdint.h>

static void lists(void)
{
	struct list items[6], self = {7, &self};

	for (int i = 0; i < 6; i++)
		items[i] = (struct list){i + 1, i < 5 ? &items[i + 1] : NULL};
	k_list(&items[4]);
	k_list(&items[0]);
	k_list(NULL);
	k_result(&items[4]);
	items[5].next = &items[4];
	k_list(&items[4]);
	k_list(&self);
	/* What leads nowhere. */
	self.next = (struct list *)5;
	k_list(&self);
	self.next = (struct list *)(UINTPTR_MAX / 3 * 2);
	k_list(&self);
}

static void trees(void)
{
	struct tree small = {2, NULL, NULL, NULL, NULL}, right = {3, NULL, NULL, NULL, NULL};
	struct tree root = {1, &small, &right, NULL, &small};
	struct leaf leaf = {"leaf", &small};

	small.leaf = &leaf;
	k_tree(&root, "name");
}

/* More than there is room for, and what comes behind it. */
static void bush(void)
{
	static struct bush all[1 + 4 + 16 + 64 + 256];

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		all[i] = (struct bush){(int)i, {NULL}, "twig"};
		for (size_t k = 0; k < 4 && 4 * i + k + 1 < sizeof all / sizeof *all; k++)
			all[i].branches[k] = &all[4 * i + k + 1];
	}
	k_bush(&all[0], "behind");
}

int main(void)
{
	struct list row = {1, NULL}, other = {2, &row};
	struct two two;
	struct one one = {&two, 5};
	struct string string = {"text", NULL};
	struct file file = {1, &string};
	struct list *pointer = &row;
	struct inside inside = {{&row}, {&other, NULL}, &row, NULL, &pointer, {&row}};
	unnamed unnamed_one;
	struct far far = {&unnamed_one};
	struct fifth fifth = {5};
	struct fourth fourth = {&fifth};
	struct third third = {&fourth};
	struct second second = {&third};
	struct first first = {&second};

	two.one = &one;
	string.file = &file;
	unnamed_one.far = &far;
	lists();
	trees();
	k_loop(&one);
	k_words(&file);
	k_by_value(one, &row);
	k_inside(&inside);
	k_unnamed(&unnamed_one);
	k_chain(&first);
	bush();
	return 0;
}

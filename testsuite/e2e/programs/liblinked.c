/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Structs that pointers in structs lead to, as debug information tells of them. */
#include "linked.h"

int k_list(struct list *list)
{
	return list ? list->x : 0;
}

int k_tree(const struct tree *tree, const char *name)
{
	return tree->id + *name;
}

int k_loop(struct one *one)
{
	return one->x;
}

int k_words(struct file *file)
{
	return file->n;
}

int k_by_value(struct one one, struct list *list)
{
	return one.x + (list != 0);
}

int k_inside(struct inside *inside)
{
	return inside->_Own != 0;
}

int k_unnamed(unnamed *unnamed)
{
	return unnamed->far != 0;
}

struct list *k_result(struct list *list)
{
	return list->next;
}

int k_chain(struct first *first)
{
	return first->second != 0;
}

int k_bush(struct bush *bush, const char *behind)
{
	return bush->x + *behind;
}

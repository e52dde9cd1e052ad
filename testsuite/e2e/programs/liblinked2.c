/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Another struct that is called like one of liblinked.c's. */
struct list {
	const char *text;
	struct list *before;
};

int k_other_list(struct list *list);
int k_other_list(struct list *list)
{
	return list->before != 0;
}

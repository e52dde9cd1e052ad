/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames are compared by their place: the names from the root down. What is compared are shares of
 * the whole, as one trace may be longer than the other.
 */
#include "sink/stacks/flame_change.h"

#include "base/xalloc.h"

#include <stdbool.h>
#include <stdlib.h>

/* A share that has changed by less than that is the same. */
static const double SAME = 0.0005;

struct flame_change {
	const struct frame_tree *now, *before;
	const struct frame_node *
		*there; /* by the number of a node of now: the one before, or NULL */
	bool *stays;	/* by the number of a node before */
};

struct flame_change *flame_change_create(const struct frame_tree *now, struct frame_tree *before)
{
	struct flame_change *change = xcalloc(1, sizeof *change);

	change->now = now;
	change->before = before;
	change->there = xcalloc(frame_tree_size(now), sizeof *change->there);
	change->stays = xcalloc(frame_tree_size(before), sizeof *change->stays);
	for (const struct frame_node *node = frame_tree_root(now); node;
	     node = frame_node_after(node)) {
		const struct frame_node *around = node->parent ? change->there[node->parent->number]
							       : NULL;
		const struct frame_node *same = frame_tree_root(before);

		if (node->parent)
			same = around ? frame_tree_find(before, around, node->name) : NULL;
		change->there[node->number] = same;
		if (same)
			change->stays[same->number] = true;
	}
	return change;
}

void flame_change_destroy(struct flame_change *change)
{
	if (!change)
		return;
	free(change->there);
	free(change->stays);
	free(change);
}

static double share_of(const struct frame_tree *tree, const struct frame_node *node)
{
	const double all = frame_node_total(frame_tree_root(tree));

	return node && all > 0 ? frame_node_total(node) / all : 0;
}

enum flame_change_kind flame_change_of(const struct flame_change *change,
				       const struct frame_node *node, double *by, double *share)
{
	const struct frame_node *before = change->there[node->number];

	*share = share_of(change->before, before);
	*by = share_of(change->now, node) - *share;
	if (!before)
		return CHANGE_NEW;
	return *by > SAME ? CHANGE_MORE : *by < -SAME ? CHANGE_LESS : CHANGE_NONE;
}

size_t flame_change_gone(const struct flame_change *change, const struct frame_node **largest,
			 double *share)
{
	size_t count = 0;

	*largest = NULL;
	for (const struct frame_node *node = frame_tree_root(change->before); node;
	     node = frame_node_after(node)) {
		if (change->stays[node->number])
			continue;
		count++;
		if (!*largest || frame_node_total(node) > frame_node_total(*largest))
			*largest = node;
	}
	*share = share_of(change->before, *largest);
	return count;
}

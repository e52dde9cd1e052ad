/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the frames of one trace differ from those of another one: --flame-diff. */
#ifndef TRACER_SINK_STACKS_FLAME_CHANGE_H
#define TRACER_SINK_STACKS_FLAME_CHANGE_H

#include "sink/stacks/frame_tree.h"

/* What became of a frame. */
enum flame_change_kind { CHANGE_NONE, CHANGE_MORE, CHANGE_LESS, CHANGE_NEW };

struct flame_change;

/* Both trees are arranged, and must stay valid. */
struct flame_change *flame_change_create(const struct frame_tree *now, struct frame_tree *before);
void flame_change_destroy(struct flame_change *change); /* NULL is allowed */

/*
 * Compares a frame of the tree of now with that in the same place of the other one. Stores by how
 * much its share of the whole has changed, from -1 to 1, and what it was.
 */
enum flame_change_kind flame_change_of(const struct flame_change *change,
				       const struct frame_node *node, double *by, double *share);
/*
 * Returns how many frames of the other tree are in no such place now. Stores the largest one (NULL:
 * none), and its share.
 */
size_t flame_change_gone(const struct flame_change *change, const struct frame_node **largest,
			 double *share);

#endif

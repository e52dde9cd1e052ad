/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A tree of frames: what calls have in common of their stacks is one way down from the root. Each
 * frame has the weight of the calls that were made there, and of all in and below it. Folded lines
 * and pictures are made from it (frame_lines.h, flame.h).
 */
#ifndef TRACER_SINK_STACKS_FRAME_TREE_H
#define TRACER_SINK_STACKS_FRAME_TREE_H

#include <stddef.h>
#include <stdint.h>

/* A frame that is seen as several kinds, under one name in one place, is of the last of them. */
enum frame_kind {
	FRAME_NATIVE, /* compiled code */
	FRAME_SCRIPT,
	FRAME_TRACED, /* a function that is traced */
	FRAME_KINDS
};

/* Frames this far from the root have siblings in place of children. */
enum { FRAME_DEPTH_MAX = 1024 };

struct frame_node {
	const char *name; /* as the traced process has it: any bytes but NUL */
	enum frame_kind kind;
	unsigned depth;	    /* of the root: 0 */
	uint32_t number;    /* in the order in which they were made; of the root: 0 */
	uint64_t calls;	    /* that were counted here */
	double weight;	    /* of these; may be below 0 */
	double below_total; /* weight of all below */
	struct frame_node *parent;
	struct frame_node *first, *next; /* child, and sibling: set by frame_tree_arrange() */
};

struct frame_tree;

struct frame_tree *frame_tree_create(void);
void frame_tree_destroy(struct frame_tree *tree); /* NULL is allowed */

/* The root, whose name is empty. Nodes live as long as the tree. */
struct frame_node *frame_tree_root(const struct frame_tree *tree);
/*
 * Returns the child of that name, which is made if there is none. When the tree has as many nodes
 * as it may have, no more are made, and `parent` is returned; when `parent` is FRAME_DEPTH_MAX
 * away from the root, a sibling of it.
 */
struct frame_node *frame_tree_child(struct frame_tree *tree, struct frame_node *parent,
				    const char *name, enum frame_kind kind);
/* Returns the child of that name, or NULL. */
const struct frame_node *frame_tree_find(struct frame_tree *tree, const struct frame_node *parent,
					 const char *name);
/* Counts a call of that weight at a node. */
void frame_node_count(struct frame_node *node, double weight);

/*
 * Sorts children by their names, and computes below_total; a weight below 0 counts as none. To be
 * called before a walk; more may be counted after it.
 */
void frame_tree_arrange(struct frame_tree *tree);
/*
 * Walks all nodes, parents before their children: begin with the root. Returns NULL at the end.
 */
struct frame_node *frame_node_after(const struct frame_node *node);
/* Returns the weight of a node and all below it, which is not below 0. */
double frame_node_total(const struct frame_node *node);
/* Returns how many nodes there are, with the root. */
size_t frame_tree_size(const struct frame_tree *tree);
/* Returns how many times a node was not made for lack of room. */
uint64_t frame_tree_refused(const struct frame_tree *tree);

#endif

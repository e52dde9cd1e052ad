/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree of frames.
 *
 * Calls come by the million, and a node may have thousands of children, so that a child is found in
 * one table for the whole tree, whose keys are the parent's number and the name. Traced programs
 * decide how many different names there are, and how deeply calls lie in each other: both are
 * bounded here. A tree may be as deep as that bound, and nothing here recurses.
 */
#include "sink/stacks/frame_tree.h"

#include "base/strbuf.h"
#include "base/vec.h"
#include "base/xalloc.h"
#include "proto/names.h"

#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 1 << 20 };

struct owned_node {
	struct frame_node node; /* must be first: the node is cast to this */
	char key[];		/* the parent's number; the name, with a NUL */
};

struct frame_tree {
	struct frame_node root;
	struct names known; /* key → struct owned_node, which owns the key */
	struct vec order;   /* struct frame_node *, without the root: as they were made */
	struct strbuf key;  /* of the child that is looked for */
	uint64_t refused;
};

struct frame_tree *frame_tree_create(void)
{
	struct frame_tree *tree = xcalloc(1, sizeof *tree);

	tree->root.name = "";
	vec_init(&tree->order, sizeof(struct frame_node *));
	return tree;
}

static struct frame_node *node_at(const struct frame_tree *tree, size_t index)
{
	return *(struct frame_node **)vec_at(&tree->order, index);
}

void frame_tree_destroy(struct frame_tree *tree)
{
	if (!tree)
		return;
	for (size_t i = 0; i < tree->order.count; i++)
		free(node_at(tree, i));
	names_deinit(&tree->known);
	vec_deinit(&tree->order);
	strbuf_deinit(&tree->key);
	free(tree);
}

struct frame_node *frame_tree_root(const struct frame_tree *tree)
{
	return (struct frame_node *)(uintptr_t)&tree->root;
}

static struct frame_node *make_node(struct frame_tree *tree, struct frame_node *parent)
{
	const struct strbuf *key = &tree->key;
	struct owned_node *owned = xcalloc(1, sizeof *owned + key->length + 1);
	struct frame_node *node = &owned->node;

	memcpy(owned->key, key->text, key->length);
	node->name = owned->key + sizeof node->number;
	node->parent = parent;
	node->depth = parent->depth + 1;
	names_put(&tree->known, owned->key, key->length, owned);
	vec_push(&tree->order, &node);
	node->number = (uint32_t)tree->order.count;
	return node;
}

/* Returns the known child of that name, or NULL, and leaves its key in tree->key. */
static struct frame_node *find(struct frame_tree *tree, const struct frame_node *parent,
			       const char *name)
{
	struct strbuf *key = &tree->key;

	strbuf_clear(key);
	strbuf_add_bytes(key, &parent->number, sizeof parent->number);
	strbuf_add(key, name);
	return (struct frame_node *)(uintptr_t)names_get(&tree->known, key->text, key->length);
}

const struct frame_node *frame_tree_find(struct frame_tree *tree, const struct frame_node *parent,
					 const char *name)
{
	return find(tree, parent, name);
}

struct frame_node *frame_tree_child(struct frame_tree *tree, struct frame_node *parent,
				    const char *name, enum frame_kind kind)
{
	if (parent->depth >= FRAME_DEPTH_MAX)
		parent = parent->parent;
	struct frame_node *node = find(tree, parent, name);

	if (!node && tree->order.count >= NODES_MAX) {
		tree->refused++;
		return parent;
	}
	if (!node)
		node = make_node(tree, parent);
	if (kind > node->kind)
		node->kind = kind;
	return node;
}

void frame_node_count(struct frame_node *node, double weight)
{
	node->calls++;
	node->weight += weight;
}

/* Siblings stand together, in the order of their names. */
static int compare(const void *left, const void *right)
{
	const struct frame_node *one = *(struct frame_node *const *)left;
	const struct frame_node *other = *(struct frame_node *const *)right;

	if (one->parent != other->parent)
		return one->parent->number < other->parent->number ? -1 : 1;
	return strcmp(one->name, other->name);
}

double frame_node_total(const struct frame_node *node)
{
	return (node->weight > 0 ? node->weight : 0) + node->below_total;
}

void frame_tree_arrange(struct frame_tree *tree)
{
	const size_t count = tree->order.count;
	struct frame_node **sorted = xcalloc(count + 1, sizeof(void *));

	tree->root.first = NULL;
	tree->root.below_total = 0;
	for (size_t i = 0; i < count; i++) {
		sorted[i] = node_at(tree, i);
		sorted[i]->first = sorted[i]->next = NULL;
		sorted[i]->below_total = 0;
	}
	/* A node was made after its parent. */
	for (size_t i = count; i-- > 0;)
		node_at(tree, i)->parent->below_total += frame_node_total(node_at(tree, i));
	qsort(sorted, count, sizeof(void *), compare);
	for (size_t i = count; i-- > 0;) {
		sorted[i]->next = sorted[i]->parent->first;
		sorted[i]->parent->first = sorted[i];
	}
	free(sorted);
}

struct frame_node *frame_node_after(const struct frame_node *node)
{
	if (node->first)
		return node->first;
	while (node && !node->next)
		node = node->parent;
	return node ? node->next : NULL;
}

size_t frame_tree_size(const struct frame_tree *tree)
{
	return tree->order.count + 1;
}

uint64_t frame_tree_refused(const struct frame_tree *tree)
{
	return tree->refused;
}

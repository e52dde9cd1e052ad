/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree of the report's flame graph: of the stacks of calls (-w), or without them, of traced
 * calls in each other.
 *
 * Calls come when they end, so those that a call made come before it. They wait as pieces, in the
 * order in which they ended, until a call ends that began before them with less depth: that one
 * made them. What is left of its time is its own. With stacks, pieces have times only, and the
 * tree is made of the frames.
 *
 * A piece whose caller never comes (--if left it out, or it does not end) becomes a part of the
 * tree without one. Where a thread has many pieces, those of one depth become one: they have one
 * caller, unless callers were left out.
 *
 * A node may have thousands of children, so that they are found in one table for all nodes. Its
 * keys have the number of the parent: a node that moves with all below it changes one key, and a
 * call that ends becomes the node that holds what it made, so that none of that moves.
 *
 * This is not the tree of frame_tree.c, where a call is placed when it begins, below all calls that
 * are traced. Here it is placed below those that are shown, which are known when they end: trees
 * are put together from below, and merged.
 *
 * All is bounded: nodes (calls beyond them are only counted), the height of trees, and pieces.
 */
#include "sink/report/report_flame.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

#define DEEPER "(deeper)"

enum { NODES_MAX = 100000, HEIGHT_MAX = 200, PIECES_MAX = 2048 };

struct report_node *report_flame_node(const struct report_flame *flame, uint32_t number)
{
	return vec_at(&flame->nodes, number);
}

static uint32_t name_of(struct report_flame *flame, const char *text, size_t length)
{
	const uintptr_t known = (uintptr_t)names_get(&flame->names, text, length);

	if (known)
		return (uint32_t)known - 1;
	names_put(&flame->names, xstrndup(text, length), length,
		  (const void *)(flame->names.count + 1));
	return (uint32_t)flame->names.count - 1;
}

/* Returns a node without a parent, or 0 if there is no room. */
static uint32_t make_node(struct report_flame *flame, uint32_t name)
{
	uint32_t number = flame->free;

	if (!number && flame->nodes.count >= NODES_MAX)
		return 0;
	if (number) {
		flame->free = report_flame_node(flame, number)->next;
	} else {
		number = (uint32_t)flame->nodes.count;
		vec_push(&flame->nodes, NULL);
	}
	*report_flame_node(flame, number) = (struct report_node){.name = name};
	return number;
}

static void free_node(struct report_flame *flame, uint32_t number)
{
	report_flame_node(flame, number)->next = flame->free;
	flame->free = number;
}

static uint64_t child_key(uint32_t parent, uint32_t name)
{
	return (uint64_t)parent << 32 | name;
}

static void link_child(struct report_flame *flame, uint32_t parent, uint32_t child)
{
	struct report_node *node = report_flame_node(flame, child);

	node->next = report_flame_node(flame, parent)->child;
	report_flame_node(flame, parent)->child = child;
	map_put(&flame->children, child_key(parent, node->name), (void *)(uintptr_t)child);
}

/* Takes the first child from its parent. Returns it, or 0 if there is none. */
static uint32_t unlink_child(struct report_flame *flame, uint32_t parent)
{
	struct report_node *above = report_flame_node(flame, parent);
	const uint32_t child = above->child;

	if (!child)
		return 0;
	const struct report_node *node = report_flame_node(flame, child);

	above->child = node->next;
	map_remove(&flame->children, child_key(parent, node->name));
	return child;
}

static uint32_t find_child(const struct report_flame *flame, uint32_t parent, uint32_t name)
{
	return (uint32_t)(uintptr_t)map_get(&flame->children, child_key(parent, name));
}

static uint32_t get_child(struct report_flame *flame, uint32_t parent, uint32_t name)
{
	const uint32_t known = find_child(flame, parent, name);
	const uint32_t child = known ? known : make_node(flame, name);

	if (child && !known)
		link_child(flame, parent, child);
	return child;
}

static void add_sums(struct report_flame *flame, uint32_t to, uint32_t from)
{
	report_flame_node(flame, to)->calls += report_flame_node(flame, from)->calls;
	report_flame_node(flame, to)->time += report_flame_node(flame, from)->time;
}

/* Moves the children of `from` to `to`, where those of one name become one, and frees `from`. */
static void adopt_children(struct report_flame *flame, uint32_t to, uint32_t from)
{
	uint32_t child;

	while ((child = unlink_child(flame, from))) {
		const uint32_t same = find_child(flame, to, report_flame_node(flame, child)->name);

		if (same) {
			add_sums(flame, same, child);
			adopt_children(flame, same, child);
		} else {
			link_child(flame, to, child);
		}
	}
	free_node(flame, from);
}

/* Frees what is below a node; its sums become those of `to`. */
static void flatten(struct report_flame *flame, uint32_t node, uint32_t to)
{
	uint32_t child;

	while ((child = unlink_child(flame, node))) {
		add_sums(flame, to, child);
		flatten(flame, child, to);
		free_node(flame, child);
	}
}

/* ------------------------------------------------------------------ pieces */

/* Makes one piece of neighbours of one depth. */
static void compact(struct report_flame *flame, struct vec *pieces)
{
	size_t count = 0;

	for (size_t i = 0; i < pieces->count; i++) {
		const struct report_piece piece = *(struct report_piece *)vec_at(pieces, i);
		struct report_piece *before = count ? vec_at(pieces, count - 1) : NULL;

		if (!before || before->depth != piece.depth) {
			*(struct report_piece *)vec_at(pieces, count++) = piece;
			continue;
		}
		before->time += piece.time;
		before->height = before->height > piece.height ? before->height : piece.height;
		if (!before->trees)
			before->trees = piece.trees;
		else if (piece.trees)
			adopt_children(flame, before->trees, piece.trees);
	}
	pieces->count = count;
}

void report_flame_flush(struct report_flame *flame, struct vec *pieces)
{
	for (size_t i = 0; i < pieces->count; i++) {
		const struct report_piece *piece = vec_at(pieces, i);

		if (piece->trees)
			adopt_children(flame, 0, piece->trees);
	}
	vec_clear(pieces);
}

static void push_piece(struct report_flame *flame, struct vec *pieces,
		       const struct report_piece *piece)
{
	if (pieces->count >= PIECES_MAX)
		compact(flame, pieces);
	if (pieces->count >= PIECES_MAX)
		report_flame_flush(flame, pieces);
	vec_push(pieces, piece);
}

/* Takes the pieces that a call made, and returns them as one. */
static struct report_piece take_pieces(struct report_flame *flame, struct vec *pieces,
				       const struct report_ended *ended)
{
	struct report_piece all = {.begun = ended->begun, .depth = ended->depth};

	while (pieces->count && !ended->is_span) {
		const struct report_piece *last = vec_at(pieces, pieces->count - 1);

		if (last->depth <= ended->depth || last->begun < ended->begun)
			break;
		all.time += last->time;
		all.height = all.height > last->height ? all.height : last->height;
		if (!all.trees)
			all.trees = last->trees;
		else if (last->trees)
			adopt_children(flame, all.trees, last->trees);
		pieces->count--;
	}
	return all;
}

/* Puts a node for the call above the trees of a piece. */
static void add_above(struct report_flame *flame, struct report_piece *piece, const char *name,
		      uint64_t time)
{
	const uint32_t node = piece->trees ? piece->trees : make_node(flame, 0);
	const uint32_t above = node ? make_node(flame, 0) : 0;
	uint32_t deeper;

	if (!above) {
		if (node && !piece->trees)
			free_node(flame, node);
		flame->left_out++;
		return;
	}
	report_flame_node(flame, node)->name = name_of(flame, name, strlen(name));
	report_flame_node(flame, node)->calls = 1;
	report_flame_node(flame, node)->time = time;
	link_child(flame, above, node);
	piece->trees = above;
	if (++piece->height < HEIGHT_MAX)
		return;
	deeper = make_node(flame, name_of(flame, DEEPER, sizeof DEEPER - 1));
	flatten(flame, node, deeper ? deeper : node);
	if (deeper)
		link_child(flame, node, deeper);
	piece->height = 2;
}

/* ------------------------------------------------------------------ stacks */

/* The key of the leaf, which is not 0 and does not meet that of another one. */
static uint32_t known_leaf(const struct report_flame *flame, uint64_t leaf)
{
	return (uint32_t)(uintptr_t)map_get(&flame->leaves, leaf);
}

bool report_flame_knows(const struct report_flame *flame, uint64_t leaf)
{
	return known_leaf(flame, leaf);
}

/* Returns the node of the call's name below its frames, or 0 if there is no room. */
static uint32_t leaf_of(struct report_flame *flame, const struct report_ended *ended)
{
	const char *frame = ended->frames;
	uint32_t node = known_leaf(flame, ended->leaf);

	if (node)
		return node;
	for (unsigned height = 0; frame && *frame == ';' && height < HEIGHT_MAX; height++) {
		const size_t length = strcspn(frame + 1, ";");

		node = get_child(flame, node, name_of(flame, frame + 1, length));
		if (!node)
			return 0;
		frame += 1 + length;
	}
	node = get_child(flame, node, name_of(flame, ended->name, strlen(ended->name)));
	if (node)
		map_put(&flame->leaves, ended->leaf, (void *)(uintptr_t)node);
	return node;
}

static void add_leaf(struct report_flame *flame, const struct report_ended *ended, uint64_t time)
{
	const uint32_t node = leaf_of(flame, ended);

	if (!node) {
		flame->left_out++;
		return;
	}
	report_flame_node(flame, node)->calls++;
	report_flame_node(flame, node)->time += time;
}

/* ------------------------------------------------------------------ calls */

void report_flame_add(struct report_flame *flame, struct vec *pieces,
		      const struct report_ended *ended)
{
	struct report_piece piece = take_pieces(flame, pieces, ended);
	const uint64_t own = ended->duration > piece.time ? ended->duration - piece.time : 0;

	if (ended->leaf)
		add_leaf(flame, ended, own);
	else
		add_above(flame, &piece, ended->name, own);
	piece.time += own;
	if (!ended->is_span && ended->depth)
		push_piece(flame, pieces, &piece);
	else if (piece.trees)
		adopt_children(flame, 0, piece.trees);
}

void report_flame_begin(struct report_flame *flame)
{
	vec_init(&flame->nodes, sizeof(struct report_node));
	vec_push(&flame->nodes, NULL);
}

void report_flame_deinit(struct report_flame *flame)
{
	for (size_t i = 0; i < flame->names.count; i++)
		free((void *)(uintptr_t)flame->names.entries[i].name);
	names_deinit(&flame->names);
	map_deinit(&flame->children);
	map_deinit(&flame->leaves);
	vec_deinit(&flame->nodes);
}

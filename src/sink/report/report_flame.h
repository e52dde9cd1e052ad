/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tree of the report's flame graph: see report_flame.c. */
#ifndef TRACER_SINK_REPORT_REPORT_FLAME_H
#define TRACER_SINK_REPORT_REPORT_FLAME_H

#include "base/map.h"
#include "base/vec.h"
#include "proto/names.h"

#include <stdbool.h>
#include <stdint.h>

/* A frame under its callers. Numbers of nodes are indexes; 0 is the root, and none elsewhere. */
struct report_node {
	uint32_t child, next; /* first child; next one of the same parent */
	uint32_t name;	      /* index in `names` */
	uint64_t calls, time; /* of calls of this name; ns without those in them */
};

/* Begin with zeros and report_flame_begin(). */
struct report_flame {
	struct vec nodes;    /* struct report_node */
	uint32_t free;	     /* first of those that are not used, linked by `next` */
	struct names names;  /* text, owned → index + 1 */
	struct map children; /* number of the parent, index of the name → node */
	struct map leaves;   /* of a stack and a function → node */
	uint64_t left_out;   /* calls for which there was no room */
};

/*
 * What has ended in a thread within a call that has not: a call with those in it, or several of one
 * depth. One for each thread; begin with VEC_OF(struct report_piece).
 */
struct report_piece {
	uint64_t begun;
	uint64_t time; /* ns, with those in it */
	uint32_t depth;
	uint32_t trees;	 /* a node without a name above its trees; 0: none */
	uint32_t height; /* of the highest one */
};

/* A call that has ended, or will not. */
struct report_ended {
	const char *name;
	uint64_t begun, duration;
	uint32_t depth;
	bool is_span; /* lies in nothing */
	/* The frames that it was made from, from the outermost in, each behind a ';'; or NULL. */
	const char *frames;
	uint64_t leaf; /* number of these frames with this name; 0: there are none */
};

void report_flame_begin(struct report_flame *flame);
void report_flame_deinit(struct report_flame *flame);

/* Returns true if the frames of this leaf are known: they need not be made again. */
bool report_flame_knows(const struct report_flame *flame, uint64_t leaf);

/* Adds a call. Those in it have been added before. `pieces`: of its thread. */
void report_flame_add(struct report_flame *flame, struct vec *pieces,
		      const struct report_ended *ended);

/* At the end, or if a thread has no more calls: its pieces become part of the tree. */
void report_flame_flush(struct report_flame *flame, struct vec *pieces);

struct report_node *report_flame_node(const struct report_flame *flame, uint32_t number);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of code that a process has compiled itself: see jit_names.c. */
#ifndef TRACER_TARGET_STACKS_JIT_NAMES_H
#define TRACER_TARGET_STACKS_JIT_NAMES_H

#include <stdint.h>
#include <sys/types.h>

struct jit_names;
struct perf_map;

struct jit_names *jit_names_create(void);
void jit_names_destroy(struct jit_names *names); /* NULL is allowed */
/* From now on, the names are those of `map` (NULL: none), which is taken over. */
void jit_names_keep(struct jit_names *names, struct perf_map *map);
/*
 * Returns the name of the code at `address` in the process of task `tid`, valid until the next
 * call, and in *offset the distance from its beginning; NULL if it has none.
 */
const char *jit_names_find(struct jit_names *names, pid_t tid, uint64_t address, uint64_t *offset);

#endif

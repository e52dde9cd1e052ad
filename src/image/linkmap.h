/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of objects that the dynamic linker keeps in a tracee (link_map, r_debug; <link.h>, gABI
 * and glibc's elf/rtld-debugger-interface.txt), read from outside and compared with what was there
 * before. All of it is foreign: bounded, loop-checked, read through a memory_source.
 */
#ifndef TRACER_IMAGE_LINKMAP_H
#define TRACER_IMAGE_LINKMAP_H

#include "base/arch.h"
#include "base/memory.h"

enum { LINKMAP_OBJECTS_MAX = 65536, LINKMAP_NAMESPACES_MAX = 64 };

/* One object of the list. */
struct linkmap_object {
	uint64_t node;	  /* address of its struct link_map */
	uint64_t bias;	  /* l_addr: what to add to the file's addresses */
	uint64_t dynamic; /* l_ld */
	char *name;	  /* l_name as the tracee has it; "" for the main program; owned */
	unsigned space;	  /* namespace: 0 the base one, then those of dlmopen */
	void *user;	  /* the caller's */
	bool doubtful;	  /* set by the caller: next time it is taken for another one that came */
};

struct linkmap;

/* `word`: bytes of a pointer in the tracee. */
struct linkmap *linkmap_create(unsigned word);
void linkmap_destroy(struct linkmap *map);
struct linkmap *linkmap_clone(
	const struct linkmap *map); /* for a forked child; `user` is copied as it is */

/*
 * Called for objects that came (as the list has them) and that went (`object` is freed
 * afterwards).
 */
struct linkmap_events {
	void (*added)(void *context, struct linkmap_object *object);
	void (*removed)(void *context, struct linkmap_object *object);
	void *context;
};

/*
 * Walks the list that starts at `r_debug` (all namespaces) and reports what changed: removals
 * first. Nodes whose (l_addr, l_name pointer, l_ld, l_next) did not change are checked in batched
 * reads and their names not read again. Returns 0; -EAGAIN when the list is being changed (r_state
 * is not RT_CONSISTENT; nothing reported unless `force`), -EFAULT when it is unreadable, -ELOOP
 * when it is circular or too long: what could be read so far is then reported.
 */
int linkmap_update(struct linkmap *map, const struct memory_source *memory, uint64_t r_debug,
		   bool force, const struct linkmap_events *events);

/* The objects known now, in list order. */
struct linkmap_object *const *linkmap_objects(const struct linkmap *map, size_t *count);

/*
 * Finds r_debug from a dynamic section in memory at `dynamic` (DT_DEBUG's value). 0 when the linker
 * has not filled it in yet or there is none.
 */
uint64_t linkmap_find_r_debug(const struct memory_source *memory, uint64_t dynamic, unsigned word);

/* r_brk: the function the linker calls at every change; 0 when unreadable. */
uint64_t linkmap_r_brk(const struct memory_source *memory, uint64_t r_debug, unsigned word);

#endif

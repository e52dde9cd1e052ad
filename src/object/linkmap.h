/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the list of loaded objects that the dynamic linker keeps in a tracee (link_map, r_debug;
 * see <link.h>, gABI and glibc's elf/rtld-debugger-interface.txt), and compares it with its last
 * known state. The tracee may put anything there: reads are bounded, checked for loops, and made
 * through a memory_source.
 */
#ifndef TRACER_OBJECT_LINKMAP_H
#define TRACER_OBJECT_LINKMAP_H

#include "base/arch.h"
#include "base/memory.h"

enum { LINKMAP_OBJECTS_MAX = 65536, LINKMAP_NAMESPACES_MAX = 64 };

/* One object of the list. */
struct linkmap_object {
	uint64_t node;	  /* address of its struct link_map */
	uint64_t bias;	  /* l_addr: the load bias, to be added to the file's addresses */
	uint64_t dynamic; /* l_ld */
	char *name;	  /* l_name as it is in the tracee; "" for the main program; owned */
	unsigned space;	  /* namespace: 0 is the base one; the others are made by dlmopen */
	void *user;	  /* owned by the caller */
	/* set by the caller: the next update reports it as removed, and as a new one added */
	bool doubtful;
};

struct linkmap;

/* `word`: bytes of a pointer in the tracee. */
struct linkmap *linkmap_create(unsigned word);
void linkmap_destroy(struct linkmap *map);
/* Returns a copy for a forked child; `user` is copied unchanged. */
struct linkmap *linkmap_clone(const struct linkmap *map);

/*
 * Called for objects that were added, in list order, and for objects that were removed (`object` is
 * freed afterwards).
 */
struct linkmap_events {
	void (*added)(void *context, struct linkmap_object *object);
	void (*removed)(void *context, struct linkmap_object *object);
	void *context;
};

/*
 * Walks the list that starts at `r_debug` (all namespaces) and reports changes, removals first.
 * Nodes whose (l_addr, l_name pointer, l_ld, l_next) did not change are checked in batched reads,
 * and their names are not read again. Returns 0; -EAGAIN if the list is being changed (r_state is
 * not RT_CONSISTENT), in which case nothing is reported unless `force` is set; -EFAULT if the list
 * is unreadable, or -ELOOP if it is circular or too long. In the last two cases all that could be
 * read is reported.
 */
int linkmap_update(struct linkmap *map, const struct memory_source *memory, uint64_t r_debug,
		   bool force, const struct linkmap_events *events);

/* Returns the objects known now, in list order. */
struct linkmap_object *const *linkmap_objects(const struct linkmap *map, size_t *count);

/*
 * Returns the address of r_debug, the value of DT_DEBUG in the dynamic section in memory at
 * `dynamic`. Returns 0 if the linker has not filled it in yet, or there is none.
 */
uint64_t linkmap_find_r_debug(const struct memory_source *memory, uint64_t dynamic, unsigned word);

/* Returns r_brk, the function that the linker calls at every change, or 0 if it is unreadable. */
uint64_t linkmap_r_brk(const struct memory_source *memory, uint64_t r_debug, unsigned word);

#endif

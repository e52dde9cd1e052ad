/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The mappings of a process, as /proc/PID/maps tells (proc(5)). */
#ifndef TRACER_INFERIOR_MAPS_H
#define TRACER_INFERIOR_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mapping {
	uint64_t start, end;
	uint64_t offset;
	dev_t device;
	ino_t inode; /* 0: no file */
	bool readable, writable, executable;
	bool shared;	  /* what is written there is seen by others */
	const char *path; /* owned by the maps; "" when there is none; "[heap]", "[vdso]" … */
};

struct maps {
	struct mapping *mappings; /* in order of addresses */
	size_t count;
	char *text; /* what the paths point into */
};

/*
 * Reads the mappings of `pid`, a task: 0 or -errno. maps_deinit() frees them. Of a process whose
 * leader has exited that one has none, and they are read of another of its tasks.
 */
int maps_read(pid_t pid, struct maps *maps);
/*
 * The same from an open /proc/PID/maps: it can be read even after opening it is no longer allowed.
 */
int maps_read_from(int fd, struct maps *maps);
void maps_deinit(struct maps *maps);

/* The mapping that contains `address`, or NULL. */
const struct mapping *maps_find(const struct maps *maps, uint64_t address);
/* The first one of that path ("[vdso]", "[stack]"), or NULL. */
const struct mapping *maps_find_path(const struct maps *maps, const char *path);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The mappings of a process, from /proc/PID/maps (proc(5)). */
#ifndef TRACER_TRACEE_MAPS_H
#define TRACER_TRACEE_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mapping {
	uint64_t start, end;
	uint64_t offset;
	dev_t device;
	ino_t inode; /* 0: no file */
	bool readable, writable, executable;
	bool shared;	  /* MAP_SHARED: writes are visible to other processes */
	const char *path; /* owned by the struct maps; "" if there is none; "[heap]", "[vdso]" … */
};

struct maps {
	struct mapping *mappings; /* sorted by address */
	size_t count;
	char *text; /* buffer that the paths point into */
};

/*
 * Reads the mappings of task `pid`: 0 or -errno. maps_deinit() frees them. A leader that has exited
 * has no mappings; those of another task of the process are read then.
 */
int maps_read(pid_t pid, struct maps *maps);
/*
 * Like maps_read(), from an open /proc/PID/maps, which can be read even if opening it is not
 * permitted any more.
 */
int maps_read_from(int fd, struct maps *maps);
void maps_deinit(struct maps *maps);

/* Returns the mapping that contains `address`, or NULL. */
const struct mapping *maps_find(const struct maps *maps, uint64_t address);
/* Returns the first mapping with that path ("[vdso]", "[stack]"), or NULL. */
const struct mapping *maps_find_path(const struct maps *maps, const char *path);

#endif

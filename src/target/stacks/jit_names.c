/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of code that a process has compiled itself, from /tmp/perf-PID.map (object/perf_map.h).
 * PID is the process's number in its own pid namespace, and /tmp is the one it sees. Anybody can
 * make a file of that name: it is used only if it belongs to the user that the process runs as, or
 * to root. It is read again when it has grown, for an address that it did not have.
 */
#include "target/stacks/jit_names.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "object/perf_map.h"
#include "tracee/clock.h"
#include "tracee/files.h"
#include "tracee/proc.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { AGAIN_NS = 500000000 };

struct jit_names {
	struct perf_map *map; /* NULL: there is none */
	off_t size;	      /* of the file when it was read */
	bool is_kept;	      /* the map stays as it is, and no file is looked at */
	uint64_t looked;      /* clock_now() when the file was looked at last; 0: never */
};

struct jit_names *jit_names_create(void)
{
	return xcalloc(1, sizeof(struct jit_names));
}

void jit_names_destroy(struct jit_names *names)
{
	if (!names)
		return;
	perf_map_destroy(names->map);
	free(names);
}

void jit_names_keep(struct jit_names *names, struct perf_map *map)
{
	perf_map_destroy(names->map);
	names->map = map;
	names->is_kept = true;
}

static int open_map(pid_t tid)
{
	const pid_t pid = proc_process_of(tid);
	struct file_view view;
	char path[64];

	snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)proc_own_pid(pid));
	file_view_init(&view, pid);
	const int fd = file_view_open_path(&view, path);

	file_view_deinit(&view);
	return fd;
}

static void look(struct jit_names *names, pid_t tid)
{
	const uint64_t now = clock_now();
	struct stat status;

	if (names->looked && now - names->looked < AGAIN_NS)
		return;
	names->looked = now;
	_cleanup_close_ int fd = open_map(tid);

	if (fd < 0 || fstat(fd, &status) < 0 || (names->map && status.st_size == names->size))
		return;
	if (status.st_uid && (long)status.st_uid != proc_effective_id(tid, "Uid"))
		return;
	struct perf_map *map = perf_map_read(fd);

	if (!map)
		return;
	perf_map_destroy(names->map);
	names->map = map;
	names->size = status.st_size;
}

const char *jit_names_find(struct jit_names *names, pid_t tid, uint64_t address, uint64_t *offset)
{
	const char *found = names->map ? perf_map_find(names->map, address, offset) : NULL;

	if (found || names->is_kept)
		return found;
	look(names, tid);
	return names->map ? perf_map_find(names->map, address, offset) : NULL;
}

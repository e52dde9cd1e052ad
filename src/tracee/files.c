/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens files that a tracee has chosen.
 *
 * The tracer may have rights that the process lacks (root, CAP_SYS_PTRACE), and the process has
 * control over every name: it can rename, replace, mount, link, and change its root at any time. So
 * a name is never simply opened.
 *
 * The first choice is /proc/PID/map_files/START-END, a link to the mapped file itself: no name is
 * looked up, and a deleted file is found, too. The kernel lets only CAP_CHECKPOINT_RESTORE follow
 * it.
 *
 * Otherwise the path of the mapping is walked from the root directory of the process, each
 * component opened with O_PATH | O_NOFOLLOW. So no symbolic link, magic link or ".." is followed
 * (the kernel's path of a mapping has none; if one turns up, it is an attack or a race), nothing
 * outside the root can be reached, and O_PATH has no effect on a device or FIFO. The kernel shows
 * the path as seen from the tracer's root if it can, so for a process in a chroot the path of its
 * root is cut off first.
 *
 * Then the result is checked: it must be a regular file with the inode and device of the mapping.
 * btrfs and overlayfs show a different device in maps than in stat(2); there the inode is enough,
 * and the ELF headers are compared with memory later. The checked descriptor is reopened for
 * reading through /proc/self/fd, with O_NONBLOCK, so the file cannot be exchanged in between.
 *
 * On a FUSE file system even a stat(2) waits for a server, which may cooperate with the tracee and
 * never answer, and the wait cannot be interrupted. Such files are not touched, and directories
 * there are not searched: the mount table tells their devices.
 */
#include "tracee/files.h"

#include "base/cleanup.h"
#include "base/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { PLACE = O_PATH | O_CLOEXEC };

#ifndef BTRFS_SUPER_MAGIC
#define BTRFS_SUPER_MAGIC 0x9123683E
#endif

void file_view_init(struct file_view *view, pid_t pid)
{
	*view = (struct file_view){.pid = pid, .root = -1};
	vec_init(&view->hanging, sizeof(dev_t));
}

void file_view_deinit(struct file_view *view)
{
	if (view->root >= 0)
		close(view->root);
	view->root = -1;
	vec_deinit(&view->hanging);
}

/* ------------------------------------------------------------------ file systems that may hang */

/*
 * Parses a line of mountinfo: ID PARENT MAJOR:MINOR ROOT MOUNTPOINT OPTIONS [FIELDS...] - TYPE ...
 */
static void take_mount(struct file_view *view, const char *line)
{
	const char *type = strstr(line, " - ");
	unsigned high, low;

	if (!type || strncmp(type + 3, "fuse", 4) != 0 ||
	    sscanf(line, "%*d %*d %u:%u", &high, &low) != 2)
		return;
	vec_push(&view->hanging, &(dev_t){makedev(high, low)});
}

static void read_mounts(struct file_view *view)
{
	_cleanup_free_ char *line = NULL;
	size_t size = 0;
	char path[64];

	if (view->mounts_read)
		return;
	view->mounts_read = true;
	snprintf(path, sizeof path, "/proc/%d/mountinfo", (int)view->pid);
	FILE *file = fopen(path, "re");

	if (!file)
		return;
	while (getline(&line, &size, file) > 0)
		take_mount(view, line);
	fclose(file);
}

static bool may_hang(struct file_view *view, dev_t device)
{
	read_mounts(view);
	for (size_t i = 0; i < view->hanging.count; i++)
		if (*(dev_t *)vec_at(&view->hanging, i) == device)
			return true;
	return false;
}

/* ------------------------------------------------------------------ from O_PATH to a file */

/* Reopens `place` (O_PATH) for reading, if it is the file of the mapping. */
static int open_place(int place, const struct mapping *mapping, bool by_name)
{
	struct stat status;
	struct statfs system;
	char path[64];

	if (fstat(place, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode) || status.st_ino != mapping->inode)
		return -ESTALE;
	if (by_name && status.st_dev != mapping->device &&
	    (fstatfs(place, &system) < 0 || ((uint32_t)system.f_type != BTRFS_SUPER_MAGIC &&
					     (uint32_t)system.f_type != OVERLAYFS_SUPER_MAGIC)))
		return -ESTALE;
	snprintf(path, sizeof path, "/proc/self/fd/%d", place);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

static int open_mapped(const struct file_view *view, const struct mapping *mapping)
{
	char path[128];

	snprintf(path, sizeof path, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)view->pid,
		 mapping->start, mapping->end);
	_cleanup_close_ int place = open(path, PLACE);

	return place < 0 ? -errno : open_place(place, mapping, false);
}

/* ------------------------------------------------------------------ below the process's root */

static int open_root(struct file_view *view)
{
	char path[64];

	if (view->root_tried)
		return view->root < 0 ? -ENOENT : 0;
	view->root_tried = true;
	snprintf(path, sizeof path, "/proc/%d/root", (int)view->pid);
	ssize_t length = readlink(path, view->prefix, sizeof view->prefix - 1);

	if (length < 0)
		return -errno;
	view->prefix[length] = '\0';
	if (!strcmp(view->prefix, "/"))
		view->prefix[0] = '\0';
	view->root = open(path, PLACE | O_DIRECTORY);
	return view->root < 0 ? -errno : 0;
}

/*
 * Returns true if a lookup in this directory may never end. The kernel answers this statx() without
 * asking the server.
 */
static bool place_may_hang(struct file_view *view, int place)
{
	struct statx status;

	return statx(place, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &status) == 0 &&
	       may_hang(view, makedev(status.stx_dev_major, status.stx_dev_minor));
}

/* Walks one component down the path. *path is then the rest. */
static int step_down(struct file_view *view, int *place, const char **path)
{
	char name[NAME_MAX + 1];
	size_t length = strcspn(*path, "/");

	if (!length || length > NAME_MAX)
		return -ENOENT;
	memcpy(name, *path, length);
	name[length] = '\0';
	if (!strcmp(name, "..") || !strcmp(name, "."))
		return -ENOENT;
	if (place_may_hang(view, *place))
		return -EREMOTE;
	int next = openat(*place, name, PLACE | O_NOFOLLOW);

	if (next < 0)
		return -errno;
	close(*place);
	*place = next;
	*path += length;
	*path += **path == '/';
	return 0;
}

/*
 * Opens (O_PATH) an absolute path, as the kernel shows it to the tracer, below the process's root.
 */
static int walk(struct file_view *view, const char *path)
{
	int error = open_root(view);
	size_t prefix = strlen(view->prefix);

	if (error)
		return error;
	if (strncmp(path, view->prefix, prefix) != 0 || path[prefix] != '/')
		return -ENOENT;
	_cleanup_close_ int place = fcntl(view->root, F_DUPFD_CLOEXEC, 0);

	for (path += prefix + 1; !error && *path;)
		error = place < 0 ? -errno : step_down(view, &place, &path);
	return error ? error : take_fd(&place);
}

int file_view_open(struct file_view *view, const struct mapping *mapping)
{
	if (!mapping->inode || mapping->path[0] != '/')
		return -ENOENT;
	if (may_hang(view, mapping->device))
		return -EREMOTE;
	int fd = open_mapped(view, mapping);

	if (fd >= 0)
		return fd;
	_cleanup_close_ int place = walk(view, mapping->path);

	return place < 0 ? place : open_place(place, mapping, true);
}

int file_view_open_path(struct file_view *view, const char *path)
{
	_cleanup_close_ int place = walk(view, path);
	struct stat status;

	if (place < 0)
		return place;
	if (place_may_hang(view, place))
		return -EREMOTE;
	if (fstat(place, &status) < 0)
		return -errno;
	return open_place(place, &(struct mapping){.inode = status.st_ino}, false);
}

int file_view_program_place(struct file_view *view, const struct maps *maps, char **path)
{
	char link[64];
	char target[PATH_MAX];

	snprintf(link, sizeof link, "/proc/%d/exe", (int)view->pid);
	ssize_t length = readlink(link, target, sizeof target - 1);

	if (length < 0)
		return -errno;
	target[length] = '\0';
	*path = xstrdup(target);
	const struct mapping *mapping = maps_find_path(maps, target);

	if (mapping && may_hang(view, mapping->device))
		return -EREMOTE;
	/*
	 * A link to the file itself, like map_files, but usable by every process that may trace
	 * this one.
	 */
	int place = open(link, PLACE);

	return place < 0 ? -errno : place;
}

int file_view_open_program(struct file_view *view, const struct maps *maps, char **path)
{
	_cleanup_close_ int place = file_view_program_place(view, maps, path);
	struct stat status;

	if (place < 0)
		return place;
	if (fstat(place, &status) < 0)
		return -errno;
	return open_place(place, &(struct mapping){.inode = status.st_ino}, false);
}

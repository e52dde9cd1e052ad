/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses /proc/PID/maps. The parser is written by hand for speed: there are hundreds of lines, and
 * threads of the tracee are stopped meanwhile.
 */
#include "tracee/maps.h"

#include "base/cleanup.h"
#include "base/sorted.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "tracee/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static int read_all(int fd, struct strbuf *text)
{
	char piece[16384];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, piece, sizeof piece, at)) > 0) {
		strbuf_add_bytes(text, piece, (size_t)n);
		at += n;
	}
	return n < 0 ? -errno : 0;
}

/* Value of a hex digit; 16 if it is none. */
static unsigned digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

/* Parses a number in base `base` that is followed by `end`, and moves *at behind `end`. */
static bool take_number(const char **at, unsigned base, char end, uint64_t *number)
{
	const char *begin = *at;

	for (*number = 0; digit_of(**at) < base; ++*at)
		*number = *number * base + digit_of(**at);
	return *at != begin && *(*at)++ == end;
}

/*
 * Parses one line of maps. The line is NUL-terminated, and must outlive the mapping, which points
 * into it.
 */
static bool parse_line(const char *line, struct mapping *mapping)
{
	uint64_t major_number, minor_number, inode;
	const char *flags;

	*mapping = (struct mapping){0};
	if (!take_number(&line, 16, '-', &mapping->start) ||
	    !take_number(&line, 16, ' ', &mapping->end))
		return false;
	flags = line;
	if (strnlen(line, 5) < 5 || line[4] != ' ')
		return false;
	line += 5;
	if (!take_number(&line, 16, ' ', &mapping->offset) ||
	    !take_number(&line, 16, ':', &major_number) ||
	    !take_number(&line, 16, ' ', &minor_number) || !take_number(&line, 10, ' ', &inode))
		return false;
	mapping->device = makedev((unsigned)major_number, (unsigned)minor_number);
	mapping->inode = inode;
	mapping->readable = flags[0] == 'r';
	mapping->writable = flags[1] == 'w';
	mapping->executable = flags[2] == 'x';
	mapping->shared = flags[3] == 's';
	mapping->path = line + strspn(line, " ");
	return true;
}

int maps_read_from(int fd, struct maps *maps)
{
	struct vec found = VEC_OF(struct mapping);
	struct strbuf text = {0};
	int error = read_all(fd, &text);

	*maps = (struct maps){0};
	if (error) {
		strbuf_deinit(&text);
		return error;
	}
	strbuf_add(&text, "");
	for (char *line = text.text, *end; *line; line = end + 1) {
		struct mapping mapping;

		end = strchrnul(line, '\n');
		bool last = !*end;

		*end = '\0';
		if (parse_line(line, &mapping))
			vec_push(&found, &mapping);
		if (last)
			break;
	}
	*maps = (struct maps){.mappings = found.items, .count = found.count, .text = text.text};
	return 0;
}

static int read_of_task(pid_t tid, struct maps *maps)
{
	char path[64];

	*maps = (struct maps){0};
	snprintf(path, sizeof path, "/proc/%d/maps", (int)tid);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : maps_read_from(fd, maps);
}

int maps_read(pid_t pid, struct maps *maps)
{
	int error = read_of_task(pid, maps);
	pid_t living = error || maps->count ? pid : proc_living_task(pid);

	if (living == pid)
		return error;
	maps_deinit(maps);
	return read_of_task(living, maps);
}

void maps_deinit(struct maps *maps)
{
	free(maps->mappings);
	free(maps->text);
	*maps = (struct maps){0};
}

const struct mapping *maps_find(const struct maps *maps, uint64_t address)
{
	const struct sorted ends = SORTED(struct mapping, end, maps->mappings, maps->count);

	return sorted_around(&ends, offsetof(struct mapping, start), address);
}

const struct mapping *maps_find_path(const struct maps *maps, const char *path)
{
	for (size_t i = 0; i < maps->count; i++)
		if (!strcmp(maps->mappings[i].path, path))
			return &maps->mappings[i];
	return NULL;
}

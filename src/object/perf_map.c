/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names that a compiler in a process (JIT) gives its code.
 *
 * V8, the JVM's agents, .NET and others write /tmp/perf-PID.map for perf(1): a line "START SIZE
 * NAME" for each piece of code, in hexadecimal (linux/tools/perf/Documentation/jit-interface.txt).
 * Lines are appended as the process runs, and code that was freed leaves its line behind. So of the
 * lines for an address the last one in the file counts. The file can say anything: it may have
 * FILE_MAX bytes, and lines of another form are skipped.
 */
#include "object/perf_map.h"

#include "base/sorted.h"
#include "base/vec.h"
#include "base/xalloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 64 << 20 };

struct jit_code {
	uint64_t start, end;
	const char *name; /* in the map's text */
	size_t line;	  /* lines of the file have ascending numbers */
};

struct perf_map {
	char *text;
	struct vec codes; /* struct jit_code, sorted by start */
	uint64_t longest; /* size of the largest one */
};

static char *read_text(int fd)
{
	struct stat status;
	size_t done = 0;

	if (fstat(fd, &status) < 0 || status.st_size > FILE_MAX)
		return NULL;
	char *text = xmalloc((size_t)status.st_size + 1);

	while (done < (size_t)status.st_size) {
		const ssize_t got = read(fd, text + done, (size_t)status.st_size - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	text[done] = '\0';
	return text;
}

static void take_line(struct perf_map *map, char *line, size_t number)
{
	char *end;
	struct jit_code code = {.line = number};

	code.start = strtoull(line, &end, 16);
	if (end == line || *end != ' ')
		return;
	line = end + 1;
	const uint64_t size = strtoull(line, &end, 16);

	if (end == line || *end != ' ' || !size || size > UINT64_MAX - code.start)
		return;
	code.end = code.start + size;
	code.name = end + 1;
	if (size > map->longest)
		map->longest = size;
	vec_push(&map->codes, &code);
}

static int compare(const void *left, const void *right)
{
	const struct jit_code *one = left, *other = right;

	if (one->start != other->start)
		return one->start < other->start ? -1 : 1;
	return (one->line > other->line) - (one->line < other->line);
}

struct perf_map *perf_map_read(int fd)
{
	struct perf_map *map = xcalloc(1, sizeof *map);
	size_t number = 0;
	char *next;

	vec_init(&map->codes, sizeof(struct jit_code));
	map->text = read_text(fd);
	for (char *line = map->text; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		take_line(map, line, number++);
	}
	if (map->codes.count)
		qsort(map->codes.items, map->codes.count, sizeof(struct jit_code), compare);
	if (map->text)
		return map;
	perf_map_destroy(map);
	return NULL;
}

void perf_map_destroy(struct perf_map *map)
{
	if (!map)
		return;
	free(map->text);
	vec_deinit(&map->codes);
	free(map);
}

const char *perf_map_find(const struct perf_map *map, uint64_t address, uint64_t *offset)
{
	enum { TRIES = 4096 };
	const struct sorted starts = SORTED(struct jit_code, start, map->codes.items,
					    map->codes.count);
	const struct jit_code *found = NULL;
	unsigned tries = 0;

	for (size_t i = sorted_above(&starts, address); i-- && tries < TRIES; tries++) {
		const struct jit_code *code = vec_at(&map->codes, i);

		if (address - code->start >= map->longest)
			break;
		if (address < code->end && (!found || code->line > found->line))
			found = code;
	}
	if (!found)
		return NULL;
	*offset = address - found->start;
	return found->name;
}

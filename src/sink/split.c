/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sink that has a sink of its own for each process, with a file each (-ff) or a table each
 * (--per-process). A process's sink is created with its first record and finished with its last, so
 * memory does not grow with the number of processes traced. Only the pids are kept, because a pid
 * may come back: a file is truncated the first time, and appended to after that.
 *
 * Records of no process (functions that cannot be traced) go to the file of the process that has
 * been there longest, or if none is left, of the last one that ended. Tables that share one file
 * have a part of their own for such records, behind all others.
 */
#include "sink/split.h"

#include "base/diag.h"
#include "base/map.h"
#include "base/vec.h"
#include "base/xalloc.h"
#include "sink/sink.h"
#include "sink/whole_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct part {
	int32_t pid; /* 0: the part of no process */
	int fd;	     /* owned if there is a path */
	struct sink *sink;
};

struct split_sink {
	struct sink sink; /* must be first: struct sink * is cast to struct split_sink * */
	const struct sink_kind *kind;
	struct sink_target target; /* of all parts: each has its own fd and pid */
	struct vec parts;	   /* of struct part, in order of appearance */
	struct map seen;	   /* pids that have had a part */
	int32_t last;		   /* pid of the part that was finished last; 0: none */
	struct record moment;	   /* the last RECORD_TABLE; size 0: there was none */
	bool has_begun;		   /* of parts that share one file */
	bool is_again;		   /* true: of a part whose file has been written before */
};

static struct split_sink *split_of(struct sink *sink)
{
	return (struct split_sink *)(void *)sink;
}

static int open_file(struct split_sink *split, int32_t pid, int *fd)
{
	bool again = map_get(&split->seen, (uint64_t)pid) != NULL;
	char *path = xasprintf("%s.%d", split->target.path, pid);
	int error = 0;

	*fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | (again ? O_APPEND : O_TRUNC),
		   0666);
	if (*fd < 0) {
		error = -errno;
		diag("%s: %s", path, strerror(-error));
	}
	free(path);
	return error;
}

static struct part *find_part(const struct split_sink *split, int32_t pid)
{
	for (size_t i = 0; i < split->parts.count; i++) {
		struct part *part = vec_at(&split->parts, i);

		if (part->pid == pid)
			return part;
	}
	return NULL;
}

static int make_part(struct split_sink *split, int32_t pid, struct part **made)
{
	struct sink_target target = split->target;
	struct part part = {.pid = pid, .fd = target.fd};
	int error = target.path ? open_file(split, pid, &part.fd) : 0;

	if (error)
		return error;
	target.fd = part.fd;
	target.is_part = true;
	target.pid = pid;
	if (!target.path)
		target.has_begun = &split->has_begun;
	else if (map_get(&split->seen, (uint64_t)pid))
		target.has_begun = &split->is_again;
	part.sink = whole_calls_create(split->kind, &target);
	*made = vec_push(&split->parts, &part);
	map_put(&split->seen, (uint64_t)pid, split);
	return split->moment.size ? part.sink->ops->record(part.sink, &split->moment) : 0;
}

static int finish_part(struct split_sink *split, struct part *part)
{
	int error = part->sink->ops->finish(part->sink);

	part->sink->ops->destroy(part->sink);
	if (split->target.path && close(part->fd) < 0 && !error)
		error = -errno;
	return error;
}

static int drop_part(struct split_sink *split, int32_t pid)
{
	for (size_t i = 0; i < split->parts.count; i++) {
		struct part *part = vec_at(&split->parts, i);

		if (part->pid != pid)
			continue;
		int error = finish_part(split, part);

		vec_remove(&split->parts, i);
		split->last = pid;
		return error;
	}
	return 0;
}

/* Returns the pid of the part that a record goes to. */
static int32_t owner_of(const struct split_sink *split, const struct record *record)
{
	if (record->pid || !split->target.path)
		return record->pid;
	return split->parts.count ? ((struct part *)vec_at(&split->parts, 0))->pid : split->last;
}

/* Moments concern all processes, also those that come later. */
static int tell_moment(struct split_sink *split, const struct record *record)
{
	int error = 0;

	split->moment = *record;
	split->moment.size = sizeof split->moment;
	split->moment.value_count = 0;
	for (size_t i = 0; i < split->parts.count; i++) {
		struct part *part = vec_at(&split->parts, i);
		const int failed = part->sink->ops->record(part->sink, record);

		error = error ? error : failed;
	}
	return error;
}

static int split_record(struct sink *sink, const struct record *record)
{
	struct split_sink *split = split_of(sink);
	int32_t pid = owner_of(split, record);
	struct part *part = find_part(split, pid);
	int error = 0;

	if (record->kind == RECORD_TABLE)
		return tell_moment(split, record);
	/*
	 * How probes were caught concerns all processes. And there may be no process whose file
	 * could take the record.
	 */
	if (record->kind == RECORD_PROBES || (!pid && split->target.path))
		return 0;
	if (!part)
		error = make_part(split, pid, &part);
	if (!error)
		error = part->sink->ops->record(part->sink, record);
	if (!error && (record->kind == RECORD_EXITED || record->kind == RECORD_KILLED))
		error = drop_part(split, record->pid);
	return error;
}

static int split_flush(struct sink *sink)
{
	struct split_sink *split = split_of(sink);
	int error = 0;

	for (size_t i = 0; i < split->parts.count; i++) {
		struct part *part = vec_at(&split->parts, i);
		int failed = part->sink->ops->flush(part->sink);

		/* An error, or else that one of them keeps something back. */
		if (!error || (error > 0 && failed))
			error = failed;
	}
	return error;
}

/* Finishes all parts, the part of no process last. */
static int split_finish(struct sink *sink)
{
	struct split_sink *split = split_of(sink);
	int error = 0;

	for (size_t i = 0; !error && i < split->parts.count;) {
		struct part *part = vec_at(&split->parts, i);

		if (part->pid)
			error = drop_part(split, part->pid);
		else
			i++;
	}
	return error ? error : drop_part(split, 0);
}

static int split_snapshot(struct sink *sink, bool is_anew)
{
	const struct split_sink *split = split_of(sink);
	int error = 0;

	for (size_t i = 0; i < split->parts.count; i++) {
		struct part *part = vec_at(&split->parts, i);
		int failed = part->sink->ops->snapshot(part->sink, is_anew);

		error = error ? error : failed;
	}
	return error;
}

static void split_forget(struct sink *sink, const struct probe_info *probe)
{
	struct split_sink *split = split_of(sink);

	for (size_t i = 0; i < split->parts.count; i++) {
		struct part *part = vec_at(&split->parts, i);

		if (part->sink->ops->forget)
			part->sink->ops->forget(part->sink, probe);
	}
}

static void split_destroy(struct sink *sink)
{
	struct split_sink *split = split_of(sink);

	for (size_t i = 0; i < split->parts.count; i++) {
		struct part *part = vec_at(&split->parts, i);

		part->sink->ops->destroy(part->sink);
		if (split->target.path)
			close(part->fd);
	}
	vec_deinit(&split->parts);
	map_deinit(&split->seen);
	free(split);
}

static const struct sink_ops split_ops = {
	.record = split_record,
	.flush = split_flush,
	.finish = split_finish,
	.snapshot = split_snapshot,
	.forget = split_forget,
	.destroy = split_destroy,
};

struct sink *split_sink_create(const struct sink_kind *kind, const struct sink_target *target)
{
	struct split_sink *split = xcalloc(1, sizeof *split);

	split->sink.ops = &split_ops;
	split->kind = kind;
	split->target = *target;
	split->is_again = true;
	vec_init(&split->parts, sizeof(struct part));
	return &split->sink;
}

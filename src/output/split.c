/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A writer for each process: a file each (-ff), or a table each (--per-process). Records are handed
 * to the writer of their process, which is made with its first one and finished with its last, so
 * that what is kept does not grow with the processes that a trace has seen; only their numbers are,
 * as a file is emptied the first time and never again: a process number may come back.
 *
 * What belongs to no process (what cannot be traced) goes to the file of the one that is there
 * longest, or, when none is any more, that was the last to end. Tables that go to one file have a
 * part of their own for that, behind them all.
 */
#include "output/writer.h"

#include "base/diag.h"
#include "base/map.h"
#include "base/vec.h"
#include "base/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct part {
	int32_t pid; /* 0: what is of no process */
	int fd;	     /* owned if there is a path */
	struct writer *writer;
};

struct split_writer {
	struct writer writer; /* first: the writer is a pointer to it */
	struct split_options how;
	struct vec parts; /* of struct part, in order of appearance */
	struct map seen;  /* pids that have had a part */
	int32_t last;	  /* the one whose part was finished last; 0: none */
};

static struct split_writer *split_of(struct writer *writer)
{
	return (struct split_writer *)(void *)writer;
}

static int open_file(struct split_writer *split, int32_t pid, int *fd)
{
	bool again = map_get(&split->seen, (uint64_t)pid) != NULL;
	char *path = xasprintf("%s.%d", split->how.path, pid);
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

static struct part *find_part(const struct split_writer *split, int32_t pid)
{
	for (size_t i = 0; i < split->parts.count; i++) {
		struct part *part = vec_at(&split->parts, i);

		if (part->pid == pid)
			return part;
	}
	return NULL;
}

static int make_part(struct split_writer *split, int32_t pid, struct part **made)
{
	const struct split_options *how = &split->how;
	struct part part = {.pid = pid, .fd = how->fd};
	int error = how->path ? open_file(split, pid, &part.fd) : 0;

	if (error)
		return error;
	part.writer = how->tables
			      ? summary_part_create(part.fd, how->probes, how->options, pid)
			      : text_writer_create(part.fd, how->probes, how->options, how->code);
	*made = vec_push(&split->parts, &part);
	map_put(&split->seen, (uint64_t)pid, split);
	return 0;
}

static int finish_part(struct split_writer *split, struct part *part)
{
	int error = part->writer->ops->finish(part->writer);

	part->writer->ops->destroy(part->writer);
	if (split->how.path && close(part->fd) < 0 && !error)
		error = -errno;
	return error;
}

static int drop_part(struct split_writer *split, int32_t pid)
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

/* Whose part a record goes to. */
static int32_t owner_of(const struct split_writer *split, const struct record *record)
{
	if (record->pid || !split->how.path)
		return record->pid;
	return split->parts.count ? ((struct part *)vec_at(&split->parts, 0))->pid : split->last;
}

static int split_record(struct writer *writer, const struct record *record)
{
	struct split_writer *split = split_of(writer);
	int32_t pid = owner_of(split, record);
	struct part *part = find_part(split, pid);
	int error = 0;

	/*
	 * How probes were caught is about all processes; and there may have been no process to
	 * write of.
	 */
	if (record->kind == RECORD_PROBES || (!pid && split->how.path))
		return 0;
	if (!part)
		error = make_part(split, pid, &part);
	if (!error)
		error = part->writer->ops->record(part->writer, record);
	if (!error && (record->kind == RECORD_EXITED || record->kind == RECORD_KILLED))
		error = drop_part(split, record->pid);
	return error;
}

static int split_flush(struct writer *writer)
{
	struct split_writer *split = split_of(writer);
	int error = 0;

	for (size_t i = 0; i < split->parts.count; i++) {
		struct part *part = vec_at(&split->parts, i);
		int failed = part->writer->ops->flush(part->writer);

		error = error ? error : failed;
	}
	return error;
}

/* The part of no process comes last. */
static int split_finish(struct writer *writer)
{
	struct split_writer *split = split_of(writer);
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

static void split_forget(struct writer *writer, const struct probe_info *probe)
{
	struct split_writer *split = split_of(writer);

	for (size_t i = 0; i < split->parts.count; i++) {
		struct part *part = vec_at(&split->parts, i);

		if (part->writer->ops->forget)
			part->writer->ops->forget(part->writer, probe);
	}
}

static void split_destroy(struct writer *writer)
{
	struct split_writer *split = split_of(writer);

	for (size_t i = 0; i < split->parts.count; i++) {
		struct part *part = vec_at(&split->parts, i);

		part->writer->ops->destroy(part->writer);
		if (split->how.path)
			close(part->fd);
	}
	vec_deinit(&split->parts);
	map_deinit(&split->seen);
	free(split);
}

static const struct writer_ops split_ops = {
	.record = split_record,
	.flush = split_flush,
	.finish = split_finish,
	.forget = split_forget,
	.destroy = split_destroy,
};

struct writer *split_writer_create(const struct split_options *how)
{
	struct split_writer *split = xcalloc(1, sizeof *split);

	split->writer.ops = &split_ops;
	split->how = *how;
	vec_init(&split->parts, sizeof(struct part));
	return &split->writer;
}

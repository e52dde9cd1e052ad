/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file that is written. Each ends with an index of its chunks; one that has none was cut off.
 *
 * If a write fails, because the disk is full, the file is cut to its last whole chunk, so that all
 * that is in it can be read.
 *
 * Memory (--flight) is a list of packed chunks. The oldest chunks of records are dropped when there
 * are too many bytes. The dictionary is kept, as the records that are left may refer to any of it.
 */
#include "stream/chunk_file.h"

#include "base/diag.h"
#include "base/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DUMPS_MAX = 1000 };

struct kept_chunk {
	struct chunk_about about;
	struct bytes packed;
};

struct chunk_file {
	const struct trace_destination *destination;
	struct packer *packer;
	int fd;		    /* that of the destination, or an own one */
	uint64_t size;	    /* bytes written to the current file */
	struct vec index;   /* struct trace_index_entry */
	struct vec kept;    /* --flight: struct kept_chunk, oldest first */
	uint64_t kept_size; /* of chunks of records */
	bool has_news;	    /* --flight: records came since the last dump */
	unsigned dumps;
	int error;
};

/* ------------------------------------------------------------------ writing */

/* Another process may have made a shared descriptor non-blocking. */
static int wait_writable(int fd)
{
	struct pollfd poller = {.fd = fd, .events = POLLOUT};

	return poll(&poller, 1, -1) < 0 && errno != EINTR ? -errno : 0;
}

static int write_all(int fd, const void *data, size_t length)
{
	const char *at = data;

	while (length) {
		const ssize_t written = write(fd, at, length);
		int error = 0;

		if (written > 0) {
			at += written;
			length -= (size_t)written;
		} else if (written == 0) {
			error = -EIO;
		} else if (errno == EAGAIN) {
			error = wait_writable(fd);
		} else if (errno != EINTR) {
			error = -errno;
		}
		if (error)
			return error;
	}
	return 0;
}

/* Appends to the current file. What was written of it is taken back if not all could be. */
static int append(struct chunk_file *file, const void *data, size_t length)
{
	if (file->error)
		return file->error;
	file->error = write_all(file->fd, data, length);
	if (!file->error)
		file->size += length;
	/* What is behind a descriptor without a name may be somebody else's, or a pipe. */
	else if (file->destination->path && ftruncate(file->fd, (off_t)file->size) < 0)
		return file->error;
	return file->error;
}

static int begin_file(struct chunk_file *file)
{
	const struct trace_header header = {.magic = TRACE_MAGIC,
					    .version = TRACE_VERSION,
					    .size = sizeof header,
					    .begun = file->destination->begun};

	file->size = 0;
	vec_clear(&file->index);
	return append(file, &header, sizeof header);
}

static int append_chunk(struct chunk_file *file, const struct chunk_about *about,
			const struct bytes *packed)
{
	const struct trace_index_entry entry = {.offset = file->size,
						.kind = about->kind,
						.count = about->count,
						.first = about->first,
						.last = about->last};

	vec_push(&file->index, &entry);
	return append(file, packed->data, packed->length);
}

/* An index may be longer than a chunk: it is then several. */
static int append_index(struct chunk_file *file)
{
	const size_t most = TRACE_CHUNK_MAX / sizeof(struct trace_index_entry);
	const struct trace_index_entry *entries = file->index.items;
	struct bytes packed = {0};
	int error = file->error;

	for (size_t done = 0; done < file->index.count && !error; done += most) {
		const size_t left = file->index.count - done;
		const size_t count = left < most ? left : most;
		const struct chunk_about about = {.kind = TRACE_INDEX, .count = (uint32_t)count};

		packer_pack(file->packer, &about, entries + done, count * sizeof *entries, &packed);
		error = append(file, packed.data, packed.length);
	}
	bytes_deinit(&packed);
	return error;
}

int chunk_file_end(struct chunk_file *file)
{
	struct trace_end end = {.index = file->size, .magic = TRACE_END_MAGIC};
	int error;

	if (file->destination->memory)
		return chunk_file_dump(file);
	if (!file->size)
		begin_file(file);
	end.index = file->size;
	error = append_index(file);
	return error ? error : append(file, &end, sizeof end);
}

/* ------------------------------------------------------------------ rotation */

static void close_own(struct chunk_file *file)
{
	if (file->fd != file->destination->fd)
		close(file->fd);
}

/* Gives a file another name. One that is not there is none; what is no file is left alone. */
static int move(const char *from, const char *to)
{
	struct stat file;

	if (lstat(from, &file) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISREG(file.st_mode) || (lstat(to, &file) == 0 && !S_ISREG(file.st_mode)))
		return -EEXIST;
	return rename(from, to) < 0 ? -errno : 0;
}

/* FILE becomes FILE.1, FILE.1 becomes FILE.2; the oldest is overwritten. */
static int shift_names(const struct trace_destination *destination)
{
	int error = 0;

	for (unsigned i = destination->keep - 1; i > 0 && !error; i--) {
		char *to = xasprintf("%s.%u", destination->path, i);
		char *from = i > 1 ? xasprintf("%s.%u", destination->path, i - 1)
				   : xstrdup(destination->path);

		error = move(from, to);
		free(from);
		free(to);
	}
	return error;
}

int chunk_file_rotate(struct chunk_file *file)
{
	const struct trace_destination *destination = file->destination;
	int error = chunk_file_end(file);

	if (!error)
		error = file->error = shift_names(destination);
	if (error)
		return error;
	/* With one file to keep, the old one is replaced. */
	if (destination->keep == 1)
		unlink(destination->path);
	const int fd = open(destination->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY,
			    0666);

	if (fd < 0) {
		file->error = -errno;
		return file->error;
	}
	close_own(file);
	file->fd = fd;
	return begin_file(file);
}

/* ------------------------------------------------------------------ --flight */

static void drop_oldest(struct chunk_file *file)
{
	for (size_t i = 0; i < file->kept.count; i++) {
		struct kept_chunk *chunk = vec_at(&file->kept, i);

		if (chunk->about.kind != TRACE_RECORDS)
			continue;
		file->kept_size -= chunk->packed.length;
		bytes_deinit(&chunk->packed);
		vec_remove(&file->kept, i);
		return;
	}
}

static void keep(struct chunk_file *file, const struct chunk_about *about,
		 const struct bytes *packed)
{
	struct kept_chunk chunk = {.about = *about};

	bytes_put(&chunk.packed, packed->data, packed->length);
	vec_push(&file->kept, &chunk);
	if (about->kind != TRACE_RECORDS)
		return;
	file->has_news = true;
	file->kept_size += packed->length;
	while (file->kept_size > file->destination->memory)
		drop_oldest(file);
}

static int open_dump(const struct chunk_file *file)
{
	if (!file->dumps)
		return file->destination->fd;
	char *name = xasprintf("%s.%u", file->destination->path, file->dumps + 1);
	const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
	const int error = fd < 0 ? -errno : 0;

	free(name);
	return error ? error : fd;
}

int chunk_file_dump(struct chunk_file *file)
{
	if (!file->has_news && file->dumps)
		return 0;
	if (file->dumps >= DUMPS_MAX) {
		diag("--flight: %d files have been written, and no more are", DUMPS_MAX);
		return 0;
	}
	const int fd = open_dump(file);

	if (fd < 0)
		return fd;
	file->fd = fd;
	int error = begin_file(file);

	for (size_t i = 0; i < file->kept.count && !error; i++) {
		const struct kept_chunk *chunk = vec_at(&file->kept, i);

		error = append_chunk(file, &chunk->about, &chunk->packed);
	}
	const struct trace_end end = {.index = file->size, .magic = TRACE_END_MAGIC};

	error = error ? error : append_index(file);
	error = error ? error : append(file, &end, sizeof end);
	close_own(file);
	file->fd = file->destination->fd;
	file->dumps++;
	file->has_news = false;
	return error;
}

/* ------------------------------------------------------------------ for those who write */

struct chunk_file *chunk_file_create(const struct trace_destination *destination,
				     struct packer *packer)
{
	struct chunk_file *file = xcalloc(1, sizeof *file);

	file->destination = destination;
	file->packer = packer;
	file->fd = destination->fd;
	vec_init(&file->index, sizeof(struct trace_index_entry));
	vec_init(&file->kept, sizeof(struct kept_chunk));
	return file;
}

void chunk_file_destroy(struct chunk_file *file)
{
	for (size_t i = 0; i < file->kept.count; i++)
		bytes_deinit(&((struct kept_chunk *)vec_at(&file->kept, i))->packed);
	vec_deinit(&file->kept);
	vec_deinit(&file->index);
	close_own(file);
	free(file);
}

int chunk_file_add(struct chunk_file *file, const struct chunk_about *about,
		   const struct bytes *packed)
{
	if (file->destination->memory) {
		keep(file, about, packed);
		return 0;
	}
	const int error = file->size ? 0 : begin_file(file);

	return error ? error : append_chunk(file, about, packed);
}

uint64_t chunk_file_size(const struct chunk_file *file)
{
	return file->size;
}

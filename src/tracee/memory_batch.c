/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Planting one function takes ten small reads and writes of the tracee's memory: its first
 * instructions, an XOL slot, an entry for the rescue handler, a stub, a jump. Each is a system
 * call, which takes longer than the rest of the work; a library has thousands of functions, and all
 * threads are stopped meanwhile. Functions lie close together, and so do slots, entries and stubs.
 * So a batch reads each page once, changes its copy, and writes the page once.
 *
 * A batch is only possible while all threads of the space are stopped, so that no thread changes
 * the pages. (A process that shares the memory without the tracer's knowledge, by CLONE_VM with
 * CLONE_UNTRACED, could: bytes between two patches of a page are written back as they were read.)
 *
 * In three respects a batch behaves as if all writes were made at once:
 *
 * Order. If the tracer is killed, threads run with whatever was written by then. So memory of the
 * tracer's is written before the program's, which may lead there. Journal entries are added before
 * the write, as always. An entry that is removed because its bytes are gone must be removed *after*
 * memory_batch_end().
 *
 * Errors. A caller must learn if a page of the program's cannot be written. So at the first write
 * to a page one byte is written through, with its old value.
 *
 * Remote calls. They need the memory with all changes, so remote_syscall() has the batch written
 * and starts with fresh copies after the call.
 */
#include "tracee/memory_batch.h"

#include "base/map.h"
#include "base/xalloc.h"
#include "tracee/arena.h"
#include "tracee/space_memory.h"
#include "tracee/tracee.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, PAGES_MAX = 2048 };

struct gather {
	struct map pages;		       /* address / PAGE + 1 → struct page */
	struct memory_source memory, readable; /* the space's real memory sources */
	bool is_on;
};

struct page {
	uint64_t address;
	size_t length;	    /* number of bytes that could be read */
	size_t first, past; /* the range to be written; empty if `past` is 0 */
	bool is_ours;
	bool is_tried; /* known to be writable */
	uint8_t bytes[PAGE];
};

/* ------------------------------------------------------------------ pages */

static void write_page(struct space *space, const struct page *page)
{
	if (page->past)
		space_write_through(space, page->address + page->first, page->bytes + page->first,
				    page->past - page->first);
}

/* Writes all pages and drops the copies. */
static void flush(struct space *space)
{
	struct map *pages = &space->gather->pages;
	size_t cursor = 0;
	void *value;

	while (map_next(pages, &cursor, NULL, &value))
		if (((struct page *)value)->is_ours)
			write_page(space, value);
	cursor = 0;
	while (map_next(pages, &cursor, NULL, &value)) {
		if (!((struct page *)value)->is_ours)
			write_page(space, value);
		free(value);
	}
	map_deinit(pages);
}

static struct page *page_at(struct space *space, uint64_t address)
{
	struct gather *gather = space->gather;
	struct page *page = map_get(&gather->pages, address / PAGE + 1);

	if (page)
		return page;
	if (gather->pages.count == PAGES_MAX)
		flush(space);
	page = xcalloc(1, sizeof *page);
	page->address = address - address % PAGE;
	page->is_ours = arena_holds(space->arena, address) ||
			(space->rescue && space->rescue_ops->holds(space, address));
	page->length = memory_read(&gather->memory, page->address, page->bytes, PAGE);
	map_put(&gather->pages, address / PAGE + 1, page);
	return page;
}

/* ------------------------------------------------------------------ reading */

static void read_range(struct space *space, struct memory_range *range)
{
	range->done = 0;
	while (range->done < range->length) {
		const uint64_t address = range->address + range->done;
		const struct page *page = page_at(space, address);
		const size_t at = address % PAGE;
		size_t length = page->length > at ? page->length - at : 0;

		if (length > range->length - range->done)
			length = range->length - range->done;
		memcpy((char *)range->buffer + range->done, page->bytes + at, length);
		range->done += length;
		if (page->length < PAGE)
			break;
	}
}

static void read_ranges(void *context, struct memory_range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		read_range(context, &ranges[i]);
}

static int compare(const void *left, const void *right)
{
	const struct memory_range *const *a = left, *const *b = right;

	return ((*a)->address > (*b)->address) - ((*a)->address < (*b)->address);
}

/* Reads in order of addresses, as there may be more pages than fit into the batch. */
void memory_batch_read(struct space *space, struct memory_range *ranges, size_t count)
{
	struct memory_range **sorted = xcalloc(count + 1, sizeof(struct memory_range *));
	const bool begun = memory_batch_begin(space);

	for (size_t i = 0; i < count; i++)
		sorted[i] = &ranges[i];
	qsort(sorted, count, sizeof(struct memory_range *), compare);
	for (size_t i = 0; i < count; i++)
		space->memory.readv(space->memory.context, sorted[i], 1);
	if (begun)
		memory_batch_end(space);
	free(sorted);
}

/* ------------------------------------------------------------------ writing */

/* A page of the tracer's that was never touched cannot be read; it is written through. */
static int write_unread(struct space *space, const struct page *page, size_t at,
			const uint8_t *bytes, size_t length)
{
	int error = page->is_ours ? space_write_through(space, page->address + at, bytes, length)
				  : -EFAULT;

	if (!error)
		free(map_remove(&space->gather->pages, page->address / PAGE + 1));
	return error;
}

static int write_piece(struct space *space, uint64_t address, const uint8_t *bytes, size_t length)
{
	struct page *page = page_at(space, address);
	const size_t at = address % PAGE;

	if (at + length > page->length)
		return write_unread(space, page, at, bytes, length);
	int error = page->is_ours || page->is_tried
			    ? 0
			    : space_write_through(space, address, page->bytes + at, 1);

	if (error)
		return error;
	page->is_tried = true;
	memcpy(page->bytes + at, bytes, length);
	if (!page->past || at < page->first)
		page->first = at;
	if (at + length > page->past)
		page->past = at + length;
	return 0;
}

int memory_batch_write(struct space *space, uint64_t address, const void *bytes, size_t length)
{
	const uint8_t *from = bytes;
	int error = 0;

	while (length && !error) {
		size_t piece = PAGE - address % PAGE;

		if (piece > length)
			piece = length;
		error = write_piece(space, address, from, piece);
		address += piece;
		from += piece;
		length -= piece;
	}
	return error;
}

/* ------------------------------------------------------------------ beginning and end */

void memory_batch_go_on(struct space *space)
{
	struct gather *gather = space->gather;

	if (!gather)
		return;
	gather->is_on = true;
	space->memory = (struct memory_source){.readv = read_ranges, .context = space};
	space->readable = space->memory;
}

void memory_batch_pause(struct space *space)
{
	struct gather *gather = space->gather;

	if (!gather)
		return;
	flush(space);
	gather->is_on = false;
	space->memory = gather->memory;
	space->readable = gather->readable;
}

bool memory_batch_is_on(const struct space *space)
{
	return space->gather && space->gather->is_on;
}

bool memory_batch_begin(struct space *space)
{
	if (space->gather)
		return false;
	space->gather = xcalloc(1, sizeof *space->gather);
	space->gather->memory = space->memory;
	space->gather->readable = space->readable;
	memory_batch_go_on(space);
	return true;
}

void memory_batch_end(struct space *space)
{
	memory_batch_pause(space);
	free(space->gather);
	space->gather = NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Undoes the patches of a journal, one or all: see journal_undo.h. */
#include "tracee/journal_undo.h"

#include "base/map.h"
#include "base/xalloc.h"
#include "tracee/space.h"

#include <stdlib.h>
#include <string.h>

static bool is_patch(const struct journal_entry *entry)
{
	return entry && (entry->kind == JOURNAL_BYTES || entry->kind == JOURNAL_JUMP);
}

/*
 * Undoes many patches while all threads are stopped. Memory is read and written by pages, as one or
 * two system calls for each patch would take nearly all of the time. The bytes between the patches
 * of a page are written back as they were read: no thread runs that could change them. An entry is
 * removed only when its bytes have been written: if the tracer is killed in between, the guardian
 * finds every patch that was not undone.
 */
struct undoing {
	struct journal *journal;
	struct space *space;
	struct map pages; /* address / UNDO_PAGE + 1 → struct undo_page */
	size_t count;
	bool *done; /* indexed by entry number, `count` long: undone in `pages` */
};

enum { UNDO_PAGE = 4096 };

struct undo_page {
	uint64_t address;
	size_t length;	    /* number of bytes that could be read */
	size_t first, past; /* the range to be written; empty if `past` is 0 */
	uint8_t bytes[UNDO_PAGE];
};

static struct undoing undoing_begin(struct journal *journal, struct space *space)
{
	const size_t count = journal_count(journal);

	return (struct undoing){.journal = journal,
				.space = space,
				.count = count,
				.done = xcalloc(count + 1, sizeof(bool))};
}

static struct undo_page *page_at(struct undoing *undoing, uint64_t address)
{
	const uint64_t key = address / UNDO_PAGE + 1;
	struct undo_page *page = map_get(&undoing->pages, key);

	if (page)
		return page;
	page = xcalloc(1, sizeof *page);
	page->address = address - address % UNDO_PAGE;
	page->length = memory_read(&undoing->space->memory, page->address, page->bytes,
				   sizeof page->bytes);
	map_put(&undoing->pages, key, page);
	return page;
}

/* Returns true if `expected` is at `address`. */
static bool is_there(struct undoing *undoing, uint64_t address, const uint8_t *expected,
		     size_t length)
{
	for (size_t i = 0; i < length; i++) {
		const struct undo_page *page = page_at(undoing, address + i);
		const size_t at = (address + i) % UNDO_PAGE;

		if (at >= page->length || page->bytes[at] != expected[i])
			return false;
	}
	return true;
}

static void put_there(struct undoing *undoing, uint64_t address, const uint8_t *bytes,
		      size_t length)
{
	for (size_t i = 0; i < length; i++) {
		struct undo_page *page = page_at(undoing, address + i);
		const size_t at = (address + i) % UNDO_PAGE;

		page->bytes[at] = bytes[i];
		if (!page->past || at < page->first)
			page->first = at;
		if (at >= page->past)
			page->past = at + 1;
	}
}

/* Undoes a patch if the bytes are the tracer's. Returns true if it did. */
static bool undo_ours(struct undoing *undoing, size_t number)
{
	const struct journal_entry *entry = journal_entry(undoing->journal, number);

	if (!is_patch(entry) || undoing->done[number] ||
	    !is_there(undoing, entry->address, entry->after, entry->length))
		return false;
	put_there(undoing, entry->address, entry->before, entry->length);
	undoing->done[number] = true;
	return true;
}

/* Writes the pages and removes the entries that were undone. */
static void undoing_end(struct undoing *undoing)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&undoing->pages, &cursor, NULL, &value)) {
		struct undo_page *page = value;

		if (page->past)
			space_write(undoing->space, page->address + page->first,
				    page->bytes + page->first, page->past - page->first);
		free(page);
	}
	map_deinit(&undoing->pages);
	for (size_t number = 0; number < undoing->count; number++)
		if (undoing->done[number])
			journal_forget(undoing->journal, number);
	free(undoing->done);
}

static void forget_bytes(struct journal *journal, size_t number)
{
	const struct journal_entry *entry = journal_entry(journal, number);

	if (is_patch(entry))
		journal_forget(journal, number);
}

void journal_undo_bytes(struct journal *journal, struct space *space, size_t number)
{
	const struct journal_entry *entry = journal_entry(journal, number);
	uint8_t now[sizeof entry->after];

	if (!is_patch(entry))
		return;
	if (memory_read_exact(&space->memory, entry->address, now, entry->length) &&
	    !memcmp(now, entry->after, entry->length))
		space_write(space, entry->address, entry->before, entry->length);
	journal_forget(journal, number);
}

void journal_undo_jumps(struct journal *journal, struct space *space, bool staying_too)
{
	struct undoing undoing = undoing_begin(journal, space);

	for (size_t number = 0; number < undoing.count; number++) {
		const struct journal_entry *entry = journal_entry(journal, number);

		if (entry && entry->kind == JOURNAL_JUMP &&
		    (staying_too || entry->when != JOURNAL_STAYS) && !undo_ours(&undoing, number))
			journal_forget(journal, number);
	}
	undoing_end(&undoing);
}

void journal_undo_all_bytes(struct journal *journal, struct space *space)
{
	struct undoing undoing = undoing_begin(journal, space);
	bool undone;

	/*
	 * A later patch may have a lower number than an earlier one that it overlaps. So passes are
	 * made until one undoes nothing.
	 */
	do {
		undone = false;
		for (size_t number = undoing.count; number-- > 0;)
			undone |= undo_ours(&undoing, number);
	} while (undone);
	undoing_end(&undoing);
	for (size_t number = journal_count(journal); number-- > 0;)
		forget_bytes(journal, number);
}

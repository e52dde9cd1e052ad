/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See journal.h. The memory file has a header, followed by the entries, numbered from 0. Free
 * entries are reused, so dlopen() and dlclose() do not make the file grow without end.
 */
#include "tracee/journal.h"

#include "base/map.h"
#include "base/memory_file.h"
#include "base/vec.h"
#include "base/xalloc.h"
#include "tracee/space.h"
#include "tracee/tracee.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct journal_file {
	uint64_t magic;
	uint64_t count; /* entries in use, including free ones */
	struct journal_subject subject;
	struct journal_entry entries[];
};

struct journal {
	int fd;
	struct journal_file *file;
	size_t bytes; /* size of the mapping */
	struct vec free_numbers;
	struct vec agents; /* size_t: numbers of entries that are or were JOURNAL_AGENT */
	struct map jumps;  /* address → number + 1 of the latest JOURNAL_JUMP noted there */
	bool is_adopted;   /* another process wrote it, so `agents` and `jumps` are incomplete */
};

enum { FIRST_BYTES = 16384 };
static const uint64_t MAGIC = 0x354c4e524a435254; /* "TRCJRNL5" */

static void *journal_map(int fd, size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void journal_name(pid_t pid, char name[JOURNAL_NAME])
{
	snprintf(name, JOURNAL_NAME, "tracer-journal-%d", (int)pid);
}

/* Returns false if memory is short. */
static bool resize(int fd, size_t bytes)
{
	int error = memory_file_resize(fd, bytes);

	if (error == -EFBIG)
		out_of_room("the limit on the size of files (ulimit -f) is too small for what it "
			    "keeps in memory");
	return !error;
}

struct journal *journal_create(pid_t pid)
{
	struct journal *journal = xcalloc(1, sizeof *journal);
	char name[JOURNAL_NAME];

	vec_init(&journal->free_numbers, sizeof(size_t));
	vec_init(&journal->agents, sizeof(size_t));
	journal->bytes = FIRST_BYTES;
	journal_name(pid, name);
	journal->fd = memfd_create(name, MFD_CLOEXEC);
	if (journal->fd < 0 || !resize(journal->fd, journal->bytes) ||
	    !(journal->file = journal_map(journal->fd, journal->bytes)))
		/* Also on a kernel without memfd_create(2): the tracer cannot work either way. */
		out_of_memory();
	journal->file->magic = MAGIC;
	return journal;
}

int journal_fd(const struct journal *journal)
{
	return journal->fd;
}

struct journal_subject *journal_subject(struct journal *journal)
{
	return &journal->file->subject;
}

struct journal *journal_adopt(int fd)
{
	struct stat status;
	struct journal_file *file;

	if (fstat(fd, &status) < 0 || (size_t)status.st_size < FIRST_BYTES ||
	    !(file = journal_map(fd, (size_t)status.st_size)))
		return NULL;
	uint64_t room = ((uint64_t)status.st_size - sizeof *file) / sizeof file->entries[0];

	if (file->magic != MAGIC || file->count > room) {
		munmap(file, (size_t)status.st_size);
		return NULL;
	}
	struct journal *journal = xcalloc(1, sizeof *journal);

	vec_init(&journal->free_numbers, sizeof(size_t));
	vec_init(&journal->agents, sizeof(size_t));
	journal->is_adopted = true;
	journal->fd = fd;
	journal->file = file;
	journal->bytes = (size_t)status.st_size;
	return journal;
}

void journal_destroy(struct journal *journal)
{
	if (!journal)
		return;
	munmap(journal->file, journal->bytes);
	close(journal->fd);
	vec_deinit(&journal->free_numbers);
	vec_deinit(&journal->agents);
	map_deinit(&journal->jumps);
	free(journal);
}

static void journal_grow(struct journal *journal)
{
	size_t bytes = journal->bytes * 2;
	void *memory = resize(journal->fd, bytes) ? journal_map(journal->fd, bytes) : NULL;

	if (!memory)
		out_of_memory();
	munmap(journal->file, journal->bytes);
	journal->file = memory;
	journal->bytes = bytes;
}

static size_t take_number(struct journal *journal)
{
	if (journal->free_numbers.count) {
		size_t last = journal->free_numbers.count - 1;
		size_t number = *(size_t *)vec_at(&journal->free_numbers, last);

		vec_remove_fast(&journal->free_numbers, last);
		return number;
	}
	if (sizeof *journal->file + (journal->file->count + 1) * sizeof(struct journal_entry) >
	    journal->bytes)
		journal_grow(journal);
	return journal->file->count++;
}

/* Fills an entry in. Its kind is written last, as another process may be reading. */
static size_t note(struct journal *journal, const struct journal_entry *entry)
{
	size_t number = take_number(journal);
	struct journal_entry *place = &journal->file->entries[number];
	uint32_t kind = entry->kind;

	*place = *entry;
	place->kind = JOURNAL_FREE;
	__atomic_store_n(&place->kind, kind, __ATOMIC_RELEASE);
	if (kind == JOURNAL_AGENT)
		vec_push(&journal->agents, &number);
	if (kind == JOURNAL_JUMP)
		map_put(&journal->jumps, entry->address, (void *)(uintptr_t)(number + 1));
	return number;
}

static size_t note_bytes(struct journal *journal, struct journal_entry entry, const void *before,
			 const void *after)
{
	memcpy(entry.before, before, entry.length);
	memcpy(entry.after, after, entry.length);
	return note(journal, &entry);
}

size_t journal_bytes(struct journal *journal, uint64_t address, const void *before,
		     const void *after, size_t length)
{
	return note_bytes(
		journal,
		(struct journal_entry){.address = address, .length = length, .kind = JOURNAL_BYTES},
		before, after);
}

size_t journal_jump(struct journal *journal, uint64_t address, const void *before,
		    const void *after, size_t length)
{
	return note_bytes(
		journal,
		(struct journal_entry){.address = address, .length = length, .kind = JOURNAL_JUMP},
		before, after);
}

size_t journal_mask(struct journal *journal, int32_t tid, uint64_t before, uint64_t after)
{
	struct journal_entry entry = {
		.address = (uint64_t)tid, .length = sizeof before, .kind = JOURNAL_MASK};

	memcpy(entry.before, &before, sizeof before);
	memcpy(entry.after, &after, sizeof after);
	return note(journal, &entry);
}

size_t journal_limit(struct journal *journal, int resource, uint64_t before, uint64_t after,
		     uint64_t hard)
{
	struct journal_entry entry = {.address = (uint64_t)resource,
				      .length = sizeof before,
				      .kind = JOURNAL_LIMIT,
				      .xol_slot = hard};

	memcpy(entry.before, &before, sizeof before);
	memcpy(entry.after, &after, sizeof after);
	return note(journal, &entry);
}

size_t journal_mapping(struct journal *journal, uint64_t address, uint64_t length)
{
	return note(journal, &(struct journal_entry){.address = address,
						     .length = length,
						     .kind = JOURNAL_MAPPING});
}

size_t journal_agent(struct journal *journal, uint64_t address, uint64_t length)
{
	return note(journal, &(struct journal_entry){
				     .address = address, .length = length, .kind = JOURNAL_AGENT});
}

size_t journal_descriptor(struct journal *journal)
{
	return note(journal, &(struct journal_entry){.kind = JOURNAL_DESCRIPTOR});
}

void journal_set_xol_slot(struct journal *journal, size_t number, uint64_t slot)
{
	journal->file->entries[number].xol_slot = slot;
}

void journal_set_when(struct journal *journal, size_t number, enum journal_when when)
{
	journal->file->entries[number].when = when;
}

void journal_forget(struct journal *journal, size_t number)
{
	if (!journal_entry(journal, number))
		return;
	__atomic_store_n(&journal->file->entries[number].kind, JOURNAL_FREE, __ATOMIC_RELEASE);
	vec_push(&journal->free_numbers, &number);
}

const struct journal_entry *journal_entry(const struct journal *journal, size_t number)
{
	const struct journal_entry *entries = journal->file->entries;

	if (number >= journal->file->count || entries[number].kind == JOURNAL_FREE)
		return NULL;
	return &entries[number];
}

static bool is_agent_at(const struct journal *journal, size_t number, uint64_t address)
{
	const struct journal_entry *entry = journal_entry(journal, number);

	return entry && entry->kind == JOURNAL_AGENT && address >= entry->address &&
	       address - entry->address < entry->length;
}

bool journal_in_agent(const struct journal *journal, uint64_t address)
{
	size_t count = journal->is_adopted ? journal_count(journal) : journal->agents.count;

	for (size_t i = 0; i < count; i++)
		if (is_agent_at(journal,
				journal->is_adopted ? i
						    : *(const size_t *)vec_at(&journal->agents, i),
				address))
			return true;
	return false;
}

static const struct journal_entry *jump_of_number(const struct journal *journal, size_t number,
						  uint64_t address)
{
	const struct journal_entry *entry = journal_entry(journal, number);

	return entry && entry->kind == JOURNAL_JUMP && entry->address == address ? entry : NULL;
}

const struct journal_entry *journal_jump_at(const struct journal *journal, uint64_t address)
{
	const struct journal_entry *found = NULL;

	if (!journal->is_adopted) {
		uintptr_t number = (uintptr_t)map_get(&journal->jumps, address);

		return number ? jump_of_number(journal, number - 1, address) : NULL;
	}
	for (size_t i = journal_count(journal); !found && i-- > 0;)
		found = jump_of_number(journal, i, address);
	return found;
}

bool journal_has_mapping(const struct journal *journal, uint64_t address)
{
	for (size_t number = journal_count(journal); number-- > 0;) {
		const struct journal_entry *entry = journal_entry(journal, number);

		if (entry && entry->kind == JOURNAL_MAPPING && entry->address == address)
			return true;
	}
	return false;
}

size_t journal_count(const struct journal *journal)
{
	return journal->file->count;
}

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

/* A child does not inherit mask entries: they belong to threads of the parent. */
static bool is_inherited(const struct journal *journal, size_t number)
{
	const struct journal_entry *entry = journal_entry(journal, number);

	return entry && entry->kind != JOURNAL_MASK;
}

void journal_copy(struct journal *to, const struct journal *from)
{
	size_t count = journal_count(from);
	static const struct journal_entry placeholder = {.kind = JOURNAL_MAPPING};
	const struct journal_subject *subject = &from->file->subject;

	to->file->subject.rescue = subject->rescue;
	to->file->subject.guarded = subject->guarded;
	to->file->subject.handlers_opened = subject->handlers_opened;
	memcpy(to->file->subject.action, subject->action, sizeof subject->action);

	/*
	 * The engine refers to entries by number, so numbers are kept: fill in, then free the gaps.
	 */
	for (size_t number = 0; number < count; number++)
		note(to, is_inherited(from, number) ? journal_entry(from, number) : &placeholder);
	for (size_t number = 0; number < count; number++)
		if (!is_inherited(from, number))
			journal_forget(to, number);
}

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

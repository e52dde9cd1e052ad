/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Caches files by identity. The key is the inode number; the entries with one number, from
 * different devices, form a chain. A file that has changed replaces its entry. A cached file is
 * mapped, so its inode cannot be given to another file.
 *
 * A program with a just-in-time compiler may load a library of a new name every minute, and delete
 * it. So files that are used by nothing but the cache are dropped, with their mapping and their
 * space on disk, if they have not been asked for between two searches for such files.
 */
#include "object/elf_cache.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/xalloc.h"
#include "object/elf_memory.h"
#include "object/elf_private.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { PASS = 32 }; /* new files between two passes; at most twice as many unused files are kept */

struct cache_entry {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec modified;
	struct elf_file *file;
	bool recent; /* asked for since the last pass */
	struct cache_entry *next;
};

struct elf_cache {
	struct map entries; /* inode → chain of struct cache_entry */
	unsigned added;	    /* since the last pass */
};

struct elf_cache *elf_cache_create(void)
{
	return xcalloc(1, sizeof(struct elf_cache));
}

static void free_entry(struct cache_entry *entry)
{
	elf_unref(entry->file);
	free(entry);
}

void elf_cache_destroy(struct elf_cache *cache)
{
	size_t cursor = 0;
	void *value;

	if (!cache)
		return;
	while (map_next(&cache->entries, &cursor, NULL, &value)) {
		struct cache_entry *entry = value;

		while (entry) {
			struct cache_entry *next = entry->next;

			free_entry(entry);
			entry = next;
		}
	}
	map_deinit(&cache->entries);
	free(cache);
}

static bool is_unchanged(const struct cache_entry *entry, const struct stat *status)
{
	return entry->size == status->st_size && entry->modified.tv_sec == status->st_mtim.tv_sec &&
	       entry->modified.tv_nsec == status->st_mtim.tv_nsec;
}

static struct cache_entry *find_entry(const struct elf_cache *cache, const struct stat *status)
{
	struct cache_entry *entry = map_get(&cache->entries, status->st_ino);

	while (entry && entry->device != status->st_dev)
		entry = entry->next;
	return entry;
}

static void add_entry(struct elf_cache *cache, struct cache_entry *entry)
{
	entry->next = map_get(&cache->entries, entry->inode);
	map_put(&cache->entries, entry->inode, entry);
}

static void drop_unused(struct elf_cache *cache)
{
	struct map old = cache->entries;
	size_t cursor = 0;
	void *value;

	cache->entries = (struct map){0};
	cache->added = 0;
	while (map_next(&old, &cursor, NULL, &value)) {
		struct cache_entry *next;

		for (struct cache_entry *entry = value; entry; entry = next) {
			next = entry->next;
			if (entry->recent || entry->file->references > 1) {
				entry->recent = false;
				add_entry(cache, entry);
			} else {
				free_entry(entry);
			}
		}
	}
	map_deinit(&old);
}

/* Keeps `file` in `entry`, which it replaces, or in a new entry if that is NULL. */
static void store(struct elf_cache *cache, struct cache_entry *entry, const struct stat *status,
		  struct elf_file *file)
{
	if (!entry) {
		if (++cache->added > PASS)
			drop_unused(cache);
		entry = xcalloc(1, sizeof *entry);
		entry->inode = status->st_ino;
		add_entry(cache, entry);
	}
	elf_unref(entry->file);
	entry->device = status->st_dev;
	entry->size = status->st_size;
	entry->modified = status->st_mtim;
	entry->file = elf_ref(file);
	entry->recent = true;
}

int elf_cache_open(struct elf_cache *cache, int fd, struct elf_file **out)
{
	struct stat status;
	int error;

	if (fstat(fd, &status))
		return -errno;
	struct cache_entry *entry = find_entry(cache, &status);

	if (entry && is_unchanged(entry, &status)) {
		entry->recent = true;
		*out = elf_ref(entry->file);
		return 0;
	}
	error = elf_open(fd, out);
	if (!error)
		store(cache, entry, &status, *out);
	return error;
}

/* Returns the bytes of all files that were rebuilt from memory. */
static uint64_t memory_used(const struct elf_cache *cache)
{
	uint64_t used = 0;
	size_t cursor = 0;
	void *value;

	while (map_next(&cache->entries, &cursor, NULL, &value))
		for (struct cache_entry *entry = value; entry; entry = entry->next)
			used += entry->file->from_memory ? entry->file->size : 0;
	return used;
}

/*
 * Makes up an identity: in place of the size, a hash of the headers; in place of the time, one that
 * no file has.
 */
static bool describe_memory(const struct memory_source *memory, uint64_t header,
			    struct stat *status)
{
	unsigned char bytes[4096];
	size_t length = memory_read(memory, header, bytes, sizeof bytes);

	status->st_size = (off_t)(hash_bytes(HASH_START, bytes, length) >> 1);
	status->st_mtim = (struct timespec){0, -1};
	return length > 0;
}

int elf_cache_open_memory(struct elf_cache *cache, const struct memory_source *memory,
			  uint64_t header, dev_t device, ino_t inode, struct elf_file **out)
{
	struct stat status = {.st_dev = device, .st_ino = inode};

	if (!describe_memory(memory, header, &status))
		return -EFAULT;
	struct cache_entry *entry = find_entry(cache, &status);
	uint64_t used = memory_used(cache);

	if (entry && is_unchanged(entry, &status)) {
		entry->recent = true;
		*out = elf_ref(entry->file);
		return 0;
	}
	int error = used < ELF_MEMORY_MAX
			    ? elf_open_memory(memory, header, ELF_MEMORY_MAX - used, out)
			    : -EFBIG;

	if (!error)
		store(cache, entry, &status, *out);
	return error;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files already read, by identity. Keyed by inode number; files of other devices with the same
 * number, or the same file changed since, are a chain behind it. A file in the cache is mapped, so
 * its inode cannot be given to another file while it is here.
 */
#include "image/elf.h"

#include "base/map.h"
#include "base/xalloc.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

struct cache_entry {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec modified;
	struct elf_file *file;
	struct cache_entry *next;
};

struct elf_cache {
	struct map entries; /* inode → struct cache_entry chain */
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

/* Keeps `file` in the entry it replaces, or a new one. */
static void store(struct elf_cache *cache, struct cache_entry *entry, const struct stat *status,
		  struct elf_file *file)
{
	if (!entry) {
		entry = xcalloc(1, sizeof *entry);
		entry->next = map_get(&cache->entries, status->st_ino);
		map_put(&cache->entries, status->st_ino, entry);
	}
	elf_unref(entry->file);
	entry->device = status->st_dev;
	entry->inode = status->st_ino;
	entry->size = status->st_size;
	entry->modified = status->st_mtim;
	entry->file = elf_ref(file);
}

int elf_cache_open(struct elf_cache *cache, int fd, struct elf_file **out)
{
	struct stat status;
	int error;

	if (fstat(fd, &status))
		return -errno;
	struct cache_entry *entry = find_entry(cache, &status);

	if (entry && is_unchanged(entry, &status)) {
		*out = elf_ref(entry->file);
		return 0;
	}
	error = elf_open(fd, out);
	if (!error)
		store(cache, entry, &status, *out);
	return error;
}

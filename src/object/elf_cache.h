/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Caches files by identity: see elf_cache.c. */
#ifndef TRACER_OBJECT_ELF_CACHE_H
#define TRACER_OBJECT_ELF_CACHE_H

#include "object/elf.h"

struct elf_cache *elf_cache_create(void);
void elf_cache_destroy(struct elf_cache *cache);
/*
 * Like elf_open(), but returns the cached file if it has not changed. The caller owns the
 * reference.
 */
int elf_cache_open(struct elf_cache *cache, int fd, struct elf_file **out);
/*
 * Like elf_open_memory(), for a file known to be `device` and `inode`: files with equal headers
 * count as the same. All such files in the cache together have at most ELF_MEMORY_MAX bytes.
 */
enum { ELF_MEMORY_MAX = 512 << 20 };
int elf_cache_open_memory(struct elf_cache *cache, const struct memory_source *memory,
			  uint64_t header, dev_t device, ino_t inode, struct elf_file **out);

#endif

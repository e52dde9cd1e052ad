/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps pages of a process's memory that were read, for the reads of one stack: a walk reads many
 * single words of few pages, and each read of a process is a system call.
 */
#ifndef TRACER_UNWIND_SCRIPT_PAGE_CACHE_H
#define TRACER_UNWIND_SCRIPT_PAGE_CACHE_H

#include "base/memory.h"

enum { PAGE_CACHE_PAGES = 2048, PAGE_CACHE_BYTES = 4096, PAGE_CACHE_AHEAD = 32 };

/* A page that one of the last walks has read. */
struct expected_page {
	uint64_t number;
	unsigned age; /* how many walks ago; 0: by this one */
};

struct page_cache {
	struct memory_source source;	    /* reads through the cache; its context is the cache */
	const struct memory_source *memory; /* what is cached */
	uint64_t misses;		    /* pages read */
	uint64_t numbers[PAGE_CACHE_PAGES]; /* the page that is kept; UINT64_MAX: none */
	uint16_t lengths[PAGE_CACHE_PAGES]; /* readable bytes from its beginning */
	bool is_used[PAGE_CACHE_PAGES];	    /* the present walk has read from the page */
	struct expected_page expected[PAGE_CACHE_AHEAD];
	size_t expected_count;
	bool is_begun; /* something was read since the cache was cleared */
	uint8_t bytes[PAGE_CACHE_PAGES][PAGE_CACHE_BYTES];
};

/*
 * The caller owns the cache (8 MiB, of which only what is used is touched), and `memory`, which
 * must outlive it.
 */
void page_cache_init(struct page_cache *cache, const struct memory_source *memory);
/*
 * Forgets all pages: the process may have run. The next walk begins with a read of those that the
 * last ones have needed, all at once.
 */
void page_cache_clear(struct page_cache *cache);
/* Reads all `length` bytes or returns false. `cache`: a struct page_cache (executor.h, `read`). */
bool page_cache_read(void *cache, uint64_t address, void *buffer, size_t length);
/* The `read` function of a struct script_run; `cache` is the context. */
bool page_cache_number(void *cache, uint64_t address, unsigned size, uint64_t *number);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A cache of pages, each at the one place that its number gives it. */
#include "unwind/script/page_cache.h"

#include <string.h>

/* Returns the place of the page with this number, with the page in it. */
static size_t fetch(struct page_cache *cache, uint64_t number)
{
	/* Pages of different mappings get different places, mostly. */
	const size_t place = (number * UINT64_C(0x9e3779b97f4a7c15) >> 32) % PAGE_CACHE_PAGES;

	if (cache->numbers[place] != number) {
		cache->numbers[place] = number;
		cache->lengths[place] =
			(uint16_t)memory_read(cache->memory, number * PAGE_CACHE_BYTES,
					      cache->bytes[place], PAGE_CACHE_BYTES);
		cache->misses++;
	}
	return place;
}

/* Reads what one page has of a range. Returns how many bytes. */
static size_t read_piece(struct page_cache *cache, uint64_t address, void *buffer, size_t length)
{
	const size_t place = fetch(cache, address / PAGE_CACHE_BYTES);
	const size_t start = address % PAGE_CACHE_BYTES;
	const size_t readable = cache->lengths[place];
	const size_t piece = readable > start ? readable - start : 0;

	if (length > piece)
		length = piece;
	memcpy(buffer, cache->bytes[place] + start, length);
	return length;
}

static size_t read_range(struct page_cache *cache, uint64_t address, void *buffer, size_t length)
{
	size_t done = 0;

	while (done < length && address + done >= address) {
		const size_t piece = read_piece(cache, address + done, (uint8_t *)buffer + done,
						length - done);

		done += piece;
		if (!piece || (address + done) % PAGE_CACHE_BYTES)
			break;
	}
	return done;
}

static void readv_cached(void *context, struct memory_range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ranges[i].done = read_range(context, ranges[i].address, ranges[i].buffer,
					    ranges[i].length);
}

bool page_cache_read(void *cache, uint64_t address, void *buffer, size_t length)
{
	return read_range(cache, address, buffer, length) == length;
}

bool page_cache_number(void *cache, uint64_t address, unsigned size, uint64_t *number)
{
	*number = 0;
	return page_cache_read(cache, address, number, size);
}

void page_cache_clear(struct page_cache *cache)
{
	for (size_t i = 0; i < PAGE_CACHE_PAGES; i++)
		cache->numbers[i] = UINT64_MAX;
}

void page_cache_init(struct page_cache *cache, const struct memory_source *memory)
{
	cache->source = (struct memory_source){.readv = readv_cached, .context = cache};
	cache->memory = memory;
	cache->misses = 0;
	page_cache_clear(cache);
}

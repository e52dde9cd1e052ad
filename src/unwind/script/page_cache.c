/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cache of pages, each at the one place that its number gives it.
 *
 * The stacks of one process are much alike: a walk mostly needs the pages that the one before has
 * needed. They are read by one system call at its first read. A page that no walk has needed for
 * some time is no longer among them.
 */
#include "unwind/script/page_cache.h"

#include <string.h>

enum { AGE_MOST = 4 };

/* Pages of different mappings get different places, mostly. */
static size_t place_of(uint64_t number)
{
	return (number * UINT64_C(0x9e3779b97f4a7c15) >> 32) % PAGE_CACHE_PAGES;
}

/* ------------------------------------------------------------------ expected pages */

static void read_expected(struct page_cache *cache)
{
	struct memory_range ranges[PAGE_CACHE_AHEAD];
	size_t places[PAGE_CACHE_AHEAD], count = 0;

	for (size_t i = 0; i < cache->expected_count; i++) {
		const uint64_t number = cache->expected[i].number;
		const size_t place = place_of(number);

		/* Nothing is kept so far but what has just been put here. */
		if (cache->numbers[place] != UINT64_MAX)
			continue;
		cache->numbers[place] = number;
		ranges[count] = (struct memory_range){.address = number * PAGE_CACHE_BYTES,
						      .buffer = cache->bytes[place],
						      .length = PAGE_CACHE_BYTES};
		places[count++] = place;
	}
	if (count)
		cache->memory->readv(cache->memory->context, ranges, count);
	for (size_t i = 0; i < count; i++)
		cache->lengths[places[i]] = (uint16_t)ranges[i].done;
	cache->misses += count;
}

/* The present walk needs a page. */
static void expect(struct page_cache *cache, uint64_t number)
{
	size_t index = 0;

	while (index < cache->expected_count && cache->expected[index].number != number)
		index++;
	if (index == PAGE_CACHE_AHEAD)
		return;
	cache->expected[index] = (struct expected_page){.number = number};
	if (index == cache->expected_count)
		cache->expected_count++;
}

/* A walk has ended. */
static void age_expected(struct page_cache *cache)
{
	size_t kept = 0;

	for (size_t i = 0; i < cache->expected_count; i++) {
		cache->expected[kept] = cache->expected[i];
		kept += ++cache->expected[kept].age < AGE_MOST;
	}
	cache->expected_count = kept;
}

/* ------------------------------------------------------------------ reads */

/* Returns the place of the page with this number, with the page in it. */
static size_t fetch(struct page_cache *cache, uint64_t number)
{
	const size_t place = place_of(number);

	if (!cache->is_begun)
		read_expected(cache);
	cache->is_begun = true;
	if (cache->numbers[place] != number) {
		cache->numbers[place] = number;
		cache->lengths[place] =
			(uint16_t)memory_read(cache->memory, number * PAGE_CACHE_BYTES,
					      cache->bytes[place], PAGE_CACHE_BYTES);
		cache->misses++;
		cache->is_used[place] = false;
	}
	if (!cache->is_used[place])
		expect(cache, number);
	cache->is_used[place] = true;
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
	memset(cache->is_used, 0, sizeof cache->is_used);
	if (cache->is_begun)
		age_expected(cache);
	cache->is_begun = false;
}

void page_cache_init(struct page_cache *cache, const struct memory_source *memory)
{
	cache->source = (struct memory_source){.readv = readv_cached, .context = cache};
	cache->memory = memory;
	cache->misses = 0;
	cache->expected_count = 0;
	cache->is_begun = false;
	page_cache_clear(cache);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads landing pads from the call-site tables of all LSDAs.
 *
 * All LSDAs of a file are read, and not only the one of the function around an address, because the
 * parts of a split function have LSDAs of their own. GCC lets each LSDA name pads in its own part
 * only. But Clang with basic-block sections, and optimizers of linked programs, put all pads into
 * one part, which the other parts name relative to an @LPStart. So an address does not tell which
 * LSDA names it. Reading all takes a millisecond or two for a file such as libstdc++, once per
 * file, and gives a sorted list, which is fast to search.
 *
 * LSDAs are read in the order of their addresses, so that each byte is read about once; a budget
 * bounds the cost of overlapping tables in a damaged file. A table ends where the next LSDA begins,
 * whatever its length says: Clang 14 gives the LSDAs of one function's basic-block sections a
 * common action table behind the last of them, and call-site tables that reach up to it. Unwinders
 * do not notice, since the record they look for comes first. Records that cover no code of the
 * function, which unwinders could never find, are ignored here, too.
 *
 * LSDA: @LPStart encoding and pointer (absent: the function's start), @TType encoding and offset,
 * call-site encoding, length of the call-site table, and the table: start, length, landing pad
 * relative to @LPStart or 0 for none, action. Source: the tables as GCC and Clang emit them, which
 * is the Itanium C++ ABI's "Exception Handling Tables". All languages whose compilers derive from
 * these use this form. For any other form the numbers are meaningless, and those that are no
 * addresses of code are dropped.
 */
#include "unwind/landing_pads.h"

#include "base/vec.h"
#include "object/elf_private.h"
#include "object/elf_text.h"
#include "unwind/eh_frame.h"
#include "unwind/eh_reader.h"
#include "unwind/extent.h"

#include <stdlib.h>

enum {
	LSDA_PIECE = 256 << 10,	 /* the most that elf_file_read() reads at once */
	CALL_SITES_MAX = 4 << 20 /* maximum number of records read in one file */
};

struct search {
	struct elf_file *file;
	struct eh_reader reader;
	struct vec pads; /* uint64_t */
	unsigned call_sites;
};

static int compare_functions(const void *left, const void *right)
{
	const struct extent *a = left, *b = right;

	if (a->lsda != b->lsda)
		return a->lsda < b->lsda ? -1 : 1;
	return (a->start > b->start) - (a->start < b->start);
}

static int compare_addresses(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Reads the call-site table from the reader's position to `end`. */
static void read_call_sites(struct search *search, const struct extent *function, uint8_t encoding,
			    uint64_t end, uint64_t base)
{
	struct eh_reader *reader = &search->reader;

	while (reader->at < end && search->call_sites < CALL_SITES_MAX) {
		search->call_sites++;
		uint64_t start = eh_value(reader, encoding);
		uint64_t length = eh_value(reader, encoding);
		uint64_t offset = eh_value(reader, encoding);

		eh_uleb(reader); /* action */
		if (reader->failed || reader->at > end)
			break;
		uint64_t pad = eh_wrap(reader, base + offset);

		if (length && start < function->size && offset && elf_is_code(search->file, pad))
			vec_push(&search->pads, &pad);
	}
}

/* Reads the function's LSDA. `limit`: address of the next LSDA. Returns false if that failed. */
static bool read_lsda(struct search *search, const struct extent *function, uint64_t limit)
{
	struct eh_reader *reader = &search->reader;
	uint64_t base = function->start;

	eh_seek(reader, function->lsda);
	uint8_t base_encoding = (uint8_t)eh_fixed(reader, 1);

	if (base_encoding != EH_OMIT)
		base = eh_pointer(reader, base_encoding, function->start);
	if (eh_fixed(reader, 1) != EH_OMIT)
		eh_uleb(reader); /* offset of the type table */
	uint8_t encoding = (uint8_t)eh_fixed(reader, 1);
	uint64_t length = eh_uleb(reader);

	if (reader->failed || encoding & ~EH_FORMAT)
		return false;
	if (reader->at < limit && length < limit - reader->at)
		limit = reader->at + length;
	read_call_sites(search, function, encoding, limit, base);
	return !reader->failed;
}

/* Reads the LSDAs of functions that are sorted by LSDA. Functions may share one. */
static void read_lsdas(struct search *search, const struct extent *functions, size_t count)
{
	for (size_t i = 0, next = 0; i < count; i++) {
		while (next < count && functions[next].lsda <= functions[i].lsda)
			next++;
		uint64_t limit = next < count ? functions[next].lsda : UINT64_MAX;
		read_lsda(search, &functions[i], limit);
	}
}

static size_t remove_duplicates(uint64_t *addresses, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (!kept || addresses[i] != addresses[kept - 1])
			addresses[kept++] = addresses[i];
	return kept;
}

static void sort(struct vec *vec, int (*compare)(const void *, const void *))
{
	if (vec->count)
		qsort(vec->items, vec->count, vec->item_size, compare);
}

static void read_landings(struct elf_file *file)
{
	struct search search = {.file = file, .pads = VEC_OF(uint64_t)};
	struct vec functions = VEC_OF(struct extent);
	size_t count;
	const struct extent *all = extent_list(file, &count);

	for (size_t i = 0; i < count; i++)
		if (all[i].lsda)
			vec_push(&functions, &all[i]);
	if (!functions.count)
		return;
	sort(&functions, compare_functions);
	eh_reader_init(&search.reader, file, LSDA_PIECE);
	read_lsdas(&search, functions.items, functions.count);
	eh_reader_deinit(&search.reader);
	vec_deinit(&functions);
	sort(&search.pads, compare_addresses);
	file->landings = search.pads.items;
	file->landing_count = remove_duplicates(search.pads.items, search.pads.count);
}

bool landing_pads_of(struct elf_file *file, uint64_t start, struct vec *pads)
{
	struct search search = {.file = file, .pads = *pads};
	const struct extent *function = NULL;
	uint64_t limit = UINT64_MAX;
	size_t count;
	const struct extent *all = extent_list(file, &count);

	for (size_t i = 0; i < count && !function; i++)
		if (all[i].start == start)
			function = &all[i];
	if (!function || !function->lsda)
		return function != NULL;
	for (size_t i = 0; i < count; i++)
		if (all[i].lsda > function->lsda && all[i].lsda < limit)
			limit = all[i].lsda;
	eh_reader_init(&search.reader, file, LSDA_PIECE);
	const bool is_read = read_lsda(&search, function, limit);

	eh_reader_deinit(&search.reader);
	*pads = search.pads;
	return is_read;
}

const uint64_t *landing_pads(struct elf_file *file, size_t *count)
{
	if (!file->landings_read) {
		file->landings_read = true;
		read_landings(file);
	}
	*count = file->landing_count;
	return file->landings;
}

bool landing_pads_has(struct elf_file *file, uint64_t address)
{
	size_t count;
	const uint64_t *pads = landing_pads(file, &count);

	return count && bsearch(&address, pads, count, sizeof *pads, compare_addresses);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Landing pads, from the call-site tables of all LSDAs.
 *
 * Why all of them, and not that of the function around an address: the parts of a split function
 * have LSDAs of their own. GCC lets each name pads in its own part only, but Clang with basic-block
 * sections, and optimizers of linked programs, gather all pads in one part, which the others name
 * relative to an @LPStart. So which LSDA names an address cannot be told from the address. Reading
 * all takes a millisecond or two for a file such as libstdc++, once per file, and the answer is a
 * list that takes no time to ask.
 *
 * LSDAs are read in the order of their addresses, so that each byte is read about once; a budget
 * bounds what overlapping tables of a damaged file can cost. A table ends where the next LSDA
 * begins, whatever its length says: Clang 14 gives the LSDAs of one function's basic-block sections
 * a common table of actions behind the last of them, and call-site tables that reach up to it.
 * Unwinders do not notice, since the record they look for comes first; records that cover no code
 * of the function, which they could never find, do not count here either.
 *
 * LSDA: @LPStart encoding and pointer (absent: the function's start), @TType encoding and offset,
 * call-site encoding, length of the call-site table, and the table: start, length, landing pad
 * relative to @LPStart or 0 for none, action. Source: the tables as GCC and Clang emit them, which
 * is the Itanium C++ ABI's "Exception Handling Tables". All languages whose compilers descend from
 * these use the form. One that does not yields numbers: those outside of code are dropped.
 */
#include "image/landing.h"

#include "base/vec.h"
#include "image/eh_frame.h"
#include "image/elf_private.h"
#include "image/extent.h"

#include <stdlib.h>

enum {
	LSDA_PIECE = 256 << 10,	 /* as large as elf_file_read() gives back at once */
	CALL_SITES_MAX = 4 << 20 /* looked at in one file */
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

/* The table from where the reader is to `end`. */
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

/* `limit`: where the next LSDA begins. */
static void read_lsda(struct search *search, const struct extent *function, uint64_t limit)
{
	struct eh_reader *reader = &search->reader;
	uint64_t base = function->start;

	eh_seek(reader, function->lsda);
	uint8_t base_encoding = (uint8_t)eh_fixed(reader, 1);

	if (base_encoding != EH_OMIT)
		base = eh_pointer(reader, base_encoding, function->start);
	if (eh_fixed(reader, 1) != EH_OMIT)
		eh_uleb(reader); /* where the types are */
	uint8_t encoding = (uint8_t)eh_fixed(reader, 1);
	uint64_t length = eh_uleb(reader);

	if (reader->failed || encoding & ~EH_FORMAT)
		return;
	if (reader->at < limit && length < limit - reader->at)
		limit = reader->at + length;
	read_call_sites(search, function, encoding, limit, base);
}

/* `functions` are sorted by LSDA; some may share one. */
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

const uint64_t *landing_pads(struct elf_file *file, size_t *count)
{
	if (!file->landings_read) {
		file->landings_read = true;
		read_landings(file);
	}
	*count = file->landing_count;
	return file->landings;
}

bool landing_is_pad(struct elf_file *file, uint64_t address)
{
	size_t count;
	const uint64_t *pads = landing_pads(file, &count);

	return count && bsearch(&address, pads, count, sizeof *pads, compare_addresses);
}

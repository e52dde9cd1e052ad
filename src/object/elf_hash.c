/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the hash tables of a dynamic section (DT_GNU_HASH, DT_HASH) for two purposes: the number of
 * symbols, which nothing else in the dynamic section tells, and a quick negative answer. A plain -x
 * name is looked for in every module of a process, and is in one of them: for the other modules the
 * bloom filter answers with two small reads, and no symbol table is decoded.
 *
 * Layout of DT_GNU_HASH: words {buckets, first symbol, filter words, filter shift}, filter words of
 * the class's size, buckets (index of the first symbol, or 0), then for each symbol from the first
 * its hash, with bit 0 set on the last of a bucket. Undefined symbols come before the first hashed
 * symbol and are not in the table, so relocations tell their number.
 */
#include "object/elf_hash.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "object/elf_private.h"
#include "object/elf_records.h"
#include "object/elf_relocations.h"
#include "object/elf_sections.h"

#include <stdlib.h>
#include <string.h>

enum { GNU_BUCKETS, GNU_FIRST, GNU_FILTER, GNU_SHIFT, GNU_HEADER_WORDS };
enum { CHAIN_BLOCK = 128, FILTER_WORDS_MAX = 16384 };

uint32_t elf_hash_name(const char *name)
{
	uint32_t hash = 5381;

	for (const unsigned char *c = (const unsigned char *)name; *c; c++)
		hash = hash * 33 + *c;
	return hash;
}

/* Reads `count` 32-bit words at an address. */
static bool read_words(const struct elf_file *file, uint64_t address, uint32_t *words, size_t count)
{
	uint64_t offset, available;

	return elf_locate(file, address, &offset, &available) && available / 4 >= count &&
	       elf_read_records(file, ELF_T_WORD, offset, count, words);
}

static bool parse_gnu_hash(const struct elf_file *file, struct gnu_hash *hash)
{
	if (!file->gnu_hash || !read_words(file, file->gnu_hash, hash->header, GNU_HEADER_WORDS))
		return false;
	hash->word = file->arch->elf_class == ELFCLASS64 ? 8 : 4;
	hash->filter = file->gnu_hash + GNU_HEADER_WORDS * 4;
	hash->buckets = hash->filter + (uint64_t)hash->header[GNU_FILTER] * hash->word;
	hash->chains = hash->buckets + (uint64_t)hash->header[GNU_BUCKETS] * 4;
	return hash->header[GNU_BUCKETS] && hash->header[GNU_FILTER] &&
	       hash->header[GNU_SHIFT] < 32;
}

/*
 * Loads the whole filter: about a hundred names are looked up in a row, which saves as many reads.
 */
static uint32_t *load_filter(const struct elf_file *file, const struct gnu_hash *hash)
{
	uint64_t count = (uint64_t)hash->header[GNU_FILTER] * (hash->word / 4);
	uint64_t offset, available;

	if (count > FILTER_WORDS_MAX || !elf_locate(file, hash->filter, &offset, &available) ||
	    available / 4 < count)
		return NULL;
	return elf_load_records(file, ELF_T_WORD, offset, count);
}

/* Reads the table once. Returns NULL if there is none, or it is damaged. */
static const struct gnu_hash *get_gnu_hash(struct elf_file *file)
{
	struct gnu_hash hash = {0};

	if (file->hash_read)
		return file->hash;
	file->hash_read = true;
	if (!parse_gnu_hash(file, &hash))
		return NULL;
	hash.filter_words = load_filter(file, &hash);
	file->hash = xmalloc(sizeof *file->hash);
	*file->hash = hash;
	return file->hash;
}

void elf_free_hash(struct gnu_hash *hash)
{
	if (hash)
		free(hash->filter_words);
	free(hash);
}

static bool filter_passes(const struct elf_file *file, const struct gnu_hash *hash, uint32_t value)
{
	unsigned bits = hash->word * 8;
	uint64_t index = value / bits % hash->header[GNU_FILTER];
	uint32_t words[2] = {0, 0};

	if (hash->filter_words)
		memcpy(words, &hash->filter_words[index * (hash->word / 4)], hash->word);
	else if (!read_words(file, hash->filter + index * hash->word, words, hash->word / 4))
		return true;
	uint64_t word = (uint64_t)words[1] << 32 | words[0];

	return word >> (value % bits) & word >> ((value >> hash->header[GNU_SHIFT]) % bits) & 1;
}

/* Reads the hashes from symbol `index` on. Returns how many were read, 0 at their end. */
static size_t read_chain(const struct elf_file *file, const struct gnu_hash *hash, uint32_t index,
			 uint32_t *words)
{
	uint64_t address = hash->chains + (uint64_t)(index - hash->header[GNU_FIRST]) * 4;
	uint64_t offset, available;

	if (!elf_locate(file, address, &offset, &available))
		return 0;
	size_t count = available / 4 < CHAIN_BLOCK ? available / 4 : CHAIN_BLOCK;

	return elf_read_records(file, ELF_T_WORD, offset, count, words) ? count : 0;
}

bool elf_may_define(struct elf_file *file, const char *name)
{
	const struct gnu_hash *hash = get_gnu_hash(file);
	uint32_t words[CHAIN_BLOCK];
	uint32_t value = elf_hash_name(name);
	uint32_t index;

	if (!hash)
		return true;
	if (!filter_passes(file, hash, value))
		return false;
	uint64_t bucket = hash->buckets + (uint64_t)(value % hash->header[GNU_BUCKETS]) * 4;

	if (!read_words(file, bucket, &index, 1))
		return true;
	if (index < hash->header[GNU_FIRST])
		return false;
	for (;;) {
		size_t count = read_chain(file, hash, index, words);

		for (size_t i = 0; i < count; i++) {
			if ((words[i] | 1) == (value | 1))
				return true;
			if (words[i] & 1)
				return false;
		}
		if (!count || index > UINT32_MAX - count)
			return false;
		index += (uint32_t)count;
	}
}

/* Returns the index of the last symbol in the chain that begins at `index`, plus 1. */
static size_t chain_end(const struct elf_file *file, const struct gnu_hash *hash, uint32_t index)
{
	uint32_t words[CHAIN_BLOCK];

	for (;;) {
		size_t count = read_chain(file, hash, index, words);

		for (size_t i = 0; i < count; i++)
			if (words[i] & 1)
				return (size_t)index + i + 1;
		if (!count || index > UINT32_MAX - count)
			return index;
		index += (uint32_t)count;
	}
}

/* The last chain belongs to the bucket with the highest index. */
static size_t gnu_symbol_count(struct elf_file *file)
{
	const struct gnu_hash *hash = get_gnu_hash(file);
	uint64_t offset, available;
	uint32_t last = 0;

	if (!hash || !elf_locate(file, hash->buckets, &offset, &available))
		return 0;
	size_t count = hash->header[GNU_BUCKETS];

	if (available / 4 < count)
		return 0;
	_cleanup_free_ uint32_t *buckets = elf_load_records(file, ELF_T_WORD, offset, count);

	for (size_t i = 0; buckets && i < count; i++)
		if (buckets[i] > last)
			last = buckets[i];
	return last >= hash->header[GNU_FIRST] ? chain_end(file, hash, last)
					       : hash->header[GNU_FIRST];
}

static bool count_symbol(void *context, const GElf_Rela *relocation, bool implicit)
{
	size_t *count = context;
	size_t symbol = GELF_R_SYM(relocation->r_info);

	(void)implicit;
	if (symbol && symbol >= *count)
		*count = symbol + 1;
	return true;
}

/*
 * Returns the number of symbols from the section that is at DT_SYMTAB, which is exact; 0 if there
 * is none.
 */
static size_t section_symbol_count(struct elf_file *file)
{
	const GElf_Shdr *section = elf_section_of_type(file, SHT_DYNSYM);

	if (!section || section->sh_addr != file->tags[DT_SYMTAB])
		return 0;
	return section->sh_size / elf_record_size(file, ELF_T_SYM);
}

static size_t claimed_symbol_count(struct elf_file *file, size_t limit)
{
	uint32_t words[2];
	size_t count;

	if (file->tags[DT_HASH] && read_words(file, file->tags[DT_HASH], words, 2))
		return words[1];
	count = section_symbol_count(file);
	if (count)
		return count;
	if (!file->gnu_hash && file->tags[DT_STRTAB] > file->tags[DT_SYMTAB])
		return limit;
	count = gnu_symbol_count(file);
	elf_for_each_relocation(file, false, count_symbol, &count);
	return count;
}

size_t elf_dynamic_symbol_count(struct elf_file *file)
{
	uint64_t symbols = file->tags[DT_SYMTAB], strings = file->tags[DT_STRTAB];
	uint64_t offset, limit;

	if (!symbols || !elf_locate(file, symbols, &offset, &limit))
		return 0;
	/* The names nearly always follow, and tables do not overlap. */
	if (strings > symbols && strings - symbols < limit)
		limit = strings - symbols;
	if (limit > ELF_TABLE_MAX)
		limit = ELF_TABLE_MAX;
	limit /= elf_record_size(file, ELF_T_SYM);

	size_t count = claimed_symbol_count(file, limit);

	return count < limit ? count : limit;
}

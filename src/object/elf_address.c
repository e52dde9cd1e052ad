/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the name of the function that contains an address, from symbols and PLT stubs. All of them
 * are sorted by address at the first call and kept in the file.
 */
#include "object/elf_address.h"

#include "base/sorted.h"
#include "base/vec.h"
#include "object/elf_got_slots.h"
#include "object/elf_ifuncs.h"
#include "object/elf_private.h"
#include "object/elf_symbols.h"

#include <stdlib.h>

/* A symbol, or the PLT stub of one. */
struct named_code {
	uint64_t start, size; /* 0: only the address `start` itself belongs to the symbol */
	const char *name;
	bool is_local;
};

/*
 * How many symbols in front of an address are tried, since the nearest one may be a label within
 * the function.
 */
enum { AROUND_MAX = 64 };

/*
 * Sorts by address. Of several symbols at one address, the one to prefer comes last, because the
 * search runs backwards: it has a size, is not local, and has the plainest name.
 */
static int compare(const void *left, const void *right)
{
	const struct named_code *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (!a->size != !b->size)
		return a->size ? 1 : -1;
	if (a->is_local != b->is_local)
		return a->is_local ? -1 : 1;
	return elf_compare_names(b->name, a->name);
}

static void add_symbols(struct elf_file *file, struct vec *found)
{
	size_t count;
	const struct elf_symbol *symbols = elf_symbols(file, &count);

	for (size_t i = 0; i < count; i++) {
		const struct elf_symbol *symbol = &symbols[i];
		const struct named_code code = {symbol->value, symbol->size, symbol->name,
						symbol->bind == STB_LOCAL};

		/* An IFUNC symbol's value is the resolver, not the function of that name. */
		if (symbol->value && (symbol->type == STT_FUNC || symbol->type == STT_NOTYPE))
			vec_push(found, &code);
	}
}

/*
 * In a program linked to a fixed address, the address of a library's function is that of a PLT
 * stub.
 */
static void add_stubs(struct elf_file *file, struct vec *found)
{
	size_t count;
	const struct got_slot *slots = elf_got_slots(file, &count);

	for (size_t i = 0; i < count; i++) {
		const struct named_code code = {slots[i].stub, 0, got_slot_name(file, &slots[i]),
						false};

		if (code.start && code.name)
			vec_push(found, &code);
	}
}

static void read_code(struct elf_file *file)
{
	struct vec found = VEC_OF(struct named_code);

	file->code_read = true;
	add_symbols(file, &found);
	add_stubs(file, &found);
	if (found.count)
		qsort(found.items, found.count, found.item_size, compare);
	file->code = found.items;
	file->code_count = found.count;
}

/* Returns how many symbols begin at or before `address`. */
static size_t count_before(struct elf_file *file, uint64_t address)
{
	if (!file->code_read)
		read_code(file);
	const struct sorted starts = SORTED(struct named_code, start, file->code, file->code_count);

	return sorted_above(&starts, address);
}

const char *elf_name_of_code(struct elf_file *file, uint64_t address, uint64_t *offset)
{
	size_t last = count_before(file, address);

	for (unsigned i = 0; last-- && i < AROUND_MAX; i++) {
		const struct named_code *code = &file->code[last];

		*offset = address - code->start;
		if (!*offset || *offset < code->size)
			return code->name;
	}
	return NULL;
}

bool elf_symbol_ends_at(struct elf_file *file, uint64_t address)
{
	size_t last = address ? count_before(file, address - 1) : 0;
	bool ends = false;

	for (unsigned i = 0; last-- && i < AROUND_MAX; i++) {
		const struct named_code *code = &file->code[last];

		if (code->size > address - code->start)
			return false;
		ends |= code->size == address - code->start;
	}
	return ends;
}

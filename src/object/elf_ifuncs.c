/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds names for slots without a symbol: IRELATIVE relocations have only the address of a
 * resolver. If an IFUNC's address is taken, lld turns its symbol into a function whose value is the
 * PLT stub; then no other symbol has the resolver's address.
 */
#include "object/elf_ifuncs.h"

#include "base/sorted.h"
#include "base/vec.h"
#include "object/elf_got_slots.h"
#include "object/elf_private.h"
#include "object/elf_symbols.h"

#include <stdlib.h>
#include <string.h>

struct ifunc {
	uint64_t resolver;
	const char *name;
	bool old, weak; /* preferred last: an obsolete name, an alias */
};

int elf_compare_names(const char *left, const char *right)
{
	size_t x = strspn(left, "_"), y = strspn(right, "_");

	if (x == y) {
		x = strlen(left);
		y = strlen(right);
	}
	return x != y ? (x > y) - (x < y) : strcmp(left, right);
}

/*
 * Returns true for a BSD name that POSIX.1-2008 has replaced by another (strchr, strrchr, memcmp).
 * glibc's old names are weak, but a linker may make all names local (mold), and then nothing else
 * tells them apart.
 */
static bool is_old(const char *name)
{
	return !strcmp(name, "index") || !strcmp(name, "rindex") || !strcmp(name, "bcmp");
}

/*
 * Sorts the names of one resolver so that the name that programs use comes first. A reserved name
 * (C11 7.1.3: it begins with an underscore) may have the stronger binding, as glibc's __new_memcpy.
 */
static int compare(const void *left, const void *right)
{
	const struct ifunc *a = left, *b = right;
	bool reserved = a->name[0] == '_';

	if (a->resolver != b->resolver)
		return a->resolver < b->resolver ? -1 : 1;
	if (reserved != (b->name[0] == '_'))
		return reserved ? 1 : -1;
	if (a->old != b->old)
		return a->old - b->old;
	return a->weak != b->weak ? a->weak - b->weak : elf_compare_names(a->name, b->name);
}

/* Returns the resolver of the GOT slot through which the PLT stub at `address` jumps, or 0. */
static uint64_t resolver_of_stub(struct elf_file *file, uint64_t address)
{
	size_t count;
	const struct got_slot *slots = elf_got_slots(file, &count);

	for (size_t i = 0; i < count; i++)
		if (slots[i].kind == SLOT_IRELATIVE && slots[i].stub == address)
			return slots[i].addend;
	return 0;
}

static uint64_t resolver_of(struct elf_file *file, const struct elf_symbol *symbol)
{
	if (symbol->type == STT_GNU_IFUNC)
		return symbol->value;
	return symbol->type == STT_FUNC && symbol->value && !symbol->size
		       ? resolver_of_stub(file, symbol->value)
		       : 0;
}

static void read_ifuncs(struct elf_file *file)
{
	struct vec ifuncs = VEC_OF(struct ifunc);
	size_t count;
	const struct elf_symbol *symbols = elf_symbols(file, &count);

	file->ifuncs_read = true;
	for (size_t i = 0; i < count; i++) {
		const uint64_t resolver = resolver_of(file, &symbols[i]);

		if (resolver)
			vec_push(&ifuncs,
				 &(struct ifunc){resolver, symbols[i].name, is_old(symbols[i].name),
						 symbols[i].bind == STB_WEAK});
	}
	if (ifuncs.count)
		qsort(ifuncs.items, ifuncs.count, ifuncs.item_size, compare);
	file->ifuncs = ifuncs.items;
	file->ifunc_count = ifuncs.count;
}

/* Returns the index of the first IFUNC with this resolver. */
static size_t find_first(struct elf_file *file, uint64_t resolver)
{
	if (!file->ifuncs_read)
		read_ifuncs(file);
	const struct sorted ifuncs = SORTED(struct ifunc, resolver, file->ifuncs,
					    file->ifunc_count);

	return sorted_from(&ifuncs, resolver);
}

const char *got_slot_alias(struct elf_file *file, const struct got_slot *slot, size_t index)
{
	if (slot->name || slot->kind != SLOT_IRELATIVE)
		return index ? NULL : slot->name;
	const size_t at = find_first(file, slot->addend) + index;

	return at < file->ifunc_count && file->ifuncs[at].resolver == slot->addend
		       ? file->ifuncs[at].name
		       : NULL;
}

const char *got_slot_name(struct elf_file *file, const struct got_slot *slot)
{
	return got_slot_alias(file, slot, 0);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of slots that have no symbol: those of IRELATIVE relocations have the address of a resolver
 * only.
 */
#include "image/elf_private.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

struct ifunc {
	uint64_t resolver;
	const char *name;
	bool weak; /* an alias: rindex of strrchr, bcmp of memcmp */
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
 * The name that programs use comes first: one for the implementation only (C11 7.1.3: an underscore
 * at its beginning) may be the stronger one, as glibc's __new_memcpy is.
 */
static int compare(const void *left, const void *right)
{
	const struct ifunc *a = left, *b = right;
	bool reserved = a->name[0] == '_';

	if (a->resolver != b->resolver)
		return a->resolver < b->resolver ? -1 : 1;
	if (reserved != (b->name[0] == '_'))
		return reserved ? 1 : -1;
	return a->weak != b->weak ? a->weak - b->weak : elf_compare_names(a->name, b->name);
}

static void read_ifuncs(struct elf_file *file)
{
	struct vec ifuncs = VEC_OF(struct ifunc);
	size_t count;
	const struct elf_symbol *symbols = elf_symbols(file, &count);

	file->ifuncs_read = true;
	for (size_t i = 0; i < count; i++)
		if (symbols[i].type == STT_GNU_IFUNC && symbols[i].value)
			vec_push(&ifuncs, &(struct ifunc){symbols[i].value, symbols[i].name,
							  symbols[i].bind == STB_WEAK});
	if (ifuncs.count)
		qsort(ifuncs.items, ifuncs.count, ifuncs.item_size, compare);
	file->ifuncs = ifuncs.items;
	file->ifunc_count = ifuncs.count;
}

const char *elf_slot_name(struct elf_file *file, const struct elf_slot *slot)
{
	if (slot->name || slot->kind != SLOT_IRELATIVE)
		return slot->name;
	if (!file->ifuncs_read)
		read_ifuncs(file);
	size_t low = 0, high = file->ifunc_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (file->ifuncs[middle].resolver < slot->addend)
			low = middle + 1;
		else
			high = middle;
	}
	return low < file->ifunc_count && file->ifuncs[low].resolver == slot->addend
		       ? file->ifuncs[low].name
		       : NULL;
}

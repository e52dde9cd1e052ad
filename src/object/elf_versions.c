/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Versions of symbols (glibc's elf.h; LSB, "Symbol Versioning"). A symbol of .dynsym has the number
 * of a version, which has a meaning in its own file only: DT_VERDEF lists the versions that the
 * file defines, DT_VERNEED those that it needs of other files. Versions of two files are the same
 * if their names are, or the hashes of the names, which the records contain. The records have the
 * same form in both classes. Each leads to the next one, in a damaged file perhaps in circles.
 */
#include "object/elf_versions.h"

#include "object/elf_private.h"

#include <elf.h>

enum { RECORDS_MAX = 4096 };

/*
 * Searches the versions that are needed of one file, from `address` on. *more bounds the number of
 * records read.
 */
static uint32_t find_needed_of(const struct elf_file *file, uint64_t address, uint16_t number,
			       int *more)
{
	Elf64_Vernaux needed;

	while (--*more > 0 && elf_read(file, address, &needed, sizeof needed)) {
		if ((needed.vna_other & VERSION_NUMBER) == number)
			return needed.vna_hash;
		if (!needed.vna_next)
			break;
		address += needed.vna_next;
	}
	return 0;
}

static uint32_t find_needed(const struct elf_file *file, uint16_t number)
{
	uint64_t address = file->versions_needed;
	int more = RECORDS_MAX;
	uint32_t found = 0;
	Elf64_Verneed wanted;

	while (!found && --more > 0 && elf_read(file, address, &wanted, sizeof wanted)) {
		found = find_needed_of(file, address + wanted.vn_aux, number, &more);
		if (!wanted.vn_next)
			break;
		address += wanted.vn_next;
	}
	return found;
}

static uint32_t find_defined(const struct elf_file *file, uint16_t number)
{
	uint64_t address = file->versions_defined;
	Elf64_Verdef defined;

	for (int more = RECORDS_MAX;
	     more-- > 0 && elf_read(file, address, &defined, sizeof defined);) {
		if ((defined.vd_ndx & VERSION_NUMBER) == number)
			return defined.vd_hash;
		if (!defined.vd_next)
			break;
		address += defined.vd_next;
	}
	return 0;
}

uint32_t elf_symbol_version(const struct elf_file *file, const struct elf_symbol *symbol)
{
	if (symbol->version <= VER_NDX_GLOBAL)
		return 0;
	if (symbol->value)
		return file->versions_defined ? find_defined(file, symbol->version) : 0;
	return file->versions_needed ? find_needed(file, symbol->version) : 0;
}

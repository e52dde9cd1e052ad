/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of supported architectures. */
#include "base/arch.h"

const struct arch *arch_at(unsigned index)
{
	static const struct arch *const all[] = {&arch_x86_64, &arch_i386};

	return index < sizeof all / sizeof *all ? all[index] : NULL;
}

const struct arch *arch_find(uint16_t elf_machine, uint8_t elf_class)
{
	const struct arch *arch;

	for (unsigned i = 0; (arch = arch_at(i)); i++)
		if (arch->elf_machine == elf_machine && arch->elf_class == elf_class)
			return arch;
	return NULL;
}

const struct arch *arch_find_calls(uint32_t audit_arch)
{
	const struct arch *arch;

	for (unsigned i = 0; (arch = arch_at(i)); i++)
		if (arch->audit_arch == audit_arch)
			return arch;
	return NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/arch.h"

const struct arch *arch_find(uint16_t elf_machine, uint8_t elf_class)
{
	static const struct arch *const all[] = {&arch_x86_64, &arch_i386};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i]->elf_machine == elf_machine && all[i]->elf_class == elf_class)
			return all[i];
	return NULL;
}

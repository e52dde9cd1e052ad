/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The breakpoint instruction of every x86 host, for measuring what it costs. */
#include "base/arch.h"

void host_breakpoint(void)
{
	__asm__ volatile("int3");
}

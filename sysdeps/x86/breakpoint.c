/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The breakpoint instruction of x86 hosts. The tracer runs it to measure what a breakpoint costs
 * (engine/trap/calibrate.c).
 */
#include "base/arch.h"

void host_breakpoint(void)
{
	__asm__ volatile("int3");
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A function of one byte, and one that begins right behind it and returns 7: its beginning is what
 * stands behind a breakpoint of the other.
 */
__asm__(".text\n"
	".p2align 4\n"
	".globl packed_first, packed_second\n"
	".type packed_first, @function\n"
	".type packed_second, @function\n"
	"packed_first: ret\n"
	"packed_second: movl $7, %eax\n"
	"ret\n"
	".size packed_first, packed_second - packed_first\n"
	".size packed_second, . - packed_second\n");

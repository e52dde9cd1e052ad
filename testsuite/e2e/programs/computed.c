/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that count to their parameter, and jump for that into their own first instructions, by
 * an address that they get from a word of data, from a table of distances, or that they name; and
 * one that jumps by a table, but not there.
 */
#include <stdio.h>

/* clang-format off */
#define COUNT(name, jump)                                                                          \
	"	.globl	" name "\n"                                                                \
	"	.type	" name ", @function\n"                                                     \
	name ":	xor	%eax, %eax\n"                                                              \
	"1:	inc	%eax\n"                                                                    \
	"	cmp	%edi, %eax\n"                                                              \
	"	je	2f\n"                                                                      \
	jump                                                                                       \
	"2:	ret\n"                                                                             \
	"	.size	" name ", . - " name "\n"

__asm__(
	"	.text\n"
	COUNT("computed_word",
	"	mov	computed_address(%rip), %rdx\n"
	"	jmp	*%rdx\n"
	"	.pushsection .data.rel.ro, \"aw\"\n"
	"	.align	8\n"
	"computed_address: .quad 1b\n"
	"	.popsection\n")
	COUNT("computed_distance",
	"	lea	computed_distances(%rip), %rdx\n"
	"	mov	$1, %ecx\n"
	"	movslq	(%rdx, %rcx, 4), %rcx\n"
	"	add	%rdx, %rcx\n"
	"	jmp	*%rcx\n"
	"	.pushsection .rodata\n"
	"	.align	4\n"
	"computed_distances: .long 2f - computed_distances, 1b - computed_distances\n"
	"	.popsection\n")
	COUNT("computed_named",
	"	lea	1b(%rip), %rdx\n"
	"	jmp	*%rdx\n")
	COUNT("computed_elsewhere",
	"3:	inc	%eax\n"
	"	cmp	%edi, %eax\n"
	"	je	2f\n"
	"	mov	computed_behind(%rip), %rdx\n"
	"	jmp	*%rdx\n"
	"	.pushsection .data.rel.ro, \"aw\"\n"
	"	.align	8\n"
	"computed_behind: .quad 3b\n"
	"	.popsection\n"));
/* clang-format on */

int computed_word(int number);
int computed_distance(int number);
int computed_named(int number);
int computed_elsewhere(int number);

int main(void)
{
	int sum = 0;

	for (int i = 1; i < 40; i++)
		sum += computed_word(i) + computed_distance(i) + computed_named(i) +
		       computed_elsewhere(i);
	printf("%d\n", sum);
	return 0;
}

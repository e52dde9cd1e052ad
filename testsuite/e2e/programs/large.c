/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program with 48 MiB of code, and functions in front of it, amid it and behind it. The second is branched into behind its first byte. */
__asm__(".text\n"
	"	.type	large_first, @function\n"
	"large_first:\n"
	"	lea	1(%rdi), %eax\n"
	"	add	$0, %eax\n"
	"	ret\n"
	"	.size	large_first, . - large_first\n"
	"	.skip	24 << 20, 0x90\n"
	"	.type	large_second, @function\n"
	"large_second:\n"
	"	cld\n"
	".Llarge_within:\n"
	"	lea	2(%rdi), %eax\n"
	"	add	$0, %eax\n"
	"	ret\n"
	"	.size	large_second, . - large_second\n"
	"	.skip	24 << 20, 0x90\n"
	"	.type	large_third, @function\n"
	"large_third:\n"
	"	mov	$0, %eax\n"
	"	add	%esi, %edi\n"
	"	jne	.Llarge_within\n"
	"	ret\n"
	"	.size	large_third, . - large_third\n");

int large_first(int number);
int large_second(int number);
int large_third(int number, int other);

int main(void)
{
	return large_first(1) + large_second(2) + large_third(3, 4) == 15 ? 0 : 1;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For x86_64: five thousand functions c_0 and on, of which one near the end is called, until the input ends. */
#include <poll.h>
#include <stdio.h>

__asm__(".pushsection .text\n"
	".altmacro\n"
	".macro function number\n"
	"	.p2align 4\n"
	"	.globl c_\\number\n"
	"	.type c_\\number, @function\n"
	"c_\\number:\n"
	"	mov %edi, %eax\n"
	"	add $1, %eax\n"
	"	ret\n"
	"	.size c_\\number, . - c_\\number\n"
	".endm\n"
	".set counter, 0\n"
	".rept 5000\n"
	"	function %counter\n"
	"	.set counter, counter + 1\n"
	".endr\n"
	".noaltmacro\n"
	".p2align 4\n"
	".popsection");

int c_4900(int given);

int main(void)
{
	struct pollfd input = {.fd = 0, .events = POLLIN};
	int sum = 0;

	puts("ready");
	fflush(stdout);
	while (poll(&input, 1, 1) == 0)
		sum = c_4900(sum);
	return sum < 0;
}

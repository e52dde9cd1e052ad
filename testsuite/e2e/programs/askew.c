/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls functions on a stack that is at any byte, as the processor allows, and counts what comes back wrong. */
#include <stdio.h>

int askew_add(int a, int b);

__asm__(".text\n\t.globl askew_add\n\t.type askew_add, @function\n"
	"askew_add:\n\tmov %esi, %eax\n\tnop\n\tnop\n\tnop\n\tnop\n\tadd %edi, %eax\n\tret\n\t.size askew_add, . - askew_add\n\t"
	".section .note.GNU-stack, \"\"\n\t.text");

static int call_at(long bytes, int a, int b)
{
	int result;

	__asm__ volatile("mov %%rsp, %%rbx\n\tsub $256, %%rsp\n\tand $-64, %%rsp\n\tsub %[bytes], %%rsp\n\t"
			 "call askew_add\n\tmov %%rbx, %%rsp"
			 : "=a"(result), "+D"(a), "+S"(b)
			 : [bytes] "r"(bytes)
			 : "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
	return result;
}

int main(void)
{
	int wrong = 0;

	for (int round = 0; round < 100; round++)
		for (int bytes = 0; bytes < 32; bytes++)
			wrong += call_at(bytes, round, bytes) != round + bytes;
	printf("wrong %d\n", wrong);
	return 0;
}

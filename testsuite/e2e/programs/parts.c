// SPDX-License-Identifier: GPL-2.0-or-later
// What has a function's symbol and is none: parts of functions that are jumped to in the middle of a call, with a pointer
// to the program's data where a return address would be. One is the compiler's, which calls it NAME.cold; others are
// written by hand.
#include <stdio.h>
#include <stdlib.h>

long part_made(long number, long *data);
long part_written(long number, long *data);

static long rare_calls;

__attribute__((cold, noinline)) static void part_rare(long number)
{
	rare_calls += number;
	if (rare_calls < 0)
		abort();
}

__attribute__((noinline)) long part_made(long number, long *data)
{
	long sum = number + data[0];

	if (number % 3 == 0) {
		part_rare(number);
		sum += data[1];
		part_rare(sum);
	}
	return sum;
}

// part_middle: the word on top of the stack is the pointer that part_written() has pushed.
#ifdef __x86_64__
__asm__(".text\n.globl part_written\n.type part_written, @function\n"
	"part_written:\n\tpush %rsi\n\tlea (%rdi,%rdi), %rax\n\tmov %rax, %rdx\n\tnop\n\tjmp part_middle\n"
	".size part_written, .-part_written\n"
	".globl part_middle\n.type part_middle, @function\n"
	"part_middle:\n\tpop %rcx\n\tadd (%rcx), %rax\n\tadd 8(%rcx), %rax\n\tret\n"
	".size part_middle, .-part_middle\n");
#else
__asm__(".text\n.globl part_written\n.type part_written, @function\n"
	"part_written:\n\tmov 4(%esp), %eax\n\tmov 8(%esp), %ecx\n\tpush %ecx\n\tadd %eax, %eax\n\tnop\n\tjmp part_middle\n"
	".size part_written, .-part_written\n"
	".globl part_middle\n.type part_middle, @function\n"
	"part_middle:\n\tpop %ecx\n\tadd (%ecx), %eax\n\tadd 4(%ecx), %eax\n\tret\n"
	".size part_middle, .-part_middle\n");
#endif

int main(void)
{
	long sum = 0;

	for (long i = 0; i < 300; i++) {
		long on_stack[2] = {i, 7};
		long *on_heap = malloc(2 * sizeof *on_heap);

		if (!on_heap)
			return 1;
		on_heap[0] = 3;
		on_heap[1] = i;
		sum += part_made(i, on_stack) + part_written(i, on_stack) + part_made(i, on_heap) + part_written(i, on_heap);
		free(on_heap);
	}
	printf("sum %ld rare %ld\n", sum, rare_calls);
	return 0;
}

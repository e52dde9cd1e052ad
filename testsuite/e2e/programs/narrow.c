/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * narrow BYTES: calls a function 1,000 times on a stack of that size, below which nothing is mapped, and says what came of
 * it. Little of the stack is used by what calls.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { PAGE = 4096 }; /* 16 of them are the stack */

long narrow_leaf(const char *text, long number);

static ucontext_t outside, inside;
static long sum;

__attribute__((noinline)) long narrow_leaf(const char *text, long number)
{
	__asm__ volatile("" : : "r"(text) : "memory");
	return number * 3 + 7;
}

static void call(void)
{
	for (long i = 0; i < 1000; i++)
		sum += narrow_leaf("a text that is shown", i);
}

int main(int argc, char **argv)
{
	char *pages = mmap(NULL, 17 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			   0);

	if (argc < 2 || pages == MAP_FAILED || mprotect(pages, PAGE, PROT_NONE) ||
	    getcontext(&inside))
		return 2;
	inside.uc_stack.ss_sp = pages + PAGE;
	inside.uc_stack.ss_size = (size_t)atoi(argv[1]);
	inside.uc_link = &outside;
	makecontext(&inside, call, 0);
	swapcontext(&outside, &inside);
	printf("sum %ld\n", sum);
	return 0;
}

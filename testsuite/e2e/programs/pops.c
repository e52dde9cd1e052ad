/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that take their arguments off the stack themselves: few, many, and as many as a `ret`
 * can; one calls another of them, itself, or jumps to one; one moves its return address. On i386
 * compilers have conventions for that; on x86-64 it is done by hand. Prints the sum of what they
 * return.
 */
#include <stdio.h>

#define CALLED(name, body)                                                                         \
	__asm__(".globl " #name "\n.type " #name ",@function\n" #name ": " body "\n.size " #name   \
		",.-" #name);

#ifdef __x86_64__
CALLED(pops_few, "mov 8(%rsp), %eax; add 16(%rsp), %eax; ret $16")
CALLED(pops_tail, "incl 8(%rsp); jmp pops_few")
CALLED(pops_recursive, "mov 8(%rsp), %eax; sub $1, %eax; jb 1f; push %rax; call pops_recursive\n"
		       "1: add $1, %eax; ret $8")
CALLED(pops_nested, "push 16(%rsp); push 16(%rsp); call pops_few; mov %eax, 8(%rsp)\n"
		    "push 16(%rsp); push 16(%rsp); call pops_tail; ret $16")
CALLED(pops_most, "mov 65528(%rsp), %eax; ret $65528")
CALLED(pops_moved, "pop %rcx; pop %rax; pop %rdx; push %rcx; add %rdx, %rax; ret")
CALLED(pops_none, "mov %edi, %eax; ret")

/* Called as C does. */
CALLED(few, "push %rsi; push %rdi; call pops_few; ret")
CALLED(tail, "push %rsi; push %rdi; call pops_tail; ret")
CALLED(recursive, "push %rdi; call pops_recursive; ret")
CALLED(nested, "push %rsi; push %rdi; call pops_nested; ret")
CALLED(moved, "push %rsi; push %rdi; call pops_moved; ret")
CALLED(most, "push %rdi; sub $65520, %rsp; call pops_most; ret")

int few(int a, int b);
int tail(int a, int b);
int recursive(int n);
int nested(int a, int b);
int moved(int a, int b);
int most(int n);
int pops_none(int n);

#else
#define KEPT noipa, optimize("O2")

CALLED(pops_moved, "pop %ecx; pop %eax; pop %edx; push %ecx; add %edx, %eax; ret")

__attribute__((stdcall)) int pops_moved(int a, int b);

struct huge {
	char bytes[65000];
};

struct pair {
	int a, b, sum;
};

__attribute__((KEPT, stdcall)) int pops_few(int a, int b)
{
	return a + b;
}

__attribute__((KEPT, stdcall)) int pops_tail(int a, int b)
{
	return pops_few(a + 1, b);
}

static volatile int one = 1;

/* The first one is in a register. */
__attribute__((KEPT, thiscall)) int pops_recursive(void *object, int n)
{
	return n ? pops_recursive(object, n - 1) + one : 0;
}

/* Only the third one is on the stack. */
__attribute__((KEPT, fastcall)) int pops_nested(int a, int b, int third)
{
	return pops_tail(pops_few(a, b), b) + third;
}

__attribute__((KEPT, stdcall)) int pops_most(struct huge huge, int more)
{
	return huge.bytes[64999] + more;
}

/* The pointer to the result is an argument that it takes off. */
__attribute__((KEPT)) struct pair pops_pair(int a, int b)
{
	return (struct pair){a, b, a + b};
}

__attribute__((KEPT)) int pops_none(int n)
{
	return n;
}

static int few(int a, int b)
{
	return pops_pair(pops_few(a, b), 0).sum;
}

static int tail(int a, int b)
{
	return pops_tail(a, b);
}

static int recursive(int n)
{
	return pops_recursive(NULL, n);
}

static int nested(int a, int b)
{
	return pops_nested(a, b, 0);
}

static int moved(int a, int b)
{
	return pops_moved(a, b);
}

static int most(int n)
{
	static struct huge huge;

	return pops_most(huge, n);
}
#endif

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 3; i++)
		sum += few(i, 1) + tail(i, 10) + recursive(4) + nested(i, 100) + moved(i, 7) +
		       most(1000) + pops_none(i);
	printf("%d\n", sum);
	return 0;
}

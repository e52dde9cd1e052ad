/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that a tracer has trouble with. Those of the section .odd have pages of their own. */
#define ODD __attribute__((noinline, section(".odd,\"ax\",@progbits#")))

__attribute__((noinline)) int odd_plain(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

static __attribute__((noinline)) int odd_local(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

int odd_outer(int n)
{
	int result = odd_local(n);

	__asm__ volatile("" : "+r"(result));
	return result;
}

ODD __attribute__((aligned(4096))) int odd_one(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

ODD int odd_two(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 2;
}

ODD int odd_three(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 3;
}

/* The function that it is given returns to this page. */
ODD int odd_caller(int (*function)(int), int n)
{
	int result = function(n);

	__asm__ volatile("" : "+r"(result));
	return result;
}

__asm__(".pushsection .odd, \"ax\", @progbits\n"
	".globl odd_end\n.type odd_end, @function\nodd_end: ret\n.size odd_end, . - odd_end\n"
	".p2align 12, 0xcc\n.popsection");

/* A breakpoint instruction of its own at the very beginning. */
void odd_trap(void);
__asm__(".globl odd_trap\n.type odd_trap, @function\nodd_trap: int3\nret\n.size odd_trap, . - odd_trap");

int odd_data = 1;
static int implementation(int n)
{
	return n + 4;
}

static int (*resolver(void))(int)
{
	return implementation;
}

int odd_ifunc(int n) __attribute__((ifunc("resolver")));

/* Made by nobody but itself: code that belongs to no module. */
extern int (*odd_made)(int);
int (*odd_made)(int);

static int (*choose_made(void))(int)
{
	return odd_made ? odd_made : implementation;
}

int odd_generated(int n) __attribute__((ifunc("choose_made")));

/* Words that never hold the address of a function. */
void *odd_table[6];

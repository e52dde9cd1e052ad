/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that begin with what may raise SIGFPE or SIGILL, and one that accesses memory behind a branch: called a
 * thousand times, then so that they do, then a thousand times more (one that raises SIGILL: only once). Says of each whether its handler was told of the function.
 */
#define _GNU_SOURCE
#include <fenv.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>

#define FUNCTION(name, code)                                                                                           \
	__asm__(".pushsection .text\n.p2align 4\n.globl " #name "\n.type " #name ", @function\n" #name ":\n\t" code    \
		"\n.size " #name ", . - " #name "\n.popsection")

double r_divide(double dividend, double divisor);
FUNCTION(r_divide, "divsd %xmm1, %xmm0\n\tret");
long r_convert(double number);
FUNCTION(r_convert, "cvtsd2si %xmm0, %rax\n\tret");
double r_wide(double dividend, double divisor);
FUNCTION(r_wide, "vdivsd %xmm1, %xmm0, %xmm0\n\tret");
long r_integer(unsigned dividend, unsigned divisor, unsigned high);
FUNCTION(r_integer, "mov %edi, %eax\n\tdiv %esi\n\tret");
long r_unknown(void);
FUNCTION(r_unknown, "vpxord %zmm0, %zmm0, %zmm0\n\tmov $7, %eax\n\tret");
long r_behind(const long *numbers, int first);
FUNCTION(r_behind, "test %esi, %esi\n\tjne 1f\n\tmov 0x90(%rdi), %rax\n\tret\n1:\tmov (%rdi), %rax\n\tret");
/* The first instruction accesses memory, and the second, behind a branch, too. */
long r_twice(const long *first, const long *second, int none);
FUNCTION(r_twice, "cmp %edx, (%rdi)\n\tje 1f\n\tmov 8(%rsi), %rax\n\tret\n1:\txor %eax, %eax\n\tret");

enum { CALLS = 1000, PAGE = 4096, MASKED = 0x1f80, UNKNOWN_BYTES = 6 };

static sigjmp_buf out;
static volatile int leaves;
static uintptr_t seen, told;
static long *page;

static void on_fault(int number, siginfo_t *info, void *context)
{
	mcontext_t *registers = &((ucontext_t *)context)->uc_mcontext;

	seen = (uintptr_t)registers->gregs[REG_RIP];
	told = (uintptr_t)info->si_addr;
	if (leaves)
		siglongjmp(out, 1);
	registers->fpregs->mxcsr |= MASKED;
	if (number == SIGILL)
		registers->gregs[REG_RIP] += UNKNOWN_BYTES;
	if (number == SIGSEGV)
		mprotect(page, PAGE, PROT_READ | PROT_WRITE);
}

static void check(const char *name, int good)
{
	printf("%s %s\n", name, good ? "good" : "BAD");
}

static void call_all(int has_wide)
{
	const long numbers[32] = {1, 2, [0x90 / 8] = 3};
	double sum = 0;

	for (int i = 0; i < CALLS; i++)
		sum += r_divide(6, 2) + (double)(r_convert(4) + r_integer(8, 4, 0)) + (has_wide ? r_wide(6, 2) : 3) +
		       (double)(r_behind(numbers, 0) + r_twice(numbers, numbers, 0));
	check("sum", sum == CALLS * (3 + 4 + 2 + 3 + 3 + 2));
}

/* The handler leaves the first of them by a jump, and lets the others go on. */
static void raise_all(int has_wide)
{
	feenableexcept(FE_DIVBYZERO | FE_INVALID);
	leaves = 1;
	if (!sigsetjmp(out, 1))
		r_divide(1, 0);
	check("divide", seen == (uintptr_t)r_divide && told == seen);
	if (!sigsetjmp(out, 1))
		r_integer(1, 0, 0);
	check("integer", seen == (uintptr_t)r_integer + 2 && told == seen);
	leaves = 0;
	if (!__builtin_cpu_supports("avx512f"))
		check("unknown", r_unknown() == 7 && seen == (uintptr_t)r_unknown && told == seen);
	feenableexcept(FE_DIVBYZERO | FE_INVALID);
	r_convert(1e300);
	check("convert", seen == (uintptr_t)r_convert && told == seen);
	feenableexcept(FE_DIVBYZERO | FE_INVALID);
	if (has_wide)
		r_wide(1, 0);
	check("wide", !has_wide || (seen == (uintptr_t)r_wide && told == seen));
	page[0x90 / 8] = 7;
	page[1] = 8;
	mprotect(page, PAGE, PROT_NONE);
	check("behind", r_behind(page, 0) == 7 && seen == (uintptr_t)r_behind + 4 && told == (uintptr_t)page + 0x90);
	mprotect(page, PAGE, PROT_NONE);
	check("twice", r_twice(&(const long){1}, page, 0) == 8 && seen == (uintptr_t)r_twice + 4 && told == (uintptr_t)page + 8);
}

int main(void)
{
	const struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
	const int has_wide = __builtin_cpu_supports("avx") != 0;

	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGFPE, &action, NULL);
	sigaction(SIGILL, &action, NULL);
	call_all(has_wide);
	raise_all(has_wide);
	fedisableexcept(FE_ALL_EXCEPT);
	call_all(has_wide);
	return 0;
}

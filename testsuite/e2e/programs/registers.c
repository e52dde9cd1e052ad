/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usage: registers COUNT [looped|others|constant]: x86_64 code that has loaded slots into registers calls what these hold,
 * beside signals of a timer.
 *
 * looped	a loop, as compilers make it: COUNT calls.
 * joined	a branch leads to the call itself, one in 8 times: COUNT calls.
 * beside	a branch leads between the instructions in front of the call: COUNT calls.
 * either	one in 16 times it is the library's function, else one of its own.
 * faulted	what is in front of the call faults once, and a handler puts that right: COUNT calls.
 * others	the library's function is called once, and then COUNT times another, where there is no
 *		room in front of the call.
 * constant	the library's function is called by a variable, once, and COUNT times another one by a
 *		word that cannot be written to.
 */
#define _GNU_SOURCE
#include "work.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

enum { PAGE = 4096 };

long looped(long count), joined(long count), beside(long count), either(long count);
long faulted(long count, int *value), others(long count), constant(long count);
extern const char faults[];
static volatile sig_atomic_t ticks, wrong;

#define FUNCTION(name)                                                                             \
	"\t.globl " name "\n\t.type " name ", @function\n" name ":\n\t.cfi_startproc\n"              \
	"\tpush %rbx\n\t.cfi_adjust_cfa_offset 8\n\t.cfi_rel_offset rbx, 0\n"                       \
	"\tpush %r12\n\t.cfi_adjust_cfa_offset 8\n\t.cfi_rel_offset r12, 0\n"                       \
	"\tpush %r13\n\t.cfi_adjust_cfa_offset 8\n\t.cfi_rel_offset r13, 0\n"                       \
	"\tmov %rdi, %rbx\n\txor %r13d, %r13d\n"
#define END(name)                                                                                  \
	"\tmov %r13, %rax\n\tpop %r13\n\t.cfi_adjust_cfa_offset -8\n"                               \
	"\tpop %r12\n\t.cfi_adjust_cfa_offset -8\n\tpop %rbx\n\t.cfi_adjust_cfa_offset -8\n"       \
	"\tret\n\t.cfi_endproc\n\t.size " name ", . - " name "\n"
#define SLOT "work_square@GOTPCREL(%rip)"
#define ADD "\tcltq\n\tadd %rax, %r13\n\tdec %rbx\n"

__asm__("\t.text\n"
	FUNCTION("looped")
	"\tmov " SLOT ", %r12\n"
	"1:\tmov %ebx, %edi\n\tand $0x7f, %edi\n\tlea 1(%rdi), %edi\n\tcall *%r12\n"
	ADD "\tjnz 1b\n"
	END("looped")
	FUNCTION("joined")
	"\tmov " SLOT ", %r12\n"
	"1:\tmov %ebx, %edi\n\ttest $7, %bl\n\tjz 2f\n\tand $0xffff, %edi\n2:\tcall *%r12\n"
	ADD "\tjnz 1b\n"
	END("joined")
	FUNCTION("beside")
	"\tmov " SLOT ", %r12\n"
	"1:\tmov %ebx, %edi\n\ttest $1, %bl\n\tjz 2f\n"
	"\tadd $1, %edi\n2:\tadd $2, %edi\n\tcall *%r12\n"
	ADD "\tjnz 1b\n"
	END("beside")
	FUNCTION("either")
	"1:\tmov " SLOT ", %r12\n\tlea own(%rip), %rax\n\ttest $15, %bl\n\tcmovnz %rax, %r12\n"
	"\tmov %ebx, %edi\n\tand $0xfff, %edi\n\tcall *%r12\n"
	ADD "\tjnz 1b\n"
	END("either")
	FUNCTION("faulted")
	"\tmov " SLOT ", %r12\n\tpush %rsi\n\t.cfi_adjust_cfa_offset 8\n"
	"\tpush %rsi\n\t.cfi_adjust_cfa_offset 8\n"
	"1:\tmov (%rsp), %rdx\n\t.globl faults\nfaults:\tmov (%rdx), %edi\n\tadd $3, %edi\n\tcall *%r12\n"
	ADD "\tjnz 1b\n\tpop %rsi\n\t.cfi_adjust_cfa_offset -8\n\tpop %rsi\n\t.cfi_adjust_cfa_offset -8\n"
	END("faulted")
	FUNCTION("others")
	"\tmov " SLOT ", %rax\n"
	"1:\tlea own(%rip), %r12\n2:\tmov %ebx, %edi\n\tcall *%rax\n"
	"\tcltq\n\tadd %rax, %r13\n\tmov %r12, %rax\n\tdec %rbx\n\tjns 2b\n"
	END("others")
	FUNCTION("constant")
	"\tmov " SLOT ", %rax\n\tmov %rax, variable(%rip)\n"
	"1:\tmov %ebx, %edi\n\tcall *word(%rip)\n"
	ADD "\tjnz 1b\n\tmov $3, %edi\n\tcall *variable(%rip)\n\tcltq\n\tadd %rax, %r13\n"
	END("constant")
	"\t.section .data.rel.ro, \"aw\"\nword:\t.quad own\n\t.bss\nvariable:\t.skip 8\n\t.text\n"
	"\t.type own, @function\nown:\tlea 1(%rdi), %eax\n\tret\n\t.size own, . - own\n");

static int *page;

static void handler(int signal, siginfo_t *info, void *context)
{
	const uintptr_t pc = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	ticks += signal == SIGALRM;
	if (signal != SIGSEGV)
		return;
	wrong += pc != (uintptr_t)faults || info->si_addr != page;
	mprotect(page, PAGE, PROT_READ);
}

static long with_a_fault(long count)
{
	long sum = faulted(count / 2, page);

	mprotect(page, PAGE, PROT_NONE);
	return sum + faulted(count - count / 2, page);
}

int main(int argc, char **argv)
{
	const struct itimerval often = {{0, 700}, {0, 700}};
	const struct itimerval never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_flags = SA_RESTART | SA_SIGINFO};
	const long count = argc > 1 ? strtol(argv[1], NULL, 10) : 16;

	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*page = 4;
	action.sa_sigaction = handler;
	sigaction(SIGALRM, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	if (argc > 2) {
		printf("sum %ld\n", argv[2][0] == 'l'	? looped(count)
				    : argv[2][0] == 'o' ? others(count)
							: constant(count));
		return 0;
	}
	setitimer(ITIMER_REAL, &often, NULL);
	long sum = looped(count) + joined(count) + beside(count) + either(count) + with_a_fault(count);

	setitimer(ITIMER_REAL, &never, NULL);
	printf("sum %ld wrong %d\n", sum, (int)wrong);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that begin with each kind of instruction that cannot simply run from somewhere else.
 * Written in assembler, so that the first instruction is what the name says; prints what each gives.
 */
#include <stdio.h>

#ifdef __x86_64__
#define ARGUMENT "mov %edi, %eax\n"
#define AX "%rax"
#define CX "%rcx"
#define PC_RELATIVE(symbol) #symbol "(%rip)"
#define JCXZ "jrcxz"
#else
#define ARGUMENT "mov 4(%esp), %eax\n"
#define AX "%eax"
#define CX "%ecx"
#define PC_RELATIVE(symbol) #symbol
#define JCXZ "jecxz"
#endif

#define FUNCTION(name, body) \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" body ".size " #name ", . - " #name "\n"); \
	int name(int n)

int displaced_value = 40;
__asm__(".data\n.globl displaced_pointer\ndisplaced_pointer:\n"
#ifdef __x86_64__
	".quad displaced_body\n"
#else
	".long displaced_body\n"
#endif
	".text\n");

FUNCTION(displaced_body, ARGUMENT "add $1, %eax\nret\n");
FUNCTION(displaced_nop, "nop\n" ARGUMENT "ret\n");
FUNCTION(displaced_long_nop, "nopw 0(" AX ")\n" ARGUMENT "ret\n");
FUNCTION(displaced_jmp_short, "jmp 1f\nud2\n1:" ARGUMENT "add $2, %eax\nret\n");
FUNCTION(displaced_jmp_near, "jmp displaced_body\n");
FUNCTION(displaced_jmp_memory, "jmp *" PC_RELATIVE(displaced_pointer) "\n");
FUNCTION(displaced_jmp_back, "jmp displaced_body\n");
FUNCTION(displaced_load, "mov " PC_RELATIVE(displaced_value) ", %eax\nret\n");
FUNCTION(displaced_compare, "cmpl $40, " PC_RELATIVE(displaced_value) "\nsete %al\nmovzbl %al, %eax\nret\n");
FUNCTION(displaced_store, "movl $40, " PC_RELATIVE(displaced_value) "\nmov $41, %eax\nret\n");
FUNCTION(displaced_call, "call 1f\n1: pop " AX "\nlea 1b, %ecx\nsub %ecx, %eax\nret\n");
FUNCTION(displaced_call_memory, "call *" PC_RELATIVE(displaced_pointer) "\nmov $43, %eax\nret\n");
FUNCTION(displaced_branch_taken, "jz 1f\nmov $3, %eax\nret\n1: mov $4, %eax\nret\n");
FUNCTION(displaced_branch_far, "jno displaced_body\nmov $9, %eax\nret\n");
FUNCTION(displaced_jcxz, JCXZ " 1f\nmov $5, %eax\nret\n1: mov $6, %eax\nret\n");
FUNCTION(displaced_loop, "loop 1f\nmov $7, %eax\nret\n1: mov $8, %eax\nret\n");
FUNCTION(displaced_push, "push " CX "\npop " CX "\n" ARGUMENT "ret\n");
FUNCTION(displaced_pushf, "pushf\npop " AX "\nand $0x100, %eax\nret\n"); /* TF must not show */
FUNCTION(displaced_ret, "ret\n.p2align 4\n");
FUNCTION(displaced_ret_imm, "ret $0\n.p2align 4\n");
FUNCTION(displaced_rep_ret, "rep ret\n.p2align 4\n");
FUNCTION(displaced_endbr, "endbr64\nendbr32\n" ARGUMENT "ret\n");
FUNCTION(displaced_prefix, "lock incl " PC_RELATIVE(displaced_value) "\nlock decl " PC_RELATIVE(displaced_value)
	 "\nmov $45, %eax\nret\n");
#ifdef __x86_64__
FUNCTION(displaced_syscall, "syscall\nret\n");
FUNCTION(displaced_sse, "movsd displaced_value(%rip), %xmm0\nmov $46, %eax\nret\n");
FUNCTION(displaced_lea, "lea displaced_lea(%rip), %rax\nlea displaced_lea(%rip), %rcx\nsub %rcx, %rax\nret\n");
FUNCTION(displaced_push_memory, "push displaced_value(%rip)\npop %rax\nmov %eax, %eax\nret\n");
#else
FUNCTION(displaced_syscall, "int $0x80\nret\n");
FUNCTION(displaced_sse, "movsd displaced_value, %xmm0\nmov $46, %eax\nret\n");
FUNCTION(displaced_lea, "lea displaced_lea, %eax\nlea displaced_lea, %ecx\nsub %ecx, %eax\nret\n");
FUNCTION(displaced_push_memory, "push displaced_value\npop %eax\nret\n");
#endif

/* Calls with chosen registers: rax/eax and rcx/ecx set, ZF and OF clear unless `zero`. */
static __attribute__((noinline)) int call(int (*function)(int), int n, long ax, long cx, int zero)
{
	int result;

#ifdef __x86_64__
	__asm__ volatile("sub $128, %%rsp\ntest %[zero], %[zero]\ncall *%[function]\nadd $128, %%rsp"
			 : "=a"(result), "+c"(cx), "+D"(n)
			 : "a"(ax), [function] "r"(function), [zero] "r"(!zero)
			 : "memory", "cc", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0");
#else
	__asm__ volatile("push %[n]\ntest %[zero], %[zero]\ncall *%[function]\nadd $4, %%esp"
			 : "=a"(result), "+c"(cx)
			 : "a"(ax), [function] "S"(function), [zero] "D"(!zero), [n] "d"(n)
			 : "memory", "cc");
#endif
	return result;
}

int main(void)
{
#define TRY(name, ax, cx, zero) printf(#name " %d %d\n", call(name, 10, ax, cx, zero), call(name, 11, ax, cx, !(zero)))
	TRY(displaced_body, 0, 0, 0);
	TRY(displaced_nop, 0, 0, 0);
	TRY(displaced_long_nop, 0, 0, 0);
	TRY(displaced_jmp_short, 0, 0, 0);
	TRY(displaced_jmp_near, 0, 0, 0);
	TRY(displaced_jmp_memory, 0, 0, 0);
	TRY(displaced_jmp_back, 0, 0, 0);
	TRY(displaced_load, 0, 0, 0);
	TRY(displaced_compare, 0, 0, 0);
	TRY(displaced_store, 0, 0, 0);
	TRY(displaced_call, 0, 0, 0);
	TRY(displaced_call_memory, 0, 0, 0);
	TRY(displaced_branch_taken, 0, 0, 1);
	TRY(displaced_branch_far, 0, 0, 0);
	TRY(displaced_jcxz, 0, 0, 0);
	TRY(displaced_jcxz, 0, 1, 0);
	TRY(displaced_loop, 0, 1, 0);
	TRY(displaced_loop, 0, 2, 0);
	TRY(displaced_push, 0, 0, 0);
	TRY(displaced_pushf, 0, 0, 0);
	TRY(displaced_ret, 21, 0, 0);
	TRY(displaced_ret_imm, 22, 0, 0);
	TRY(displaced_rep_ret, 23, 0, 0);
	TRY(displaced_endbr, 0, 0, 0);
	TRY(displaced_prefix, 0, 0, 0);
	TRY(displaced_syscall, -1, 0, 0); /* no such system call: -ENOSYS */
	TRY(displaced_sse, 0, 0, 0);
	TRY(displaced_lea, 0, 0, 0);
	TRY(displaced_push_memory, 0, 0, 0);
	return 0;
}

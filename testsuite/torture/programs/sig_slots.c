/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that begin with instructions of many kinds, none of which only moves the pc: each runs in an
 * out-of-line slot when the function is traced. In assembler, so that it is the first one indeed.
 */
#include "sig.h"

#ifdef __x86_64__
#define ARGUMENT "%edi"
#define GET "mov %edi, %eax\n"
#define AX "%rax"
#define SP "%rsp"
#define PUT(name) #name "(%rip)"
#define TLS "%fs:0"
#else
#define ARGUMENT "4(%esp)"
#define GET "mov 4(%esp), %eax\n"
#define AX "%eax"
#define SP "%esp"
#define PUT(name) #name
#define TLS "%gs:0"
#endif

#define SLOT(number, body)                                                                                             \
	__asm__(".text\n.p2align 4\n.globl traced_slot_" #number "\n.type traced_slot_" #number                        \
		", @function\ntraced_slot_" #number ":\n.cfi_startproc\n" body "add $" #number                         \
		", %eax\nret\n.cfi_endproc\n.size traced_slot_" #number ", . - traced_slot_" #number "\n");             \
	int traced_slot_##number(int n)

int slot_memory;
__asm__(".globl slot_memory\n");

SLOT(0, GET);
SLOT(1, "xor %eax, %eax\nadd " ARGUMENT ", %eax\n");
SLOT(2, "movl $5, " PUT(slot_memory) "\n" GET);
SLOT(3, "lock incl " PUT(slot_memory) "\n" GET);
SLOT(4, "push $7\npop " AX "\n" GET);
SLOT(5, "sub $8, " SP "\nadd $8, " SP "\n" GET);
SLOT(6, "test %eax, %eax\n" GET);
SLOT(7, "cmpl $3, " PUT(slot_memory) "\n" GET);
SLOT(8, "movd " PUT(slot_memory) ", %xmm0\n" GET);
SLOT(9, "pushf\npopf\n" GET);
SLOT(10, "mov " TLS ", " AX "\n" GET);
SLOT(11, "bswap %eax\n" GET);
SLOT(12, "imul $3, " ARGUMENT ", %ecx\n" GET);
SLOT(13, "mov " PUT(slot_memory) ", %eax\n" GET);
SLOT(14, "cld\n" GET);
SLOT(15, "lea 1(" SP "), " AX "\n" GET);

slot_function *const slot_functions[SLOTS] = {
	traced_slot_0,	traced_slot_1,	traced_slot_2,	traced_slot_3,	traced_slot_4,	traced_slot_5,
	traced_slot_6,	traced_slot_7,	traced_slot_8,	traced_slot_9,	traced_slot_10, traced_slot_11,
	traced_slot_12, traced_slot_13, traced_slot_14, traced_slot_15,
};

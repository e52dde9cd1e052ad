/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The x86_64 parts of sysdeps/x86/rescue.c: the kernel's frame of a signal handler (struct
 * rt_sigframe, uapi/asm/sigcontext.h) and system calls.
 */
#ifndef TRACER_SYSDEPS_RESCUE_HOST_H
#define TRACER_SYSDEPS_RESCUE_HOST_H

#include <stdint.h>

enum {
	SYS_MPROTECT = 10,
	SYS_RT_SIGACTION = 13,
	SYS_PREAD64 = 17,
	SYS_PWRITE64 = 18,
	SYS_NANOSLEEP = 35,
	SYS_GETPID = 39,
	SYS_CLOSE = 3,
	SYS_GETTID = 186,
	SYS_OPENAT = 257,
	SYS_RT_TGSIGQUEUEINFO = 297,
	SYS_PROCESS_VM_READV = 310,
	SYS_PROCESS_VM_WRITEV = 311,
	CONTEXT_PC = 168, /* offsets in struct ucontext */
	CONTEXT_FLAGS = 176,
	CONTEXT_MASK = 296
};

/*
 * The handler, at 0, and the code that its frame returns to, at RESCUE_RESTORER: unwinders
 * recognise a signal frame by exactly these instructions. A handler of the program's is jumped to
 * with the stack and the arguments from the kernel (al is 0, for functions without a prototype).
 */
__asm__(".section .entry, \"ax\"\n"
	".hidden rescue\n"
	"start:	jmp 1f\n"
	"	.balign 16, 0xcc\n"
	"	mov $15, %rax\n"
	"	syscall\n"
	"1:	push %rdi\n"
	"	push %rsi\n"
	"	push %rdx\n"
	"	lea start+4096(%rip), %rcx\n"
	"	call rescue\n"
	"	pop %rdx\n"
	"	pop %rsi\n"
	"	pop %rdi\n"
	"	mov %rax, %r11\n"
	"	xor %eax, %eax\n"
	"	test %r11, %r11\n"
	"	jz 2f\n"
	"	jmp *%r11\n"
	"2:	ret\n"
	".text\n");

static inline long host_call(long number, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
	register uintptr_t fourth __asm__("r10") = d;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
			 : "rcx", "r11", "memory");
	return result;
}

/* pread64 or pwrite64 of one byte at `offset`. */
static inline long host_transfer(long number, long fd, void *byte, uint64_t offset)
{
	return host_call(number, (uintptr_t)fd, (uintptr_t)byte, 1, offset);
}

/* struct iovec */
struct host_range {
	uintptr_t start, length;
};

/* process_vm_readv(2) or process_vm_writev(2), by `number`, with one range on each side. */
static inline long host_copy(long number, long tid, const struct host_range *here,
			     const struct host_range *there)
{
	register uintptr_t fourth __asm__("r10") = (uintptr_t)there;
	register uintptr_t fifth __asm__("r8") = 1;
	register uintptr_t sixth __asm__("r9") = 0;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(tid), "S"(here), "d"(1L), "r"(fourth), "r"(fifth),
			   "r"(sixth)
			 : "rcx", "r11", "memory");
	return result;
}

#endif

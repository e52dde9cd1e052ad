/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The i386 parts of sysdeps/x86/rescue.c: the kernel's frame of a handler with SA_SIGINFO (struct
 * rt_sigframe, uapi/asm/sigcontext.h) and system calls.
 */
#ifndef TRACER_SYSDEPS_RESCUE_HOST_H
#define TRACER_SYSDEPS_RESCUE_HOST_H

#include <stdint.h>

enum {
	SYS_CLOSE = 6,
	SYS_GETPID = 20,
	SYS_MPROTECT = 125,
	SYS_NANOSLEEP = 162,
	SYS_RT_SIGACTION = 174,
	SYS_PREAD64 = 180,
	SYS_PWRITE64 = 181,
	SYS_GETTID = 224,
	SYS_OPENAT = 295,
	SYS_RT_TGSIGQUEUEINFO = 335,
	SYS_PROCESS_VM_READV = 347,
	SYS_PROCESS_VM_WRITEV = 348,
	CONTEXT_PC = 76, /* offsets in struct ucontext */
	CONTEXT_FLAGS = 84,
	CONTEXT_MASK = 108
};

/*
 * The handler, at 0. A handler of the program's is jumped to with the stack from the kernel, and
 * with the registers that the kernel sets, which repeat the arguments for functions that take them
 * there.
 */
__asm__(".section .entry, \"ax\"\n"
	".hidden rescue\n"
	"start:	call 1f\n"
	"1:	pop %eax\n"
	"	lea start-1b+4096(%eax), %eax\n"
	"	push %eax\n"
	"	push 16(%esp)\n"
	"	push 16(%esp)\n"
	"	push 16(%esp)\n"
	"	call rescue\n"
	"	add $16, %esp\n"
	"	test %eax, %eax\n"
	"	jz 2f\n"
	"	push %eax\n"
	"	mov 8(%esp), %eax\n"
	"	mov 12(%esp), %edx\n"
	"	mov 16(%esp), %ecx\n"
	"2:	ret\n"
	".text\n");

static inline long host_call(long number, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "0"(number), "b"(a), "c"(b), "d"(c), "S"(d)
			 : "memory");
	return result;
}

/* pread64 or pwrite64 of one byte at `offset`, which is below 4 GiB. */
static inline long host_transfer(long number, long fd, void *byte, uint64_t offset)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "0"(number), "b"(fd), "c"(byte), "d"(1), "S"((uint32_t)offset), "D"(0)
			 : "memory");
	return result;
}

/* struct iovec */
struct host_range {
	uintptr_t start, length;
};

/* process_vm_readv(2) or process_vm_writev(2), by `number`, with one range on each side. */
static inline long host_copy(long number, long tid, const struct host_range *here,
			     const struct host_range *there)
{
	long result;

	/* %ebp has the sixth argument, flags. */
	__asm__ volatile("push %%ebp\n\txor %%ebp, %%ebp\n\tint $0x80\n\tpop %%ebp"
			 : "=a"(result)
			 : "0"(number), "b"(tid), "c"(here), "d"(1), "S"(there), "D"(1)
			 : "memory");
	return result;
}

#endif

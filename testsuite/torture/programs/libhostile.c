/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hostile.h"

int host_plain(int n)
{
	return 3 * n;
}

int host_text(const char *text)
{
	return (int)((uintptr_t)text & 7);
}

int host_bytes(const char *bytes, unsigned long length)
{
	return (int)((uintptr_t)bytes & 7) + (int)(length & 7);
}

int host_format(const char *format, ...)
{
	return (int)((uintptr_t)format & 7);
}

long host_fill(char *buffer, unsigned long length)
{
	return buffer ? (long)length : -1;
}

/* Touches no stack: bx or rbx holds the way back. */
#if defined __x86_64__
__asm__(".globl host_bare\n.type host_bare, @function\n"
	"host_bare:\n	xor %eax, %eax\n	mov $7, %ecx\n	jmp *%rbx\n"
	".size host_bare, . - host_bare");

void bare_call(uintptr_t stack)
{
	__asm__ volatile("mov %%rsp, %%r12\n	mov %0, %%rsp\n	lea 1f(%%rip), %%rbx\n"
			 "	mov host_bare@GOTPCREL(%%rip), %%rax\n	jmp *%%rax\n"
			 "1:	mov %%r12, %%rsp"
			 :
			 : "r"(stack)
			 : "rax", "rcx", "rbx", "r12", "cc", "memory");
}
#else
__asm__(".globl host_bare\n.type host_bare, @function\n"
	"host_bare:\n	xor %eax, %eax\n	mov $7, %ecx\n	jmp *%edx\n"
	".size host_bare, . - host_bare");

static void (*const volatile bare)(void) = host_bare;

void bare_call(uintptr_t stack)
{
	void (*function)(void) = bare;

	__asm__ volatile(
		"mov %%esp, %%edi\n	call 2f\n2:	pop %%edx\n	add $1f - 2b, %%edx\n"
		"	mov %0, %%esp\n	jmp *%1\n"
		"1:	mov %%edi, %%esp"
		:
		: "S"(stack), "r"(function)
		: "eax", "ecx", "edx", "edi", "cc", "memory");
}
#endif

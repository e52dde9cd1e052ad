/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls a function without a PLT (built with -fno-plt), and writes over the instruction that does so: with what
 * stood there ("back") or with others ("over").
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BREAKPOINT = 0xcc, NOP = 0x90, CALL = 0xff, SEARCHED = 64, INSN = 6, PAGE = 4096 };

static __attribute__((noinline)) int caller(void)
{
	int pid = getpid();

	__asm__ volatile("" : "+r"(pid));
	return pid;
}

int main(int argc, char **argv)
{
	unsigned char *code = (unsigned char *)caller;
	unsigned char *page = (unsigned char *)((uintptr_t)code & -(uintptr_t)PAGE);
	int at = 0;

	caller();
	while (at < SEARCHED && code[at] != BREAKPOINT)
		at++;
	if (at == SEARCHED || argc < 2 ||
	    mprotect(page, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
		return 1;
	if (!strcmp(argv[1], "back"))
		code[at] = CALL;
	else
		memset(code + at, NOP, INSN);
	caller();
	puts("done");
	return 0;
}

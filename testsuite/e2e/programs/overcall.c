/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls a function without a PLT (built with -fno-plt), and writes over the instruction that does so: with what
 * stood there ("back") or with others ("over").
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NOP = 0x90, SEARCHED = 64, INSN = 6, PAGE = 4096 };

extern const char __executable_start[];

static __attribute__((noinline)) int caller(void)
{
	int pid = getpid();

	__asm__ volatile("" : "+r"(pid));
	return pid;
}

/* What a function of ours begins with in the program's file. */
static int read_code(const unsigned char *code, unsigned char bytes[SEARCHED])
{
	int file = open("/proc/self/exe", O_RDONLY);

	return pread(file, bytes, SEARCHED, (const char *)code - __executable_start) == SEARCHED;
}

int main(int argc, char **argv)
{
	unsigned char *code = (unsigned char *)caller;
	unsigned char *page = (unsigned char *)((uintptr_t)code & -(uintptr_t)PAGE);
	unsigned char before[SEARCHED];
	int at = 0;

	caller();
	if (!read_code(code, before))
		return 1;
	while (at < SEARCHED - INSN && code[at] == before[at])
		at++;
	if (at == SEARCHED - INSN || argc < 2 ||
	    mprotect(page, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
		return 1;
	if (!strcmp(argv[1], "back"))
		memcpy(code + at, before + at, INSN);
	else
		memset(code + at, NOP, INSN);
	caller();
	puts("done");
	return 0;
}

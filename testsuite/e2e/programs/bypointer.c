/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usage: bypointer CALLS by-memory|generated|undescribed. Calls pointed_work() so often: by call
 * *(%rbx), from code that it makes, or from code that no row of .eh_frame describes. Of the last
 * one pointed_work() finds the frame as a runtime does that has tables of its own: it aborts where
 * no code of the program's called it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

extern const char __executable_start[], etext[];

/* Where undescribed() has its frame, from below which it calls; NULL: nobody looks. */
const char *const *frame_of_caller;

__attribute__((noipa)) long pointed_work(long x)
{
	if (frame_of_caller && (frame_of_caller[-1] < __executable_start || frame_of_caller[-1] >= etext))
		abort();
	return x + 1;
}

static long (*work)(long) = pointed_work;

/* As the first function of a class is called, and what an interpreter calls by a table. */
long by_memory(long (**function)(long));
__asm__(".text\n"
	"by_memory:\n\t"
	".cfi_startproc\n\t"
	"push %rbx\n\t"
	".cfi_adjust_cfa_offset 8\n\t"
	"mov %rdi, %rbx\n\t"
	"call *(%rbx)\n\t"
	"pop %rbx\n\t"
	".cfi_adjust_cfa_offset -8\n\t"
	"ret\n\t"
	".cfi_endproc");

long undescribed(long (**function)(long));
__asm__(".text\n"
	"undescribed:\n\t"
	"push %rbx\n\t"
	"mov %rdi, %rbx\n\t"
	"mov %rsp, frame_of_caller(%rip)\n\t"
	"call *(%rbx)\n\t"
	"pop %rbx\n\t"
	"ret");

static long (*generate(void))(long (**function)(long))
{
	static const unsigned char code[] = "\x53\x48\x89\xfb\xff\x13\x5b\xc3"; /* the same */
	unsigned char *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (made == MAP_FAILED)
		abort();
	memcpy(made + 64, code, sizeof code);
	mprotect(made, 4096, PROT_READ | PROT_EXEC);
	return (long (*)(long (**)(long)))(void *)(made + 64);
}

int main(int argc, char **argv)
{
	const long calls = argc > 1 ? atol(argv[1]) : 1;
	long (*call)(long (**)(long)) = by_memory;

	if (argc > 2 && !strcmp(argv[2], "generated"))
		call = generate();
	else if (argc > 2 && !strcmp(argv[2], "undescribed"))
		call = undescribed;

	for (long i = 0; i < calls; i++)
		call(&work);
	printf("calls %ld\n", calls);
	return 0;
}

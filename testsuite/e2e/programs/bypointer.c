/* SPDX-License-Identifier: GPL-2.0-or-later */
/* usage: bypointer CALLS by-memory|generated. Calls pointed_work() so often: by call *(%rbx), or from code that it makes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

__attribute__((noipa)) long pointed_work(long x)
{
	return x + 1;
}

static long (*work)(long) = pointed_work;

/* As the first function of a class is called, and what an interpreter calls by a table. */
long by_memory(long (**function)(long));
__asm__(".text\n"
	"by_memory:\n\t"
	"push %rbx\n\t"
	"mov %rdi, %rbx\n\t"
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
	long (*call)(long (**)(long)) = argc > 2 && !strcmp(argv[2], "generated") ? generate() : by_memory;

	for (long i = 0; i < calls; i++)
		call(&work);
	printf("calls %ld\n", calls);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A child of which threads are in handlers that return into the first bytes of functions, where a jump
 * at their beginning would have its middle: each function faults in its second instruction, and the
 * handler waits before it provides the memory.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 16, PAGE = 4096 };

/* Bytes: 2 and 2, then the rest. */
#define READS(name)                                                                                                    \
	__asm__(".pushsection .text\n.p2align 4\n.globl " #name "\n.type " #name ", @function\n" #name ":\n\t"         \
		"xor %eax, %eax\n\tmov (%rdi), %al\n\tadd $1, %eax\n\tret\n.size " #name ", . - " #name "\n"           \
		".popsection")
typedef int reads_type(const unsigned char *byte);
reads_type w_0, w_1, w_2, w_3, w_4, w_5, w_6, w_7, w_8, w_9, w_10, w_11, w_12, w_13, w_14, w_15;
READS(w_0);
READS(w_1);
READS(w_2);
READS(w_3);
READS(w_4);
READS(w_5);
READS(w_6);
READS(w_7);
READS(w_8);
READS(w_9);
READS(w_10);
READS(w_11);
READS(w_12);
READS(w_13);
READS(w_14);
READS(w_15);

static reads_type *const functions[COUNT] = {w_0, w_1, w_2,  w_3,  w_4,	 w_5,  w_6,  w_7,
					     w_8, w_9, w_10, w_11, w_12, w_13, w_14, w_15};
static unsigned char *pages;
static int pipes[2], in_handlers;

__attribute__((noinline, noclone)) int w_go(int number)
{
	__asm__ volatile("" : "+r"(number));
	return number + 1;
}

static void provide(int number, siginfo_t *info, void *context)
{
	char byte;

	(void)number;
	(void)context;
	__atomic_add_fetch(&in_handlers, 1, __ATOMIC_SEQ_CST);
	if (read(pipes[0], &byte, 1) != 1 ||
	    mprotect((void *)((unsigned long)info->si_addr & -(unsigned long)PAGE), PAGE, PROT_READ) != 0)
		_exit(COUNT + 2);
}

static void *read_in(void *number)
{
	long i = (long)number;

	return (void *)(long)(functions[i](pages + i * PAGE) == 1);
}

static int child(void)
{
	volatile const unsigned char *code = (const unsigned char *)w_go;
	pthread_t ids[COUNT];
	void *result;
	int right = 0;

	for (long i = 0; i < COUNT; i++)
		pthread_create(&ids[i], NULL, read_in, (void *)i);
	while (__atomic_load_n(&in_handlers, __ATOMIC_SEQ_CST) < COUNT)
		usleep(1000);
	/* As long as its calls are caught by a breakpoint, what is to become of the others is not decided. */
	do
		w_go(usleep(1000));
	while (*code == 0xcc);
	for (int i = 0; i < COUNT; i++)
		if (write(pipes[1], "x", 1) != 1)
			return COUNT + 1;
	for (int i = 0; i < COUNT; i++)
		right += pthread_join(ids[i], &result) == 0 && result;
	return right;
}

int main(void)
{
	const struct sigaction action = {.sa_sigaction = provide, .sa_flags = SA_SIGINFO};
	int status = 0;

	pages = mmap(NULL, COUNT * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pipe(pipes) != 0 || pages == MAP_FAILED || sigaction(SIGSEGV, &action, NULL) != 0)
		return 1;
	if (fork() == 0)
		_exit(child());
	wait(&status);
	printf("status %x\n", (unsigned)status);
	return 0;
}

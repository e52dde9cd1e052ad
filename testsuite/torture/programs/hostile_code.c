/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stack pointers into nowhere; traced code that the program writes over, protects, and maps anew. */
#define _GNU_SOURCE
#include "hostile.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static void stacks(void)
{
	static const uint64_t places[] = {0,
					  8,
					  1,
					  0x7ffffff0,
					  0xfffffff8,
					  0xffffffff,
					  0x7fffffffeff8,
					  0x800000000000,
					  0x7ffffffffffffff8,
					  0x8000000000000000,
					  0xffffffff81000000,
					  0xffffffffffffffff};
	unsigned char *memory = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(memory, PAGE, PROT_NONE);
	munmap(memory + 2 * PAGE, PAGE);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		bare_call((uintptr_t)places[i]);
		plain(1);
	}
	bare_call((uintptr_t)memory + 64);
	bare_call((uintptr_t)memory + PAGE - 4);
	bare_call((uintptr_t)memory + 2 * PAGE - 3);
	bare_call((uintptr_t)memory + PAGE + 512);
	plain(1);
}

/* The file's bytes of a page of code. */
static void read_from_file(const void *code, unsigned char *page)
{
	Dl_info info;
	struct link_map *map;
	FILE *file;

	if (!dladdr1(code, &info, (void **)&map, RTLD_DL_LINKMAP) ||
	    !(file = fopen(info.dli_fname, "rb")))
		cannot("the library's file");
	/* Built so that its addresses are its offsets. */
	fseek(file, (long)((uintptr_t)code - map->l_addr), SEEK_SET);
	if (fread(page, 1, PAGE, file) < 64)
		cannot("the library's file");
	fclose(file);
}

static void *page_of(const void *place)
{
	return (void *)((uintptr_t)place & ~(uintptr_t)(PAGE - 1));
}

static void *sleep_on(void *unused)
{
	for (;;)
		pause();
	return unused;
}

/* Ends the only thread rather than the process. */
static void end_thread(void)
{
	fflush(NULL);
	syscall(SYS_exit, 5);
}

/*
 * Takes breakpoints out of its own code: what it calls then, nobody sees. The process ends right behind it,
 * (1) with its last thread, or (2) with one that is swept away.
 */
static void clean(void)
{
	pthread_t sleeper;
	unsigned char page[PAGE];
	unsigned char *code = page_of((const void *)(uintptr_t)host_plain);

	read_from_file(code, page);
	mprotect(code, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
	memcpy(code, page, PAGE);
	mprotect(code, PAGE, PROT_READ | PROT_EXEC);
	plain(4);
	unseen(4 + 5);
	if (argument(0) == 1)
		atexit(end_thread);
	if (argument(0) == 2)
		pthread_create(&sleeper, NULL, sleep_on, NULL);
}

static volatile int traps;

static void on_trap(int signal)
{
	(void)signal;
	traps++;
}

/* Writes instructions of its own into traced code, a breakpoint among them. */
static void scribble(void)
{
	unsigned char *code = page_of((const void *)(uintptr_t)host_plain);
	unsigned char *place = (unsigned char *)(uintptr_t)host_plain;
	static const unsigned char mine[] = {0x90, 0xcc, 0xb8, 9, 0, 0, 0, 0xc3};
	int (*volatile function)(int) = host_plain;
	unsigned char kept[sizeof mine];

	signal(SIGTRAP, on_trap);
	mprotect(code, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
	memcpy(kept, place, sizeof mine);
	memcpy(place, mine, sizeof mine);
	note((uint64_t)function(4));
	note((uint64_t)function(5));
	note((uint64_t)traps);
	memcpy(place, kept, sizeof mine);
	mprotect(code, PAGE, PROT_READ | PROT_EXEC);
	plain(2);
}

/* Other memory in the place of traced code. */
static void remap(void)
{
	unsigned char page[PAGE];
	unsigned char *code = page_of((const void *)(uintptr_t)host_plain);
	int before = host_plain(1);

	unseen(-1);
	read_from_file(code, page);
	if (mmap(code, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		cannot("mmap");
	memcpy(code, page, PAGE);
	plain(4);
	unseen(4 + 5);
	note((uint64_t)before);
}

/* Code that may be executed only, or not even that for a while. */
static void protect(void)
{
	unsigned char *code = page_of((const void *)(uintptr_t)host_plain);

	for (int i = 0; i < argument(10); i++) {
		mprotect(code, PAGE, PROT_NONE);
		mprotect(code, PAGE, PROT_EXEC);
		plain(2);
		mprotect(code, PAGE, PROT_READ | PROT_EXEC);
		plain(2);
	}
}

const struct act code_acts[] = {{"stacks", NULL, stacks},     {"clean", NULL, clean},
				{"scribble", NULL, scribble}, {"remap", NULL, remap},
				{"protect", NULL, protect},   {NULL, NULL, NULL}};

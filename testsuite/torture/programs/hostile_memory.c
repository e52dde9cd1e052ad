/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pointers into nowhere and into memory of odd kinds, none of which makes a reader wait. */
#define _GNU_SOURCE
#include "hostile.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned char *map(size_t pages, int protection, int flags, int fd)
{
	unsigned char *memory = mmap(NULL, pages * PAGE, protection, flags, fd, 0);

	if (memory == MAP_FAILED)
		cannot("mmap");
	return memory;
}

static unsigned char *anonymous(size_t pages)
{
	return map(pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static void all(void *pointer)
{
	text(pointer);
	bytes(pointer, 8);
	bytes(pointer, 100);
	bytes(pointer, -1UL);
	format(pointer);
	fill(pointer, 5);
	fill(pointer, -1UL);
}

/* Not mapped, not possible, the kernel's own. */
static void nowhere(void)
{
	static const uint64_t places[] = {0,
					  1,
					  PAGE - 1,
					  0x7fffffff,
					  0x80000000,
					  0xfffff000,
					  0xffffffff,
					  0x7fffffffefff,
					  0x7fffffffffff,
					  0x800000000000,
					  0x7fffffffffffffff,
					  0x8000000000000000,
					  0xdeadbeefdeadbeef,
					  0xffff888000000000,
					  0xffffffff81000000,
					  0xffffffffff600000,
					  0xfffffffffffffff0,
					  0xffffffffffffffff};

	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		all((void *)(uintptr_t)places[i]);
}

/* Strings and lengths that run out of what is there. */
static void edges(void)
{
	unsigned char *memory = anonymous(4);

	memset(memory, 'e', 2 * PAGE);
	munmap(memory + 2 * PAGE, PAGE);
	for (size_t before = 0; before < 40; before += 3)
		all(memory + 2 * PAGE - before);
	memory[2 * PAGE - 1] = '\0';
	all(memory + 2 * PAGE - 1);
	all(memory + 3 * PAGE - 1);
	memcpy(memory + 2 * PAGE - 4, "%s%", 3);
	memory[2 * PAGE - 1] = 's';
	all(memory + 2 * PAGE - 4);
	memcpy(memory, "%1$s %n %*.*Lf %lc %S \033]0;x\007 %999999999999s\200\377", 48);
	all(memory);
	all(memory + 3 * PAGE); /* never touched */
	note(memory[0]);
}

static void protected(void)
{
	static const int protections[] = {PROT_NONE, PROT_WRITE, PROT_EXEC, PROT_READ};
	unsigned char *touched = anonymous(8);

	memset(touched, 'p', 4 * PAGE);
	for (size_t i = 0; i < 8; i++)
		mprotect(touched + i * PAGE, PAGE, protections[i % 4]);
	for (size_t i = 0; i < 8; i++) {
		all(touched + i * PAGE);
		all(touched + (i + 1) * PAGE - 4);
	}
}

static int temporary(void)
{
	FILE *file = tmpfile();

	if (!file)
		cannot("tmpfile");
	return fileno(file);
}

/* Files' pages: within, in the last page behind its end, and behind that, where SIGBUS waits. */
static void files(void)
{
	int fd = temporary();

	if (write(fd, "content", 7) != 7)
		cannot("write");
	unsigned char *shared = map(3, PROT_READ, MAP_SHARED, fd);

	all(shared);
	all(shared + 100);
	all(shared + PAGE);
	all(shared + PAGE - 2);
	if (ftruncate(fd, 0))
		cannot("ftruncate");
	all(shared);
}

/* A mapping of the kernel's by name: [vvar] is pages of its own, [vsyscall] no memory at all. */
static void kernel_mapping(const char *name)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	unsigned long long start;

	while (maps && fgets(line, sizeof line, maps))
		if (strstr(line, name) && sscanf(line, "%llx", &start) == 1)
			all((void *)(uintptr_t)start);
	if (maps)
		fclose(maps);
}

static void device_mapping(const char *path, int protection, int flags)
{
	int fd = open(path, (protection & PROT_WRITE ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	unsigned char *memory = fd < 0 ? MAP_FAILED : mmap(NULL, PAGE, protection, flags, fd, 0);

	if (memory != MAP_FAILED)
		all(memory);
}

static void devices(void)
{
	kernel_mapping("[vvar");
	kernel_mapping("[vdso]");
	kernel_mapping("[vsyscall]");
	device_mapping("/dev/zero", PROT_READ | PROT_WRITE, MAP_SHARED);
	device_mapping("/dev/zero", PROT_READ, MAP_PRIVATE);
	device_mapping("/dev/mem", PROT_READ, MAP_SHARED); /* no memory with pages behind it */
	device_mapping("/dev/hpet", PROT_READ, MAP_SHARED);
}

/* A pointer that is good at one call and bad at the next. */
static void changing(void)
{
	unsigned char *memory = anonymous(1);

	for (int i = 0; i < argument(50); i++) {
		memset(memory, 'c', 20);
		memory[20] = '\0';
		text(memory);
		madvise(memory, PAGE, MADV_DONTNEED);
		text(memory);
		mprotect(memory, PAGE, PROT_NONE);
		text(memory);
		mprotect(memory, PAGE, PROT_READ | PROT_WRITE);
	}
	note(memory[0]);
}

const struct act memory_acts[] = {
	{"nowhere", NULL, nowhere}, {"edges", NULL, edges},	{"protected", NULL, protected},
	{"files", NULL, files},	    {"devices", NULL, devices}, {"changing", NULL, changing},
	{NULL, NULL, NULL}};

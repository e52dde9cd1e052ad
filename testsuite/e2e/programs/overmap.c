/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Maps memory of its own, by MAP_FIXED, over whatever executable memory it has that no file stands behind.
 * Lines on stdin, each answered with "done": "call", "map", "check", which says first how much was mapped and
 * how much of that is not as it was written.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { PIECES = 16, FILL = 0x41 };

static unsigned char *piece[PIECES];
static size_t length[PIECES];
static int pieces;

int target_empty(int number);

/* Of instructions that need no slot, also behind the call. */
__asm__(".globl target_empty\n.type target_empty,@function\ntarget_empty:\nnop\nret\n.size target_empty,.-target_empty");

static void call(void)
{
	__asm__ volatile("call target_empty\n\tnop" ::: "memory", "cc", "eax", "ecx", "edx");
}

static void map(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long low, high, inode;
	char line[512], rights[8], path[256];

	while (maps && pieces < PIECES && fgets(line, sizeof line, maps)) {
		path[0] = 0;
		if (sscanf(line, "%lx-%lx %7s %*s %*s %lu %255s", &low, &high, rights, &inode, path) < 4 ||
		    rights[2] != 'x' || inode || path[0])
			continue;
		piece[pieces] = mmap((void *)low, high - low, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		length[pieces] = high - low;
		if (piece[pieces] != MAP_FAILED)
			memset(piece[pieces], FILL, length[pieces]), pieces++;
	}
	if (maps)
		fclose(maps);
}

static void check(void)
{
	size_t changed = 0;

	for (int i = 0; i < pieces; i++)
		for (size_t k = 0; k < length[i]; k++)
			changed += piece[i][k] != FILL;
	printf("pieces %d changed %zu\n", pieces, changed);
}

int main(void)
{
	char line[64];

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		if (!strncmp(line, "call", 4))
			call();
		if (!strncmp(line, "map", 3))
			map();
		if (!strncmp(line, "check", 5))
			check();
		puts("done");
		fflush(stdout);
	}
	return 0;
}

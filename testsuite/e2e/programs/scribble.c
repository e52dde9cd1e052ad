/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes over whatever memory file of a tracer's agent it finds in itself, rings and their positions, between its calls. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 20, CALLS = 20, RINGS = 1 << 22, TABLE = 4096, ENTRY = 128, PAUSE_US = 30000 };

int scribble_work(int n);

__attribute__((noinline)) int scribble_work(int n)
{
	__asm__ volatile("nop\n\tnop\n\tnop\n\tnop\n\tnop" : "+r"(n));
	return n + 1;
}

/* The heads of rings in use, and what lies behind them. */
static void scribble(char *memory, int round)
{
	for (int i = 0; i < TABLE; i++) {
		uint64_t *entry = (uint64_t *)(void *)(memory + (size_t)i * ENTRY);

		if (!entry[0])
			continue;
		memset((char *)(uintptr_t)entry[4], round, 65536);
		if (round % 3 == 0)
			entry[1] = (uint64_t)rand() << (round % 33);
		if (round % 4 == 1)
			entry[5] = UINT64_MAX - (uint64_t)rand();
	}
}

int main(void)
{
	unsigned long low, high;
	char line[512];

	for (int round = 0; round < ROUNDS; round++) {
		FILE *maps = fopen("/proc/self/maps", "r");

		for (int i = 0; i < CALLS; i++)
			scribble_work(i);
		while (maps && fgets(line, sizeof line, maps))
			if (strstr(line, "tracer-agent") && sscanf(line, "%lx-%lx", &low, &high) == 2 &&
			    high - low > RINGS)
				scribble((char *)(uintptr_t)low, round);
		if (maps)
			fclose(maps);
		usleep(PAUSE_US);
	}
	puts("done");
	return 0;
}

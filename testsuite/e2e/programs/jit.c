/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes code as a JIT does, which calls a function that waits, and names it in /tmp/perf-PID.map. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((noinline)) static void wait_for_input(void)
{
	char line[64];

	if (!fgets(line, sizeof line, stdin))
		return;
	printf("heard %s", line);
	fflush(stdout);
}

int main(void)
{
	/* push bp; mov bp, sp; call ax; pop bp; ret */
	static const unsigned char wide[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd0, 0x5d, 0xc3};
	static const unsigned char narrow[] = {0x55, 0x89, 0xe5, 0xff, 0xd0, 0x5d, 0xc3};
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];

	if (code == MAP_FAILED)
		return 1;
	if (sizeof(void *) == 8)
		memcpy(code + 64, wide, sizeof wide);
	else
		memcpy(code + 64, narrow, sizeof narrow);
	snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
	FILE *map = fopen(path, "w");

	if (!map)
		return 1;
	fprintf(map, "nonsense\n%lx 40 old code\n%lx 10 JS:*load orders.js:131\n",
		(unsigned long)code, (unsigned long)code + 64);
	fclose(map);
	puts("ready");
	fflush(stdout);
	__asm__ volatile("call *%1"
			 :
			 : "a"(wait_for_input), "r"(code + 64)
			 : "memory", "cc", "cx", "dx");
	unlink(path);
	return 0;
}

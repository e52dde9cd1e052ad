/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program of signals.test: `sig VERB NUMBER...` says "ready", waits for a line on stdin, does what
 * the verb says, and tells what it counted and what came of it. It prints the same each time.
 */
#include "sig.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct counters *counters;

static const char *const names[NAMES] = {
	"traced_leaf", "traced_inner", "traced_outer", "traced_callback", "traced_tick", "traced_last", "traced_system_call",
};

__attribute__((noinline)) int traced_leaf(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

__attribute__((noinline)) int traced_inner(int n)
{
	__asm__ volatile("" : "+r"(n));
	return 2 * n;
}

__attribute__((noinline)) int traced_outer(int n)
{
	counters->calls[INNER]++;
	int result = traced_inner(n);

	__asm__ volatile("" : "+r"(result));
	return result + 1;
}

__attribute__((noinline)) void traced_callback(void (*function)(void *), void *argument)
{
	function(argument);
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) int traced_tick(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

__attribute__((noinline)) int traced_last(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

void sum(unsigned long value)
{
	counters->checksum += value * 2654435761UL % 1000003;
}

void work(int rounds)
{
	unsigned long total = 0;

	for (int i = 0; i < rounds; i++) {
		for (unsigned k = 0; k < SLOTS; k++)
			total += (unsigned long)call_slot(k, i);
		total += (unsigned long)call_outer(i);
	}
	sum(total);
}

void report_counts(void)
{
	counters->calls[LAST]++;
	traced_last(1);
	for (int i = 0; i < NAMES; i++)
		if (counters->calls[i])
			printf("counted %s %lu\n", names[i], counters->calls[i]);
	for (int i = 0; i < NAMES; i++)
		if (counters->left[i])
			printf("unwound %s %lu\n", names[i], counters->left[i]);
	for (int i = 0; i < SLOTS; i++)
		if (counters->slots[i])
			printf("counted traced_slot_%d %lu\n", i, counters->slots[i]);
	printf("strange pcs %lu\n", strange_pcs());
	printf("checksum %lu\n", counters->checksum % 1000000007);
	fflush(stdout);
}

static bool run_one(const struct verb *verbs, const char *name, const struct arguments *arguments)
{
	for (; verbs->name; verbs++)
		if (!strcmp(verbs->name, name)) {
			verbs->run(arguments);
			return true;
		}
	return false;
}

int main(int argc, char **argv)
{
	static const struct verb *const tables[] = {handler_verbs, timer_verbs, fault_verbs, trap_verbs, info_verbs,
						     restart_verbs, queue_verbs, stop_verbs, mask_verbs};
	struct arguments arguments = {.word = argc > 2 ? argv[2] : ""};
	bool done = false;
	char c;

	counters = mmap(NULL, sizeof *counters, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 6 && i + 2 < argc; i++)
		arguments.number[i] = atoi(argv[i + 2]);
	mappings_read();
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		;
	for (size_t i = 0; i < sizeof tables / sizeof *tables && !done; i++)
		done = run_one(tables[i], argc > 1 ? argv[1] : "", &arguments);
	if (!done)
		die("no such verb");
	report_counts();
	return 0;
}

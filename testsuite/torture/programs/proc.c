/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes in all their ways: proc SCENARIO [ARGUMENT...].
 *
 * Says "ready", answers "ping N" (with a call of target_ping(N) and "done") until it is told to
 * "go", then does what the scenario says. All its processes count their traced calls in memory that
 * they share. Says what was counted in the words of testsuite/lib/torture.py, and a checksum of
 * what all of them found out. Told to "go all", it counts the calls of the processes below it, too,
 * as -f does.
 */
#define _GNU_SOURCE
#include "proc.h"

#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct tally {
	uint64_t adds[3]; /* by enum who */
	uint64_t squares[3];
	uint64_t checksum;
	bool all; /* told to count the calls of all */
};

char *program_path;
char **program_args;
static struct tally *tally;
static int tally_fd;

__attribute__((noinline)) int target_ping(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

void say(const char *format, ...)
{
	char line[512];
	va_list list;

	va_start(list, format);
	int length = vsnprintf(line, sizeof line - 1, format, list);
	va_end(list);
	line[length] = '\n';
	if (write(STDOUT_FILENO, line, (size_t)length + 1) < 0)
		_exit(99);
}

void fail(const char *format, ...)
{
	char line[512];
	va_list list;

	va_start(list, format);
	vsnprintf(line, sizeof line, format, list);
	va_end(list);
	say("failed: %s", line);
	_exit(98);
}

void note(uint64_t value)
{
	__atomic_fetch_add(&tally->checksum, value, __ATOMIC_RELAXED);
}

void add(enum who who, int times)
{
	for (int i = 0; i < times; i++) {
		if (work_add(i, 7) != i + 7)
			fail("work_add");
		__atomic_fetch_add(&tally->adds[who], 1, __ATOMIC_RELAXED);
		note((uint64_t)i);
	}
}

void square(enum who who, int times)
{
	for (int i = 0; i < times; i++) {
		if (work_square(i) != i * i)
			fail("work_square");
		__atomic_fetch_add(&tally->squares[who], 1, __ATOMIC_RELAXED);
		note((uint64_t)i);
	}
}

void expect_exit(int pid, int status)
{
	int found = -1;

	while (waitpid(pid, &found, __WALL) < 0)
		if (errno != EINTR)
			fail("waitpid: %s", strerror(errno));
	note((uint64_t)found);
	if (!WIFEXITED(found) || WEXITSTATUS(found) != status)
		fail("a child's wait status is 0x%x, not exit %d", (unsigned)found, status);
}

int argument(int index, int otherwise)
{
	for (int i = 0; i <= index; i++)
		if (!program_args[i])
			return otherwise;
	return atoi(program_args[index]);
}

void in_threads(int count, void *(*body)(void *))
{
	pthread_t threads[16];

	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, body, (void *)(intptr_t)i))
			fail("pthread_create");
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

/* ---- starting, serving, the end ---- */

static void map_tally(void)
{
	const char *inherited = getenv("TALLY");

	tally_fd = inherited ? atoi(inherited) : memfd_create("tally", 0);
	if (tally_fd < 0 || (!inherited && ftruncate(tally_fd, sizeof *tally) != 0))
		fail("memfd_create");
	if (!inherited) {
		char number[16];

		snprintf(number, sizeof number, "%d", tally_fd);
		setenv("TALLY", number, 1);
	}
	tally = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED, tally_fd, 0);
	if (tally == MAP_FAILED)
		fail("mmap");
}

char **again_words(const char *scenario, int first, int second, char *words[8])
{
	static char numbers[2][16];

	snprintf(numbers[0], sizeof numbers[0], "%d", first);
	snprintf(numbers[1], sizeof numbers[1], "%d", second);
	words[0] = program_path;
	words[1] = "again";
	words[2] = (char *)scenario;
	words[3] = numbers[0];
	words[4] = numbers[1];
	words[5] = NULL;
	return words;
}

void again(const char *scenario, int first, int second)
{
	char *words[8];

	execv(program_path, again_words(scenario, first, second, words));
	fail("execv: %s", strerror(errno));
}

/* Byte by byte: nothing is taken that a child or another program is to read. */
static bool read_line(char *line, size_t size)
{
	size_t length = 0;
	char c;

	while (read(STDIN_FILENO, &c, 1) == 1) {
		if (c == '\n') {
			line[length] = '\0';
			return true;
		}
		if (length < size - 1)
			line[length++] = c;
	}
	return false;
}

void serve(void)
{
	char line[64];

	say("ready");
	while (read_line(line, sizeof line)) {
		tally->all = !strcmp(line, "go all");
		if (tally->all || !strcmp(line, "go"))
			return;
		if (!strncmp(line, "ping ", 5))
			target_ping(atoi(line + 5));
		say("done");
	}
	_exit(97);
}

void say_tally(void)
{
	uint64_t adds = tally->adds[OWN] + (tally->all ? tally->adds[BELOW] : 0);
	uint64_t squares = tally->squares[OWN] + (tally->all ? tally->squares[BELOW] : 0);

	say("counted work_add %llu", (unsigned long long)adds);
	say("counted work_square %llu", (unsigned long long)squares);
	say("checksum %llu", (unsigned long long)tally->checksum);
}

static const struct scenario *find(const char *name)
{
	const struct scenario *const tables[] = {children_scenarios, exec_scenarios,
						 debugger_scenarios, seccomp_scenarios,
						 world_scenarios};

	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		for (const struct scenario *one = tables[i]; one->name; one++)
			if (!strcmp(one->name, name))
				return one;
	fail("no scenario %s", name);
}

int main(int argc, char **argv)
{
	bool resumed = argc > 2 && !strcmp(argv[1], "again");

	if (argc < 2)
		return 96;
	program_path = argv[0];
	program_args = argv + (resumed ? 3 : 2);
	map_tally();
	const struct scenario *scenario = find(argv[resumed ? 2 : 1]);

	if (!resumed) {
		if (scenario->prepare)
			scenario->prepare();
		serve();
	}
	int status = scenario->work();

	say_tally();
	return status;
}

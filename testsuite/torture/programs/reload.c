/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reload DIRECTORY THREADS ROUNDS: so many threads, each of which opens a library so many times, calls
 * what is in it and closes it again. Libraries liba.so … libh.so of DIRECTORY: two for each of up to four
 * threads, which no other thread opens, taken in turn, so that one is where the other was; every fourth time
 * into a namespace of its own. Libraries libx.so and liby.so are opened by all.
 *
 * ROUNDS 0: until there is a line "stop" on stdin. "counted NAME N" says how often each function was
 * called, "at the same address" how often a library was where another had been before.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS_MAX = 4, SHARED = 2 * THREADS_MAX, LIBRARIES = SHARED + 2, CALLS = 3 };

struct loaded {
	void *handle;
	int (*call)(int a);
	int (*births)(void);
};

struct counts {
	unsigned long calls[LIBRARIES]; /* of reloaded_NAME, and as many of inner_NAME */
	unsigned long loads[LIBRARIES]; /* of those that no other thread opens */
};

struct worker {
	pthread_t thread;
	int index;
	struct counts counts;
	unsigned long checksum, same_address;
};

static const char letters[LIBRARIES + 1] = "abcdefghxy";
static const char *directory;
static unsigned long rounds;
static struct worker workers[THREADS_MAX];
static atomic_bool stop;
static atomic_long wrong;

static void wrong_if(bool condition)
{
	if (condition)
		atomic_fetch_add(&wrong, 1);
}

int target_ping(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

static struct loaded load(int library, bool own_namespace)
{
	char path[PATH_MAX], name[32];
	struct loaded loaded;

	snprintf(path, sizeof path, "%s/lib%c.so", directory, letters[library]);
	loaded.handle = own_namespace ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW) : dlopen(path, RTLD_LAZY);
	if (!loaded.handle) {
		fprintf(stderr, "%s\n", dlerror());
		_exit(97);
	}
	snprintf(name, sizeof name, "reloaded_%c", letters[library]);
	*(void **)&loaded.call = dlsym(loaded.handle, name);
	snprintf(name, sizeof name, "births_%c", letters[library]);
	*(void **)&loaded.births = dlsym(loaded.handle, name);
	if (!loaded.call || !loaded.births)
		_exit(96);
	return loaded;
}

/* Opens, calls, closes; the address the library was at. */
static unsigned long use(struct worker *worker, int library, bool own_namespace, int a)
{
	struct loaded loaded = load(library, own_namespace);
	struct link_map *map = NULL;

	wrong_if(loaded.births() != 1);
	if (library < SHARED)
		worker->counts.loads[library]++;
	for (int i = 0; i < CALLS; i++) {
		int result = loaded.call(a + i);

		wrong_if(result != 2 * (a + i + library));
		worker->checksum = worker->checksum * 31 + (unsigned long)result;
		worker->counts.calls[library]++;
	}
	wrong_if(dlinfo(loaded.handle, RTLD_DI_LINKMAP, &map));
	unsigned long address = map->l_addr;

	wrong_if(dlclose(loaded.handle));
	return address;
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	unsigned long before = 0;

	for (unsigned long i = 0; rounds ? i < rounds : !atomic_load(&stop); i++) {
		unsigned long address = use(worker, 2 * worker->index + (int)(i % 2), i % 4 == 3, (int)(i & 0xfff));

		worker->same_address += address == before;
		before = address;
		if (i % 3 == 0)
			use(worker, SHARED + (int)(i % 2), false, (int)(i & 0xfff));
	}
	return NULL;
}

static bool await(const char *awaited)
{
	char line[64];

	while (fgets(line, sizeof line, stdin)) {
		if (!strcmp(line, awaited))
			return true;
		if (!strncmp(line, "ping ", 5))
			target_ping(atoi(line + 5));
		puts("done");
		fflush(stdout);
	}
	return false;
}

static void say_counts(int library)
{
	unsigned long calls = 0, loads = 0;

	for (int i = 0; i < THREADS_MAX; i++) {
		calls += workers[i].counts.calls[library];
		loads += workers[i].counts.loads[library];
	}
	if (!calls)
		return;
	printf("counted reloaded_%c %lu\ncounted inner_%c %lu\n", letters[library], calls, letters[library], calls);
	if (loads)
		printf("counted born_%c %lu\ncounted gone_%c %lu\n", letters[library], loads, letters[library], loads);
}

static int say_results(int threads)
{
	unsigned long same = 0, checksum = 0;

	for (int i = 0; i < threads; i++) {
		same += workers[i].same_address;
		checksum = checksum * 31 + workers[i].checksum;
	}
	for (int i = 0; i < LIBRARIES; i++)
		say_counts(i);
	fprintf(stderr, "at the same address %s\n", same ? "yes" : "never");
	printf("wrong %ld\nchecksum %lx\n", atomic_load(&wrong), checksum);
	return wrong != 0;
}

int main(int argc, char **argv)
{
	int threads = argc == 4 ? atoi(argv[2]) : 0;

	if (threads < 1 || threads > THREADS_MAX)
		return 2;
	directory = argv[1];
	rounds = strtoul(argv[3], NULL, 10);
	puts("ready");
	fflush(stdout);
	if (rounds && !await("go\n"))
		return 4;
	for (int i = 0; i < threads; i++) {
		workers[i].index = i;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			return 3;
	}
	if (!rounds) {
		wrong_if(!await("stop\n"));
		atomic_store(&stop, true);
	}
	for (int i = 0; i < threads; i++)
		pthread_join(workers[i].thread, NULL);
	return say_results(threads);
}

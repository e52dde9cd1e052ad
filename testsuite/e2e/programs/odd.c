/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes itself hard to trace, as the lines of its stdin say; answers each with "done". */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* By pointer: no slot of this program tells of them. */
static void *find(const char *name)
{
	void *address = dlsym(RTLD_DEFAULT, name);

	if (!address) {
		puts(dlerror());
		exit(99);
	}
	return address;
}

static int (*function(const char *name))(int)
{
	int (*found)(int);

	*(void **)&found = find(name);
	return found;
}

/* The pages of the section .odd, and what file they come from. */
static unsigned char *odd_pages(size_t *length)
{
	unsigned char *start = find("odd_one");
	unsigned char *end = find("odd_end");

	*length = (size_t)(end - start + 4096) & ~(size_t)4095;
	return start;
}

static void share(void)
{
	size_t length;
	unsigned char *pages = odd_pages(&length);
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4096], path[4096];
	unsigned long low, high, offset;

	while (fgets(line, sizeof line, maps)) {
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %4095s", &low, &high, &offset, path) != 4 ||
		    (uintptr_t)pages < low || (uintptr_t)pages >= high)
			continue;
		int file = open(path, O_RDONLY);

		offset += (uintptr_t)pages - low;
		if (mmap(pages, length, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED, file,
			 (off_t)offset) != pages)
			perror("mmap");
		close(file);
		break;
	}
	fclose(maps);
}

static void unmap(void)
{
	size_t length;
	unsigned char *pages = odd_pages(&length);

	munmap(pages, length);
}

/* The linker's list leads back to its beginning, or into nowhere. */
static void damage_list(int to_start)
{
	struct link_map *map = _r_debug.r_map;

	while (map->l_next)
		map = map->l_next;
	map->l_next = to_start ? _r_debug.r_map : (struct link_map *)64;
}

/* Puts other code in place of the first instructions of a function. */
static void overwrite(const char *name)
{
	unsigned char *code = find(name);
	uintptr_t page = (uintptr_t)code & ~(uintptr_t)4095;

	mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
	memset(code, 0x90, 1);
	mprotect((void *)page, 8192, PROT_READ | PROT_EXEC);
}

static void generate(void)
{
	static const unsigned char code[] = {0x31, 0xc0, 0xff, 0xc0, 0xc3};
	unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(page, code, sizeof code);
	*(void **)find("odd_made") = page;
}

/* Calls a function in a child. */
static void child(const char *name)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(function(name)(100));
	waitpid(pid, &status, 0);
	if (WIFEXITED(status))
		printf("%d\n", WEXITSTATUS(status));
	else
		printf("killed by %d\n", WTERMSIG(status));
}

static int (*kept)(int);

static void obey(char *line)
{
	char *verb = strtok(line, " ");
	char *word = strtok(NULL, " ");

	if (!strcmp(verb, "share"))
		share();
	else if (!strcmp(verb, "unmap"))
		unmap();
	else if (!strcmp(verb, "loop"))
		damage_list(1);
	else if (!strcmp(verb, "wild"))
		damage_list(0);
	else if (!strcmp(verb, "generate"))
		generate();
	else if (!strcmp(verb, "overwrite"))
		overwrite(word);
	else if (!strcmp(verb, "dlopen"))
		printf("%s\n", dlopen(word, RTLD_NOW | RTLD_GLOBAL) ? "opened" : dlerror());
	else if (!strcmp(verb, "call"))
		printf("%d\n", function(word)(100));
	else if (!strcmp(verb, "hide"))
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	else if (!strcmp(verb, "child"))
		child(word);
	else if (!strcmp(verb, "keep"))
		kept = function(word);
	else if (!strcmp(verb, "again"))
		printf("%d\n", kept(100));
	else if (!strcmp(verb, "through")) {
		int (*caller)(int (*)(int), int);

		*(void **)&caller = find("odd_caller");
		printf("%d\n", caller(function(word), 100));
	} else if (!strcmp(verb, "exit"))
		_exit(atoi(word));
	else if (!strcmp(verb, "kill"))
		abort();
	else
		printf("what is %s?\n", verb);
}

int main(int argc, char **argv)
{
	char line[4096];

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 1; i < argc; i++) {
		snprintf(line, sizeof line, "%s", argv[i]);
		obey(line);
	}
	if (argc > 1)
		_exit(0);
	puts("ready");
	while (fgets(line, sizeof line, stdin)) {
		line[strcspn(line, "\n")] = '\0';
		obey(line);
		puts("done");
	}
	_exit(0);
}

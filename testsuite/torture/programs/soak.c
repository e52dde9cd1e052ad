/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Works for a day, in short: does one kind of thing as often as it is told, a line "KIND TIMES" each,
 * and answers with "done". What it makes (threads, libraries, code, children, stacks) it ends again, so
 * that it does not grow itself; names and addresses are new each time, where a long life has new ones.
 *
 *     soak TEMPLATE DIRECTORY    the library to copy (soaklib.c), and where to put the copies
 */
#define _GNU_SOURCE
#include "work.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { TEMPLATE_MAX = 65536, CODE = 256 << 20, STUB = 64, STACK = 65536, TOGETHER = 4 };

static const char marker[] = "77777777";
static char **arguments;

static void die(const char *what)
{
	perror(what);
	_exit(90);
}

static void must(int condition, const char *what)
{
	if (!condition)
		die(what);
}

/* ---- calls ---- */

static void do_calls(unsigned times)
{
	for (unsigned i = 0; i < times; i += 4) {
		must(work_add(1, 2) == 3, "work_add");
		must(work_square(3) == 9, "work_square");
		must(work_echo("x")[0] == 'x', "work_echo");
		must(work_hidden(5) == 15, "work_hidden");
	}
}

/* ---- calls that are left ---- */

static void do_jumps(unsigned times)
{
	static jmp_buf where;

	for (volatile unsigned i = 0; i < times; i++)
		if (!setjmp(where))
			work_jump(where, 1);
}

/* ---- threads ---- */

static void *thread(void *argument)
{
	work_add(1, 2);
	work_square(3);
	return argument;
}

static void do_threads(unsigned times)
{
	pthread_t threads[TOGETHER];

	for (unsigned done = 0; done < times; done += TOGETHER) {
		for (int i = 0; i < TOGETHER; i++)
			must(pthread_create(&threads[i], NULL, thread, NULL) == 0,
			     "pthread_create");
		for (int i = 0; i < TOGETHER; i++)
			pthread_join(threads[i], NULL);
	}
}

/* ---- libraries with new names, and functions with new names in them ---- */

static size_t read_template(char *bytes)
{
	FILE *file = fopen(arguments[1], "r");

	must(file != NULL, arguments[1]);
	size_t size = fread(bytes, 1, TEMPLATE_MAX, file);

	must(size && size < TEMPLATE_MAX, "template");
	fclose(file);
	return size;
}

static void write_copy(const char *path, char *bytes, size_t size, const char *number)
{
	static char copy[TEMPLATE_MAX];
	FILE *file = fopen(path, "w");

	must(file != NULL, path);
	memcpy(copy, bytes, size);
	for (char *at = copy; (at = memmem(at, size - (size_t)(at - copy), marker, 8)); at += 8)
		memcpy(at, number, 8);
	must(fwrite(copy, 1, size, file) == size && fclose(file) == 0, path);
}

static void use_library(const char *path, const char *number)
{
	char name[32];
	void *library = dlopen(path, RTLD_NOW);

	snprintf(name, sizeof name, "soak_%s", number);
	int (*function)(int) = library ? (int (*)(int))dlsym(library, name) : NULL;

	must(function && function(4) == 5, dlerror());
	dlclose(library);
}

static void do_libraries(unsigned times)
{
	static unsigned made;
	static char bytes[TEMPLATE_MAX];
	size_t size = read_template(bytes);

	for (unsigned i = 0; i < times; i++) {
		char path[4096];
		char number[16];

		snprintf(number, sizeof number, "%08u", ++made % 100000000);
		snprintf(path, sizeof path, "%s/lib%s.so", arguments[2], number);
		write_copy(path, bytes, size, number);
		use_library(path, number);
		unlink(path);
	}
}

/* The same one, again and again. */
static void do_reloads(unsigned times)
{
	for (unsigned i = 0; i < times; i++)
		use_library(arguments[1], marker);
}

/* ---- generated code, at new addresses, calling what is traced ---- */

static void write_stub(unsigned char *code, void (*function)(void))
{
#if defined(__x86_64__)
	static const unsigned char stub[] = {0x48, 0x83, 0xec, 8,    0x48, 0xb8, 0,
					     0,	   0,	 0,    0,    0,	   0,	 0,
					     0xff, 0xd0, 0x48, 0x83, 0xc4, 8,	 0xc3};
	enum { AT = 6 };
#else
	static const unsigned char stub[] = {0x83, 0xec, 12,   0xb8, 0,	   0,  0,
					     0,	   0xff, 0xd0, 0x83, 0xc4, 12, 0xc3};
	enum { AT = 4 };
#endif
	memcpy(code, stub, sizeof stub);
	memcpy(code + AT, &function, sizeof function);
}

static unsigned char *code;

static void do_generated(unsigned times)
{
	static size_t used;

	for (unsigned i = 0; i < times; i++, used = (used + STUB) % CODE) {
		write_stub(code + used, work_fill);
		((void (*)(void))(code + used))();
		/* The program does not grow either. */
		if (used % 4096 == 4096 - STUB)
			madvise(code + used + STUB - 4096, 4096, MADV_DONTNEED);
	}
}

/* ---- stacks that are left in the middle of a call ---- */

static ucontext_t main_context, other_context;

static void leave(void *argument)
{
	swapcontext(&other_context, argument);
}

static void on_other_stack(void)
{
	work_call(leave, &main_context);
}

static void do_stacks(unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				   -1, 0);

		must(stack != MAP_FAILED && getcontext(&other_context) == 0, "stack");
		other_context.uc_stack.ss_sp = stack;
		other_context.uc_stack.ss_size = STACK;
		other_context.uc_link = NULL;
		makecontext(&other_context, on_other_stack, 0);
		swapcontext(&main_context, &other_context);
		munmap(stack, STACK);
	}
}

/* ---- children ---- */

static void await(pid_t pid)
{
	int status;

	must(pid > 0 && waitpid(pid, &status, 0) == pid && status == 5 << 8, "child");
}

static void do_forks(unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(work_add(2, 3));
		await(pid);
	}
}

static void do_execs(unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		pid_t pid = i % 2 ? fork() : vfork();

		if (pid == 0) {
			execl("/proc/self/exe", "leaf", NULL);
			_exit(91);
		}
		await(pid);
	}
}

static const struct kind {
	const char *name;
	void (*run)(unsigned times);
} kinds[] = {
	{"calls", do_calls},	     {"jumps", do_jumps},     {"threads", do_threads},
	{"libraries", do_libraries}, {"reloads", do_reloads}, {"generated", do_generated},
	{"stacks", do_stacks},	     {"forks", do_forks},     {"execs", do_execs},
};

static void obey(const char *name, unsigned times)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(kinds[i].name, name)) {
			kinds[i].run(times);
			return;
		}
	fprintf(stderr, "what is %s?\n", name);
	_exit(92);
}

int main(int argc, char **argv)
{
	char line[256];
	char name[64];
	unsigned times;

	if (argc < 3)
		return work_add(2, 3); /* what do_execs() runs */
	arguments = argv;
	code = mmap(NULL, CODE, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	must(code != MAP_FAILED, "mmap");
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		if (sscanf(line, "%63s %u", name, &times) != 2)
			return 93;
		obey(name, times);
		puts("done");
		fflush(stdout);
	}
	return 0;
}

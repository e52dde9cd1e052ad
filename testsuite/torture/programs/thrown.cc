/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Throws exceptions through functions that are traced, and asks for its caller by dlsym(3), until it is told to stop.
 * Says "ready", answers "progress" with "done", and at "stop" says how often a result was wrong.
 */
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <poll.h>
#include <unistd.h>

extern "C" __attribute__((noinline)) int thrown_inner(int value)
{
	if (value % 2)
		throw value;
	return value + 1;
}

extern "C" __attribute__((noinline)) int thrown_middle(int value)
{
	volatile int result = thrown_inner(value);

	return result + 1;
}

/* Of the caller's module, which is known by where dlsym() returns to. */
extern "C" __attribute__((noinline)) bool thrown_finds(const char *name)
{
	volatile bool found = dlsym(RTLD_NEXT, name) != nullptr;

	return found;
}

static bool is_wrong(int value)
{
	try {
		return thrown_middle(value) != value + 2 || value % 2;
	} catch (int thrown) {
		return thrown != value || !(value % 2);
	}
}

int main()
{
	struct pollfd input = {0, POLLIN, 0};
	char line[64];
	long wrong = 0;

	setvbuf(stdin, nullptr, _IONBF, 0);
	puts("ready");
	fflush(stdout);
	for (int i = 0;; i = (i + 1) % 1000000) {
		wrong += is_wrong(i);
		wrong += i % 64 == 0 && !thrown_finds("malloc");
		if (i % 32 || poll(&input, 1, 0) <= 0)
			continue;
		if (!fgets(line, sizeof line, stdin) || !strcmp(line, "stop\n"))
			break;
		puts("done");
		fflush(stdout);
	}
	printf("wrong %ld\n", wrong);
	return 0;
}

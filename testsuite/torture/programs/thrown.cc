/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Throws exceptions through functions that are traced, asks for its caller by dlsym(3), has backtraces made and threads
 * cancelled in there, until it is told to stop. Says "ready", answers "progress" with "done", and at "stop" says how often a result was wrong.
 */
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <poll.h>
#include <pthread.h>
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

/* The frames down to here, the first of which is its own. */
extern "C" __attribute__((noinline)) int thrown_frames(void **frames, int most)
{
	volatile int count = backtrace(frames, most);

	return count;
}

extern "C" __attribute__((noinline)) int thrown_deeper(int depth, void **frames, int most)
{
	volatile int count = depth ? thrown_deeper(depth - 1, frames, most) : thrown_frames(frames, most);

	return count;
}

/* They are those of the first time, before anything was traced: up to where this was called from, that is. */
__attribute__((noinline)) static bool has_other_frames()
{
	static void *first[16];
	static int first_count;
	void *frames[16];
	int count = thrown_deeper(3, first_count ? frames : first, 16);

	if (!first_count)
		first_count = count;
	else if (count != first_count || memcmp(frames, first, 6 * sizeof *first) != 0)
		return true;
	return false;
}

static void clean(void *cleaned)
{
	*static_cast<bool *>(cleaned) = true;
}

extern "C" __attribute__((noinline)) int thrown_waits()
{
	return pause();
}

static void *wait_for_end(void *cleaned)
{
	pthread_cleanup_push(clean, cleaned);
	thrown_waits();
	pthread_cleanup_pop(0);
	return nullptr;
}

/* A thread's cleanup is reached by unwinding. */
static bool is_not_cleaned()
{
	bool cleaned = false;
	pthread_t thread;

	if (pthread_create(&thread, nullptr, wait_for_end, &cleaned))
		return true;
	pthread_cancel(thread);
	pthread_join(thread, nullptr);
	return !cleaned;
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
	long wrong = has_other_frames();

	setvbuf(stdin, nullptr, _IONBF, 0);
	puts("ready");
	fflush(stdout);
	for (int i = 0;; i = (i + 1) % 1000000) {
		wrong += is_wrong(i);
		wrong += i % 64 == 0 && !thrown_finds("malloc");
		wrong += i % 16 == 0 && has_other_frames();
		wrong += i % 64 == 0 && is_not_cleaned();
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

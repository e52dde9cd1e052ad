/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks its own stack by libunwind (nongnu.org's; argument 1 is the library) below calls of
 * inner() and outer(), again and again. Prints of each walk how many frames it found, and how often
 * each came.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* unw_context_t and unw_cursor_t of its ABI have less. */
union area {
	unsigned long words[1024];
};

static int (*backtrace_by)(void **addresses, int most);
static int (*get_context)(union area *context);
static int (*begin)(union area *cursor, union area *context);
static int (*step)(union area *cursor);

static int walk(int by_steps)
{
	void *addresses[64];
	union area context, cursor;
	int frames = 1;

	if (!by_steps)
		return backtrace_by(addresses, 64);
	memset(&context, 0, sizeof context);
	get_context(&context);
	begin(&cursor, &context);
	while (frames < 64 && step(&cursor) > 0)
		frames++;
	return frames;
}

__attribute__((noipa)) int inner(int by_steps)
{
	int frames = walk(by_steps);

	__asm__ volatile("");
	return frames;
}

__attribute__((noipa)) int outer(int by_steps, int depth)
{
	int frames = depth ? outer(by_steps, depth - 1) : inner(by_steps);

	__asm__ volatile("");
	return frames;
}

int main(int argc, char **argv)
{
	void *library = dlopen(argc > 1 ? argv[1] : "libunwind.so.8", RTLD_NOW);

	if (!library)
		return 77;
	*(void **)&backtrace_by = dlsym(library, "unw_backtrace");
	*(void **)&get_context = dlsym(library, "_Ux86_64_getcontext");
	*(void **)&begin = dlsym(library, "_ULx86_64_init_local");
	*(void **)&step = dlsym(library, "_ULx86_64_step");
	for (int by_steps = 0; by_steps < 2; by_steps++)
		for (int depth = 0; depth < 4; depth++) {
			int frames = outer(by_steps, depth), same = 1;

			for (int i = 0; i < 9; i++)
				same += outer(by_steps, depth) == frames;
			printf("%d frames, %d times\n", frames, same);
		}
	return 0;
}

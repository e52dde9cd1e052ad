/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the words of a stack in few large reads.
 *
 * A walk reads two or three words of each frame, at ascending addresses, and each read of a process
 * is a system call. So a window of memory is read at once: 4 KiB and up to the end of the page
 * behind them at first, which is enough for many walks, and more when the walk goes on where a
 * window ends. There are a few windows, since a walk may change stacks at a signal.
 *
 * Behind the outermost frame a window would reach beyond the end of the stack. To ask for a page
 * that is not there takes as long as a walk of some hundred frames, since it might be one that has
 * not been touched so far (tracee/resident.c). So it is kept where stacks have ended.
 */
#include "unwind/unwind_memory.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, FIRST = PAGE, WINDOW_MAX = 64 << 10 };

void unwind_memory_init(struct unwind_memory *memory, const struct memory_source *source)
{
	*memory = (struct unwind_memory){.source = source};
}

void unwind_memory_deinit(struct unwind_memory *memory)
{
	for (unsigned i = 0; i < UNWIND_WINDOWS; i++)
		free(memory->windows[i].bytes);
}

void unwind_memory_forget(struct unwind_memory *memory)
{
	for (unsigned i = 0; i < UNWIND_WINDOWS; i++)
		memory->windows[i].length = memory->windows[i].wanted = 0;
	memory->last = memory->next = 0;
}

static bool holds(const struct unwind_window *window, uint64_t address, unsigned size)
{
	uint64_t into = address - window->start;

	return into < window->length && size <= window->length - into;
}

/* Returns how much to read at `address`: more if that is where a whole window ends. */
static size_t length_at(const struct unwind_memory *memory, uint64_t address)
{
	size_t length = FIRST;

	for (unsigned i = 0; i < UNWIND_WINDOWS; i++) {
		const struct unwind_window *window = &memory->windows[i];

		if (window->length && window->length == window->wanted &&
		    address - window->start <= window->length + PAGE)
			length = 2 * window->length;
	}
	length += PAGE - (address + length) % PAGE;
	return length < WINDOW_MAX ? length : WINDOW_MAX;
}

/* Returns how much of `length` is in front of the ends that are known. */
static size_t length_to_end(const struct unwind_memory *memory, uint64_t address, unsigned size,
			    size_t length)
{
	for (unsigned i = 0; i < UNWIND_ENDS; i++) {
		const uint64_t left = memory->ends[i] - address;

		if (address < memory->ends[i] && left >= size && left < length)
			length = (size_t)left;
	}
	return length;
}

static void keep_end(struct unwind_memory *memory, uint64_t end)
{
	memory->ends[memory->next_end] = end;
	memory->next_end = (memory->next_end + 1) % UNWIND_ENDS;
}

/* Returns a window that holds the bytes, or NULL. */
static const struct unwind_window *read_window(struct unwind_memory *memory, uint64_t address,
					       unsigned size)
{
	unsigned index = memory->next;
	struct unwind_window *window = &memory->windows[index];
	size_t wanted = length_to_end(memory, address, size, length_at(memory, address));

	if (!window->bytes)
		window->bytes = xmalloc(WINDOW_MAX);
	window->start = address;
	window->wanted = wanted;
	window->length = memory_read(memory->source, address, window->bytes, wanted);
	if (!holds(window, address, size))
		return NULL;
	if (window->length < wanted)
		keep_end(memory, address + window->length);
	memory->last = index;
	memory->next = (index + 1) % UNWIND_WINDOWS;
	return window;
}

static const struct unwind_window *find_window(struct unwind_memory *memory, uint64_t address,
					       unsigned size)
{
	if (holds(&memory->windows[memory->last], address, size))
		return &memory->windows[memory->last];
	for (unsigned i = 0; i < UNWIND_WINDOWS; i++) {
		if (!holds(&memory->windows[i], address, size))
			continue;
		memory->last = i;
		return &memory->windows[i];
	}
	return read_window(memory, address, size);
}

bool unwind_memory_read(struct unwind_memory *memory, uint64_t address, unsigned size,
			uint64_t *value)
{
	const struct unwind_window *window = find_window(memory, address, size);

	if (!window)
		return false;
	*value = 0;
	memcpy(value, window->bytes + (address - window->start), size);
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads of a memory_source that need more than one range or a terminator. */
#include "base/memory.h"

#include <errno.h>
#include <string.h>

enum { PAGE = 4096, MANY_PAGES = 16 * PAGE };

size_t memory_read(const struct memory_source *source, uint64_t address, void *buffer,
		   size_t length)
{
	struct memory_range range = {.address = address, .buffer = buffer, .length = length};

	source->readv(source->context, &range, 1);
	return range.done;
}

/* Returns the number of bytes to the next multiple of `size`, at most `length`. */
static size_t piece_of(uint64_t address, size_t size, size_t length)
{
	const size_t piece = size - address % size;

	return piece < length ? piece : length;
}

size_t memory_read_pages(const struct memory_source *source, uint64_t address, void *buffer,
			 size_t length)
{
	size_t done = 0;

	while (done < length) {
		const size_t many = piece_of(address + done, MANY_PAGES, length - done);
		size_t read = memory_read(source, address + done, (char *)buffer + done, many);

		done += read;
		if (read == many)
			continue;
		/* The source may have a limit on pages faulted in at once: try a single page. */
		const size_t one = piece_of(address + done, PAGE, length - done);

		read = memory_read(source, address + done, (char *)buffer + done, one);
		done += read;
		if (read < one)
			break;
	}
	return done;
}

bool memory_read_exact(const struct memory_source *source, uint64_t address, void *buffer,
		       size_t length)
{
	return memory_read(source, address, buffer, length) == length;
}

bool memory_read_word(const struct memory_source *source, uint64_t address, unsigned size,
		      uint64_t *word)
{
	*word = 0;
	return size <= sizeof *word && memory_read_exact(source, address, word, size);
}

long memory_read_string(const struct memory_source *source, uint64_t address, char *buffer,
			size_t size)
{
	size_t length = 0;

	while (length < size) {
		/*
		 * Small pieces: most names are short, and the memory behind them may not be mapped.
		 */
		size_t want = size - length < 256 ? size - length : 256;
		size_t got = memory_read(source, address + length, buffer + length, want);
		char *end = memchr(buffer + length, '\0', got);

		if (end)
			return end - buffer;
		length += got;
		if (got < want)
			break;
	}
	buffer[length < size ? length : size - 1] = '\0';
	return length ? -ENAMETOOLONG : -EFAULT;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/memory.h"

#include <errno.h>
#include <string.h>

enum { PAGE = 4096 };

size_t memory_read(const struct memory_source *source, uint64_t address, void *buffer,
		   size_t length)
{
	struct memory_range range = {.address = address, .buffer = buffer, .length = length};

	source->readv(source->context, &range, 1);
	return range.done;
}

size_t memory_read_pages(const struct memory_source *source, uint64_t address, void *buffer,
			 size_t length)
{
	size_t done = 0;

	while (done < length) {
		size_t piece = PAGE - (address + done) % PAGE;

		if (piece > length - done)
			piece = length - done;
		size_t read = memory_read(source, address + done, (char *)buffer + done, piece);

		done += read;
		if (read < piece)
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
		/* Small pieces: most names are short, and the far end may be unmapped. */
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

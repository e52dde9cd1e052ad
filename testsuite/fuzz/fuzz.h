/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the fuzzers share: taking an input apart, and the memory of a tracee that is made of it. Each
 * fuzzer is one LLVMFuzzerTestOneInput(), run by libFuzzer (`make fuzz`) or by driver.c, which plays a
 * corpus and a fixed number of mutations of it and so is a test like any other.
 *
 * What must not happen is that a sanitizer has something to say, that a MUST() does not hold, or
 * that an input takes longer than anybody would wait for.
 */
#ifndef TRACER_TESTSUITE_FUZZ_FUZZ_H
#define TRACER_TESTSUITE_FUZZ_FUZZ_H

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Also where assert() is compiled out. */
#define MUST(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: must hold: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* An input taken apart from the front; what is not there reads as zeros. */
struct input {
	const uint8_t *bytes;
	size_t left;
};

static inline void input_take(struct input *input, void *to, size_t length)
{
	size_t have = length < input->left ? length : input->left;

	memset(to, 0, length);
	if (have)
		memcpy(to, input->bytes, have);
	input->bytes += have;
	input->left -= have;
}

static inline uint8_t input_byte(struct input *input)
{
	uint8_t byte;

	input_take(input, &byte, 1);
	return byte;
}

static inline uint64_t input_word(struct input *input)
{
	uint64_t word;

	input_take(input, &word, sizeof word);
	return word;
}

/* How a simulated memory behaves. */
enum fake_mood {
	FAKE_SHORT = 1,	  /* every third range is cut short */
	FAKE_CHANGES = 2, /* some byte of it changes with every read */
	FAKE_HOLES = 4,	  /* every fifth page is not there */
	FAKE_AGAIN = 8	  /* what is not there at first is there later */
};

/* The bytes at `base` … of a tracee; elsewhere it has none. */
struct fake_memory {
	struct memory_source source;
	uint64_t base;
	uint8_t *bytes;
	size_t length;
	unsigned mood;
	unsigned reads;
};

static inline bool fake_has(const struct fake_memory *fake, uint64_t address)
{
	uint64_t at = address - fake->base;
	uint64_t page = at / 256; /* small ones, so that small inputs have some */

	if (address < fake->base || at >= fake->length)
		return false;
	if (fake->mood & FAKE_AGAIN && fake->reads < 8)
		return page % 2 == 0;
	return !(fake->mood & FAKE_HOLES) || page % 5 != 3;
}

static inline void fake_readv(void *context, struct memory_range *ranges, size_t count)
{
	struct fake_memory *fake = context;

	for (size_t i = 0; i < count; i++) {
		struct memory_range *range = &ranges[i];
		size_t want = range->length;

		fake->reads++;
		if (fake->mood & FAKE_SHORT && fake->reads % 3 == 0)
			want /= 2;
		if (fake->mood & FAKE_CHANGES && fake->length)
			fake->bytes[fake->reads * 2654435761U % fake->length] += 8;
		for (range->done = 0; range->done < want; range->done++) {
			uint64_t address = range->address + range->done;

			if (address < range->address || !fake_has(fake, address))
				break;
			((uint8_t *)range->buffer)[range->done] = fake->bytes[address - fake->base];
		}
	}
}

/* As a struct plain_memory has it. */
static inline size_t fake_read(void *context, uint64_t address, void *buffer, size_t length)
{
	struct memory_range range = {.address = address, .buffer = buffer, .length = length};

	fake_readv(context, &range, 1);
	return range.done;
}

/* The same of a string; also a memory source's read_string(). */
static inline size_t fake_read_string(void *context, uint64_t address, void *buffer, size_t length)
{
	uint8_t *bytes = buffer;

	for (size_t done = 0; done < length; done++) {
		struct memory_range range = {
			.address = address + done, .buffer = bytes + done, .length = 1};

		fake_readv(context, &range, 1);
		if (!range.done || !bytes[done])
			return done + range.done;
	}
	return length;
}

/* A memory of a copy of what is left of the input. */
static inline void fake_create(struct fake_memory *fake, uint64_t base, unsigned mood,
			       const struct input *input)
{
	*fake = (struct fake_memory){.source = {.readv = fake_readv, .context = fake},
				     .base = base,
				     .bytes = malloc(input->left + 1),
				     .length = input->left,
				     .mood = mood};
	MUST(fake->bytes);
	if (input->left)
		memcpy(fake->bytes, input->bytes, input->left);
}

static inline void fake_destroy(struct fake_memory *fake)
{
	free(fake->bytes);
}

#endif

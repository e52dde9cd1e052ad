/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading for the executor: registers, stack arguments, strings. See capture.c for the number of
 * reads. Freestanding: compilers turn plain loops over bytes into calls of memcpy and memset, which
 * the empty asm statement in capture_copy() prevents.
 */
#include "record/capture_fetch.h"

#include "record/capture_run.h"

void capture_copy(unsigned char *to, const unsigned char *from, size_t length)
{
	for (; length >= sizeof(uint64_t); length -= sizeof(uint64_t)) {
		uint64_t word;

		__builtin_memcpy(&word, from, sizeof word);
		__builtin_memcpy(to, &word, sizeof word);
		to += sizeof word;
		from += sizeof word;
		__asm__("" : "+r"(length));
	}
	for (; length; length--) {
		*to++ = *from++;
		__asm__("" : "+r"(length));
	}
}

/* Returns the index of the first NUL in [start, end), or `end`. */
static size_t find_nul(const unsigned char *bytes, size_t start, size_t end)
{
	static const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t word;

	/* Word by word, while no byte of the word is 0. */
	for (; end - start >= sizeof word; start += sizeof word) {
		__builtin_memcpy(&word, bytes + start, sizeof word);
		if ((word - ones) & ~word & ones << 7)
			break;
	}
	while (start < end && bytes[start])
		start++;
	return start;
}

uint64_t capture_load_word(const unsigned char *bytes, unsigned size)
{
	uint64_t word = 0;

	for (unsigned i = 0; i < size && i < sizeof word; i++)
		word |= (uint64_t)bytes[i] << 8 * i;
	return word;
}

static size_t read_memory(const struct capture *c, uint64_t address, void *buffer, size_t length)
{
	struct memory_range range;

	range.address = address;
	range.buffer = buffer;
	range.length = length;
	range.done = 0;
	c->frame->memory->readv(c->frame->memory->context, &range, 1);
	return min_size(range.done, length);
}

/*
 * Reads the stack around an object into the cache: all of the parameters' area, if it lies in that.
 */
static void read_stack(struct capture *c, int32_t offset, unsigned size)
{
	const struct capture_plan *plan = c->plan;
	int64_t start = offset;
	int64_t end = start + size;

	if (offset >= plan->first_stack && offset < plan->next_stack) {
		start = plan->first_stack;
		if (end < plan->next_stack)
			end = plan->next_stack;
	}
	if (plan->varargs)
		end += STACK_AHEAD;
	if (end - start > STACK_MAX) {
		start = offset;
		end = start + STACK_MAX;
	}
	c->stack_offset = (int32_t)start;
	c->stack_length = (size_t)(end - start);
	c->stack_done = read_memory(c, c->sp + (uint64_t)start, c->stack, c->stack_length);
}

const unsigned char *capture_stack(struct capture *c, int32_t offset, unsigned size)
{
	int64_t skip = (int64_t)offset - c->stack_offset;

	if (skip < 0 || (uint64_t)skip + size > c->stack_length) {
		read_stack(c, offset, size);
		skip = (int64_t)offset - c->stack_offset;
	}
	return (uint64_t)skip + size <= c->stack_done ? c->stack + skip : NULL;
}

static uint64_t load_pair(const struct capture *c, unsigned low, unsigned high)
{
	unsigned half = 8U * c->plan->word;
	uint64_t word = c->frame->gpr[low & 15];

	if (half >= 64)
		return word;
	return capture_extend(word, c->plan->word, false) | c->frame->gpr[high & 15] << half;
}

bool capture_fetch_location(struct capture *c, const struct capture_location *location,
			    uint64_t *word)
{
	unsigned size = location->size < 8 ? location->size : 8;
	const unsigned char *bytes;

	*word = 0;
	switch (location->place) {
	case PLACE_GPR:
		*word = c->frame->gpr[location->index & 15];
		break;
	case PLACE_PAIR:
		*word = load_pair(c, location->index, (unsigned)location->offset);
		break;
	case PLACE_XMM:
		if (!c->frame->xmm || location->index >= capture_xmm_count(c->frame))
			return false;
		*word = capture_load_word(c->frame->xmm[location->index], size);
		break;
	case PLACE_STACK:
		bytes = capture_stack(c, location->offset, size);
		if (!bytes)
			return false;
		*word = capture_load_word(bytes, size);
		break;
	default:
		return false;
	}
	*word = capture_extend(*word, size, location->is_signed);
	return true;
}

bool capture_fetch(struct capture *c, const struct capture_op *op, uint64_t *word)
{
	struct capture_location location;

	switch (op->place) {
	case PLACE_SAVED:
		*word = 0;
		if (!c->saved || op->index >= CAPTURE_ARGS_MAX)
			return false;
		*word = capture_extend(c->saved->word[op->index], op->size, op->is_signed);
		return true;
	case PLACE_PAIR:
		*word = load_pair(c, op->index, op->high);
		return true;
	default:
		location.place = op->place;
		location.index = op->index;
		location.size = op->size;
		location.is_signed = op->is_signed;
		location.offset = op->offset;
		return capture_fetch_location(c, &location, word);
	}
}

/* Copies what was read of a string in advance. Returns the number of bytes. */
static size_t take_chunk(const struct capture *c, uint64_t address, unsigned char *to, size_t want)
{
	for (unsigned i = 0; i < c->chunk_count; i++) {
		if (c->chunk[i].address != address)
			continue;
		want = min_size(want, c->chunk[i].done);
		capture_copy(to, c->chunk[i].buffer, want);
		return want;
	}
	return 0;
}

size_t capture_load(const struct capture *c, uint64_t address, unsigned char *to, size_t want,
		    bool nul_ends, bool *ended)
{
	const struct memory_source *memory = c->frame->memory;

	if (nul_ends && memory->read_string) {
		size_t got = memory->read_string(memory->context, address, to, want);

		*ended = got && got <= want && !to[got - 1];
		return min_size(got, want) - *ended;
	}
	size_t done = take_chunk(c, address, to, want);
	size_t nul = nul_ends ? find_nul(to, 0, done) : done;

	/* A string of unknown length is read in pieces of doubling size. */
	for (size_t piece = CHUNK_MAX; nul == done && done < want; piece *= 2) {
		size_t asked = nul_ends ? min_size(want - done, piece) : want - done;
		size_t got = read_memory(c, address + done, to + done, asked);

		nul = nul_ends ? find_nul(to, done, done + got) : done + got;
		done += got;
		if (got < asked)
			break;
	}
	*ended = nul < done;
	return nul;
}

bool capture_load_pointed(const struct capture *c, uint64_t address, unsigned size, bool is_signed,
			  uint64_t *word)
{
	unsigned char bytes[sizeof *word];

	*word = 0;
	if (!size || size > sizeof bytes || read_memory(c, address, bytes, size) < size)
		return false;
	*word = capture_extend(capture_load_word(bytes, size), size, is_signed);
	return true;
}

void capture_want_chunk(struct capture *c, uint64_t address, size_t length)
{
	if (!address || !length || c->chunk_count == CHUNKS_MAX || c->frame->memory->read_string)
		return;
	struct memory_range *range = &c->chunk[c->chunk_count++];

	range->address = address;
	range->length = min_size(length, CHUNK_MAX);
	range->done = 0;
}

void capture_read_chunks(struct capture *c, unsigned first)
{
	size_t total = 0;

	for (unsigned i = first; i < c->chunk_count; i++)
		total += round_up8(c->chunk[i].length);
	if (c->chunk_count - first < 2 || total > (c->capacity - c->record->size) / 4) {
		c->chunk_count = first;
		return;
	}
	c->capacity -= total;
	total = 0;
	for (unsigned i = first; i < c->chunk_count; i++) {
		c->chunk[i].buffer = c->bytes + c->capacity + total;
		total += round_up8(c->chunk[i].length);
	}
	c->frame->memory->readv(c->frame->memory->context, &c->chunk[first],
				c->chunk_count - first);
	for (unsigned i = first; i < c->chunk_count; i++)
		c->chunk[i].done = min_size(c->chunk[i].done, c->chunk[i].length);
}

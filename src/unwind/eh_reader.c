/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the numbers and pointers of the exception-handling tables.
 *
 * The tables are long sequences of small numbers, and each elf_read() is a system call. So the file
 * is read forwards in large pieces. A piece never crosses a segment's end.
 */
#include "unwind/eh_reader.h"

#include "base/xalloc.h"
#include "object/elf_private.h"
#include "object/elf_records.h"
#include "unwind/eh_frame.h"

#include <stdlib.h>

void eh_reader_init(struct eh_reader *reader, const struct elf_file *file, size_t capacity)
{
	*reader = (struct eh_reader){
		.file = file,
		.word = elf_arch(file)->abi->word,
		.piece = xmalloc(capacity),
		.capacity = capacity,
	};
}

void eh_reader_deinit(struct eh_reader *reader)
{
	free(reader->piece);
	reader->piece = NULL;
}

void eh_seek(struct eh_reader *reader, uint64_t address)
{
	reader->at = address;
	reader->failed = false;
}

uint64_t eh_wrap(const struct eh_reader *reader, uint64_t address)
{
	return reader->word == 4 ? (uint32_t)address : address;
}

/* Reads the piece that begins at `at`. */
static bool refill(struct eh_reader *reader)
{
	uint64_t offset, available;

	reader->piece_length = 0;
	if (!elf_locate(reader->file, reader->at, &offset, &available))
		return false;
	size_t length = available < reader->capacity ? (size_t)available : reader->capacity;

	if (!elf_file_read_near(reader->file, offset, reader->piece, length))
		return false;
	reader->piece_start = reader->at;
	reader->piece_length = length;
	return true;
}

static bool holds(const struct eh_reader *reader, unsigned size)
{
	uint64_t into = reader->at - reader->piece_start;

	return into < reader->piece_length && size <= reader->piece_length - into;
}

/* Returns the next `size` bytes and moves past them, or NULL if they are not there. */
static const uint8_t *take(struct eh_reader *reader, unsigned size)
{
	if (reader->failed)
		return NULL;
	if (!holds(reader, size) && (!refill(reader) || !holds(reader, size))) {
		reader->failed = true;
		return NULL;
	}
	const uint8_t *bytes = reader->piece + (reader->at - reader->piece_start);

	reader->at += size;
	return bytes;
}

/* Both architectures are little-endian, and elf_open() accepts no other file. */
uint64_t eh_fixed(struct eh_reader *reader, unsigned size)
{
	const uint8_t *bytes = take(reader, size);
	uint64_t value = 0;

	for (unsigned i = 0; bytes && i < size; i++)
		value |= (uint64_t)bytes[i] << 8 * i;
	return value;
}

static uint64_t leb(struct eh_reader *reader, bool is_signed)
{
	uint64_t value = 0;
	const uint8_t *byte;

	for (unsigned shift = 0; shift < 64 && (byte = take(reader, 1)); shift += 7) {
		value |= (uint64_t)(*byte & 0x7f) << shift;
		if (*byte & 0x80)
			continue;
		if (is_signed && *byte & 0x40 && shift + 7 < 64)
			value |= UINT64_MAX << (shift + 7);
		return value;
	}
	reader->failed = true;
	return 0;
}

uint64_t eh_uleb(struct eh_reader *reader)
{
	return leb(reader, false);
}

static uint64_t fixed_signed(struct eh_reader *reader, unsigned size)
{
	uint64_t value = eh_fixed(reader, size);
	uint64_t sign = UINT64_C(1) << (8 * size - 1);

	return (value ^ sign) - sign;
}

uint64_t eh_value(struct eh_reader *reader, uint8_t encoding)
{
	if ((encoding & EH_RELATIVE) == EH_ALIGNED) {
		reader->at = (reader->at + reader->word - 1) & ~(uint64_t)(reader->word - 1);
		return eh_fixed(reader, reader->word);
	}
	switch (encoding & EH_FORMAT) {
	case EH_ABSPTR:
		return eh_fixed(reader, reader->word);
	case EH_ULEB128:
		return eh_uleb(reader);
	case EH_UDATA2:
		return eh_fixed(reader, 2);
	case EH_UDATA4:
		return eh_fixed(reader, 4);
	case EH_UDATA8:
		return eh_fixed(reader, 8);
	case EH_SIGNED:
		return fixed_signed(reader, reader->word == 4 ? 4 : 8);
	case EH_SLEB128:
		return leb(reader, true);
	case EH_SDATA2:
		return fixed_signed(reader, 2);
	case EH_SDATA4:
		return fixed_signed(reader, 4);
	case EH_SDATA8:
		return fixed_signed(reader, 8);
	default:
		reader->failed = true;
		return 0;
	}
}

uint64_t eh_pointer(struct eh_reader *reader, uint8_t encoding, uint64_t base)
{
	uint64_t field = reader->at;
	uint64_t value = eh_value(reader, encoding);

	if (encoding & EH_INDIRECT)
		reader->failed = true;
	if (reader->failed || !value)
		return 0;
	switch (encoding & EH_RELATIVE) {
	case EH_ABSPTR:
	case EH_ALIGNED:
		return eh_wrap(reader, value);
	case EH_PCREL:
		return eh_wrap(reader, field + value);
	case EH_DATAREL:
	case EH_FUNCREL:
		if (base)
			return eh_wrap(reader, base + value);
	}
	reader->failed = true;
	return 0;
}

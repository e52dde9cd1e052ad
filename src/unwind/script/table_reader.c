/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a table byte by byte; memory is read in pieces of TABLE_READER_PIECE. */
#include "unwind/script/table_reader.h"

void table_reader_init(struct table_reader *reader, const struct memory_source *memory,
		       uint64_t address, uint64_t length)
{
	reader->memory = memory;
	reader->address = address;
	reader->left = length < TABLE_READER_MAX ? length : TABLE_READER_MAX;
	reader->at = 0;
	reader->length = 0;
}

static bool fill(struct table_reader *reader)
{
	const size_t want = reader->left < TABLE_READER_PIECE ? (size_t)reader->left
							      : TABLE_READER_PIECE;

	reader->at = 0;
	reader->length = want ? memory_read(reader->memory, reader->address, reader->bytes, want)
			      : 0;
	reader->address += reader->length;
	/* Nothing is behind bytes that could not be read. */
	reader->left = reader->length == want ? reader->left - want : 0;
	return reader->length > 0;
}

bool table_reader_next(struct table_reader *reader, uint8_t *byte)
{
	if (reader->at == reader->length && !fill(reader))
		return false;
	*byte = reader->bytes[reader->at++];
	return true;
}

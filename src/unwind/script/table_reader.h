/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the bytes of a table in a process one after the other, in pieces: see table_reader.c. */
#ifndef TRACER_UNWIND_SCRIPT_TABLE_READER_H
#define TRACER_UNWIND_SCRIPT_TABLE_READER_H

#include "base/memory.h"

#include <stdbool.h>

/* Line tables of real programs have some 10 KiB; what is longer is not read to its end. */
enum { TABLE_READER_MAX = 1 << 20, TABLE_READER_PIECE = 512 };

struct table_reader {
	const struct memory_source *memory;
	uint64_t address;  /* of the next piece */
	uint64_t left;	   /* bytes behind the piece that is in `bytes` */
	size_t at, length; /* in `bytes` */
	uint8_t bytes[TABLE_READER_PIECE];
};

void table_reader_init(struct table_reader *reader, const struct memory_source *memory,
		       uint64_t address, uint64_t length);
/* Takes the next byte. Returns false at the end, or if it is unreadable. */
bool table_reader_next(struct table_reader *reader, uint8_t *byte);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The three line tables that versions of Python have had. All are runs of entries that cover the
 * instructions in order, so the entry is found by walking from the beginning.
 */
#include "unwind/script/python_lines.h"

#include "unwind/script/table_reader.h"

#include <limits.h>
#include <stdbool.h>

enum { OBJECT_SIZE = 0x10, OBJECT_BYTES = 0x20 }; /* members of a bytes object */

/* Where the walk through a table is. */
struct walk {
	struct table_reader reader;
	int64_t line;
	int64_t wanted; /* offset of the instruction */
	int64_t end;	/* offset behind the instructions of the entries so far */
};

static bool begin(struct walk *walk, const struct memory_source *memory, const uint64_t *arguments)
{
	uint64_t size;

	if (!memory_read_word(memory, arguments[0] + OBJECT_SIZE, 8, &size))
		return false;
	table_reader_init(&walk->reader, memory, arguments[0] + OBJECT_BYTES, size);
	walk->wanted = (int64_t)arguments[1];
	walk->line = (int32_t)arguments[2];
	walk->end = 0;
	return true;
}

static unsigned as_line(int64_t line)
{
	return line > 0 && line <= INT_MAX ? (unsigned)line : 0;
}

/* Takes an entry of two bytes: by how much the offset, and the line, go on. */
static bool take_pair(struct walk *walk, uint8_t *offset, int8_t *line)
{
	uint8_t byte;

	if (!table_reader_next(&walk->reader, offset) || !table_reader_next(&walk->reader, &byte))
		return false;
	*line = (int8_t)byte;
	return true;
}

unsigned python_line_lnotab(const struct memory_source *memory, const uint64_t *arguments)
{
	struct walk walk;
	uint8_t offset;
	int8_t line;

	if (!begin(&walk, memory, arguments))
		return 0;
	while (take_pair(&walk, &offset, &line)) {
		walk.end += offset;
		if (walk.end > walk.wanted)
			break;
		walk.line += line;
	}
	return as_line(walk.line);
}

unsigned python_line_linetable(const struct memory_source *memory, const uint64_t *arguments)
{
	enum { NO_LINE = -128 };
	struct walk walk;
	uint8_t offset;
	int8_t line;

	if (!begin(&walk, memory, arguments))
		return 0;
	if (walk.wanted < 0) /* the frame has not begun */
		return as_line(walk.line);
	while (take_pair(&walk, &offset, &line)) {
		walk.end += offset;
		if (line != NO_LINE)
			walk.line += line;
		if (walk.wanted < walk.end)
			return line == NO_LINE ? 0 : as_line(walk.line);
	}
	return 0;
}

/* Takes a number of 6 bits a byte, the lowest first; bit 6 says that more follow. */
static bool take_number(struct table_reader *reader, uint64_t *number)
{
	uint8_t byte = 0x40;

	*number = 0;
	for (unsigned shift = 0; byte & 0x40; shift += 6) {
		if (shift > 30 || !table_reader_next(reader, &byte))
			return false;
		*number |= (uint64_t)(byte & 0x3f) << shift;
	}
	return true;
}

/* Like take_number(); the sign is in bit 0. */
static bool take_signed(struct table_reader *reader, int64_t *number)
{
	uint64_t word;

	if (!take_number(reader, &word))
		return false;
	*number = word & 1 ? -(int64_t)(word >> 1) : (int64_t)(word >> 1);
	return true;
}

/* The first byte of an entry of locations: its kind, and how many code units it covers. */
enum { LOCATION_ONE_LINE = 10, LOCATION_NO_COLUMNS = 13, LOCATION_LONG = 14, LOCATION_NONE = 15 };

/* Takes what follows the first byte of an entry. *line: by how much the line goes on. */
static bool take_location(struct table_reader *reader, unsigned kind, int64_t *line)
{
	uint64_t column;
	uint8_t byte;

	*line = kind >= LOCATION_ONE_LINE && kind < LOCATION_NO_COLUMNS ? kind - LOCATION_ONE_LINE
									: 0;
	if (kind < LOCATION_ONE_LINE)
		return table_reader_next(reader, &byte);
	if (kind < LOCATION_NO_COLUMNS)
		return table_reader_next(reader, &byte) && table_reader_next(reader, &byte);
	if (kind == LOCATION_NONE)
		return true;
	if (!take_signed(reader, line))
		return false;
	/* The end's line, the columns of both ends. */
	return kind == LOCATION_NO_COLUMNS ||
	       (take_number(reader, &column) && take_number(reader, &column) &&
		take_number(reader, &column));
}

unsigned python_line_locations(const struct memory_source *memory, const uint64_t *arguments)
{
	struct walk walk;
	uint8_t first;

	if (!begin(&walk, memory, arguments))
		return 0;
	if (walk.wanted < 0) /* the frame has not begun */
		return as_line(walk.line);
	while (table_reader_next(&walk.reader, &first) && first & 0x80) {
		const unsigned kind = first >> 3 & 15;
		int64_t line;

		if (!take_location(&walk.reader, kind, &line))
			break;
		walk.line += line;
		walk.end += (first & 7) + 1;
		if (walk.wanted < walk.end)
			return kind == LOCATION_NONE ? 0 : as_line(walk.line);
	}
	return 0;
}

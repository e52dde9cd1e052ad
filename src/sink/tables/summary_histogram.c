/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Distributions of times by powers of two. A bar is as long as the count is, in proportion to the
 * greatest one of its row; a count that is not 0 has a bar.
 */
#include "sink/tables/summary_histogram.h"

enum { LEVELS = 8, BAR_WIDTH = 40, NUMBER_WIDTH = 14 };

/* Returns the part of `steps` that `count` is of `most`, rounded up. */
static unsigned part_of(uint64_t count, uint64_t most, unsigned steps)
{
	const double part = (double)count / (double)most * steps;
	const unsigned whole = (unsigned)part;

	if (!count)
		return 0;
	return whole < part && whole < steps ? whole + 1 : whole;
}

/* ------------------------------------------------------------------ a cell */

static void put_level(struct outbuf *out, unsigned level, bool utf8)
{
	static const char characters[LEVELS + 1] = " .:-=+*#@";
	/* U+2581 to U+2588: blocks of one to eight eighths */
	const char block[] = {'\xe2', '\x96', (char)(0x80 + level)};

	if (!utf8 || !level) {
		outbuf_char(out, characters[level]);
		return;
	}
	outbuf_bytes(out, block, sizeof block);
	outbuf_take_no_column(out, sizeof block - 1);
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

void histogram_cells(const struct histogram *times, uint64_t counts[HISTOGRAM_CELL_WIDTH])
{
	memset(counts, 0, HISTOGRAM_CELL_WIDTH * sizeof *counts);
	for (unsigned octave = 0; octave < HISTOGRAM_OCTAVES; octave++) {
		unsigned cell = octave < HISTOGRAM_CELL_FIRST ? 0 : octave - HISTOGRAM_CELL_FIRST;

		if (cell >= HISTOGRAM_CELL_WIDTH)
			cell = HISTOGRAM_CELL_WIDTH - 1;
		counts[cell] = sum(counts[cell], histogram_octave(times, octave));
	}
}

void histogram_put_strip(struct outbuf *out, const uint64_t *counts, unsigned each, bool utf8)
{
	uint64_t strip[HISTOGRAM_CELL_WIDTH] = {0}, most = 0;
	unsigned used = 0;

	for (unsigned i = 0; i < HISTOGRAM_CELL_WIDTH; i++) {
		const unsigned at = i / each;

		strip[at] = sum(strip[at], counts[i]);
		if (strip[at])
			used = at + 1;
		if (strip[at] > most)
			most = strip[at];
	}
	for (unsigned i = 0; i < used; i++)
		put_level(out, part_of(strip[i], most, LEVELS), utf8);
}

void histogram_put_cell(struct outbuf *out, const struct histogram *times, bool utf8)
{
	uint64_t counts[HISTOGRAM_CELL_WIDTH];

	histogram_cells(times, counts);
	histogram_put_strip(out, counts, 1, utf8);
}

/* ------------------------------------------------------------------ lines */

static void put_heading(struct outbuf *out)
{
	static const char *const words[] = {"from ns", "to ns", "calls"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		outbuf_spaces(out, NUMBER_WIDTH + 1 - strlen(words[i]));
		outbuf_text(out, words[i]);
	}
	outbuf_newline(out);
}

static void put_line(struct outbuf *out, unsigned octave, uint64_t count, uint64_t most)
{
	const uint64_t from = octave ? UINT64_C(1) << octave : 0;
	const uint64_t to = (UINT64_C(1) << octave) * 2 - 1;
	const unsigned length = part_of(count, most, BAR_WIDTH);

	outbuf_char(out, ' ');
	outbuf_unsigned(out, from, NUMBER_WIDTH, ' ');
	outbuf_char(out, ' ');
	outbuf_unsigned(out, to, NUMBER_WIDTH, ' ');
	outbuf_char(out, ' ');
	outbuf_unsigned(out, count, NUMBER_WIDTH, ' ');
	outbuf_text(out, " |");
	for (unsigned i = 0; i < length; i++)
		outbuf_char(out, '#');
	outbuf_spaces(out, BAR_WIDTH - length);
	outbuf_char(out, '|');
	outbuf_newline(out);
}

void histogram_put_lines(struct outbuf *out, const struct histogram *times)
{
	uint64_t counts[HISTOGRAM_OCTAVES], most = 0;
	unsigned first = HISTOGRAM_OCTAVES, last = 0;

	for (unsigned octave = 0; octave < HISTOGRAM_OCTAVES; octave++) {
		counts[octave] = histogram_octave(times, octave);
		if (counts[octave] > most)
			most = counts[octave];
		if (counts[octave])
			last = octave;
		if (counts[octave] && first == HISTOGRAM_OCTAVES)
			first = octave;
	}
	if (!most)
		return;
	put_heading(out);
	for (unsigned octave = first; octave <= last; octave++)
		put_line(out, octave, counts[octave], most);
}

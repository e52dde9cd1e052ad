/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text on its way to a descriptor. It is gathered here, as a system call per line would cost more
 * than the line, and written when the writer says so. The buffer knows the column the text has
 * reached, also after half a line was written: a byte is a column, unless who adds it says
 * otherwise. Numbers are formatted by hand: stdio is several times slower and obeys the locale.
 */
#ifndef TRACER_OUTPUT_OUTBUF_H
#define TRACER_OUTPUT_OUTBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Whether somebody waits for the output to end (a signal has come), asked when writing has been
 * interrupted: who reads then has a moment to go on with that. Or it fails, with -EINTR.
 */
struct outbuf_patience {
	bool (*is_over)(void *context); /* NULL: never */
	void *context;
};

struct outbuf {
	char *text; /* owned */
	size_t length;
	size_t capacity;
	size_t line_start; /* where the current line would begin if each byte took a column */
	size_t carried;	   /* columns of the current line that were written already */
	int fd;		   /* not owned */
	const struct outbuf_patience *patience; /* NULL: without end; not owned */
	int error; /* 0, or the -errno that ended the output: from then on text is dropped */
};

void outbuf_init(struct outbuf *out, int fd);
void outbuf_deinit(struct outbuf *out);

/*
 * Writes out everything, waiting where the descriptor would block. 0, or the -errno of the first
 * write that failed, now or earlier.
 */
int outbuf_flush(struct outbuf *out);

/* Writes out when more than 64 KiB wait; 0 or -errno as outbuf_flush(). */
int outbuf_flush_full(struct outbuf *out);

void outbuf_grow(struct outbuf *out, size_t more);

/* A place for up to `more` bytes; the caller adds to `length` what it used. */
static inline char *outbuf_reserve(struct outbuf *out, size_t more)
{
	if (out->capacity - out->length < more)
		outbuf_grow(out, more);
	return out->text + out->length;
}

static inline void outbuf_char(struct outbuf *out, char c)
{
	*outbuf_reserve(out, 1) = c;
	out->length++;
}

static inline void outbuf_bytes(struct outbuf *out, const void *bytes, size_t length)
{
	memcpy(outbuf_reserve(out, length), bytes, length);
	out->length += length;
}

static inline void outbuf_text(struct outbuf *out, const char *text)
{
	outbuf_bytes(out, text, strlen(text));
}

static inline void outbuf_newline(struct outbuf *out)
{
	outbuf_char(out, '\n');
	out->line_start = out->length;
	out->carried = 0;
}

/* The current line has so many bytes more than columns. */
static inline void outbuf_take_no_column(struct outbuf *out, size_t bytes)
{
	out->line_start += bytes;
}

/* Switches the terminal to a style: "1" is bold, "0" as before. This takes no column. */
static inline void outbuf_style(struct outbuf *out, const char *code)
{
	size_t before = out->length;

	outbuf_text(out, "\033[");
	outbuf_text(out, code);
	outbuf_char(out, 'm');
	outbuf_take_no_column(out, out->length - before);
}

/* Columns of the current line so far. */
static inline size_t outbuf_column(const struct outbuf *out)
{
	return out->carried + (out->length - out->line_start);
}

void outbuf_spaces(struct outbuf *out, size_t count);
/* Spaces up to column `column`, none when it is passed. */
void outbuf_pad_to(struct outbuf *out, size_t column);

/* Numbers. `width` is a least width, filled up on the left with `fill`. */
void outbuf_unsigned(struct outbuf *out, uint64_t value, unsigned width, char fill);
void outbuf_signed(struct outbuf *out, int64_t value);
void outbuf_hex(struct outbuf *out, uint64_t value);   /* 0x1f; 0 is 0 */
void outbuf_octal(struct outbuf *out, uint64_t value); /* 0755; 0 is 0 */

#endif

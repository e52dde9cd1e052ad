/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A buffer for text on its way to a descriptor, since a system call for each line would cost more
 * than the line. The sink decides when it is written. The buffer knows the current column, even
 * after half a line was written: a byte counts as a column, unless outbuf_take_no_column() says
 * otherwise. Numbers are formatted by hand: stdio is several times slower and depends on the
 * locale.
 */
#ifndef TRACER_SINK_RENDER_OUTBUF_H
#define TRACER_SINK_RENDER_OUTBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Limits the wait for a slow reader. is_over() is called when a write is interrupted, and returns
 * true if the tracer should end (a signal has come). The reader then has 300 ms to read on;
 * otherwise the write fails with -EINTR.
 */
struct outbuf_patience {
	bool (*is_over)(void *context); /* NULL: returns false always */
	/* Returns true if a signal has ended the trace. NULL: as is_over(). */
	bool (*has_ended)(void *context);
	void *context;
};

struct outbuf {
	char *text; /* owned */
	size_t length;
	size_t capacity;
	/* index where the current line would begin if each byte took one column */
	size_t line_start;
	size_t carried; /* columns of the current line that have been written already */
	int fd;		/* not owned */
	const struct outbuf_patience *patience; /* NULL: wait forever; not owned */
	int error; /* 0, or the -errno of a failed write; later text is dropped */
};

void outbuf_init(struct outbuf *out, int fd);
void outbuf_deinit(struct outbuf *out);

/*
 * Writes all text, and waits if the descriptor would block. Returns 0, or the -errno of the first
 * write that failed, now or earlier.
 */
int outbuf_flush(struct outbuf *out);

/* Writes all text if there are more than 64 KiB. Returns 0 or -errno like outbuf_flush(). */
int outbuf_flush_full(struct outbuf *out);

void outbuf_grow(struct outbuf *out, size_t more);

/* Returns space for up to `more` bytes; the caller adds the used number to `length`. */
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

/* Adds lines, which have no newline of their own. */
static inline void outbuf_lines(struct outbuf *out, const char *const *lines, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		outbuf_text(out, lines[i]);
		outbuf_newline(out);
	}
}

/* Tells the buffer that the current line has `bytes` more bytes than columns. */
static inline void outbuf_take_no_column(struct outbuf *out, size_t bytes)
{
	out->line_start += bytes;
}

/* Switches the terminal to a style: "1" is bold, "0" is normal. The sequence takes no column. */
static inline void outbuf_style(struct outbuf *out, const char *code)
{
	size_t before = out->length;

	outbuf_text(out, "\033[");
	outbuf_text(out, code);
	outbuf_char(out, 'm');
	outbuf_take_no_column(out, out->length - before);
}

/* Returns the number of columns of the current line so far. */
static inline size_t outbuf_column(const struct outbuf *out)
{
	return out->carried + (out->length - out->line_start);
}

void outbuf_spaces(struct outbuf *out, size_t count);
/* Adds spaces up to `column`, or none if the line is longer. */
void outbuf_pad_to(struct outbuf *out, size_t column);

/* Numbers. `width` is a minimum; shorter numbers are padded on the left with `fill`. */
void outbuf_unsigned(struct outbuf *out, uint64_t value, unsigned width, char fill);
void outbuf_signed(struct outbuf *out, int64_t value);
void outbuf_hex(struct outbuf *out, uint64_t value);   /* 0x1f; 0 is 0 */
void outbuf_octal(struct outbuf *out, uint64_t value); /* 0755; 0 is 0 */

#endif

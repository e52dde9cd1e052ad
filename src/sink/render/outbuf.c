/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The output buffer's slower half: it writes to the descriptor, waits for slow readers, and formats
 * numbers. The first failed write is remembered, and ends the output.
 */
#include "sink/render/outbuf.h"

#include "base/xalloc.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { OUTBUF_FULL = 64 * 1024, DIGITS_MAX = 24, PATIENCE_MS = 300 };

void outbuf_init(struct outbuf *out, int fd)
{
	*out = (struct outbuf){.fd = fd};
	outbuf_grow(out, 1); /* so that `text` is never NULL */
}

void outbuf_deinit(struct outbuf *out)
{
	free(out->text);
	*out = (struct outbuf){.fd = -1};
}

void outbuf_grow(struct outbuf *out, size_t more)
{
	size_t capacity = out->capacity ? out->capacity : OUTBUF_FULL + 4096;

	while (capacity - out->length < more)
		capacity *= 2;
	out->text = xrealloc(out->text, capacity);
	out->capacity = capacity;
}

/* Another process may have made a shared descriptor non-blocking: wait then, and lose no text. */
static int wait_writable(int fd)
{
	struct pollfd poller = {.fd = fd, .events = POLLOUT};

	return poll(&poller, 1, -1) < 0 && errno != EINTR ? -errno : 0;
}

/*
 * Returns true if the output should end and PATIENCE_MS have passed since then without progress.
 * `since`: when that was first noticed, in ms; 0: not yet.
 */
static bool is_out_of_patience(const struct outbuf *out, int64_t *since)
{
	struct timespec now;

	if (!out->patience || !out->patience->is_over ||
	    !out->patience->is_over(out->patience->context))
		return false;
	clock_gettime(CLOCK_MONOTONIC, &now);
	int64_t ms = now.tv_sec * 1000 + now.tv_nsec / 1000000;

	if (!*since)
		*since = ms;
	return ms - *since >= PATIENCE_MS;
}

static int write_all(const struct outbuf *out)
{
	int64_t since = 0;

	for (size_t done = 0; done < out->length;) {
		ssize_t written = write(out->fd, out->text + done, out->length - done);
		int error = 0;

		if (written >= 0) {
			done += (size_t)written;
			since = 0;
		} else if (errno == EAGAIN) {
			error = wait_writable(out->fd);
		} else if (errno != EINTR) {
			error = -errno;
		}
		if (error)
			return error;
		if (written < 0 && is_out_of_patience(out, &since))
			return -EINTR;
	}
	return 0;
}

int outbuf_flush(struct outbuf *out)
{
	if (!out->error)
		out->error = write_all(out);
	out->carried = outbuf_column(out);
	out->line_start = 0;
	out->length = 0;
	return out->error;
}

int outbuf_flush_full(struct outbuf *out)
{
	return out->length > OUTBUF_FULL || out->error ? outbuf_flush(out) : 0;
}

void outbuf_spaces(struct outbuf *out, size_t count)
{
	memset(outbuf_reserve(out, count), ' ', count);
	out->length += count;
}

void outbuf_pad_to(struct outbuf *out, size_t column)
{
	size_t reached = outbuf_column(out);

	if (reached < column)
		outbuf_spaces(out, column - reached);
}

void outbuf_unsigned(struct outbuf *out, uint64_t value, unsigned width, char fill)
{
	char digits[DIGITS_MAX];
	char *first = digits + sizeof digits;

	do {
		*--first = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	size_t length = (size_t)(digits + sizeof digits - first);

	for (; width > length; width--)
		outbuf_char(out, fill);
	outbuf_bytes(out, first, length);
}

void outbuf_signed(struct outbuf *out, int64_t value)
{
	if (value < 0)
		outbuf_char(out, '-');
	outbuf_unsigned(out, value < 0 ? -(uint64_t)value : (uint64_t)value, 1, ' ');
}

/* Writes digits of `bits` bits each. */
static void put_digits(struct outbuf *out, uint64_t value, unsigned bits, const char *prefix)
{
	char digits[DIGITS_MAX];
	char *first = digits + sizeof digits;

	if (value)
		outbuf_text(out, prefix);
	do {
		*--first = "0123456789abcdef"[value & ((1U << bits) - 1)];
		value >>= bits;
	} while (value);
	outbuf_bytes(out, first, (size_t)(digits + sizeof digits - first));
}

void outbuf_hex(struct outbuf *out, uint64_t value)
{
	put_digits(out, value, 4, "0x");
}

void outbuf_octal(struct outbuf *out, uint64_t value)
{
	put_digits(out, value, 3, "0");
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tracer's own messages: one line on stderr, `tracer: …`, written by a single write(2), so that
 * lines of tracer and tracee do not mix. Bytes that are not printable ASCII are escaped.
 */
#ifndef TRACER_BASE_DIAG_H
#define TRACER_BASE_DIAG_H

#include <stddef.h>

void diag(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Copies `text` to `buffer`, at most `size` bytes; bytes that are not printable ASCII become \ooo.
 * Returns `buffer`.
 */
const char *diag_safe(char *buffer, size_t size, const char *text);

#endif

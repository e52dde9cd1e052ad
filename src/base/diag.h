/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tracer says about itself: one line on stderr, `tracer: …`, written with one write(2)
 * so that lines of tracer and tracee do not mix. Whatever is put in, printable ASCII comes out.
 */
#ifndef TRACER_BASE_DIAG_H
#define TRACER_BASE_DIAG_H

#include <stddef.h>

void diag(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Copies `text` into `buffer` with every byte that is not printable ASCII shown as \ooo, cut to
 * `size`; returns `buffer`.
 */
const char *diag_safe(char *buffer, size_t size, const char *text);

#endif

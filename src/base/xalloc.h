/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Allocation that never returns NULL: if memory runs out, the tracer prints a message and exits. */
#ifndef TRACER_BASE_XALLOC_H
#define TRACER_BASE_XALLOC_H

#include <stdarg.h>
#include <stddef.h>

/* Prints the message and exits: for memory that was not allocated by the functions here. */
_Noreturn void out_of_memory(void);
/* Like out_of_memory(), with another reason. */
_Noreturn void out_of_room(const char *why);

void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
/* Returns zeroed memory for `count` items of `size` bytes. */
void *xcalloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *memory, size_t size) __attribute__((returns_nonnull));
/* Like xrealloc(), for `count` items of `size` bytes, with a check for overflow. */
void *xreallocarray(void *memory, size_t count, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *text) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *text, size_t length) __attribute__((malloc, returns_nonnull));
void *xmemdup(const void *memory, size_t size) __attribute__((malloc, returns_nonnull));
char *xasprintf(const char *format, ...)
	__attribute__((malloc, returns_nonnull, format(printf, 1, 2)));

#endif

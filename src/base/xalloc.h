/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Allocation that never returns NULL: out of memory ends the program with a message. */
#ifndef TRACER_BASE_XALLOC_H
#define TRACER_BASE_XALLOC_H

#include <stdarg.h>
#include <stddef.h>

/*
 * Ends the program with that message: for memory that comes from elsewhere than the functions here.
 */
_Noreturn void out_of_memory(void);
/* The same where it is known why there is none. */
_Noreturn void out_of_room(const char *why);

void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
/* Zeroed memory for `count` items of `size` bytes. */
void *xcalloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *memory, size_t size) __attribute__((returns_nonnull));
/* As xrealloc for `count` items of `size` bytes, with the product checked. */
void *xreallocarray(void *memory, size_t count, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *text) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *text, size_t length) __attribute__((malloc, returns_nonnull));
void *xmemdup(const void *memory, size_t size) __attribute__((malloc, returns_nonnull));
char *xasprintf(const char *format, ...)
	__attribute__((malloc, returns_nonnull, format(printf, 1, 2)));

#endif

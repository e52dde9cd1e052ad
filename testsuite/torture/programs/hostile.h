/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of hostile.c share, and the functions of libhostile that are traced. */
#ifndef HOSTILE_H
#define HOSTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- libhostile.c: none of them looks at what it is given ---- */

int host_plain(int n); /* 3 * n */
int host_text(const char *text);
int host_bytes(const char *bytes, unsigned long length);
int host_format(const char *format, ...);
long host_fill(char *buffer, unsigned long length); /* `length`; says that it has filled so much */
void host_bare(void); /* returns to where the register says: to be reached by bare_call() */

/* Calls host_bare() with this stack pointer. */
void bare_call(uintptr_t stack);

/* ---- hostile.c ---- */

/* `prepare` runs before "ready" (it may be NULL), `work` after "go". */
struct act {
	const char *name;
	void (*prepare)(void);
	void (*work)(void);
};

/* Tables of acts, the last one without a name. */
extern const struct act memory_acts[], blocked_acts[], linker_acts[], code_acts[];

/* Traced calls, counted. */
void plain(int times);
void text(const void *pointer);
void bytes(const void *pointer, unsigned long length);
void format(const void *pointer);
void fill(void *pointer, unsigned long length);

/* Adds to the checksum. */
void note(uint64_t value);
/* Takes calls of host_plain() out of what was counted: nobody could have seen them. */
void unseen(int times);

/* Says why this machine cannot do it, and ends: the case is skipped. */
void cannot(const char *what) __attribute__((noreturn));

/* The number behind the act's name, `otherwise` when there is none. */
int argument(int otherwise);

/* Pages of which only the first is there; the others never come (userfaultfd). */
unsigned char *pages_that_never_come(size_t count);

enum { PAGE = 4096 };

#endif

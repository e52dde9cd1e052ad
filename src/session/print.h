/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What can be printed without tracing anything. */
#ifndef TRACER_SESSION_PRINT_H
#define TRACER_SESSION_PRINT_H

/*
 * Prints a .conf file with the prototypes of the functions that the object file at `path` exports,
 * from its debug information. 0, or -errno, said on stderr: it cannot be read, has no debug
 * information, or only some that is not read, or so much that `steps` (proto/dwarf.h, also of
 * `levels`) are too few; or standard output cannot be written.
 */
int print_prototypes(const char *path, unsigned steps, unsigned levels);

#endif

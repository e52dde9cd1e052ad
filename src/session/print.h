/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output that needs no tracing. */
#ifndef TRACER_SESSION_PRINT_H
#define TRACER_SESSION_PRINT_H

/*
 * Prints a .conf file with prototypes, from debug information, of the functions that the object
 * file at `path` exports. Returns 0, or -errno after a message on stderr: the file cannot be read;
 * it has no debug information, or only some in files that are not read; `steps` did not suffice
 * (dwarf/dwarf.h, also for `levels`); or standard output cannot be written.
 */
int print_prototypes(const char *path, unsigned steps, unsigned levels);

#endif

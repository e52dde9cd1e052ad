/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How questions about the debug information of a function call its kind. */
#ifndef TRACER_TARGET_DEBUGINFO_DEBUG_FUNCTION_H
#define TRACER_TARGET_DEBUGINFO_DEBUG_FUNCTION_H

/* The kind of function at an address. */
enum debug_function {
	DEBUG_FUNCTION = 'f',
	DEBUG_LOCAL = 'l',   /* other modules cannot call it by its name */
	DEBUG_GO = 'g',	     /* called by a convention of Go's */
	DEBUG_RESOLVER = 'i' /* the resolver of an IFUNC of that name */
};

#endif

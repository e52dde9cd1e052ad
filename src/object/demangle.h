/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Demangling (option -C) through libiberty: C++, Rust, D. */
#ifndef TRACER_OBJECT_DEMANGLE_H
#define TRACER_OBJECT_DEMANGLE_H

/*
 * Returns the readable form, for C++ without parameters, or NULL if `name` is not mangled. The
 * caller frees it.
 */
char *demangle(const char *name);

/*
 * Like demangle(), but for C++ with the types of the parameters, and all else that tells functions
 * of one name apart: `ns::f(int) const`. In other languages the result is that of demangle().
 */
char *demangle_with_parameters(const char *name);

/*
 * Returns the number of parameters, without `this`, that the mangled name of a C++ function tells,
 * or -1 if it does not tell.
 */
int demangle_parameters(const char *name);

#endif

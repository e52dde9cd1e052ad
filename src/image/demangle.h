/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Demangling (option -C) through libiberty: C++, Rust, D. */
#ifndef TRACER_IMAGE_DEMANGLE_H
#define TRACER_IMAGE_DEMANGLE_H

/* The readable form, for the caller to free, or NULL when `name` is not mangled. */
char *demangle(const char *name);

/*
 * How many parameters a function of C++ has by its mangled name, without `this`; -1: the name does
 * not tell.
 */
int demangle_parameters(const char *name);

#endif

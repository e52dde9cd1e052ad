/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Demangling (option -C) through libiberty: C++, Rust, D. */
#ifndef TRACER_IMAGE_DEMANGLE_H
#define TRACER_IMAGE_DEMANGLE_H

/*
 * The readable form, of C++ without parameters, for the caller to free; NULL when `name` is not
 * mangled.
 */
char *demangle(const char *name);

/*
 * The same with the types of the parameters, and with what else tells functions of C++ apart that
 * have one name: `ns::f(int) const`. In the other languages it is the same.
 */
char *demangle_with_parameters(const char *name);

/*
 * How many parameters a function of C++ has by its mangled name, without `this`; -1: the name does
 * not tell.
 */
int demangle_parameters(const char *name);

#endif

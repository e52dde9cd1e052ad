/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells the application's own scripts from those that came with the language: see application.c. */
#ifndef TRACER_UNWIND_SCRIPT_APPLICATION_H
#define TRACER_UNWIND_SCRIPT_APPLICATION_H

#include <stdbool.h>

/*
 * Returns true if a script belongs to the application: it is not in a place where the standard
 * library or installed packages of the language are. `language`, `file`: of a struct script_frame;
 * a frame whose file is NULL is not the application's.
 */
bool script_is_application(const char *language, const char *file);

#endif

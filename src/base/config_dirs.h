/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The directories of the tracer's own files (.conf, .frames, .opts). */
#ifndef TRACER_BASE_CONFIG_DIRS_H
#define TRACER_BASE_CONFIG_DIRS_H

#include "base/vec.h"

/*
 * Appends to `paths` (of char *, which the caller frees) the directories where files of the user,
 * the system and the tracer are looked for, those that win first: $XDG_CONFIG_HOME/tracer
 * (~/.config/tracer), tracer/ in each of $XDG_CONFIG_DIRS (/etc/xdg), and `installed`, unless that
 * is NULL or empty. Relative paths in these variables are left out, as the XDG base directory
 * specification says. `below` is put behind each path: "", or "/frames". No directory need exist.
 */
void config_dirs_add(struct vec *paths, const char *installed, const char *below);

/* Returns the installed directory: $TRACER_DATADIR, or where `make install` has put the files. */
const char *config_dirs_installed(void);

#endif

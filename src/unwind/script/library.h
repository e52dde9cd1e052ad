/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All frame descriptions: the files NAME.frames in frames/ below each directory where .conf files
 * are looked for ($XDG_CONFIG_HOME/tracer or ~/.config/tracer, tracer/ in each of $XDG_CONFIG_DIRS,
 * the installed one). A file in an earlier directory replaces one of its name in a later one.
 */
#ifndef TRACER_UNWIND_SCRIPT_LIBRARY_H
#define TRACER_UNWIND_SCRIPT_LIBRARY_H

#include "unwind/script/description.h"
#include "unwind/script/frames_parser.h"

struct script_library;

/*
 * Reads all files. `data_dir`: the installed directory, or NULL. Mistakes are reported to `error`,
 * which may be NULL; a file with one is left out. A file that cannot be read is reported as line 0.
 */
struct script_library *script_library_create(const char *data_dir, frames_error *error,
					     void *context);
void script_library_destroy(struct script_library *library);

/* Returns the descriptions, sorted by the names of their files. */
struct script_description *const *script_library_all(const struct script_library *library,
						     size_t *count);

#endif

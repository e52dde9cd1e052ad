/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parser of frame descriptions (tracer.frames(5)): see frames_parser.c. */
#ifndef TRACER_UNWIND_SCRIPT_FRAMES_PARSER_H
#define TRACER_UNWIND_SCRIPT_FRAMES_PARSER_H

#include "unwind/script/description.h"

/* Called for a mistake: "expected 'then', found 'x'" at a line of a file; line 0: of the whole. */
typedef void frames_error(void *context, const char *file, unsigned line, const char *message);

struct frames_source {
	/* Returns the text of an imported file and its path; the caller frees both. NULL: none. */
	char *(*import)(void *context, const char *name, char **path);
	frames_error *error;
	void *context; /* of both functions */
};

/*
 * Parses the text of a file. Returns the description, or NULL if there is a mistake, of which the
 * first is reported, or if the file is a part that other files import.
 */
struct script_description *frames_parse(const char *path, const char *text,
					const struct frames_source *source);

#endif

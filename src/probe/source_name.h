/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Patterns for names as they stand in the source: ns::Klass::method. Symbols of C++, Rust and D are
 * compared with them after demangling.
 */
#ifndef TRACER_PROBE_SOURCE_NAME_H
#define TRACER_PROBE_SOURCE_NAME_H

#include "base/vec.h"

#include <stdbool.h>

/* How the text of a pattern is written. */
enum source_syntax { SOURCE_PLAIN, SOURCE_GLOB, SOURCE_REGEX };

/* What of a symbol such a pattern is compared with. */
struct source_name {
	struct vec required; /* char *: each must be in the symbol, as it stands */
	bool arguments;	     /* template arguments are kept: the pattern has a '<' */
	bool parameters;     /* the name with its parameters is tried, too: it has a '(' */
};

/* Prepares for a pattern of that text. False: it has no "::", so it is about symbols alone. */
bool source_name_init(struct source_name *source, const char *text, enum source_syntax syntax);
void source_name_deinit(struct source_name *source);

/*
 * Whether `fits` accepts a form of the name that `symbol` has in the source; false when it has
 * none. `context` goes to `fits`.
 */
bool source_name_matches(const struct source_name *source, const char *symbol,
			 bool (*fits)(const void *context, const char *name), const void *context);

#endif

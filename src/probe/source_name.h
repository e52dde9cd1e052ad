/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Patterns for source-level names such as ns::Klass::method. Symbols of C++, Rust and D are
 * compared with them after demangling.
 */
#ifndef TRACER_PROBE_SOURCE_NAME_H
#define TRACER_PROBE_SOURCE_NAME_H

#include "base/vec.h"

#include <stdbool.h>

/* How the text of a pattern is written. */
enum source_syntax { SOURCE_PLAIN, SOURCE_GLOB, SOURCE_REGEX };

/* How a pattern is compared with symbols. */
struct source_name {
	struct vec required; /* char *: the symbol must contain each of these literally */
	bool arguments;	     /* the pattern has a '<', so template arguments are kept */
	/* the pattern has a '(', so the name with its parameters is tried, too */
	bool parameters;
};

/*
 * Prepares a pattern with this text. Returns false if it has no "::", so it only matches symbols.
 */
bool source_name_init(struct source_name *source, const char *text, enum source_syntax syntax);
void source_name_deinit(struct source_name *source);

/*
 * Returns true if `fits` accepts a form of the source-level name of `symbol`; false also if it has
 * none. `context` is passed to `fits`.
 */
bool source_name_matches(const struct source_name *source, const char *symbol,
			 bool (*fits)(const void *context, const char *name), const void *context);

#endif

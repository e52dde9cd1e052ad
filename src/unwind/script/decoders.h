/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of decoders that frame descriptions name: see decoders.c. */
#ifndef TRACER_UNWIND_SCRIPT_DECODERS_H
#define TRACER_UNWIND_SCRIPT_DECODERS_H

#include "base/memory.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Makes a name or a line of numbers that a description has computed. Exactly one of the functions
 * is set. Both read memory of a process that may hold anything: what is read is bounded.
 */
struct script_decoder {
	const char *name;   /* in descriptions */
	unsigned arguments; /* how many numbers it takes */
	/* Appends UTF-8 text. Returns false if there is no such text, or it is unreadable. */
	bool (*text)(const struct memory_source *memory, const uint64_t *arguments,
		     struct strbuf *out);
	/* Returns the line, or 0 if it is not known. */
	unsigned (*line)(const struct memory_source *memory, const uint64_t *arguments);
};

/* Returns the decoder with this name, or NULL. */
const struct script_decoder *script_decoder_find(const char *name, size_t length);

#endif

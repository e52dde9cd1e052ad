/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pointers to functions among the values of records, which are shown by name. */
#ifndef TRACER_SINK_RECORDING_FUNCTION_POINTERS_H
#define TRACER_SINK_RECORDING_FUNCTION_POINTERS_H

#include "sink/sink.h"

/* Returns true if values of the prototype may be pointers to functions. */
bool function_pointers_are_in(const struct prototype *prototype);

/* Told of each pointer to code: its name, or NULL if it has none. */
typedef void function_pointer_found(void *context, int32_t pid, uint64_t address, const char *name);

/* Finds all of them in a record of a call. `scratch` is an output buffer, whose text is dropped. */
void function_pointers_find(const struct sink_target *target, const struct record *record,
			    struct outbuf *scratch, function_pointer_found *found, void *context);

#endif

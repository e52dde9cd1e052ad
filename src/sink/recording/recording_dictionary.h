/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dictionary of a trace file, as it is written: what records refer to, described when a record
 * needs it first. See stream/format.h.
 */
#ifndef TRACER_SINK_RECORDING_RECORDING_DICTIONARY_H
#define TRACER_SINK_RECORDING_RECORDING_DICTIONARY_H

#include "sink/sink.h"
#include "stream/bytes.h"
#include "stream/record_code.h"

struct recording_dictionary;

/* `target` must stay valid. */
struct recording_dictionary *recording_dictionary_create(const struct sink_target *target);
void recording_dictionary_destroy(struct recording_dictionary *dictionary);

/* Finds the numbers for a record. Entries that are new are appended. */
void recording_dictionary_find(struct recording_dictionary *dictionary, const struct record *record,
			       struct record_references *references);
/* Appends a fact about the trace. */
void recording_dictionary_fact(struct recording_dictionary *dictionary, const char *name,
			       const char *value);
/* The probe is about to be removed: its id may be given to another one. */
void recording_dictionary_forget(struct recording_dictionary *dictionary,
				 const struct probe_info *probe);
/* All is written anew from now on: another file begins. */
void recording_dictionary_restart(struct recording_dictionary *dictionary);

/* Appends the items that go in front of the record that was looked at last. */
void recording_dictionary_put_items(struct recording_dictionary *dictionary, struct bytes *items);

/* Entries that were appended; the caller takes the bytes and sets the count to 0. */
struct bytes *recording_dictionary_bytes(struct recording_dictionary *dictionary, uint32_t **count);

#endif

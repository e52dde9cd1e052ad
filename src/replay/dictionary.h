/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dictionary of a trace file, as it is read: what records refer to. It takes the place of all
 * that a live trace has: the table of probes, the table of stacks, the names of code and of
 * threads.
 */
#ifndef TRACER_REPLAY_DICTIONARY_H
#define TRACER_REPLAY_DICTIONARY_H

#include "probe/probe.h"
#include "sink/render/render.h"
#include "sink/stacks/stack_table.h"
#include "stream/bytes.h"
#include "stream/record_decode.h"

#include <stdbool.h>

struct dictionary;

/* `demangle`: names of C++, Rust and D functions are shown as in the source (-C). */
struct dictionary *dictionary_create(bool demangle);
void dictionary_destroy(struct dictionary *dictionary);

/* Reads a chunk of entries. Returns 0, or -EBADMSG if one is not valid. */
int dictionary_read(struct dictionary *dictionary, struct byte_reader *reader);
/* Notes the name of a thread, which holds from now on. */
void dictionary_name_thread(struct dictionary *dictionary, int32_t tid, const char *name,
			    size_t length);

/* The name of code with that number holds for its address from now on, if there is one. */
void dictionary_name_code(struct dictionary *dictionary, uint32_t number);

/* What the decoder asks. It stays the dictionary's. */
const struct decoder_dictionary *dictionary_for_decoder(const struct dictionary *dictionary);
/*
 * Puts the numbers of the tables below into a record that was decoded: it has those of the file.
 */
void dictionary_resolve(const struct dictionary *dictionary, struct record *record);

/* What sinks ask; all of it grows as the file is read. */
const struct probe_table *dictionary_probes(const struct dictionary *dictionary);
const struct stack_table *dictionary_stacks(const struct dictionary *dictionary);
const struct code_names *dictionary_code(const struct dictionary *dictionary);
/* Returns a fact about the trace by its name ("command", "host"), or NULL. */
const char *dictionary_fact(const struct dictionary *dictionary, const char *name);

#endif

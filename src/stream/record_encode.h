/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns records into items of a chunk: see record_code.h. */
#ifndef TRACER_STREAM_RECORD_ENCODE_H
#define TRACER_STREAM_RECORD_ENCODE_H

#include "stream/bytes.h"
#include "stream/record_code.h"

/* The numbers of threads in a chunk, by their ids. */
struct record_encoder {
	struct record_code code;
	struct map threads; /* tid and pid → number + 1 */
};

/* Begins a chunk. `time`: that of its first record, which goes into its header. */
void record_encoder_begin(struct record_encoder *encoder, uint64_t time);
void record_encoder_deinit(struct record_encoder *encoder);

/*
 * Appends a record. Its numbers of probe and stack are not used; `references` has those of the
 * dictionary. Values that do not lie within the record are left out.
 */
void record_encode(struct record_encoder *encoder, struct bytes *out, const struct record *record,
		   const struct record_references *references);

#endif

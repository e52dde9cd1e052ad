/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns items of a chunk into records: see record_code.h. The chunk may hold anything. */
#ifndef TRACER_STREAM_RECORD_DECODE_H
#define TRACER_STREAM_RECORD_DECODE_H

#include "stream/bytes.h"
#include "stream/record_code.h"

/* What the decoder asks of the dictionary. */
struct decoder_dictionary {
	/* Returns how many probes are known; their numbers are 1 and up. */
	uint32_t (*probes)(void *context);
	/*
	 * Stores the address of a place, whose name holds for it from now on. Returns false if
	 * there is no such place.
	 */
	bool (*place)(void *context, uint32_t place, uint64_t *address);
	void *context;
};

struct decoded {
	/*
	 * Valid until the next item. Probe and stack are numbers of the dictionary. NULL: it is
	 * another item.
	 */
	const struct record *record;
	uint32_t code; /* the number of a name of code that holds from now on; 0: no such item */
	/* The name of a thread: its bytes are in the chunk. */
	int32_t tid;
	const char *name;
	size_t name_length;
};

struct record_decoder {
	struct record_code code;
	struct bytes record; /* the last one */
};

/* Begins a chunk. `time`: the header's `first`. */
void record_decoder_begin(struct record_decoder *decoder, uint64_t time);
void record_decoder_deinit(struct record_decoder *decoder);

/* Reads the next item. Returns 0, or -EBADMSG if there is no valid one. */
int record_decode(struct record_decoder *decoder, struct byte_reader *reader,
		  const struct decoder_dictionary *dictionary, struct decoded *decoded);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of events of a CTF trace, in packets: see ctf_stream.c. */
#ifndef TRACER_SINK_FORMS_CTF_STREAM_H
#define TRACER_SINK_FORMS_CTF_STREAM_H

#include "sink/render/outbuf.h"

enum { CTF_UUID = 16 };

struct ctf_stream {
	int fd; /* owned; -1: it could not be opened */
	unsigned char uuid[CTF_UUID];
	struct outbuf events; /* of the packet that is being filled */
	uint64_t offset;      /* of that packet, in bytes */
	uint64_t size;	      /* of the file */
	uint64_t number;      /* of that packet */
	uint64_t first, last; /* the times of its events; `last`: or of those before it */
	bool is_dirty;	      /* it has events that are not in the file */
};

/*
 * Makes the file in a directory. Returns 0 or -errno. ctf_stream_close() is needed in any case,
 * and does not write.
 */
int ctf_stream_open(struct ctf_stream *stream, int directory, const unsigned char uuid[CTF_UUID]);
void ctf_stream_close(struct ctf_stream *stream);

/*
 * Appends an event: its class, its time in ns since the Epoch, and its fields, which follow the
 * event's header as metadata says. Returns 0 or -errno.
 */
int ctf_stream_add(struct ctf_stream *stream, unsigned id, uint64_t time,
		   const struct outbuf *fields);
/* Returns true if ctf_stream_add() with so many bytes of fields would write to the file. */
bool ctf_stream_is_full(const struct ctf_stream *stream, size_t length);
/* Writes what is not in the file. Returns 0 or -errno. */
int ctf_stream_flush(struct ctf_stream *stream);

/* Append an integer in little-endian order. */
void ctf_put_16(struct outbuf *out, uint16_t number);
void ctf_put_32(struct outbuf *out, uint32_t number);
void ctf_put_64(struct outbuf *out, uint64_t number);

#endif

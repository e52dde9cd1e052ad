/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stream of a CTF trace (Common Trace Format 1.8.3, sections 5 and 6): packets of events, all
 * fields little-endian and aligned to bytes. ctf_metadata.c declares what is written here.
 *
 * A reader refuses the whole stream if its last packet is cut off, and the tracer may be killed at
 * any time. So a packet is a page of memory, at an offset that is a multiple of it: the kernel
 * copies a page at once, and looks for a fatal signal only between pages. A packet that is not full
 * is written, too, when a reader should see it; when more events have come, it is written again to
 * the same place. So an event that comes alone does not take a page. An event that is larger than a
 * page has a packet of several pages, which a kill in that very moment can cut off. If the disk is
 * full, what has been written of a packet is taken back.
 *
 * Times in a stream must not fall. Where those of records do (clocks of several processors), the
 * time of the event before is taken.
 */
#include "sink/forms/ctf_stream.h"

#include "base/diag.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* HEADER: bytes of a packet's header and context. EVENT_HEADER: of class and time. */
enum { PAGE = 4096, HEADER = 4 + CTF_UUID + 4 + 6 * 8, EVENT_HEADER = 2 + 8 };

#define MAGIC UINT32_C(0xc1fc1fc1)

static void put_little(struct outbuf *out, uint64_t number, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		outbuf_char(out, (char)(number >> 8 * i & 0xff));
}

void ctf_put_16(struct outbuf *out, uint16_t number)
{
	put_little(out, number, sizeof number);
}

void ctf_put_32(struct outbuf *out, uint32_t number)
{
	put_little(out, number, sizeof number);
}

void ctf_put_64(struct outbuf *out, uint64_t number)
{
	put_little(out, number, sizeof number);
}

int ctf_stream_open(struct ctf_stream *stream, int directory, const unsigned char uuid[CTF_UUID])
{
	*stream = (struct ctf_stream){.fd = -1};
	memcpy(stream->uuid, uuid, CTF_UUID);
	outbuf_init(&stream->events, -1);
	stream->fd = openat(directory, "stream", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY,
			    0666);
	return stream->fd < 0 ? -errno : 0;
}

void ctf_stream_close(struct ctf_stream *stream)
{
	if (stream->fd >= 0)
		close(stream->fd);
	outbuf_deinit(&stream->events);
}

/* Returns the bytes of a packet with so many bytes of events. */
static size_t packet_size(size_t length)
{
	return (HEADER + length + PAGE - 1) / PAGE * PAGE;
}

static void make_packet(const struct ctf_stream *stream, struct outbuf *packet)
{
	const size_t content = HEADER + stream->events.length;
	const size_t size = packet_size(stream->events.length);

	ctf_put_32(packet, MAGIC);
	outbuf_bytes(packet, stream->uuid, CTF_UUID);
	ctf_put_32(packet, 0); /* stream_id */
	ctf_put_64(packet, stream->first);
	ctf_put_64(packet, stream->last);
	ctf_put_64(packet, content * 8);
	ctf_put_64(packet, size * 8);
	ctf_put_64(packet, 0); /* events_discarded */
	ctf_put_64(packet, stream->number);
	outbuf_bytes(packet, stream->events.text, stream->events.length);
	memset(outbuf_reserve(packet, size - content), 0, size - content);
	packet->length = size;
}

static int write_all(int fd, const char *bytes, size_t length, uint64_t offset)
{
	while (length) {
		const ssize_t written = pwrite(fd, bytes, length, (off_t)offset);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return written ? -errno : -EIO;
		bytes += written;
		length -= (size_t)written;
		offset += (uint64_t)written;
	}
	return 0;
}

int ctf_stream_flush(struct ctf_stream *stream)
{
	struct outbuf packet;

	if (!stream->is_dirty)
		return 0;
	outbuf_init(&packet, -1);
	make_packet(stream, &packet);
	const int error = write_all(stream->fd, packet.text, packet.length, stream->offset);

	if (!error) {
		stream->is_dirty = false;
		stream->size = stream->offset + packet.length;
	} else if (ftruncate(stream->fd, (off_t)stream->size) < 0) {
		diag("ctf: the last packet is cut off: %s", strerror(errno));
	}
	outbuf_deinit(&packet);
	return error;
}

bool ctf_stream_is_full(const struct ctf_stream *stream, size_t length)
{
	return HEADER + stream->events.length + EVENT_HEADER + length > PAGE;
}

int ctf_stream_add(struct ctf_stream *stream, unsigned id, uint64_t time,
		   const struct outbuf *fields)
{
	struct outbuf *events = &stream->events;
	int error = 0;

	if (events->length && ctf_stream_is_full(stream, fields->length)) {
		error = ctf_stream_flush(stream);
		stream->offset += packet_size(events->length);
		stream->number++;
		events->length = 0;
	}
	/* What a reader takes: signed, and not falling. */
	if (time > INT64_MAX)
		time = INT64_MAX;
	if (time < stream->last)
		time = stream->last;
	if (!events->length)
		stream->first = time;
	stream->last = time;
	ctf_put_16(events, (uint16_t)id);
	ctf_put_64(events, time);
	outbuf_bytes(events, fields->text, fields->length);
	stream->is_dirty = true;
	return error;
}

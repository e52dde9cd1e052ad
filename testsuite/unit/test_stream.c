/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trace files: records and back, chunks and back, and what is left of a file that was cut or
 * damaged.
 */
#include "records.h"
#include "stream/chunk_pack.h"
#include "stream/chunk_reader.h"
#include "stream/chunk_writer.h"
#include "stream/record_decode.h"
#include "stream/record_encode.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { RECORDS = 4000, PROBES = 20, PLACES = 50 };

/* ------------------------------------------------------------------ records */

static uint32_t count_probes(void *context)
{
	(void)context;
	return PROBES;
}

static bool find_place(void *context, uint32_t place, uint64_t *address)
{
	(void)context;
	*address = 0x400000 + place;
	return place && place <= PLACES;
}

static const struct decoder_dictionary dictionary = {count_probes, find_place, NULL};

static unsigned pick(uint64_t *state, unsigned most)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (unsigned)(*state >> 33) % most;
}

/* Values of the shapes that records have: none, numbers, strings, too many to be kept. */
static void add_values(struct made *made, uint64_t *state)
{
	static const char text[] = "SELECT * FROM orders WHERE id = 1";
	const unsigned count = pick(state, 12) ? pick(state, 4) : 20;

	for (unsigned i = 0; i < count; i++)
		if (pick(state, 3))
			add_word(made, i, 8, pick(state, 2) ? pick(state, 1000) : UINT64_MAX - i);
		else
			add_value(made,
				  (struct record_value){.kind = VALUE_STRING,
							.argument = (uint8_t)i,
							.flags = (uint8_t)pick(state, 3),
							.length = pick(state, sizeof text),
							.word = 0x7f0000001000},
				  text);
}

struct sample {
	struct made made;
	struct record_references references;
};

/* Records as a trace of several threads has them, with some that nothing leads to. */
static struct sample *make_samples(void)
{
	struct sample *samples = calloc(RECORDS, sizeof *samples);
	struct sample *open[4] = {NULL};
	uint64_t state = 1, time = UINT64_C(1700000000000000000), call = 0;

	assert_non_null(samples);
	for (unsigned i = 0; i < RECORDS; i++) {
		const unsigned thread = pick(&state, 4);
		struct sample *sample = &samples[i];
		const bool ends = open[thread] && pick(&state, 3);

		time += pick(&state, 5) ? pick(&state, 100000) : (uint64_t)-7;
		sample->references.probe = 1 + pick(&state, PROBES);
		sample->references.place = pick(&state, 9) ? 1 + pick(&state, PLACES) : 0;
		sample->references.stack = pick(&state, 3);
		sample->made = make_record(ends ? RECORD_RETURN : RECORD_CALL,
					   100 + (int32_t)thread, 0, ++call);
		if (ends) {
			sample->references = open[thread]->references;
			sample->made.record.call = open[thread]->made.record.call;
			sample->made.record.pc = open[thread]->made.record.pc;
			sample->made.record.duration = pick(&state, 3) ? time : 0;
			call--;
		}
		if (!pick(&state, 20))
			sample->made.record.kind = (uint8_t)(1 + pick(&state, 15));
		if (!pick(&state, 10))
			sample->made.record.number = (int64_t)pick(&state, 50) - 20;
		sample->made.record.time = time;
		if (!ends)
			sample->made.record.pc = sample->references.place
							 ? 0x400000 + sample->references.place
							 : pick(&state, 5000);
		sample->made.record.depth = pick(&state, 2);
		add_values(&sample->made, &state);
		open[thread] = ends ? NULL : sample;
	}
	return samples;
}

static void encode_all(const struct sample *samples, struct bytes *items)
{
	struct record_encoder encoder = {0};

	record_encoder_begin(&encoder, samples[0].made.record.time);
	for (unsigned i = 0; i < RECORDS; i++)
		record_encode(&encoder, items, &samples[i].made.record, &samples[i].references);
	record_encoder_deinit(&encoder);
}

static void records_come_back(void **state)
{
	struct sample *samples = make_samples();
	struct record_decoder decoder = {0};
	struct bytes items = {0};

	(void)state;
	encode_all(samples, &items);
	struct byte_reader reader = {items.data, items.data + items.length, false};

	/* The state begins anew: what was decoded before plays no part. */
	for (unsigned round = 0; round < 2; round++) {
		reader = (struct byte_reader){items.data, items.data + items.length, false};
		record_decoder_begin(&decoder, samples[0].made.record.time);
		for (unsigned i = 0; i < RECORDS; i++) {
			struct record expected = samples[i].made.record;
			struct decoded decoded;

			assert_int_equal(record_decode(&decoder, &reader, &dictionary, &decoded),
					 0);
			expected.probe = samples[i].references.probe;
			expected.stack = samples[i].references.stack;
			assert_memory_equal(decoded.record, &expected, sizeof expected);
			assert_memory_equal(decoded.record + 1, &samples[i].made.record + 1,
					    expected.size - sizeof expected);
		}
		assert_int_equal(reader_left(&reader), 0);
	}
	record_decoder_deinit(&decoder);
	bytes_deinit(&items);
	free(samples);
}

/* Items that were cut or changed end in an error, or in other records: nothing else. */
static void damaged_items(void **state)
{
	struct sample *samples = make_samples();
	struct bytes items = {0};
	uint64_t random = 7;

	(void)state;
	encode_all(samples, &items);
	for (unsigned round = 0; round < 300; round++) {
		struct record_decoder decoder = {0};
		struct decoded decoded;
		const size_t length = pick(&random, (unsigned)items.length);

		items.data[pick(&random, (unsigned)items.length)] ^=
			(unsigned char)(1 << (round & 7));
		struct byte_reader reader = {items.data, items.data + length, false};

		record_decoder_begin(&decoder, 0);
		while (reader_left(&reader) &&
		       !record_decode(&decoder, &reader, &dictionary, &decoded))
			if (decoded.record)
				assert_in_range(decoded.record->size, sizeof(struct record),
						RECORD_MAX + sizeof(struct record));
		record_decoder_deinit(&decoder);
	}
	bytes_deinit(&items);
	free(samples);
}

static void values_outside_of_the_record(void **state)
{
	struct made made = make_record(RECORD_CALL, 1, 0, 1);
	const struct record_references references = {1, 1, 0};
	struct record_encoder encoder = {0};
	struct record_decoder decoder = {0};
	struct decoded decoded;
	struct bytes items = {0};

	(void)state;
	add_word(&made, 0, 8, 5);
	add_word(&made, 1, 8, 6)->length = 100000;
	made.record.value_count = 9;
	made.record.pc = 0x400001;
	record_encoder_begin(&encoder, 0);
	record_encode(&encoder, &items, &made.record, &references);
	struct byte_reader reader = {items.data, items.data + items.length, false};

	record_decoder_begin(&decoder, 0);
	assert_int_equal(record_decode(&decoder, &reader, &dictionary, &decoded), 0);
	assert_int_equal(decoded.record->value_count, 1);
	record_encoder_deinit(&encoder);
	record_decoder_deinit(&decoder);
	bytes_deinit(&items);
}

static void numbers(void **state)
{
	const int64_t some[] = {0, -1, 1, 63, -64, 64, INT64_MAX, INT64_MIN};
	struct bytes bytes = {0};

	(void)state;
	for (size_t i = 0; i < sizeof some / sizeof *some; i++)
		bytes_put_number(&bytes, number_fold(some[i]));
	struct byte_reader reader = {bytes.data, bytes.data + bytes.length, false};

	for (size_t i = 0; i < sizeof some / sizeof *some; i++)
		assert_int_equal(number_unfold(reader_number(&reader)), some[i]);
	assert_false(reader.failed);
	assert_int_equal(reader_number(&reader), 0);
	assert_true(reader.failed);
	bytes_deinit(&bytes);
}

/* ------------------------------------------------------------------ chunks */

static void never_cut(void *context)
{
	(void)context;
}

/* Writes some chunks of a growing size; the first byte of each is its number. */
static int write_file(int level, unsigned chunks)
{
	const int fd = memfd_create("trace", MFD_CLOEXEC);
	const struct chunk_writer_options options = {
		.destination = {.fd = fd, .keep = 1, .begun = 5}, .level = level, .cut = never_cut};
	struct chunk_writer *writer = chunk_writer_create(&options);

	assert_non_null(writer);
	for (unsigned i = 0; i < chunks; i++) {
		const struct chunk_about about = {.kind = i % 2 ? TRACE_RECORDS : TRACE_DICTIONARY,
						  .count = i};
		struct bytes data = {0};

		for (unsigned k = 0; k < 100 * i + 1; k++)
			bytes_put_byte(&data, i + k % 3);
		assert_int_equal(chunk_writer_put(writer, &about, &data), 0);
		bytes_deinit(&data);
	}
	assert_int_equal(chunk_writer_finish(writer), 0);
	assert_true(chunk_writer_destroy(writer));
	return fd;
}

static unsigned read_file(int fd, enum trace_ending *ending)
{
	struct chunk_reader *reader;
	unsigned count = 0;

	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	if (chunk_reader_open(fd, &reader))
		return 0;
	while (chunk_reader_next(reader)) {
		const struct byte_reader bytes = chunk_reader_bytes(reader);

		assert_int_equal(chunk_reader_header(reader)->count, count);
		assert_int_equal(reader_left(&bytes), 100 * count + 1);
		assert_int_equal(bytes.at[0], count);
		count++;
	}
	*ending = chunk_reader_ending(reader);
	chunk_reader_close(reader);
	return count;
}

static void chunks_come_back(void **state)
{
	(void)state;
	for (int level = 0; level < 4; level++) {
		const int fd = write_file(level, 40);
		enum trace_ending ending;

		assert_int_equal(read_file(fd, &ending), 40);
		assert_int_equal(ending, TRACE_WHOLE);
		close(fd);
	}
}

/* Wherever a file is cut, its whole chunks are read, and it is said that it was cut. */
static void cut_files(void **state)
{
	const int fd = write_file(1, 8);
	const off_t size = lseek(fd, 0, SEEK_END);
	unsigned last = 8;

	(void)state;
	for (off_t length = size - 1; length >= (off_t)sizeof(struct trace_header); length--) {
		enum trace_ending ending;

		assert_int_equal(ftruncate(fd, length), 0);
		const unsigned count = read_file(fd, &ending);

		assert_true(count == last || count == last - 1);
		assert_int_equal(ending, TRACE_CUT);
		last = count;
	}
	assert_int_equal(last, 0);
	close(fd);
}

/* A bit that was flipped anywhere in a chunk is found, and what is in front of it is read. */
static void damaged_files(void **state)
{
	const int fd = write_file(1, 8);
	const off_t size = lseek(fd, 0, SEEK_END);

	(void)state;
	for (off_t at = sizeof(struct trace_header); at < size - (off_t)sizeof(struct trace_end);
	     at++) {
		enum trace_ending ending;
		unsigned char byte;

		assert_int_equal(pread(fd, &byte, 1, at), 1);
		byte ^= 0x10;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		assert_in_range(read_file(fd, &ending), 0, 8);
		assert_true(ending == TRACE_DAMAGED || ending == TRACE_CUT);
		byte ^= 0x10;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
	close(fd);
}

static void other_files(void **state)
{
	const int fd = write_file(1, 1);
	struct chunk_reader *reader;
	const uint32_t version = TRACE_VERSION + 1;

	(void)state;
	assert_int_equal(pwrite(fd, &version, sizeof version, 8), sizeof version);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(chunk_reader_open(fd, &reader), -EPROTONOSUPPORT);
	assert_int_equal(pwrite(fd, "#!/bin/sh", 9, 0), 9);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(chunk_reader_open(fd, &reader), -ENOEXEC);
	assert_int_equal(ftruncate(fd, 10), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(chunk_reader_open(fd, &reader), -ENOEXEC);
	close(fd);
}

/* A chunk that would be larger than it says when it is unpacked is damaged. */
static void a_bomb(void **state)
{
	struct packer *packer = packer_create(1);
	struct unpacker *unpacker = unpacker_create();
	const struct chunk_about about = {.kind = TRACE_RECORDS};
	unsigned char *zeros = calloc(1, TRACE_CHUNK_MAX);
	struct bytes packed = {0}, out = {0};
	struct trace_chunk chunk;

	(void)state;
	packer_pack(packer, &about, zeros, TRACE_CHUNK_MAX, &packed);
	memcpy(&chunk, packed.data, sizeof chunk);
	assert_int_equal(unpacker_unpack(unpacker, &chunk, packed.data + sizeof chunk, &out), 0);
	chunk.size = 100;
	assert_true(chunk_is_possible(&chunk));
	assert_int_equal(unpacker_unpack(unpacker, &chunk, packed.data + sizeof chunk, &out),
			 -EBADMSG);
	chunk.size = TRACE_CHUNK_MAX + 1;
	assert_false(chunk_is_possible(&chunk));
	bytes_deinit(&packed);
	bytes_deinit(&out);
	packer_destroy(packer);
	unpacker_destroy(unpacker);
	free(zeros);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),	    cmocka_unit_test(records_come_back),
		cmocka_unit_test(damaged_items),    cmocka_unit_test(values_outside_of_the_record),
		cmocka_unit_test(chunks_come_back), cmocka_unit_test(cut_files),
		cmocka_unit_test(damaged_files),    cmocka_unit_test(other_files),
		cmocka_unit_test(a_bomb),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The items of records, read back: record_code.h describes them. Nothing in a file is believed: a
 * number of a probe or a place must be known, and a record must not be longer than RECORD_MAX.
 */
#include "stream/record_decode.h"

#include <errno.h>

void record_decoder_begin(struct record_decoder *decoder, uint64_t time)
{
	record_code_begin(&decoder->code, time);
}

void record_decoder_deinit(struct record_decoder *decoder)
{
	record_code_deinit(&decoder->code);
	bytes_deinit(&decoder->record);
}

/* What a record is made of, beside its values. */
struct head {
	struct record record;
	struct record_references references;
};

static void take_thread(struct record_code *code, struct byte_reader *reader)
{
	const size_t number = (size_t)reader_number_to(reader, code->thread_count);
	const bool is_new = number == code->thread_count;

	if (reader->failed)
		return;
	code->thread = record_code_thread(code, number);
	if (!is_new)
		return;
	code->thread->pid = (int32_t)number_unfold(reader_number(reader));
	code->thread->tid = (int32_t)number_unfold(reader_number(reader));
}

static uint32_t take_probe(struct byte_reader *reader, const struct decoder_dictionary *dictionary)
{
	return (uint32_t)reader_number_to(reader, dictionary->probes(dictionary->context));
}

static void take_place(struct byte_reader *reader, const struct decoder_dictionary *dictionary,
		       struct head *head)
{
	if (!dictionary->place(dictionary->context, head->references.place, &head->record.pc))
		reader->failed = true;
}

static void take_expected_entry(struct record_code *code, struct byte_reader *reader,
				const struct decoder_dictionary *dictionary, struct head *head)
{
	const uint32_t number = head->references.probe = take_probe(reader, dictionary);
	struct probe_code *probe = record_code_probe(code, number);

	probe->place = (uint32_t)reader_changed(reader, probe->place);
	probe->stack = (uint32_t)reader_changed(reader, probe->stack);
	head->references.place = probe->place;
	head->references.stack = probe->stack;
	head->record.depth = code->thread->depth;
	head->record.call = code->call + 1;
	take_place(reader, dictionary, head);
}

static void take_expected_end(const struct record_code *code, struct byte_reader *reader,
			      struct head *head)
{
	const struct vec *calls = &code->thread->open;

	if (!calls->count) {
		reader->failed = true;
		return;
	}
	const struct open_code *open = vec_at(calls, calls->count - 1);

	head->references = open->references;
	head->record.depth = open->depth;
	head->record.call = open->call;
	head->record.pc = open->pc;
	head->record.duration = reader_changed(reader, head->record.time - open->time);
}

static void take_all(const struct record_code *code, struct byte_reader *reader,
		     const struct decoder_dictionary *dictionary, struct head *head)
{
	struct record *record = &head->record;

	head->references.probe = take_probe(reader, dictionary);
	record->depth = (uint32_t)reader_changed(reader, code->thread->depth);
	record->call = reader_changed(reader, code->call + 1);
	head->references.stack = (uint32_t)reader_number_to(reader, UINT32_MAX);
	record->number = number_unfold(reader_number(reader));
	record->duration = reader_number(reader);
	head->references.place = (uint32_t)reader_number_to(reader, UINT32_MAX);
	if (head->references.place)
		take_place(reader, dictionary, head);
	else
		record->pc = reader_number(reader);
}

static void take_value(struct byte_reader *reader, struct bytes *out,
		       const struct record_value *before)
{
	struct record_value value = {0};

	if (before) {
		value = *before;
		value.length = 0;
	} else {
		const unsigned char *bytes = reader_take(reader, 5);

		if (!bytes)
			return;
		memcpy(&value, bytes, 4);
		value.size = bytes[4];
	}
	const uint64_t most = reader_left(reader) < RECORD_MAX ? reader_left(reader) : RECORD_MAX;
	const uint64_t length = before && value.kind == VALUE_WORD ? 0
								   : reader_number_to(reader, most);

	value.length = (uint32_t)length & 0xffffffU;
	value.word = reader_changed(reader, before ? before->word : 0);
	const void *bytes = reader_take(reader, value.length);

	if (!bytes)
		return;
	static const char padding[8];

	bytes_put(out, &value, sizeof value);
	bytes_put(out, bytes, value.length);
	bytes_put(out, padding, -value.length & 7);
}

static void take_values(struct record_decoder *decoder, struct byte_reader *reader,
			struct shape_code *shape, bool is_same, struct record *record)
{
	struct bytes *out = &decoder->record;
	const uint64_t count = is_same ? shape->count
				       : reader_number_to(reader,
							  RECORD_MAX / sizeof(struct record_value));

	if (is_same && !shape->is_known)
		reader->failed = true;
	for (uint64_t i = 0; i < count && !reader->failed && out->length <= RECORD_MAX; i++) {
		const size_t place = out->length;

		take_value(reader, out, is_same ? &shape->values[i] : NULL);
		if (i < SHAPE_VALUES && !reader->failed)
			memcpy(&shape->values[i], out->data + place, sizeof *shape->values);
	}
	if (out->length > RECORD_MAX || count > UINT16_MAX)
		reader->failed = true;
	if (reader->failed)
		return;
	shape->is_known = count <= SHAPE_VALUES;
	shape->count = (unsigned)count;
	record->value_count = (uint16_t)count;
	record->size = (uint32_t)out->length;
}

static void take_name(struct byte_reader *reader, struct decoded *decoded)
{
	decoded->tid = (int32_t)number_unfold(reader_number(reader));
	const struct byte_reader name = reader_block(reader);

	decoded->name = (const char *)name.at;
	decoded->name_length = reader_left(&name);
}

static void take_record(struct record_decoder *decoder, struct byte_reader *reader,
			const struct decoder_dictionary *dictionary, unsigned tag)
{
	struct record_code *code = &decoder->code;
	struct head head = {
		.record = {.version = RECORD_VERSION, .kind = (uint8_t)(tag & CODE_KIND)}};

	if (!(tag & CODE_SAME_THREAD))
		take_thread(code, reader);
	if (!code->thread || reader->failed) {
		reader->failed = true;
		return;
	}
	head.record.pid = code->thread->pid;
	head.record.tid = code->thread->tid;
	head.record.time = reader_changed(reader, code->time);
	if (!(tag & CODE_EXPECTED))
		take_all(code, reader, dictionary, &head);
	else if (head.record.kind == RECORD_CALL)
		take_expected_entry(code, reader, dictionary, &head);
	else
		take_expected_end(code, reader, &head);
	if (reader->failed)
		return;
	struct probe_code *probe = record_code_probe(code, head.references.probe);

	decoder->record.length = 0;
	bytes_put(&decoder->record, &head.record, sizeof head.record);
	take_values(decoder, reader, &probe->shapes[head.record.kind != RECORD_CALL],
		    tag & CODE_SAME_SHAPE, &head.record);
	if (reader->failed)
		return;
	record_code_follow(code, &head.record, &head.references);
	head.record.probe = head.references.probe;
	head.record.stack = head.references.stack;
	memcpy(decoder->record.data, &head.record, sizeof head.record);
}

int record_decode(struct record_decoder *decoder, struct byte_reader *reader,
		  const struct decoder_dictionary *dictionary, struct decoded *decoded)
{
	const unsigned tag = reader_byte(reader);

	*decoded = (struct decoded){0};
	if (tag == CODE_NAME) {
		take_name(reader, decoded);
	} else if (tag == CODE_POINTER) {
		decoded->code = (uint32_t)reader_number_to(reader, UINT32_MAX);
		reader->failed |= !decoded->code;
	} else if (tag & CODE_KIND) {
		take_record(decoder, reader, dictionary, tag);
		decoded->record = (const struct record *)(const void *)decoder->record.data;
	} else {
		reader->failed = true;
	}
	return reader->failed ? -EBADMSG : 0;
}

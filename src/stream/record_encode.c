/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The items of records: record_code.h describes them. This runs for each record of a trace. */
#include "stream/record_encode.h"

void record_encoder_begin(struct record_encoder *encoder, uint64_t time)
{
	record_code_begin(&encoder->code, time);
	map_deinit(&encoder->threads);
}

void record_encoder_deinit(struct record_encoder *encoder)
{
	record_code_deinit(&encoder->code);
	map_deinit(&encoder->threads);
}

static struct thread_code *new_thread(struct record_encoder *encoder, const struct record *record)
{
	struct thread_code *thread = record_code_thread(&encoder->code, encoder->code.thread_count);

	thread->pid = record->pid;
	thread->tid = record->tid;
	return thread;
}

/* Switches to the record's thread, and says so. */
static void put_thread(struct record_encoder *encoder, struct bytes *out,
		       const struct record *record)
{
	const uint64_t key = (uint64_t)(uint32_t)record->pid << 32 | (uint32_t)record->tid;
	const uintptr_t known = (uintptr_t)map_get(&encoder->threads, key);
	const size_t number = known ? known - 1 : encoder->code.thread_count;

	bytes_put_number(out, number);
	if (known) {
		encoder->code.thread = record_code_thread(&encoder->code, number);
		return;
	}
	encoder->code.thread = new_thread(encoder, record);
	map_put(&encoder->threads, key, (void *)(number + 1));
	bytes_put_number(out, number_fold(record->pid));
	bytes_put_number(out, number_fold(record->tid));
}

static const struct open_code *innermost(const struct thread_code *thread)
{
	return thread->open.count ? vec_at(&thread->open, thread->open.count - 1) : NULL;
}

static bool is_expected(const struct record_code *code, const struct record *record,
			const struct record_references *references)
{
	if (record->number)
		return false;
	if (record->kind == RECORD_CALL)
		return !record->duration && record->depth == code->thread->depth &&
		       record->call == code->call + 1 && references->place;
	const struct open_code *open = innermost(code->thread);

	return (record->kind == RECORD_RETURN || record->kind == RECORD_UNWOUND) && open &&
	       open->call == record->call && open->depth == record->depth &&
	       open->pc == record->pc && open->references.probe == references->probe &&
	       open->references.place == references->place &&
	       open->references.stack == references->stack;
}

static unsigned char *store_expected(unsigned char *at, const struct record_code *code,
				     struct probe_code *probe, const struct record *record,
				     const struct record_references *references)
{
	if (record->kind != RECORD_CALL)
		return number_store(
			at, number_difference(record->duration,
					      record->time - innermost(code->thread)->time));
	at = number_store(at, references->probe);
	at = number_store(at, number_difference(references->place, probe->place));
	at = number_store(at, number_difference(references->stack, probe->stack));
	probe->place = references->place;
	probe->stack = references->stack;
	return at;
}

static unsigned char *store_all(unsigned char *at, const struct record_code *code,
				const struct record *record,
				const struct record_references *references)
{
	at = number_store(at, references->probe);
	at = number_store(at, number_difference(record->depth, code->thread->depth));
	at = number_store(at, number_difference(record->call, code->call + 1));
	at = number_store(at, references->stack);
	at = number_store(at, number_fold(record->number));
	at = number_store(at, record->duration);
	at = number_store(at, references->place);
	return references->place ? at : number_store(at, record->pc);
}

/* Returns how many values lie within the record: it may come from the traced process. */
static unsigned count_values(const struct record *record)
{
	const struct record_value *value = record_values(record);
	size_t left = record->size - sizeof *record;
	unsigned count = 0;

	while (count < record->value_count && left >= sizeof *value &&
	       left - sizeof *value >= value->length) {
		const struct record_value *next = record_value_next(value);
		const size_t used = (size_t)((const char *)next - (const char *)value);

		left -= used < left ? used : left;
		value = next;
		count++;
	}
	return count;
}

static bool is_shape(const struct shape_code *shape, const struct record *record, unsigned count)
{
	const struct record_value *value = record_values(record);

	if (!shape->is_known || shape->count != count)
		return false;
	for (unsigned i = 0; i < count; i++, value = record_value_next(value)) {
		const struct record_value *before = &shape->values[i];

		/* The four bytes in front, and the size. */
		if (memcmp(before, value, offsetof(struct record_value, conversion) + 1) != 0 ||
		    before->size != value->size || (value->kind == VALUE_WORD && value->length))
			return false;
	}
	return true;
}

static void put_values(struct bytes *out, struct shape_code *shape, const struct record *record,
		       unsigned count, bool is_same)
{
	const struct record_value *value = record_values(record);

	if (!is_same)
		bytes_put_number(out, count);
	shape->is_known = count <= SHAPE_VALUES;
	shape->count = count;
	for (unsigned i = 0; i < count; i++, value = record_value_next(value)) {
		unsigned char *at = bytes_reserve(out, 5 + 2 * NUMBER_MAX + value->length);
		const uint64_t before = is_same ? shape->values[i].word : 0;

		if (!is_same) {
			memcpy(at, value, 4);
			at[4] = (unsigned char)value->size;
			at += 5;
		}
		if (!is_same || value->kind != VALUE_WORD)
			at = number_store(at, value->length);
		at = number_store(at, number_difference(value->word, before));
		memcpy(at, record_value_bytes(value), value->length);
		out->length = (size_t)(at + value->length - out->data);
		if (i < SHAPE_VALUES)
			shape->values[i] = *value;
	}
}

void record_encode(struct record_encoder *encoder, struct bytes *out, const struct record *record,
		   const struct record_references *references)
{
	struct record_code *code = &encoder->code;
	struct probe_code *probe = record_code_probe(code, references->probe);
	struct shape_code *shape = &probe->shapes[record->kind != RECORD_CALL];
	const size_t start = out->length;
	unsigned tag = record->kind & CODE_KIND;

	bytes_put_byte(out, 0);
	if (code->thread && code->thread->tid == record->tid && code->thread->pid == record->pid)
		tag |= CODE_SAME_THREAD;
	else
		put_thread(encoder, out, record);
	unsigned char *at = bytes_reserve(out, 10 * NUMBER_MAX);

	at = number_store(at, number_difference(record->time, code->time));
	if (is_expected(code, record, references)) {
		tag |= CODE_EXPECTED;
		at = store_expected(at, code, probe, record, references);
	} else {
		at = store_all(at, code, record, references);
	}
	out->length = (size_t)(at - out->data);
	const unsigned count = count_values(record);
	const bool is_same = is_shape(shape, record, count);

	if (is_same)
		tag |= CODE_SAME_SHAPE;
	put_values(out, shape, record, count, is_same);
	out->data[start] = (unsigned char)tag;
	record_code_follow(code, record, references);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records become items of chunks (stream/record_code.h), and what they refer to becomes entries of
 * the dictionary. Nothing is rendered. A chunk ends when it is full, or half a second after it has
 * begun.
 *
 * A chunk of the dictionary goes in front of the chunk with the records that need it.
 *
 * The names of threads may change. A name is looked up when a thread is seen first, behind an exec,
 * and ten times a second at most, and is in the file among the records, from where it holds.
 */
#include "sink/recording/recording.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "base/xalloc.h"
#include "sink/recording/recording_around.h"
#include "sink/recording/recording_dictionary.h"
#include "sink/render/render.h"
#include "stream/chunk_writer.h"
#include "stream/record_encode.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/utsname.h>

enum { DICTIONARY_FULL = 1 << 20, NAME_SIZE = 16 };

/* How old the name of a thread may be, in ns. */
#define NAME_AGE_MAX UINT64_C(100000000)

struct known_thread {
	uint64_t looked; /* time of the record at which its name was looked up */
	uint64_t chunk;	 /* the last one that has the name */
	char name[NAME_SIZE];
};

struct recording {
	struct sink sink; /* must be first: struct sink * is cast to struct recording * */
	struct sink_target target;
	struct chunk_writer_options options;
	struct chunk_writer *writer;
	struct recording_dictionary *dictionary;
	struct record_encoder encoder;
	struct bytes items; /* of the chunk that was begun */
	struct chunk_about about;
	uint64_t begun;	    /* time of its first record */
	uint64_t chunk;	    /* counts them from 1 */
	struct map threads; /* tid → struct known_thread */
	int32_t last_tid;   /* of the last record; 0: it is not known */
	struct known_thread *last_thread;
	struct recording_around around;
	bool has_facts; /* of the current file */
	bool has_begun; /* a moment was recorded (RECORD_TABLE): the trace has begun */
};

static struct recording *recording_of(struct sink *sink)
{
	return (struct recording *)(void *)sink;
}

/* ------------------------------------------------------------------ chunks */

static int put_dictionary(struct recording *recording)
{
	uint32_t *count;
	struct bytes *entries = recording_dictionary_bytes(recording->dictionary, &count);
	const struct chunk_about about = {.kind = TRACE_DICTIONARY, .count = *count};

	if (!*count)
		return 0;
	*count = 0;
	return chunk_writer_put(recording->writer, &about, entries);
}

/* Another file begins: nothing that is in the old one is known in it. */
static int rotate(struct recording *recording)
{
	recording_dictionary_restart(recording->dictionary);
	recording->has_facts = false;
	return chunk_writer_rotate(recording->writer);
}

/* Passes on what was begun. Also called in the writer's thread, while no records come. */
static int cut(struct recording *recording)
{
	int error = put_dictionary(recording);

	if (!error && recording->items.length)
		error = chunk_writer_put(recording->writer, &recording->about, &recording->items);
	recording->items.length = 0;
	recording->about.count = 0;
	return error;
}

static void cut_idle(void *context)
{
	/* The next record will be told of an error. */
	cut(context);
}

static bool is_over(void *context)
{
	const struct recording *recording = context;
	const struct outbuf_patience *patience = &recording->target.options->patience;

	return patience->is_over && patience->is_over(patience->context);
}

static bool has_ended(void *context)
{
	const struct recording *recording = context;
	const struct outbuf_patience *patience = &recording->target.options->patience;

	return patience->has_ended && patience->has_ended(patience->context);
}

/* ------------------------------------------------------------------ facts and names */

static void put_facts(struct recording *recording)
{
	struct recording_dictionary *dictionary = recording->dictionary;
	struct utsname system;

	recording->has_facts = true;
	if (recording->target.options->recording->command)
		recording_dictionary_fact(dictionary, "command",
					  recording->target.options->recording->command);
	_cleanup_free_ char *interval = xasprintf(
		"%llu", (unsigned long long)recording->target.options->recording->interval);

	recording_dictionary_fact(dictionary, "interval", interval);
	if (recording->has_begun || recording->target.options->recording->flight)
		recording_dictionary_fact(dictionary, "continues", "1");
	if (recording->target.options->sample) {
		_cleanup_free_ char *sample =
			xasprintf("1/%llu", (unsigned long long)recording->target.options->sample);

		recording_dictionary_fact(dictionary, "sample", sample);
	}
	if (uname(&system) != 0)
		return;
	recording_dictionary_fact(dictionary, "host", system.nodename);
	recording_dictionary_fact(dictionary, "kernel", system.release);
	recording_dictionary_fact(dictionary, "machine", system.machine);
}

/* Most records are of the thread that made the one before. */
static struct known_thread *find_thread(struct recording *recording, int32_t tid)
{
	if (tid != recording->last_tid || !tid) {
		recording->last_thread = map_get(&recording->threads, (uint64_t)tid);
		recording->last_tid = recording->last_thread ? tid : 0;
	}
	return recording->last_thread;
}

/* Looks up the name of the record's thread, if it may have changed. */
static void look_up_name(const struct recording *recording, struct known_thread *thread,
			 const struct record *record, bool is_new)
{
	const struct code_names *code = recording->target.code;
	char name[NAME_SIZE] = "";

	if (!is_new && record->kind != RECORD_EXEC && record->time - thread->looked < NAME_AGE_MAX)
		return;
	thread->looked = record->time;
	code->thread(code->context, record->tid, name);
	if (!name[0] || !strcmp(name, thread->name))
		return;
	memcpy(thread->name, name, sizeof name);
	thread->chunk = 0;
}

/* Writes the name of the record's thread, once in each chunk: others may be dropped. */
static void put_name(struct recording *recording, const struct record *record)
{
	const struct code_names *code = recording->target.code;
	struct known_thread *thread = find_thread(recording, record->tid);
	const bool is_new = !thread;

	if (!record->tid || !code || !code->thread)
		return;
	if (is_new) {
		thread = xcalloc(1, sizeof *thread);
		map_put(&recording->threads, (uint64_t)record->tid, thread);
	}
	look_up_name(recording, thread, record, is_new);
	if (!thread->name[0] || thread->chunk == recording->chunk)
		return;
	thread->chunk = recording->chunk;
	bytes_put_byte(&recording->items, CODE_NAME);
	bytes_put_number(&recording->items, number_fold(record->tid));
	bytes_put_block(&recording->items, thread->name, strnlen(thread->name, NAME_SIZE));
}

static void forget_thread(struct recording *recording, const struct record *record)
{
	if (record->kind != RECORD_THREAD_END && record->kind != RECORD_EXITED &&
	    record->kind != RECORD_KILLED)
		return;
	free(map_remove(&recording->threads, (uint64_t)record->tid));
	recording_around_forget(&recording->around, record->tid);
	recording->last_tid = 0;
}

/* ------------------------------------------------------------------ records */

/* Returns true for the end of a process by a signal that makes a core dump: signal(7). */
static bool is_crash(const struct record *record)
{
	static const uint8_t signals[] = {SIGQUIT, SIGILL, SIGTRAP, SIGABRT,
					  SIGBUS,  SIGFPE, SIGSEGV, SIGSYS};

	for (size_t i = 0; i < sizeof signals && record->kind == RECORD_KILLED; i++)
		if (record->number == signals[i])
			return true;
	return false;
}

static int begin_chunk(struct recording *recording, const struct record *record)
{
	const uint64_t most = recording->target.options->recording->rotate;
	const bool is_full = most && chunk_writer_size(recording->writer) >= most;
	const int error = is_full ? rotate(recording) : 0;

	if (!recording->has_facts)
		put_facts(recording);
	record_encoder_begin(&recording->encoder, record->time);
	recording->chunk++;
	recording->begun = record->time;
	recording->about = (struct chunk_about){
		.kind = TRACE_RECORDS, .first = record->time, .last = record->time};
	return error;
}

static int dump(struct recording *recording)
{
	const int error = cut(recording);

	return error ? error : chunk_writer_dump(recording->writer);
}

static int put(struct recording *recording, const struct record *record)
{
	struct chunk_about *about = &recording->about;
	struct record_references references;
	const int error = about->count ? 0 : begin_chunk(recording, record);

	if (error)
		return error;
	recording_dictionary_find(recording->dictionary, record, &references);
	recording_dictionary_put_items(recording->dictionary, &recording->items);
	put_name(recording, record);
	record_encode(&recording->encoder, &recording->items, record, &references);
	about->count++;
	if (record->time > about->last)
		about->last = record->time;
	forget_thread(recording, record);
	recording->has_begun |= record->kind == RECORD_TABLE;
	if (recording->target.options->recording->flight && is_crash(record))
		return dump(recording);
	uint32_t *entries;
	const bool is_full = recording->items.length >= TRACE_CHUNK_FULL ||
			     recording_dictionary_bytes(recording->dictionary, &entries)->length >=
				     DICTIONARY_FULL;

	/* A call that was chosen at its end has begun before. */
	if (is_full || (record->time > recording->begun &&
			record->time - recording->begun >= CHUNK_WRITER_PERIOD))
		return cut(recording);
	return 0;
}

/* Puts the calls around one in front of it. */
static int put_around(struct recording *recording, const struct record *entry)
{
	const struct record *record;
	int error = 0;

	/* What is put now begins a chunk, if none was begun. */
	while (!error &&
	       (record = recording_around_next(&recording->around, entry,
					       recording->chunk + (recording->about.count == 0)))) {
		const bool begins = !recording->about.count;

		error = put(recording, record);
		if (begins)
			recording->begun = entry->time;
	}
	return error;
}

static int recording_record(struct sink *sink, const struct record *record)
{
	struct recording *recording = recording_of(sink);

	if (!recording->writer)
		return -ENOMEM;
	chunk_writer_works(recording->writer);
	const int error = record->kind == RECORD_CALL ? put_around(recording, record) : 0;

	return error ? error : put(recording, record);
}

static void recording_begin(struct sink *sink, const struct record *entry)
{
	recording_around_begin(&recording_of(sink)->around, entry);
}

static int recording_flush(struct sink *sink)
{
	if (recording_of(sink)->writer)
		chunk_writer_rests(recording_of(sink)->writer);
	return 0;
}

static int recording_dump(struct sink *sink)
{
	struct recording *recording = recording_of(sink);

	if (!recording->target.options->recording->flight)
		return 0;
	if (!recording->writer)
		return -ENOMEM;
	chunk_writer_works(recording->writer);
	return dump(recording);
}

static int recording_finish(struct sink *sink)
{
	struct recording *recording = recording_of(sink);

	if (!recording->writer)
		return -ENOMEM;
	chunk_writer_works(recording->writer);
	if (!recording->has_facts)
		put_facts(recording);
	const int error = cut(recording);
	const int failure = chunk_writer_finish(recording->writer);

	return error ? error : failure;
}

static void recording_forget(struct sink *sink, const struct probe_info *probe)
{
	struct recording *recording = recording_of(sink);

	if (!recording->writer)
		return;
	chunk_writer_works(recording->writer);
	recording_dictionary_forget(recording->dictionary, probe);
}

static void recording_destroy(struct sink *sink)
{
	struct recording *recording = recording_of(sink);

	if (!chunk_writer_destroy(recording->writer))
		return;
	recording_dictionary_destroy(recording->dictionary);
	record_encoder_deinit(&recording->encoder);
	bytes_deinit(&recording->items);
	map_deinit_values(&recording->threads);
	recording_around_deinit(&recording->around);
	free(recording);
}

static const struct sink_ops recording_ops = {
	.record = recording_record,
	.begin = recording_begin,
	.flush = recording_flush,
	.finish = recording_finish,
	.dump = recording_dump,
	.forget = recording_forget,
	.destroy = recording_destroy,
};

struct sink *recording_sink_create(const struct sink_target *target)
{
	const struct recording_options *options = target->options->recording;
	struct recording *recording = xcalloc(1, sizeof *recording);

	recording->sink.ops = &recording_ops;
	recording->target = *target;
	recording->options =
		(struct chunk_writer_options){.destination = {.fd = target->fd,
							      .path = options->path,
							      .keep = options->keep,
							      .memory = options->flight,
							      .begun = target->begun},
					      .level = options->level,
					      .cut = cut_idle,
					      .is_over = is_over,
					      .has_ended = has_ended,
					      .context = recording};
	recording->writer = chunk_writer_create(&recording->options);
	recording->dictionary = recording_dictionary_create(&recording->target);
	return &recording->sink;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A replay gives the records of a file to the sinks that a live trace would give them to. Sinks
 * cannot tell the difference: what they ask beside the records, the dictionary of the file answers.
 *
 * The file may hold anything. What is read of it is checked where it is read (stream/,
 * dictionary.c, proto/prototype_decode.c), and records are foreign bytes to all sinks anyway.
 */
#include "replay/replay.h"

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/time_of_day.h"
#include "base/xalloc.h"
#include "record/sampling.h"
#include "replay/dictionary.h"
#include "replay/progress.h"
#include "replay/replay_tables.h"
#include "sink/sampled_calls.h"
#include "sink/tee.h"
#include "stream/chunk_reader.h"
#include "stream/record_decode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SAFE_MAX = 256, NS_PER_S = 1000000000, PROGRESS_RECORDS = 4096 };

struct replay {
	const struct replay_options *options;
	struct chunk_reader *reader;
	struct dictionary *dictionary;
	struct record_decoder decoder;
	struct replay_filter *filter;
	struct sink *sink;
	struct output_options output; /* with what the file tells of the trace */
	struct progress progress;
	uint64_t records, last_time;
	size_t untraced;
	struct replay_tables tables;
	bool is_damaged; /* what a chunk holds is not valid */
	char path[SAFE_MAX];
};

/* ------------------------------------------------------------------ records */

static bool is_wanted(const struct replay *replay, const struct record *record)
{
	const unsigned depth_max = replay->options->depth_max;
	const struct probe_info *probe = NULL;

	if (record_has_probe(record))
		probe = probe_table_get(dictionary_probes(replay->dictionary), record->probe);
	if (depth_max && record_is_of_call(record) && record->depth >= depth_max)
		return false;
	return !probe || replay_filter_shows(replay->filter, probe);
}

/* The tracer says on stderr what it could not trace, unless the trace is in a file that has it. */
static void tell_untraced(const struct replay *replay, const struct record *record)
{
	struct value_cursor cursor = value_cursor_start(record);
	char texts[2][SAFE_MAX] = {"", ""};

	if (replay->options->is_quiet)
		return;
	for (unsigned i = 0; i < 2; i++) {
		const struct record_value *value = value_cursor_next(&cursor);
		_cleanup_free_ char *text = value && value->kind == VALUE_STRING
						    ? xstrndup(record_value_bytes(value),
							       value->length)
						    : NULL;

		diag_safe(texts[i], sizeof texts[i], text ? text : "");
	}
	diag("not traced: %s: %s", texts[0], texts[1]);
}

static int take_record(struct replay *replay, const struct record *decoded)
{
	/* The decoder's own bytes: nobody else has them. */
	struct record *record = (struct record *)(uintptr_t)decoded;

	dictionary_resolve(replay->dictionary, record);
	replay->records++;
	if (record->time > replay->last_time)
		replay->last_time = record->time;
	if (replay->records % PROGRESS_RECORDS == 0)
		progress_show(&replay->progress, chunk_reader_position(replay->reader),
			      replay->records);
	const int error = replay_tables_record(&replay->tables, record);

	if (error || replay->tables.is_over || record->kind == RECORD_TABLE ||
	    !is_wanted(replay, record))
		return error;
	if (record->kind == RECORD_UNTRACED) {
		replay->untraced++;
		tell_untraced(replay, record);
	}
	return replay->sink->ops->record(replay->sink, record);
}

static int take_records(struct replay *replay, struct byte_reader *reader)
{
	const struct decoder_dictionary *dictionary = dictionary_for_decoder(replay->dictionary);
	int error = 0;

	record_decoder_begin(&replay->decoder, chunk_reader_header(replay->reader)->first);
	while (reader_left(reader) && !error && !replay->tables.is_over) {
		struct decoded decoded;

		if (record_decode(&replay->decoder, reader, dictionary, &decoded)) {
			replay->is_damaged = true;
			return 0;
		}
		if (decoded.record)
			error = take_record(replay, decoded.record);
		else if (decoded.code)
			dictionary_name_code(replay->dictionary, decoded.code);
		else
			dictionary_name_thread(replay->dictionary, decoded.tid, decoded.name,
					       decoded.name_length);
	}
	return error;
}

/* ------------------------------------------------------------------ the file */

/* The N of which one call is in the file, "1/N". */
static uint64_t recorded_sample(const struct replay *replay)
{
	const char *fact = dictionary_fact(replay->dictionary, "sample");
	const unsigned long n = fact && !strncmp(fact, "1/", 2) ? strtoul(fact + 2, NULL, 10) : 1;

	return n && n <= SAMPLING_MOST ? n : 1;
}

/*
 * Tables tell of the calls that were made, not of those that are in the file. The option that the
 * file was recorded with is obeyed already: the replay shows what the recording showed.
 */
static void note_sample(struct replay *replay)
{
	const uint64_t given = replay->options->output->sample, recorded = recorded_sample(replay);

	if (given > 1 && given == recorded)
		sampled_calls_take_all(replay->sink);
	const bool chooses_more = recorded > 1 && given != recorded;

	replay->output.sample = chooses_more ? recorded * (given ? given : 1) : given;
}

static void note_moments(struct replay *replay)
{
	const char *interval = dictionary_fact(replay->dictionary, "interval");
	const uint64_t given = replay->options->interval_ns;

	replay->tables.tells = interval != NULL;
	replay->tables.continues = dictionary_fact(replay->dictionary, "continues") != NULL;
	replay->tables.has_intervals = interval && given && strtoull(interval, NULL, 10) == given;
}

static void take_dictionary(struct replay *replay, struct byte_reader *bytes)
{
	replay->is_damaged = dictionary_read(replay->dictionary, bytes) != 0;
	replay->output.traced = dictionary_fact(replay->dictionary, "command");
	replay->output.host = dictionary_fact(replay->dictionary, "host");
	note_sample(replay);
	note_moments(replay);
}

static int take_chunks(struct replay *replay)
{
	int error = 0;

	while (!error && !replay->is_damaged && !replay->tables.is_over &&
	       chunk_reader_next(replay->reader)) {
		struct byte_reader bytes = chunk_reader_bytes(replay->reader);

		if (chunk_reader_header(replay->reader)->kind == TRACE_DICTIONARY)
			take_dictionary(replay, &bytes);
		else
			error = take_records(replay, &bytes);
	}
	return error;
}

static bool is_cut(const struct replay *replay)
{
	return !replay->tables.is_over && !replay->is_damaged &&
	       chunk_reader_ending(replay->reader) == TRACE_CUT;
}

/* Says how the file ended, if that is not how it should. Returns 0 or -errno. */
static int tell_ending(const struct replay *replay)
{
	const unsigned long long at = chunk_reader_position(replay->reader);
	char time[32] = "its beginning";

	if (replay->tables.is_over)
		return 0;
	if (replay->is_damaged || chunk_reader_ending(replay->reader) == TRACE_DAMAGED) {
		diag("%s: the file is damaged in front of byte %llu; nothing behind that is shown",
		     replay->path, at);
		return -EBADMSG;
	}
	switch (chunk_reader_ending(replay->reader)) {
	case TRACE_CUT:
		if (replay->records)
			time_of_day_us(time, replay->last_time);
		diag("%s: the file was cut off: what came behind %s is missing", replay->path,
		     time);
		return -EBADMSG;
	case TRACE_GOES_BEYOND:
		diag("%s: there is more behind the end of the trace; it is not shown",
		     replay->path);
		return -EBADMSG;
	case TRACE_UNREADABLE:
		diag("%s: %s", replay->path, strerror(-chunk_reader_error(replay->reader)));
		return chunk_reader_error(replay->reader);
	default:
		return 0;
	}
}

static int open_file(struct replay *replay)
{
	const int error = chunk_reader_open(replay->options->fd, &replay->reader);

	if (!replay->options->path)
		return error;
	if (error == -ENOEXEC)
		diag("%s: this is not a trace file; --record writes them", replay->path);
	else if (error == -EPROTONOSUPPORT)
		diag("%s: the trace file is of another version than this tracer knows",
		     replay->path);
	else if (error)
		diag("%s: %s", replay->path, strerror(-error));
	return error;
}

static struct sink *create_sinks(const struct replay *replay)
{
	const struct replay_options *options = replay->options;
	const struct sink_target target = {
		.probes = dictionary_probes(replay->dictionary),
		.options = &replay->output,
		.code = dictionary_code(replay->dictionary),
		.stacks = dictionary_stacks(replay->dictionary),
		.table = options->table,
		.begun = chunk_reader_file(replay->reader)->begun,
		.fd = options->output_fd,
		.path = options->output_path,
		.per_process = options->per_process,
	};

	struct sink *sink = sinks_create(options->sink, options->more, &target);
	const uint64_t sample = options->output->sample;

	return sample ? sampled_calls_create(sink, sample, 0) : sink;
}

static int show(struct replay *replay)
{
	replay->output = *replay->options->output;
	replay->output.traced = replay->output.host = NULL;
	replay->dictionary = dictionary_create(replay->options->output->demangle);
	replay->sink = create_sinks(replay);
	progress_begin(&replay->progress, replay->options->fd, replay->options->shows_progress);
	replay->tables = (struct replay_tables){
		.sink = replay->sink,
		.interval_ns = replay->options->interval_ns,
		.interval_count = replay->options->interval_count,
		.has_tables = replay->options->sink->only_at_end,
		.time = chunk_reader_file(replay->reader)->begun,
	};
	int error = take_chunks(replay);

	error = error ? error : replay_tables_finish(&replay->tables, replay->last_time);
	const int failure = replay->sink->ops->finish(replay->sink);

	progress_end(&replay->progress);
	if (error || failure) {
		if (error != -EPIPE && failure != -EPIPE)
			diag("the output cannot be written: %s",
			     strerror(error ? -error : -failure));
		return error ? error : failure;
	}
	replay->untraced += replay_filter_list_unmatched(replay->filter, replay->options->is_quiet);
	return replay->options->path ? tell_ending(replay) : 0;
}

int replay_run(const struct replay_options *options, struct replay_result *result)
{
	struct replay replay = {.options = options};

	diag_safe(replay.path, sizeof replay.path, options->path ? options->path : "");
	replay.filter = replay_filter_create(&options->wishes);
	*result = (struct replay_result){.bad_filter = !replay.filter};
	int error = replay.filter ? open_file(&replay) : -EINVAL;

	if (!error)
		error = show(&replay);
	result->untraced = replay.untraced;
	result->is_cut = error == -EBADMSG && replay.sink && is_cut(&replay);
	if (replay.sink)
		replay.sink->ops->destroy(replay.sink);
	record_decoder_deinit(&replay.decoder);
	dictionary_destroy(replay.dictionary);
	chunk_reader_close(replay.reader);
	replay_filter_destroy(replay.filter);
	return error;
}

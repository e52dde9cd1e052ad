/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A live trace makes a table of -c when an interval has ended, when SIGUSR1 asks for one, and at
 * its end; it writes a record of each such moment (RECORD_TABLE). A replay with the same --interval
 * makes its tables at these records. With another --interval it makes them by the times of the
 * records, from the moment on at which the trace began: then a table has its time from the interval
 * and not from a record, as if the tracer had never been late.
 *
 * Where a file does not tell of a moment, because it is of an older tracer, or was cut off, it is
 * made up from the times of the records. The two clocks are taken to go alike then.
 */
#include "replay/replay_tables.h"

#include "sink/sink.h"

/* Tables without a call, one behind another: so many at most, however far apart two records are. */
enum { EMPTY_MAX = 10000 };

static int tell(struct replay_tables *tables, enum record_moment moment)
{
	const struct record record = {.size = sizeof record,
				      .version = RECORD_VERSION,
				      .kind = RECORD_TABLE,
				      .time = tables->time,
				      .duration = tables->now,
				      .number = moment};

	return tables->sink->ops->record(tables->sink, &record);
}

static int show(struct replay_tables *tables, enum record_moment moment)
{
	struct sink *sink = tables->sink;
	const int error = tell(tables, moment);

	if (error || !tables->has_tables || !sink->ops->snapshot)
		return error;
	return sink->ops->snapshot(sink, tables->interval_ns != 0);
}

/* The moment is now that time: the clock of the trace goes on as the other one does. */
static void move_to(struct replay_tables *tables, uint64_t time)
{
	if (time <= tables->time)
		return;
	tables->now += time - tables->time;
	tables->time = time;
}

/* An interval has ended at the last moment. The last of all is the table at the end. */
static int end_interval(struct replay_tables *tables)
{
	tables->intervals++;
	tables->is_over = tables->intervals == tables->interval_count;
	return tables->is_over ? 0 : show(tables, MOMENT_INTERVAL);
}

/* Ends the intervals that are over at that time, ns since the Epoch. */
static int pass_time(struct replay_tables *tables, uint64_t time)
{
	const uint64_t length = tables->interval_ns;
	int error = 0;

	if (!length || tables->has_intervals)
		return 0;
	if (!tables->next || time < tables->next)
		return 0;
	const uint64_t ended = (time - tables->next) / length + 1;
	const uint64_t shown = ended < EMPTY_MAX ? ended : EMPTY_MAX;

	for (uint64_t i = 0; i < shown && !error && !tables->is_over; i++) {
		move_to(tables, tables->next);
		tables->next += length;
		error = end_interval(tables);
	}
	tables->next += (ended - shown) * length;
	return error;
}

/*
 * Where the file does not tell when the trace began, it is as if it had begun with the first
 * record.
 */
static int begin_at(struct replay_tables *tables, uint64_t time)
{
	if (tables->has_begun || !time || (tables->tells && !tables->continues))
		return 0;
	move_to(tables, time);
	tables->has_begun = true;
	tables->next = time + tables->interval_ns;
	return tell(tables, MOMENT_BEGIN);
}

static int take_moment(struct replay_tables *tables, const struct record *record)
{
	int error = 0;

	if (record->number != MOMENT_BEGIN)
		error = begin_at(tables, record->time);
	if (!error && record->number != MOMENT_BEGIN)
		error = pass_time(tables, record->time);
	if (error || tables->is_over)
		return error;
	tables->time = record->time;
	tables->now = record->duration;
	switch (record->number) {
	case MOMENT_BEGIN:
		tables->has_begun = true;
		tables->next = record->time + tables->interval_ns;
		return tell(tables, MOMENT_BEGIN);
	case MOMENT_INTERVAL:
		return tables->has_intervals ? end_interval(tables) : 0;
	case MOMENT_ASKED:
		return show(tables, MOMENT_ASKED);
	case MOMENT_END:
		tables->has_end = true;
		return tell(tables, MOMENT_END);
	default:
		return 0;
	}
}

int replay_tables_record(struct replay_tables *tables, const struct record *record)
{
	if (record->kind == RECORD_TABLE)
		return take_moment(tables, record);
	const int error = begin_at(tables, record->time);

	return error ? error : pass_time(tables, record->time);
}

int replay_tables_finish(struct replay_tables *tables, uint64_t last)
{
	if (tables->has_end)
		return 0;
	if (!tables->is_over)
		move_to(tables, last);
	return tell(tables, MOMENT_END);
}

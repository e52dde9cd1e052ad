/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way of a record to the sink.
 *
 * Records may come faster than the sink's reader takes them, so the sink keeps its text until the
 * main loop finds no stop waiting. Then emission_flush() makes it write. The first error of the
 * sink ends the session.
 */
#include "session/emission.h"

#include "session/session_state.h"
#include "stream/record_code.h"
#include "target/debug.h"
#include "tracee/clock.h"

/* Returns true if the record belongs to a call inside of at least --depth others. */
static bool is_too_deep(const struct session *session, const struct record *record)
{
	const unsigned depth_max = session->target.options->depth_max;

	return depth_max && record->depth >= depth_max && record_is_of_call(record);
}

void emission_record(struct session *session, const struct record *record)
{
	debug_record(&session->target, record);
	if (session->emission.error || !session->emission.sink || is_too_deep(session, record))
		return;
	session->emission.error = session->emission.sink->ops->record(session->emission.sink,
								      record);
	/* A table is written only at the end of the session. */
	session->emission.dirty = !session->target.options->sink->only_at_end ||
				  session->target.options->more->count;
}

void emission_flush(struct session *session)
{
	struct emission *emission = &session->emission;
	int result = 0;

	if ((emission->dirty || emission->holds) && !emission->error)
		result = emission->sink->ops->flush(emission->sink);
	emission->error = emission->error ? emission->error : result < 0 ? result : 0;
	emission->holds = result == SINK_HOLDS;
	emission->dirty = false;
}

void emission_moment(struct session *session, enum record_moment moment)
{
	const struct record record = {.size = sizeof record,
				      .version = RECORD_VERSION,
				      .kind = RECORD_TABLE,
				      .time = clock_wall(),
				      .duration = clock_now() - session->emission.begun,
				      .number = moment};

	emission_record(session, &record);
}

void emission_table(struct session *session, enum record_moment moment)
{
	const bool is_anew = session->target.options->interval_ns != 0;
	struct sink *sink = session->emission.sink;

	emission_moment(session, moment);
	if (!session->emission.error && sink->ops->snapshot)
		session->emission.error = sink->ops->snapshot(sink, is_anew);
}

void emission_dump(struct session *session)
{
	struct sink *sink = session->emission.sink;

	if (!session->emission.error && sink->ops->dump)
		session->emission.error = sink->ops->dump(sink);
}

void emission_forget(struct session *session, const struct probe_info *info)
{
	struct sink *sink = session->emission.sink;

	if (sink->ops->forget)
		sink->ops->forget(sink, info);
}

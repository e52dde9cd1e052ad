/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of -c while the trace goes on: one for each interval of --interval, and one when SIGUSR1
 * asks for it.
 *
 * What the agent has counted in the processes is collected before each table, while they run. It
 * tells what was added since the last time, so a call is in one table only. With --interval,
 * counting begins anew behind each table, also one for SIGUSR1, and the table at the end has the
 * rest: the tables add up. The time of a call is in the table of the interval in which it returns,
 * and the call in that of the interval in which it was made.
 *
 * Intervals begin at multiples of their length. If the tracer was kept from running for longer than
 * that, the next table is that of all the time since.
 */
#include "session/intervals.h"

#include "session/session_state.h"
#include "sink/recording/recording.h"
#include "sink/sink.h"
#include "target/agent_policy.h"
#include "tracee/clock.h"

#include <signal.h>

static bool has_tables(const struct session *session)
{
	return session->emission.sink->ops->snapshot &&
	       session->target.options->sink->only_at_end && !session->target.options->view_ns;
}

void intervals_start(struct session *session)
{
	const uint64_t length = session->target.options->interval_ns;

	emission_moment(session, MOMENT_BEGIN);
	if (has_tables(session))
		interrupts_set_request(session->interrupts, SIGUSR1);
	if (session->target.options->output->recording &&
	    session->target.options->output->recording->flight)
		interrupts_set_request(session->interrupts, SIGUSR2);
	if (!length)
		return;
	session->intervals.next = clock_now() + length;
	interrupts_set_alarm(session->interrupts, session->intervals.next);
}

static void collect(struct session *session)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&session->target.tracees->processes, &cursor, NULL, &value))
		agent_policy_collect(&session->target, ((struct process *)value)->space);
}

static void show(struct session *session, enum record_moment moment)
{
	collect(session);
	emission_table(session, moment);
}

void intervals_check(struct session *session)
{
	const struct session_options *options = session->target.options;
	struct intervals *intervals = &session->intervals;

	/* Without intervals the alarm is that of a view, which may have come just now. */
	if (!options->interval_ns || !interrupts_take_alarm(session->interrupts))
		return;
	const uint64_t now = clock_now();

	intervals->tables++;
	/* The last one is the table at the end. */
	if (intervals->tables == options->interval_count) {
		interrupts_set_end(session->interrupts, now);
		return;
	}
	show(session, MOMENT_INTERVAL);
	intervals->next += options->interval_ns;
	if (intervals->next <= now)
		intervals->next += (now - intervals->next) / options->interval_ns *
					   options->interval_ns +
				   options->interval_ns;
	interrupts_set_alarm(session->interrupts, intervals->next);
}

bool intervals_signal(struct session *session, int signal)
{
	if (signal == SIGWINCH || !interrupts_is_request(session->interrupts, signal))
		return false;
	if (signal == SIGUSR2)
		emission_dump(session);
	else
		show(session, MOMENT_ASKED);
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call tracker: what it makes of the events of a stop, of a ring's record and of a system
 * call. The events are made by hand; no other process runs.
 */
#include "engine/core/call_tracker.h"

#include "engine/core/stackset.h"
#include "engine/core/thread_calls.h"
#include "tracee/clock.h"
#include "tracee/proc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { OVERHEAD = 1000, WALL = 5, RECORDS = 8 };

static const struct probe_info info = {.id = 7};
static const struct capture_plan plan = {.entry_count = 1, .exit_count = 1};
static const struct probe_site site = {&info, &plan};

/* A thread without a process behind it, and the records that the tracker has made. */
struct fixture {
	struct process process;
	struct thread thread;
	struct thread_calls calls;
	struct engine_events events;
	struct call_tracker *tracker;
	struct callstacks *stacks;
	struct record records[RECORDS];
	unsigned count, captured, delays;
	uint64_t delayed_since;
};

static void note_record(void *context, const struct record *record)
{
	struct fixture *fixture = context;

	assert_true(fixture->count < RECORDS);
	fixture->records[fixture->count++] = *record;
}

static void note_delay(void *context, struct thread *thread, uint64_t sp, uint64_t time,
		       uint64_t more)
{
	struct fixture *fixture = context;

	(void)thread, (void)sp;
	assert_int_equal(more, OVERHEAD);
	fixture->delays++;
	fixture->delayed_since = time;
}

static void capture(const struct call_event *event, enum record_kind kind, const struct call *call,
		    struct capture_buffer *buffer)
{
	struct fixture *fixture = event->source;

	(void)kind, (void)call, (void)buffer;
	fixture->captured++;
}

static int set_up(void **state)
{
	static struct space space;
	struct fixture *fixture = calloc(1, sizeof *fixture);

	fixture->process = (struct process){.pid = 10, .space = &space};
	fixture->thread =
		(struct thread){.tid = 11, .process = &fixture->process, .calls = &fixture->calls};
	fixture->events = (struct engine_events){
		.record = note_record, .delayed = note_delay, .context = fixture};
	fixture->tracker = call_tracker_create(&fixture->events, (struct stop_costs){OVERHEAD, 0});
	fixture->stacks = callstacks_create(NULL, NULL);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	callstacks_destroy(fixture->stacks);
	call_tracker_destroy(fixture->tracker);
	free(fixture);
	return 0;
}

static struct call_event event_at(struct fixture *fixture, uint64_t time, enum call_timing timing)
{
	return (struct call_event){.tracker = fixture->tracker,
				   .thread = &fixture->thread,
				   .time = time,
				   .wall = WALL,
				   .timing = timing,
				   .cost = &fixture->calls.cost,
				   .capture = capture,
				   .source = fixture};
}

static void come_back(struct fixture *fixture, struct call_event *event, uint64_t place,
		      uint64_t return_address, bool in_process)
{
	const struct arrival arrival = {
		.pc = return_address, .sp = place + 8, .word = 8, .in_process = in_process};

	callstacks_return(fixture->stacks, &arrival, call_tracker_popped, event);
}

static void a_call_at_breakpoints_makes_two_records(void **state)
{
	struct fixture *fixture = *state;
	const struct call call = {
		.place = 0x1000, .return_address = 0x400, .site = &site, .start = 100};
	struct call_event entry = event_at(fixture, 100, TIMED_BY_BREAKPOINTS);
	struct call_event exit = event_at(fixture, 5100, TIMED_BY_BREAKPOINTS);

	call_tracker_enter(&entry, fixture->stacks, &call);
	come_back(fixture, &exit, 0x1000, 0x400, false);
	assert_int_equal(fixture->count, 2);
	assert_int_equal(fixture->captured, 2);
	const struct record *records = fixture->records;

	assert_int_equal(records[0].kind, RECORD_CALL);
	assert_int_equal(records[0].duration, 0);
	assert_int_equal(records[1].kind, RECORD_RETURN);
	assert_int_equal(records[1].call, records[0].call);
	assert_int_equal(records[1].probe, 7);
	assert_int_equal(records[1].pid, 10);
	assert_int_equal(records[1].tid, 11);
	assert_int_equal(records[1].pc, 0x400);
	assert_int_equal(records[1].time, WALL);
	/* 5000 ns, less the pair of stops; the estimate has followed this call by one step. */
	assert_in_range(records[1].duration, 2800, 4000);
}

static void the_cost_of_stops_inside_is_taken_off(void **state)
{
	struct fixture *fixture = *state;
	const struct call call = {.start = 100, .cost = 300};
	struct call_event by_stops = event_at(fixture, 10100, TIMED_BY_STOPS);
	struct call_event in_process = event_at(fixture, 10100, TIMED_IN_PROCESS);

	fixture->calls.cost = 2300;
	assert_int_equal(call_tracker_duration(&by_stops, &call), 10000 - 2000 - OVERHEAD);
	assert_int_equal(call_tracker_duration(&in_process, &call), 10000 - 2000);
	by_stops.time = in_process.time = 50; /* a clock that steps back */
	assert_int_equal(call_tracker_duration(&by_stops, &call), 0);
	assert_int_equal(call_tracker_duration(&in_process, &call), 0);
}

/* A call of 30 ms with stops inside that took 2: *duration is what is shown of it. */
static void with_stops_inside(struct fixture *fixture, bool waits, uint64_t *raw,
			      uint64_t *duration)
{
	const struct timespec pause = {0, 30000000};
	struct call call = {.site = &site, .start = clock_now(), .ran = proc_runs(getpid())};

	if (!call.ran.turns)
		skip(); /* the kernel does not count */
	if (waits)
		nanosleep(&pause, NULL);
	while (clock_now() - call.start < 30000000) {
	}
	struct call_event exit = event_at(fixture, clock_now(), TIMED_BY_BREAKPOINTS);

	fixture->thread.tid = getpid();
	fixture->calls.cost = 2000000;
	*raw = exit.time - call.start;
	*duration = call_tracker_duration(&exit, &call);
}

static void stops_inside_a_call_that_waits_take_none_of_its_time(void **state)
{
	struct fixture *fixture = *state;
	uint64_t raw, duration;

	with_stops_inside(fixture, true, &raw, &duration);
	assert_int_equal(duration, raw - OVERHEAD);
	with_stops_inside(fixture, false, &raw, &duration);
	assert_int_equal(duration, raw - 2000000 - OVERHEAD);
}

static void a_ready_record_serves_the_call_that_returned(void **state)
{
	struct fixture *fixture = *state;
	const struct call outer = {.place = 0x2000,
				   .return_address = 0x9000,
				   .caller = 0x400,
				   .site = &site,
				   .in_process = true};
	struct call inner = outer;
	struct record ready = {.size = sizeof ready, .value_count = 3};
	struct call_event event = event_at(fixture, 100, TIMED_IN_PROCESS);

	inner.place = 0x1000;
	inner.return_address = 0x9010;
	event.capture = NULL;
	event.ready = &ready;
	call_tracker_enter(&event, fixture->stacks, &outer);
	event.ready = &ready;
	call_tracker_enter(&event, fixture->stacks, &inner);
	event.ready = &ready;
	come_back(fixture, &event, 0x2000, 0x9000, true);
	assert_int_equal(fixture->count, 4);
	assert_int_equal(fixture->captured, 0);
	/* The inner call was left, and its record has none of the values. */
	assert_int_equal(fixture->records[2].kind, RECORD_UNWOUND);
	assert_int_equal(fixture->records[2].value_count, 0);
	assert_int_equal(fixture->records[3].kind, RECORD_RETURN);
	assert_int_equal(fixture->records[3].value_count, 3);
	assert_int_equal(fixture->records[3].call, fixture->records[0].call);
	assert_null(event.ready);
}

static uint64_t returned_value;

static void hook_returned(struct hook *hook, struct thread *thread, uint64_t result)
{
	(void)hook, (void)thread;
	returned_value = result;
}

static void a_hook_learns_the_result_and_makes_no_record(void **state)
{
	struct fixture *fixture = *state;
	struct hook hook = {.returned = hook_returned};
	const struct call call = {.place = 0x1000, .return_address = 0x400, .hook = &hook};
	struct call_event event = event_at(fixture, 100, TIMED_BY_BREAKPOINTS);

	event.result = 42;
	call_tracker_enter(&event, fixture->stacks, &call);
	come_back(fixture, &event, 0x1000, 0x400, false);
	assert_int_equal(returned_value, 42);
	assert_int_equal(fixture->count, 0);
}

static void a_return_has_the_error_or_was_inherited(void **state)
{
	struct fixture *fixture = *state;
	struct call call = {.site = &site};
	struct call_event event = event_at(fixture, 100, TIMED_BY_STOPS);

	event.error = 2;
	call_tracker_emit(&event, RECORD_CALL, &call, 0);
	call_tracker_emit(&event, RECORD_RETURN, &call, 0);
	call.inherited = true;
	call_tracker_emit(&event, RECORD_RETURN, &call, 0);
	assert_int_equal(fixture->records[0].number, 0);
	assert_int_equal(fixture->records[1].number, 2);
	assert_int_equal(fixture->records[2].number, RECORD_INHERITED);
}

static void a_stop_that_enters_a_call_leaves_its_cost_to_the_return(void **state)
{
	struct fixture *fixture = *state;
	struct call call = {.site = &site};
	uint64_t cost_of_goroutine = 0;
	struct call_event entry = event_at(fixture, 1, TIMED_BY_BREAKPOINTS);

	entry.cost = &cost_of_goroutine;
	call_tracker_resume(&entry, 0x1000, &call);
	assert_int_equal(fixture->delays, 0);
	assert_true(call.owed > OVERHEAD);
	assert_int_equal(fixture->calls.cost, call.owed);
	assert_int_equal(cost_of_goroutine, call.owed);
	assert_int_equal(call.cost, call.owed);
	struct call_event exit = event_at(fixture, call.start + call.owed, TIMED_BY_BREAKPOINTS);

	call_tracker_popped(&exit, &call, true);
	call_tracker_resume(&exit, 0x1000, NULL);
	assert_int_equal(fixture->delays, 1);
	assert_int_equal(fixture->delayed_since, call.start);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_call_at_breakpoints_makes_two_records, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_cost_of_stops_inside_is_taken_off, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			stops_inside_a_call_that_waits_take_none_of_its_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_ready_record_serves_the_call_that_returned,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_hook_learns_the_result_and_makes_no_record,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_return_has_the_error_or_was_inherited, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			a_stop_that_enters_a_call_leaves_its_cost_to_the_return, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

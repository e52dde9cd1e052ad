/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The session's main loop. It waits for a stop and hands it to the engine or to tasks.c. When no
 * stop is waiting, the sink writes out what it has, so that the entry of a call that is still
 * running is shown. The loop ends when no tracee is left, when a signal makes the tracer detach, or
 * when the output fails.
 */
#include "session/session.h"

#include "base/cleanup.h"
#include "base/diag.h"
#include "dwarf/dwarf.h"
#include "engine/core/call_tracker.h"
#include "engine/trap/calibrate.h"
#include "engine/trap/spaces.h"
#include "object/elf_cache.h"
#include "recovery/guardian.h"
#include "session/attaching.h"
#include "session/core_stacks.h"
#include "session/debuggers.h"
#include "session/detach.h"
#include "session/intervals.h"
#include "session/job_control.h"
#include "session/live_view.h"
#include "session/profile.h"
#include "session/recover.h"
#include "session/session_state.h"
#include "session/snapshot.h"
#include "session/task_records.h"
#include "session/tasks.h"
#include "sink/sampled_calls.h"
#include "sink/tee.h"
#include "target/agent_policy.h"
#include "target/conditions.h"
#include "target/debug.h"
#include "target/deferred_planting.h"
#include "target/engine_callbacks.h"
#include "target/filters.h"
#include "target/ifuncs.h"
#include "target/indirect_calls.h"
#include "target/module.h"
#include "target/module_list.h"
#include "target/overwritten_sites.h"
#include "target/own_stops.h"
#include "target/prefetched.h"
#include "target/runtimes.h"
#include "target/sigmask_hooks.h"
#include "target/sites.h"
#include "target/span_filters.h"
#include "target/stacks/call_stacks.h"
#include "target/sweep.h"
#include "target/syscalls/syscalls.h"
#include "target/table_functions.h"
#include "target/task_state.h"
#include "tracee/clock.h"
#include "tracee/launch.h"
#include "tracee/prefault.h"
#include "tracee/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void conf_complain(void *context, const char *file, unsigned line, const char *message)
{
	(void)context;
	if (line)
		diag("%s:%u: %s", file, line, message);
	else
		diag("%s: %s", file, message);
}

/* ------------------------------------------------------------------ setting up */

static int set_up_prototypes(struct session *session)
{
	const struct session_options *options = session->target.options;

	session->target.prototypes = proto_search_create(options->data_dir, conf_complain, session);
	for (size_t i = 0; i < options->configs->count; i++) {
		char *bad = NULL;
		int errors = proto_search_add(session->target.prototypes,
					      *(const char **)vec_at(options->configs, i), &bad);

		if (errors < 0)
			diag("%s: %s", bad ? bad : "-F", strerror(-errors));
		free(bad);
		if (errors)
			return errors < 0 ? errors : -EBADMSG;
	}
	return 0;
}

static int set_up_user(struct session *session)
{
	const char *user = session->target.options->user;
	int error = identity_find(user, &session->identity);
	char safe[128];

	if (error)
		diag("-u %s: %s", diag_safe(safe, sizeof safe, user),
		     error == -ENOENT ? "no such user" : strerror(-error));
	return error;
}

static void tear_down(struct session *session)
{
	size_t cursor = 0;
	void *value;

	while (session->target.tracees &&
	       map_next(&session->target.tracees->threads, &cursor, NULL, &value))
		trap_thread_gone(session->target.trap, value, false);
	cursor = 0;
	while (session->target.tracees &&
	       map_next(&session->target.tracees->processes, &cursor, NULL, &value)) {
		struct space *space = ((struct process *)value)->space;

		if (!space)
			continue;
		agent_space_gone(space);
		trap_space_gone(space);
		module_list_destroy(space->modules);
		space->modules = NULL;
	}
	tracees_destroy(session->target.tracees);
	indirect_deinit(&session->target);
	ifuncs_deinit(&session->target);
	sites_deinit(&session->target);
	system_calls_deinit(&session->target);
	agent_destroy(session->target.agent);
	trap_destroy(session->target.trap);
	call_tracker_destroy(session->target.tracker);
	if (session->emission.sink)
		session->emission.sink->ops->destroy(session->emission.sink);
	probe_table_destroy(session->target.probes);
	accessors_deinit(&session->target.accessors);
	prefetched_deinit(&session->target);
	span_filters_free(&session->target);
	proto_search_destroy(session->target.prototypes);
	debuginfo_destroy(session->target.debuginfo);
	elf_cache_destroy(session->target.files);
	filters_free(&session->target.filters);
	untraced_destroy(session->target.untraced);
	call_stacks_deinit(&session->target);
	identity_deinit(&session->identity);
	map_deinit(&session->unprivileged);
	interrupts_stop(session->interrupts);
}

/* Returns true once the processes are to be detached: the output is not waited for any longer. */
static bool is_awaited(void *context)
{
	const struct session *session = context;

	return session->is_leaving || (session->interrupts && interrupts_end(session->interrupts));
}

/* Returns true if the trace was ended by a signal. */
static bool has_ended(void *context)
{
	return ((const struct session *)context)->has_left || is_awaited(context);
}

static struct sink *create_sink(struct session *session)
{
	const struct session_options *options = session->target.options;
	const struct sink_target target = {.probes = session->target.probes,
					   .options = &session->output,
					   .code = &session->code,
					   .stacks = call_stacks_table(&session->target),
					   .table = options->table,
					   .begun = clock_wall(),
					   .fd = options->output_fd,
					   .top = &session->top,
					   .path = options->output_path,
					   .per_process = options->per_process};
	struct sink *sink = sinks_create(options->sink, options->more, &target);

	if (!session->target.spans.spans.count)
		return sink;
	/* Calls of several functions make a span: it is chosen when it is made. */
	if (options->output->sample)
		sink = sampled_calls_create(sink, options->output->sample, clock_now());
	return spans_create(sink, &target, &session->target.spans, session->target.probes);
}

/* How each kind of deferred work is done. */
enum { RINGS_AGAIN_NS = 100000000 };

static const struct work_type work_types[WORK_KINDS] = {
	[WORK_PLANTING] = {.needs = WORK_ASKED_STOP,
			   .is_left_to_parent = true,
			   .piece = deferred_planting_piece},
	[WORK_PATCHING] = {.needs = WORK_SAFE_STOP,
			   .is_due = agent_policy_is_due,
			   .look_ahead = agent_policy_look_ahead,
			   .piece = agent_policy_piece},
	[WORK_RINGS] = {.needs = WORK_SAFE_STOP,
			.again_ns = RINGS_AGAIN_NS,
			.is_due = agent_policy_lacks_rings,
			.piece = agent_policy_piece},
	[WORK_MASKS] = {.needs = WORK_TRAP_STOP, .piece = sigmask_hooks_due},
	[WORK_WORDS] = {.needs = WORK_TRAP_STOP,
			.is_due = table_functions_are_due,
			.piece = table_functions_piece,
			.has_news = table_functions_have_news,
			.tick_us = WORDS_TICK_US},
	[WORK_DRAINING] = {.needs = WORK_NO_STOP, .run = agent_policy_poll},
};

static void take_record(void *context, const struct record *record)
{
	emission_record(context, record);
}

static void take_planted(void *context, struct process *process)
{
	attaching_done(context, process);
}

static void take_forgotten(void *context, const struct probe_info *info)
{
	emission_forget(context, info);
}

/* The `thread` function of struct code_names. */
static void name_thread(void *context, int32_t tid, char name[16])
{
	(void)context;
	proc_name(tid, name);
}

/* Returns true if stacks are looked at, and nothing is traced. */
static bool only_looks(const struct session_options *options)
{
	return options->stacks || options->profile_hz;
}

static int set_up(struct session *session)
{
	const struct session_options *options = session->target.options;
	int error = set_up_prototypes(session);

	if (!error)
		error = span_filters_set_up(&session->target);
	if (!error)
		error = filters_set_up(&session->target);
	if (!error)
		error = conditions_check(&session->target);
	if (!error && options->user)
		error = set_up_user(session);
	if (error)
		return error;
	session->target.notify = (struct target_events){.record = take_record,
							.planted = take_planted,
							.forgotten = take_forgotten,
							.context = session};
	engine_callbacks_init(&session->target);
	debuggers_init(session);
	sigmask_hooks_init(&session->target);
	runtimes_init(&session->target);
	session->target.files = elf_cache_create();
	session->target.debuginfo = debuginfo_create(options->verbose != 0, DWARF_STEPS_MAX,
						     options->array_max);
	if (options->output->inlines)
		debuginfo_want_inlines(session->target.debuginfo);
	session->target.probes = probe_table_create();
	ifuncs_init(&session->target);
	accessors_init(&session->target.accessors);
	indirect_init(&session->target);
	prefetched_init(&session->target);
	call_stacks_init(&session->target);
	session->code = (struct code_names){.find = module_code_name,
					    .place = module_code_place,
					    .thread = name_thread,
					    .changes = module_code_changes,
					    .context = &session->target};
	session->output = *options->output;
	session->output.patience = (struct outbuf_patience){is_awaited, has_ended, session};
	session->emission.begun = clock_now();
	session->emission.sink = create_sink(session);
	session->target.untraced = untraced_create(take_record, session, options->verbose != 0);
	if (options->quiet)
		untraced_keep_silent(session->target.untraced);
	session->target.tracees = tracees_create(&task_state_sizes);
	/* Where no call is timed, the child that calibration needs would be for nothing. */
	session->target.tracker = call_tracker_create(
		&session->target.events,
		only_looks(options) ? (struct stop_costs){0, 0} : trap_calibrate());
	session->target.trap = trap_create(session->target.tracker);
	if (!session->target.trap) {
		diag("instructions cannot be decoded: libcapstone does not work");
		return -ENOTSUP;
	}
	agent_policy_init(&session->target);
	if (!only_looks(options))
		system_calls_start(&session->target);
	session->target.work = (struct deferred_work){.types = work_types,
						      .context = &session->target,
						      .tracees = session->target.tracees,
						      .may_interrupt = !session->target.syscalls};
	return 0;
}

/* The sink must know before its first line whether there are several threads to tell apart. */
static void announce_all(struct session *session)
{
	size_t cursor = 0;
	void *thread;

	while (map_next(&session->target.tracees->threads, &cursor, NULL, &thread))
		task_announce(session, thread);
}

static int start_tracees(struct session *session, const struct original_signals *original)
{
	const struct session_options *options = session->target.options;
	struct process *process;

	prefault_start(session->target.tracees->prefault);
	int error = attaching_start(session);

	if (error)
		return error;
	announce_all(session);
	if (!options->command)
		return 0;
	session->target.tracees->launch_as = options->user ? &session->identity : NULL;
	error = tracees_launch(session->target.tracees, options->command, original, &process);
	if (error && options->user)
		diag("cannot run '%s' as user '%s': %s", options->command[0], options->user,
		     strerror(-error));
	else if (error)
		diag("cannot run '%s': %s", options->command[0], strerror(-error));
	else
		process->session->of_command = true;
	return error;
}

/* ------------------------------------------------------------------ running */

static struct process *launched_process(const struct session *session)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&session->target.tracees->processes, &cursor, NULL, &value))
		if (((struct process *)value)->launched)
			return value;
	return NULL;
}

/* Passes the tracer's signals on to the command, and detaches from other processes. */
enum { LEAVING_TICK_US = 20000 };

static void take_signals(struct session *session)
{
	bool from_terminal;
	int signal;

	while ((signal = interrupts_take(session->interrupts, &from_terminal))) {
		struct process *command = launched_process(session);

		if (intervals_signal(session, signal) || live_view_signal(session, signal))
			continue;
		if (interrupts_is_stop(signal)) {
			job_asked_to_stop(session, command, signal, from_terminal);
			continue;
		}
		if (command && !from_terminal)
			kill(command->pid, signal);
		if (interrupts_is_ignored(session->interrupts, signal))
			continue;
		/* A reader of the trace that has stalled must not hold up the detaching. */
		session->is_leaving = session->has_left = true;
		interrupts_tick(session->interrupts, LEAVING_TICK_US);
		detach_all(session, false);
	}
}

static void handle(struct session *session, struct stop *stop)
{
	system_calls_stop(&session->target, stop);
	debug_stop(&session->target, stop);
	if (stop->thread && stop->kind == STOP_SIGNAL)
		modules_check(&session->target, stop->thread->process->space, stop->time);
	if (agent_policy_fault(&session->target, stop) ||
	    deferred_work_serve(&session->target.work, stop))
		return;
	bool may_be_ours = stop->kind == STOP_SIGNAL && stop->signal == SIGTRAP && !stop->first;

	if (!may_be_ours || (!trap_stop(session->target.trap, stop) &&
			     !agent_policy_stepped(&session->target, stop)))
		tasks_stop(session, stop);
	untraced_show(session->target.untraced);
}

enum { HOLDING_TICK_US = 500000 };

/* What the sink has kept back is asked for again some time later. */
static void flush(struct session *session)
{
	const bool held = session->emission.holds;

	emission_flush(session);
	if (session->emission.holds && !held)
		interrupts_tick(session->interrupts, HOLDING_TICK_US);
}

/* waitpid(2) was interrupted: does what is to be done from time to time. */
static void tick(struct session *session)
{
	const unsigned period = deferred_work_tick(&session->target.work);

	if (session->emission.holds)
		emission_flush(session);
	interrupts_tick(session->interrupts,
			!period && session->emission.holds ? HOLDING_TICK_US : period);
}

static void run(struct session *session)
{
	/* Threads that did not stop for detaching are not counted here, nor waited for. */
	while (!session->emission.error && session->target.tracees->threads.count) {
		struct stop stop;

		if (interrupts_pending(session->interrupts)) {
			session->target.tracees->event = 0;
			if (interrupts_is_over(session->interrupts))
				break;
			live_view_check(session);
			intervals_check(session);
			take_signals(session);
			continue; /* there may be no tracee left to wait for */
		}
		const struct wake_up wake = deferred_work_next(&session->target.work);

		if (wake.period_us)
			interrupts_tick(session->interrupts, wake.period_us);
		int error = tracees_next(session->target.tracees,
					 !wake.at_once && !session->emission.dirty, &stop);

		if (error && error != -EAGAIN && error != -EINTR)
			break; /* -ECHILD: no tracee is left */
		deferred_work_run(&session->target.work, !error);
		if (error == -EAGAIN)
			flush(session);
		else if (error == -EINTR)
			tick(session);
		else
			handle(session, &stop);
		sweep_sites(&session->target);
	}
}

/* How long threads that did not stop are waited for; the tracer's exit detaches the rest. */
enum { ABANDONED_MS = 300 };

static int finish(struct session *session)
{
	int error = session->emission.error;

	session->target.tracees->event = 0;
	/* A reader of the trace that has stalled must not hold up the detaching. */
	session->is_leaving |= interrupts_is_over(session->interrupts);
	if (session->is_leaving)
		interrupts_tick(session->interrupts, LEAVING_TICK_US);
	detach_all(session, true);
	tracees_settle_abandoned(session->target.tracees, ABANDONED_MS);
	live_view_stop(session); /* the terminal may take its time, but not that of processes */
	session->is_leaving = false;
	interrupts_tick(session->interrupts, 0);
	filters_list_unmatched(&session->target);
	ifuncs_list_waiting(&session->target);
	agent_policy_list_lost(&session->target);
	untraced_show(session->target.untraced);
	agent_policy_tell_engines(&session->target);
	emission_moment(session, MOMENT_END);
	session->result->untraced = untraced_count(session->target.untraced) + session->unattached;
	if (!error)
		error = session->emission.sink->ops->finish(session->emission.sink);
	if (error)
		diag("cannot write the trace: %s",
		     error == -EINTR ? "nobody reads it" : strerror(-error));
	session->result->stops = trap_stops(session->target.trap);
	if (session->target.options->verbose)
		own_stops_show(&session->target);
	if (session->target.options->verbose && session->target.agent &&
	    agent_generated(session->target.agent))
		diag("%llu calls stopped though they are caught in the process: they came from "
		     "generated code, or from code without unwind tables",
		     (unsigned long long)agent_generated(session->target.agent));
	return error;
}

static void set_end(struct session *session)
{
	const uint64_t duration = session->target.options->duration_ns;

	if (duration)
		interrupts_set_end(session->interrupts, clock_now() + duration);
}

static int begin_output(const struct session *session)
{
	const struct session_options *options = session->target.options;

	return options->begins(options->begins_context);
}

static int trace(struct session *session, const struct original_signals *original)
{
	int error = live_view_start(session);

	if (!error)
		error = start_tracees(session, original);
	if (!error)
		error = begin_output(session);
	if (error) {
		live_view_stop(session);
		detach_all(session, true);
		return error;
	}
	set_end(session);
	intervals_start(session);
	run(session);
	return finish(session);
}

/* What the options ask for, from beginning to end. */
static int work(struct session *session, const struct original_signals *original)
{
	const struct session_options *options = session->target.options;

	if (!options->core && !options->stacks && !options->profile_hz)
		return trace(session, original);
	const int error = begin_output(session);

	if (error)
		return error;
	if (options->core)
		return core_stacks_show(session);
	if (options->stacks)
		return snapshot_take(session);
	set_end(session);
	return profile_run(session);
}

int session_run(const struct session_options *options, struct session_result *result)
{
	struct session session = {.target = {.options = options}, .result = result};
	struct original_signals original;

	*result = (struct session_result){0};
	int error = set_up(&session);

	result->bad_filter = session.target.bad_filter;
	if (!error) {
		session.target.guardian = guardian_start(session_recover);
		session.target.tracees->watchdog = guardian_watchdog(session.target.guardian);
	}
	if (!error)
		error = interrupts_start(&session.interrupts, &original);
	if (!error)
		error = work(&session, &original);
	tear_down(&session);
	guardian_dismiss(session.target.guardian);
	return error;
}

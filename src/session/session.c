/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The session's main loop: wait for a stop, hand it to the engine or to tasks.c, and when
 * nothing is left to do for the moment, let the writer write out what it has, so that a call
 * that is still running shows its entry. The loop ends when no tracee is left, when a signal
 * says so, or when the output fails.
 */
#include "session/session.h"

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "engine/trap/pending.h"
#include "engine/trap/sigtrap.h"
#include "image/extent.h"
#include "image/function_end.h"
#include "image/go_module.h"
#include "image/landing.h"
#include "inferior/guardian.h"
#include "inferior/maps.h"
#include "inferior/prefault.h"
#include "inferior/proc.h"
#include "inferior/ptrace.h"
#include "proto/dwarf.h"
#include "session/attaching.h"
#include "session/gates.h"
#include "session/own_stops.h"
#include "session/private.h"
#include "session/recover.h"
#include "session/runtimes.h"
#include "session/tables.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void take_record(void *context, const struct record *record)
{
	session_record(context, record);
}

/* Whether it is of a call within as many others as --depth says. */
static bool is_too_deep(const struct session *session, const struct record *record)
{
	const unsigned depth_max = session->options->depth_max;

	if (!depth_max || record->depth < depth_max)
		return false;
	return record->kind == RECORD_CALL || record->kind == RECORD_RETURN ||
	       record->kind == RECORD_UNWOUND;
}

void session_record(struct session *session, const struct record *record)
{
	debug_record(session, record);
	if (session->output_error || !session->writer || is_too_deep(session, record))
		return;
	session->output_error = session->writer->ops->record(session->writer, record);
	/* A table is written at the end only. */
	session->dirty = !session->options->summary;
}

/* ------------------------------------------------------------------ events */

static void linker_changed(struct hook *hook, struct thread *thread)
{
	struct session *session =
		(struct session *)(void *)((char *)hook - offsetof(struct session, linker));

	modules_update(session, thread);
}

static bool sigaction_called(struct hook *hook, struct thread *thread, const struct regs *regs)
{
	static const struct gate of_sigtrap = {GATE_ARGUMENT, SIGTRAP};
	struct session *session =
		(struct session *)(void *)((char *)hook - offsetof(struct session, sigaction));

	if (sigtrap_will_call(thread, regs))
		return true;
	gates_note(session, thread, regs, hook, "sigaction", of_sigtrap);
	return false;
}

static void sigaction_returned(struct hook *hook, struct thread *thread, uint64_t result)
{
	(void)hook;
	sigtrap_called(thread, result);
}

static bool sigaction_answered(struct hook *hook, struct thread *thread, const struct regs *regs,
			       uint64_t *result)
{
	(void)hook;
	*result = 0;
	return sigtrap_answered(thread, regs);
}

static void long_jump_called(struct hook *hook, struct thread *thread)
{
	struct session *session =
		(struct session *)(void *)((char *)hook - offsetof(struct session, long_jump));

	trap_long_jump(session->trap, thread, false);
}

static void glibc_long_jump_called(struct hook *hook, struct thread *thread)
{
	static const struct gate of_jumps = {.kind = GATE_JUMP};
	struct session *session =
		(struct session *)(void *)((char *)hook -
					   offsetof(struct session, long_jump_glibc));
	struct regs regs;

	trap_long_jump(session->trap, thread, true);
	pending_settle(session->inferior, thread->process->space);
	if (regs_load(thread->tid, &regs) == 0)
		gates_note(session, thread, &regs, hook, "longjmp", of_jumps);
}

static void slot_written(void *context, struct thread *thread, uint64_t address)
{
	(void)address;
	tables_plant(context, thread);
}

/*
 * Hand-written code may push the beginning of a function as a return address, without a call
 * (makecontext). The file tells, as code in memory may have been patched by us.
 */
static bool is_behind_call(const struct module *module, const struct arch *arch, uint64_t address)
{
	uint8_t before[ARCH_CALL_MAX];

	return elf_read(module->file, address - sizeof before, before, sizeof before) &&
	       arch->ends_with_call(before);
}

static enum return_place return_place(void *context, const struct space *space, uint64_t address)
{
	const struct module *module = modules_find(space->modules, address);

	(void)context;
	uint64_t start, length;

	if (!module)
		return RETURN_ELSEWHERE;
	address -= module->bias;
	/* What does not return may be called by a function's last instruction. */
	const bool is_described = extent_around(module->file, address - 1, &start, &length);

	if (is_described && landing_is_pad(module->file, address))
		return RETURN_AT_PAD;
	switch (function_end_at(module->file, address)) {
	case FUNCTION_IS_AT_ITS_END:
		if (is_behind_call(module, space->arch, address))
			return is_described ? RETURN_NOWHERE : RETURN_NOWHERE_UNDESCRIBED;
		break;
	case FUNCTION_MAY_GO_ON:
		return RETURN_TO_PART;
	default:
		break;
	}
	return is_described ? RETURN_IN_MODULE : RETURN_UNDESCRIBED;
}

static bool is_go(void *context, const struct space *space, uint64_t address)
{
	const struct module *module = modules_find(space->modules, address);

	(void)context;
	return module && go_module_uses_registers(module->file) &&
	       go_module_has_code(module->file, address - module->bias);
}

enum { NOWHERE = 0x10000 };

/* Whether a word that was taken for a return address leads to something that can be run. */
static bool is_code(const struct thread *thread, uint64_t address)
{
	struct maps maps;

	if (maps_read(thread->tid, &maps) != 0)
		return true;
	const struct mapping *mapping = maps_find(&maps, address);
	const bool is = mapping && mapping->executable;

	maps_deinit(&maps);
	return is;
}

static void return_lost(void *context, const struct thread *thread, const struct probe_site *site,
			uint64_t address)
{
	struct session *session = context;
	const struct module *caller = modules_find(thread->process->space->modules, address);

	/* Nothing returns to the lowest pages: the word is a number, and nobody has called. */
	if (address < NOWHERE || proc_is_exiting(thread->tid))
		return;
	_cleanup_free_ char *reason =
		is_code(thread, address)
			? xasprintf("calls from %s are shown, but how they end cannot be seen: "
				    "there can be no breakpoint",
				    caller ? caller->base_name : "outside of modules")
			: xstrdup("it was also jumped to, without a call: how that ends cannot be "
				  "seen");

	untraced_function(session->untraced, site->info->module, site->info->name, false, reason);
}

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
	const struct session_options *options = session->options;

	session->prototypes = proto_search_create(options->data_dir, conf_complain, session);
	for (size_t i = 0; i < options->configs->count; i++) {
		char *bad = NULL;
		int errors = proto_search_add(session->prototypes,
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
	const char *user = session->options->user;
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

	while (session->inferior && map_next(&session->inferior->threads, &cursor, NULL, &value))
		trap_thread_gone(session->trap, value, false);
	cursor = 0;
	while (session->inferior &&
	       map_next(&session->inferior->processes, &cursor, NULL, &value)) {
		struct space *space = ((struct process *)value)->space;

		if (!space)
			continue;
		agent_space_gone(space);
		trap_space_gone(space);
		modules_destroy(space->modules);
		space->modules = NULL;
	}
	inferior_destroy(session->inferior);
	plant_deinit(session);
	sites_deinit(session);
	system_calls_deinit(session);
	agent_destroy(session->agent);
	trap_destroy(session->trap);
	if (session->writer)
		session->writer->ops->destroy(session->writer);
	probe_table_destroy(session->probes);
	accessors_deinit(&session->accessors);
	prepare_deinit(session);
	proto_search_destroy(session->prototypes);
	debuginfo_destroy(session->debuginfo);
	elf_cache_destroy(session->files);
	filters_free(&session->filters);
	untraced_destroy(session->untraced);
	identity_deinit(&session->identity);
	map_deinit(&session->unprivileged);
	interrupts_stop(session->interrupts);
}

/* Processes are to be let go, whoever reads the trace. */
static bool is_awaited(void *context)
{
	const struct session *session = context;

	return session->is_leaving || (session->interrupts && interrupts_end(session->interrupts));
}

static struct writer *create_writer(const struct session *session)
{
	const struct session_options *options = session->options;
	const struct split_options split = {.probes = session->probes,
					    .options = &session->output,
					    .code = &session->code,
					    .tables = options->summary,
					    .path = options->output_path,
					    .fd = options->output_fd};

	if (options->output_path || options->per_process)
		return split_writer_create(&split);
	if (options->summary)
		return summary_writer_create(options->output_fd, session->probes, &session->output);
	return text_writer_create(options->output_fd, session->probes, &session->output,
				  &session->code);
}

static int set_up(struct session *session)
{
	const struct session_options *options = session->options;
	int error = filters_set_up(session);

	if (!error)
		error = set_up_prototypes(session);
	if (!error && options->user)
		error = set_up_user(session);
	if (error)
		return error;
	session->events = (struct engine_events){.record = take_record,
						 .watched = slot_written,
						 .return_place = return_place,
						 .return_lost = return_lost,
						 .is_go = is_go,
						 .show_caller = inprocess_show_caller,
						 .delayed = inprocess_delayed,
						 .masks_matter = masking_matters,
						 .system_call_answered = system_calls_answered,
						 .context = session};
	session->linker.entered = linker_changed;
	debuggers_init(session);
	masking_init(session);
	session->long_jump.entered = long_jump_called;
	session->long_jump_glibc.entered = glibc_long_jump_called;
	runtimes_init(session);
	session->sigaction = (struct hook){.wants_return = sigaction_called,
					   .returned = sigaction_returned,
					   .intercept = sigaction_answered};
	session->files = elf_cache_create();
	session->debuginfo = debuginfo_create(options->verbose != 0, DWARF_STEPS_MAX,
					      options->array_max);
	session->probes = probe_table_create();
	vec_init(&session->ifuncs, sizeof(struct ifunc_hook *));
	accessors_init(&session->accessors);
	pointers_init(session);
	prepare_init(session);
	session->code = (struct code_names){module_code_name, session};
	session->output = *options->output;
	session->output.patience = (struct outbuf_patience){is_awaited, session};
	session->writer = create_writer(session);
	session->untraced = untraced_create(take_record, session, options->verbose != 0);
	if (options->quiet)
		untraced_keep_silent(session->untraced);
	session->inferior = inferior_create();
	session->trap = trap_create(&session->events, trap_calibrate());
	if (!session->trap) {
		diag("instructions cannot be decoded: libcapstone does not work");
		return -ENOTSUP;
	}
	inprocess_init(session);
	system_calls_start(session);
	return 0;
}

/* The writer shall know from its first line on whether there are several threads to tell apart. */
static void announce_all(struct session *session)
{
	size_t cursor = 0;
	void *thread;

	while (map_next(&session->inferior->threads, &cursor, NULL, &thread))
		tasks_announce(session, thread);
}

static int start_tracees(struct session *session, const struct original_signals *original)
{
	const struct session_options *options = session->options;
	struct process *process;

	prefault_start(session->inferior->prefault);
	int error = attaching_start(session);

	if (error)
		return error;
	announce_all(session);
	if (!options->command)
		return 0;
	session->inferior->launch_as = options->user ? &session->identity : NULL;
	error = inferior_launch(session->inferior, options->command, original, &process);
	if (error && options->user)
		diag("cannot run '%s' as user '%s': %s", options->command[0], options->user,
		     strerror(-error));
	else if (error)
		diag("cannot run '%s': %s", options->command[0], strerror(-error));
	return error;
}

/* ------------------------------------------------------------------ running */

static struct process *launched_process(const struct session *session)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&session->inferior->processes, &cursor, NULL, &value))
		if (((struct process *)value)->launched)
			return value;
	return NULL;
}

/* A signal came for the tracer: pass it on to the command, let attached processes go. */
enum { LEAVING_TICK_US = 20000 };

static void take_signals(struct session *session)
{
	bool from_terminal;
	int signal;

	while ((signal = interrupts_take(session->interrupts, &from_terminal))) {
		struct process *command = launched_process(session);

		if (interrupts_is_stop(signal)) {
			job_asked_to_stop(session, command, signal, from_terminal);
			continue;
		}
		if (command && !from_terminal)
			kill(command->pid, signal);
		if (interrupts_is_ignored(session->interrupts, signal))
			continue;
		/* Who reads the trace may do so no more: that must not hold what is traced. */
		session->is_leaving = true;
		interrupts_tick(session->interrupts, LEAVING_TICK_US);
		tasks_detach_all(session, false);
	}
}

/*
 * Looks at data words that wait to be filled in; a process in which one is ready is stopped
 * once.
 */
static void poll_slots(struct session *session)
{
	size_t cursor = 0;
	void *value;
	bool waiting = false;

	while (map_next(&session->inferior->threads, &cursor, NULL, &value)) {
		struct thread *thread = value;
		struct space *space = thread->process->space;

		if (!space || !space->modules || !space->modules->slots.count)
			continue;
		waiting = true;
		if (thread->state == THREAD_RUNNING && thread->tid == thread->process->pid &&
		    tables_have_news(session, space))
			pt_interrupt(thread->tid);
	}
	if (!waiting && !session->poll_us)
		interrupts_tick(session->interrupts, 0);
}

void session_flush(struct session *session)
{
	if (session->dirty && !session->output_error)
		session->output_error = session->writer->ops->flush(session->writer);
	session->dirty = false;
}

static void handle(struct session *session, struct stop *stop)
{
	system_calls_stop(session, stop);
	debug_stop(session, stop);
	if (stop->thread && stop->kind == STOP_SIGNAL)
		modules_check(session, stop->thread->process->space, stop->time);
	if (inprocess_fault(session, stop) || later_serve(session, stop))
		return;
	bool may_be_ours = stop->kind == STOP_SIGNAL && stop->signal == SIGTRAP && !stop->first;

	if (!may_be_ours || (!trap_stop(session->trap, stop) && !inprocess_stepped(session, stop)))
		tasks_stop(session, stop);
	untraced_show(session->untraced);
}

static void run(struct session *session)
{
	/* A task that could not be stopped for detaching is not waited for. */
	while (!session->output_error && session->inferior->threads.count) {
		struct stop stop;

		if (interrupts_pending(session->interrupts)) {
			session->inferior->event = 0;
			take_signals(session);
			continue; /* there may be nobody left to wait for */
		}
		bool is_busy = session->has_waiting && later_ask(session);

		if (session->install_soon)
			inprocess_look_ahead(session);
		is_busy |= session->dirty || session->busy || session->install_soon;
		int error = inferior_next(session->inferior, !is_busy, &stop);

		if (error && error != -EAGAIN && error != -EINTR)
			break; /* -ECHILD: nobody left */
		inprocess_poll(session, !error);
		if (error == -EAGAIN)
			session_flush(session);
		else if (error == -EINTR)
			poll_slots(session);
		else
			handle(session, &stop);
		sites_sweep(session);
	}
}

/*
 * How long threads that did not stop for detaching are waited for before the kernel lets them go.
 */
enum { ABANDONED_MS = 300 };

static int finish(struct session *session)
{
	int error = session->output_error;

	session->inferior->event = 0;
	tasks_detach_all(session, true);
	inferior_settle_abandoned(session->inferior, ABANDONED_MS);
	session->is_leaving = false;
	interrupts_tick(session->interrupts, 0);
	filters_list_unmatched(session);
	plant_list_waiting(session);
	inprocess_list_lost(session);
	untraced_show(session->untraced);
	inprocess_tell_engines(session);
	session->result->untraced = untraced_count(session->untraced) + session->unattached;
	if (!error)
		error = session->writer->ops->finish(session->writer);
	if (error)
		diag("cannot write the trace: %s",
		     error == -EINTR ? "nobody reads it" : strerror(-error));
	session->result->stops = trap_stops(session->trap);
	if (session->options->verbose)
		own_stops_show(session);
	if (session->options->verbose && session->agent && agent_generated(session->agent))
		diag("%llu calls stopped though they are caught in the process: they came from "
		     "generated code, or from code without unwind tables",
		     (unsigned long long)agent_generated(session->agent));
	return error;
}

int session_run(const struct session_options *options, struct session_result *result)
{
	struct session session = {.options = options, .result = result};
	struct original_signals original;

	*result = (struct session_result){0};
	int error = set_up(&session);

	if (!error) {
		session.guardian = guardian_start(session_recover);
		session.inferior->pulse = guardian_pulse(session.guardian);
	}
	if (!error)
		error = interrupts_start(&session.interrupts, &original);
	if (!error) {
		error = start_tracees(&session, &original);
		if (error)
			tasks_detach_all(&session, true);
		else
			run(&session);
		if (!error)
			error = finish(&session);
	}
	tear_down(&session);
	guardian_dismiss(session.guardian);
	return error;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples of the stacks of all threads, of those that run and of those that wait: where the time of
 * a service goes, on both levels.
 *
 * The processes are not traced: between two samples they have no tracer, and what they do (create
 * threads, exec, end) is found out by looking again. Which files are mapped is looked at each
 * second, and the modules are read again if that has changed.
 */
#include "session/profile.h"

#include "base/diag.h"
#include "base/xalloc.h"
#include "session/sampled_process.h"
#include "sink/stacks/folded.h"
#include "target/mapped_modules.h"
#include "target/stacks/call_stacks.h"
#include "tracee/clock.h"
#include "tracee/maps.h"
#include "tracee/proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NS_PER_S = 1000000000 };

struct profiled_process {
	struct sampled_process *sampled;
	uint64_t checked; /* clock_now() when the mappings were compared last */
	uint64_t mapped;  /* a hash of the files that are mapped to be executed */
};

struct profile {
	struct session *session;
	struct folded *folded;
	struct vec processes; /* struct profiled_process * */
	uint64_t samples;
	uint64_t missing;  /* stacks of threads */
	uint64_t left_out; /* samples that were due while another one was made */
};

/* ------------------------------------------------------------------ processes */

static uint64_t hash_of_files(pid_t pid)
{
	uint64_t hash = 1;
	struct maps maps;

	if (maps_read(pid, &maps) != 0)
		return 0;
	for (size_t i = 0; i < maps.count; i++) {
		const struct mapping *mapping = &maps.mappings[i];

		if (mapping->executable && mapping->inode)
			hash = (hash ^ mapping->start ^ mapping->inode << 1) *
			       UINT64_C(0x9e3779b97f4a7c15);
	}
	maps_deinit(&maps);
	return hash;
}

static void forget_process(struct profile *profile, struct profiled_process *profiled)
{
	sampled_process_close(profile->session, profiled->sampled);
	free(profiled);
}

static int add_process(struct profile *profile, pid_t pid)
{
	struct profiled_process *profiled = xcalloc(1, sizeof *profiled);
	const int error = sampled_process_open(profile->session, pid, &profiled->sampled);

	if (error) {
		free(profiled);
		return error;
	}
	profiled->mapped = hash_of_files(proc_living_task(pid));
	profiled->checked = clock_now();
	vec_push(&profile->processes, &profiled);
	return 0;
}

/* Reads the modules again if other files are mapped than before. Returns false if that fails. */
static bool refresh(struct profile *profile, struct profiled_process *profiled)
{
	struct sampled_process *sampled = profiled->sampled;
	const uint64_t now = clock_now();
	size_t cursor = 0;
	void *value;

	if (now - profiled->checked < NS_PER_S)
		return true;
	profiled->checked = now;
	const uint64_t mapped = hash_of_files(proc_living_task(sampled->pid));

	if (mapped == profiled->mapped)
		return true;
	profiled->mapped = mapped;
	while (map_next(&sampled->threads, &cursor, NULL, &value))
		sampled_thread_forget(value);
	return mapped_modules_again(&profile->session->target, sampled_process_any(sampled)) == 0;
}

/* ------------------------------------------------------------------ samples */

/* One process of a sample. */
struct sampling {
	struct profile *profile;
	struct sampled_process *sampled;
};

static void sample_thread(void *context, pid_t tid)
{
	const struct sampling *sampling = context;
	struct profile *profile = sampling->profile;
	struct session *session = profile->session;
	struct sampled_thread *thread = sampled_process_thread(session, sampling->sampled, tid);
	uint32_t stack;

	if (interrupts_pending(session->interrupts))
		return;
	thread->seen = profile->samples;
	if (!sampled_thread_look(&session->target, thread, &stack))
		return;
	if (stack)
		folded_add(profile->folded, thread->name, stack);
	else
		profile->missing++;
}

/* Forgets threads that are not listed any more. Returns how many are left. */
static size_t sweep(struct profile *profile, struct sampled_process *sampled)
{
	struct vec gone = VEC_OF(struct sampled_thread *);
	size_t cursor = 0;
	void *value;

	while (map_next(&sampled->threads, &cursor, NULL, &value))
		if (((struct sampled_thread *)value)->seen != profile->samples)
			vec_push(&gone, &value);
	/* The process lives as long as it has a thread: the last one stays. */
	const size_t left = sampled->threads.count - gone.count;

	for (size_t i = 0; i < gone.count && left; i++) {
		struct sampled_thread *thread = *(struct sampled_thread **)vec_at(&gone, i);

		map_remove(&sampled->threads, (uint64_t)thread->thread->tid);
		sampled_thread_destroy(profile->session->target.tracees, thread, 0);
	}
	vec_deinit(&gone);
	return left;
}

/* Returns false if the process is gone. */
static bool sample_process(struct profile *profile, struct profiled_process *profiled)
{
	struct sampled_process *sampled = profiled->sampled;
	if (!proc_each_task(sampled->pid, sample_thread, &(struct sampling){profile, sampled}))
		return false;
	return interrupts_pending(profile->session->interrupts) ||
	       (sweep(profile, sampled) && refresh(profile, profiled));
}

static void sample_all(struct profile *profile)
{
	profile->samples++;
	for (size_t i = 0; i < profile->processes.count; i++) {
		struct profiled_process *profiled =
			*(struct profiled_process **)vec_at(&profile->processes, i);

		if (sample_process(profile, profiled))
			continue;
		vec_remove(&profile->processes, i--);
		forget_process(profile, profiled);
	}
}

static void loop(struct profile *profile)
{
	const struct session *session = profile->session;
	const uint64_t period = NS_PER_S / session->target.options->profile_hz;
	uint64_t next = clock_now();

	while (profile->processes.count && !interrupts_pending(session->interrupts)) {
		sample_all(profile);
		const uint64_t now = clock_now();

		next += period;
		/* After a sample that took longer, none is made up for. */
		if (next < now) {
			profile->left_out += (now - next) / period + 1;
			next = now + period;
		}
		const struct timespec until = {.tv_sec = (time_t)(next / NS_PER_S),
					       .tv_nsec = (long)(next % NS_PER_S)};

		/* A signal for the tracer ends the sleep. */
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
}

/* ------------------------------------------------------------------ from start to end */

static int write_text(const struct profile *profile)
{
	struct outbuf out;

	outbuf_init(&out, profile->session->target.options->output_fd);
	folded_put(profile->folded, &out);
	const int error = outbuf_flush(&out);

	outbuf_deinit(&out);
	return error;
}

static void report(const struct profile *profile)
{
	const struct session_options *options = profile->session->target.options;

	if (options->quiet)
		return;
	diag("%llu samples, %llu stacks of threads", (unsigned long long)profile->samples,
	     (unsigned long long)folded_count(profile->folded));
	/* On a busy machine these are of threads that run: they would seem to run less. */
	if (profile->missing)
		diag("%llu stacks are missing: threads did not stop in time, or cannot be walked",
		     (unsigned long long)profile->missing);
	if (profile->left_out)
		diag("%llu samples were left out: looking at all threads took longer than 1/%u s",
		     (unsigned long long)profile->left_out, options->profile_hz);
}

int profile_run(struct session *session)
{
	const struct session_options *options = session->target.options;
	struct profile profile = {.session = session,
				  .processes = VEC_OF(struct profiled_process *)};
	int error = 0;

	profile.folded = folded_create(call_stacks_table(&session->target), &session->output);
	for (size_t i = 0; i < options->pid_count; i++) {
		const int failure = add_process(&profile, proc_process_of(options->pids[i]));

		error = error ? error : failure;
	}
	if (profile.processes.count) {
		loop(&profile);
		error = write_text(&profile);
		if (error)
			diag("cannot write the profile: %s", strerror(-error));
	}
	for (size_t i = 0; i < profile.processes.count; i++) {
		struct profiled_process **processes = profile.processes.items;

		forget_process(&profile, processes[i]);
	}
	if (!error)
		report(&profile);
	vec_deinit(&profile.processes);
	folded_destroy(profile.folded);
	return error;
}

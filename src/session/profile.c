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
#include "session/sampled_thread.h"
#include "sink/folded.h"
#include "target/call_stacks.h"
#include "target/mapped_files.h"
#include "target/mapped_modules.h"
#include "target/module_list.h"
#include "tracee/attach.h"
#include "tracee/clock.h"
#include "tracee/maps.h"
#include "tracee/proc.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NS_PER_S = 1000000000 };

struct sampled_process {
	pid_t pid;
	struct process *process;
	struct map threads; /* tid → struct sampled_thread */
	uint64_t checked;   /* clock_now() when the mappings were compared last */
	uint64_t mapped;    /* a hash of the files that are mapped to be executed */
};

struct profile {
	struct session *session;
	struct folded *folded;
	struct vec processes; /* struct sampled_process * */
	uint64_t samples;
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

/* Returns a thread of the process, which has at least one. */
static struct thread *any_thread(const struct sampled_process *sampled)
{
	size_t cursor = 0;
	void *value;

	map_next(&sampled->threads, &cursor, NULL, &value);
	return ((struct sampled_thread *)value)->thread;
}

static void forget_threads(struct profile *profile, struct sampled_process *sampled)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&sampled->threads, &cursor, NULL, &value))
		sampled_thread_destroy(profile->session->target.tracees, value);
	map_deinit(&sampled->threads);
}

static void forget_process(struct profile *profile, struct sampled_process *sampled)
{
	struct space *space = sampled->process->space;

	if (space) {
		module_list_destroy(space->modules);
		space->modules = NULL;
	}
	forget_threads(profile, sampled);
	free(sampled);
}

/* Makes what is known of a process, with its leader or another thread. */
static struct sampled_process *make_process(struct profile *profile, pid_t pid)
{
	struct tracees *tracees = profile->session->target.tracees;
	struct sampled_process *sampled = xcalloc(1, sizeof *sampled);

	sampled->pid = pid;
	sampled->process = process_create(tracees, pid);
	/* A leader that has ended has no mappings any more. */
	const pid_t tid = proc_living_task(pid);

	map_put(&sampled->threads, (uint64_t)tid,
		sampled_thread_create(tracees, sampled->process, tid));
	return sampled;
}

static int add_process(struct profile *profile, pid_t pid)
{
	struct target *target = &profile->session->target;
	struct sampled_process *sampled = make_process(profile, pid);
	const char state = proc_state(proc_living_task(pid));
	int error = 0;

	if (state == '?')
		error = -ESRCH;
	else if (state == 'Z' || proc_status_number(pid, "TracerPid") > 0)
		error = -EPERM;
	if (!error)
		error = mapped_modules_read(target, any_thread(sampled));
	if (!error) {
		sampled->mapped = hash_of_files(proc_living_task(pid));
		sampled->checked = clock_now();
		vec_push(&profile->processes, &sampled);
		return 0;
	}
	char *why = error == -ESRCH			  ? xstrdup("no such process")
		    : error == -EPERM || error == -EACCES ? attach_explain(-EPERM, pid)
							  : xstrdup(mapped_files_reason(error));

	diag("cannot attach to process %d: %s", (int)pid, why);
	free(why);
	forget_process(profile, sampled);
	return error;
}

/* Reads the modules again if other files are mapped than before. Returns false if that fails. */
static bool refresh(struct profile *profile, struct sampled_process *sampled)
{
	const uint64_t now = clock_now();
	size_t cursor = 0;
	void *value;

	if (now - sampled->checked < NS_PER_S)
		return true;
	sampled->checked = now;
	const uint64_t mapped = hash_of_files(proc_living_task(sampled->pid));

	if (mapped == sampled->mapped)
		return true;
	sampled->mapped = mapped;
	while (map_next(&sampled->threads, &cursor, NULL, &value))
		sampled_thread_forget(value);
	return mapped_modules_again(&profile->session->target, any_thread(sampled)) == 0;
}

/* ------------------------------------------------------------------ samples */

static void sample_thread(struct profile *profile, struct sampled_process *sampled, pid_t tid)
{
	struct session *session = profile->session;
	struct sampled_thread *thread = map_get(&sampled->threads, (uint64_t)tid);
	uint32_t stack;

	if (!thread) {
		thread = sampled_thread_create(session->target.tracees, sampled->process, tid);
		map_put(&sampled->threads, (uint64_t)tid, thread);
	}
	thread->seen = profile->samples;
	if (sampled_thread_look(&session->target, thread, &stack) && stack)
		folded_add(profile->folded, thread->name, stack);
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
		sampled_thread_destroy(profile->session->target.tracees, thread);
	}
	vec_deinit(&gone);
	return left;
}

/* Returns false if the process is gone. */
static bool sample_process(struct profile *profile, struct sampled_process *sampled)
{
	const struct dirent *entry;
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/task", (int)sampled->pid);
	DIR *tasks = opendir(path);

	if (!tasks)
		return false;
	while ((entry = readdir(tasks))) {
		const pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && !interrupts_pending(profile->session->interrupts))
			sample_thread(profile, sampled, tid);
	}
	closedir(tasks);
	return interrupts_pending(profile->session->interrupts) ||
	       (sweep(profile, sampled) && refresh(profile, sampled));
}

static void sample_all(struct profile *profile)
{
	profile->samples++;
	for (size_t i = 0; i < profile->processes.count; i++) {
		struct sampled_process *sampled =
			*(struct sampled_process **)vec_at(&profile->processes, i);

		if (sample_process(profile, sampled))
			continue;
		vec_remove(&profile->processes, i--);
		forget_process(profile, sampled);
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
	if (profile->left_out)
		diag("%llu samples were left out: looking at all threads took longer than 1/%u s",
		     (unsigned long long)profile->left_out, options->profile_hz);
}

int profile_run(struct session *session)
{
	const struct session_options *options = session->target.options;
	struct profile profile = {.session = session,
				  .processes = VEC_OF(struct sampled_process *)};
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
	for (size_t i = 0; i < profile.processes.count; i++)
		forget_process(&profile, *(struct sampled_process **)vec_at(&profile.processes, i));
	if (!error)
		report(&profile);
	vec_deinit(&profile.processes);
	folded_destroy(profile.folded);
	return error;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the guardian does when the tracer has been killed (inferior/guardian.h).
 *
 * First of all the breakpoints of all processes are taken out, while they run: a thread that blocks
 * SIGTRAP, as every new one does for a moment, would be killed by one, handler or not.
 *
 * Then each process is attached to as soon as the kernel has let it go, its breakpoints, slots and
 * mappings are known from the journal, and it is left like any other. While that is prepared it
 * runs on: the handler in it (inferior/rescue.h) takes breakpoints out if a thread hits one, and a
 * thread that was making a system call for the tracer finds back by itself. Both run code of ours
 * that must not be taken away under them, so the process is let run on for moments until nobody is
 * there.
 *
 * Without the right to attach (Yama, or a process that has changed its user) the handler has to do;
 * it stays in the process then. The same if another tracer was quicker: that takes over what it
 * finds. Nothing here waits without end.
 */
#include "session/recover.h"

#include "engine/agent/agent.h"
#include "engine/trap/trap.h"
#include "engine/trap/unblock.h"
#include "inferior/journal.h"
#include "inferior/mend.h"
#include "inferior/proc.h"
#include "inferior/ptrace.h"
#include "inferior/rescue.h"
#include "inferior/stranded.h"
#include "session/private.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Once in some thousand kills it looks for a moment as if somebody else had the process. */
enum { STRANGE_LOOKS = 20, ATTACH_TRIES = 2000, SEIZE_ROUNDS = 100, ABANDONED_MS = 300 };

/* A process that the tracer has left behind. */
struct patient {
	struct journal *journal;
	struct space *space; /* holds the journal; NULL: its memory cannot be opened */
};

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* It is still the process that the journal is about, and nobody else traces it. */
static bool is_ours(const struct journal_subject *subject)
{
	long tracer = proc_status_number(subject->pid, "TracerPid");

	return proc_start_time(subject->pid) == subject->start_time &&
	       (tracer <= 0 || tracer == subject->tracer || tracer == getpid());
}

/*
 * The kernel has not taken the tracer from all threads yet. To be attached to some of them only and
 * let go again is worse than to wait: one may have hit a breakpoint meanwhile, or have made
 * another.
 */
static bool is_held(const struct journal_subject *subject)
{
	char path[64];
	bool held = false;

	snprintf(path, sizeof path, "/proc/%d/task", (int)subject->pid);
	DIR *tasks = opendir(path);
	struct dirent *entry;

	while (tasks && !held && (entry = readdir(tasks))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		held = tid > 0 && proc_status_number(tid, "TracerPid") == subject->tracer;
	}
	if (tasks)
		closedir(tasks);
	return held;
}

static struct process *attach(struct session *session, const struct journal_subject *subject,
			      struct space *space)
{
	int strange = 0;

	for (int i = 0; i < ATTACH_TRIES && strange < STRANGE_LOOKS; i++) {
		struct process *process = NULL;
		char *why = NULL;

		strange = is_ours(subject) ? 0 : strange + 1;
		int error = strange || is_held(subject)
				    ? -EPERM
				    : inferior_attach(session->inferior, subject->pid, &process,
						      &why);

		free(why);
		if (!error)
			return process;
		/* Or one ends just now. */
		if (space)
			rescue_beat(space);
		pause_ms(1);
	}
	return NULL;
}

/* The tracer may have watched words; what it set in debug registers is cleared at the end. */
static void assume_watched(struct thread *thread, void *context)
{
	(void)context;
	thread->watch_generation = 1;
}

/* Also of the children in its memory, which have inherited it. */
static void adopt_disposition(struct session *session, const struct space *space)
{
	const struct journal_subject *subject = journal_subject(space->journal);
	size_t cursor = 0;
	void *value;

	while (map_next(&session->inferior->processes, &cursor, NULL, &value)) {
		struct process *process = value;

		if (process->space != space)
			continue;
		process->sigtrap_guarded = subject->guarded;
		process->handlers_opened = subject->handlers_opened;
		memcpy(process->sigtrap_action, subject->action, sizeof process->sigtrap_action);
		process_each_thread(process, assume_watched, NULL);
	}
}

static void adopt_space(struct session *session, struct process *process, struct space *space)
{
	space_bind(space, session->inferior);
	process->space = space; /* and lets go of it */
	process->starting = false;
	forks_share_space(session, process);
	adopt_disposition(session, space);
	/*
	 * What clock is read by the code that is left there is not known: it may be the system's,
	 * and then a thread in the vDSO, or a handler that returns to it, goes back to our code.
	 */
	if (space->arch->agent)
		space_find_kernel_code(space, process->pid);
}

/* A thread that was being stepped with its signals blocked. */
static void unmask(const struct session *session, const struct space *space)
{
	struct rescue_step *step = &journal_subject(space->journal)->step;
	const struct thread *thread = inferior_thread(session->inferior, (pid_t)step->tid);

	if (thread && thread->process->space == space)
		stranded_unmask(thread, step);
}

/* Stops all threads, those included that turn up when the others stand. NULL: it has ended. */
static struct process *stop_whole(struct session *session, pid_t pid)
{
	for (int rounds = 0;; rounds++) {
		tasks_stop_all(session, pid);
		struct process *process = inferior_process(session->inferior, pid);
		int found = process ? inferior_seize_new(session->inferior, process) : 0;

		if (process && process->space)
			forks_share_space(session, process);
		if (found <= 0 || rounds == SEIZE_ROUNDS)
			return process;
	}
}

/* The handler in the process may have cut its mappings. */
static void mend_mappings(struct process *process)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&process->inferior->threads, &cursor, NULL, &value)) {
		struct thread *thread = value;

		if (thread->process == process && thread_is_clean_stop(thread) &&
		    mappings_mend(thread) == 0)
			return;
	}
}

static void leave(struct session *session, pid_t pid)
{
	struct process *process = stop_whole(session, pid);

	if (!process || !process->space)
		return;
	unmask(session, process->space);
	trap_heal(process->space, false); /* then no thread gets into the handler again */
	bool clear = clearing_run(session, pid);

	process = inferior_process(session->inferior, pid);
	/* Someone may stay in there: what he runs must stay, too. */
	if (!clear || !process || !process->space || trap_adopt(process->space) != 0)
		return;
	unblock_adopt(session->inferior, process->space);
	mend_mappings(process);
	tasks_detach_all(session, true);
}

/* Opens the memory of what the journal tells of, if it can be opened now. */
static void open_space(struct patient *patient)
{
	int error;
	const struct journal_subject *subject = journal_subject(patient->journal);
	const struct arch *arch = arch_find(subject->elf_machine, subject->elf_class);

	if (!arch || !is_ours(subject) ||
	    !(patient->space = space_create(subject->pid, arch, &error)))
		return;
	journal_destroy(patient->space->journal);
	patient->space->journal = patient->journal;
	space_forget_reader(patient->space, patient->space->reader); /* no thread is stopped */
}

/* What the journal tells of, or false. The process runs. */
static bool open_patient(int fd, struct patient *patient)
{
	patient->journal = journal_adopt(fd);
	patient->space = NULL;
	if (!patient->journal)
		return false;
	open_space(patient);
	return true;
}

static void recover_one(struct session *session, struct patient *patient)
{
	const struct journal_subject *subject = journal_subject(patient->journal);
	struct process *process = attach(session, subject, patient->space);

	/* Nothing more will come that it would make sense to wait for. */
	if (!process && patient->space && is_ours(subject))
		trap_heal(patient->space, false);
	if (process && !patient->space)
		open_space(patient); /* it may have looked like somebody else's, a moment ago */
	if (!process || !patient->space)
		return;
	pid_t pid = process->pid;

	adopt_space(session, process, patient->space);
	leave(session, pid);
}

void session_recover(const int *journals, size_t count)
{
	struct session_result result = {0};
	struct session_options options = {0};
	struct session session = {.options = &options, .result = &result};

	struct vec patients = VEC_OF(struct patient);
	struct patient patient;

	session.leaving = session.recovering = true;
	for (size_t i = 0; i < count; i++) {
		if (!open_patient(journals[i], &patient))
			continue;
		if (patient.space) {
			agent_turn_off(patient.space);
			trap_heal(patient.space, true);
		}
		vec_push(&patients, &patient);
	}
	for (size_t i = 0; i < patients.count; i++) {
		session.inferior = inferior_create();
		recover_one(&session, vec_at(&patients, i));
		inferior_settle_abandoned(session.inferior, ABANDONED_MS);
	}
	vec_deinit(&patients);
}

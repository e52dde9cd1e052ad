/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the guardian does when the tracer has been killed (recovery/guardian.h).
 *
 * First it takes the breakpoints out of all processes, while they run. A thread that blocks
 * SIGTRAP, as each new thread does for a moment, would be killed by a breakpoint in spite of the
 * SIGTRAP handler.
 *
 * Then it attaches to each process as soon as the kernel has detached it from the dead tracer,
 * reads breakpoints, XOL slots and mappings from the journal, and leaves the process like at any
 * detach. Until then the process runs: its SIGTRAP handler (recovery/rescue.h) takes breakpoints
 * out if a thread hits one, and a thread in a remote call for the tracer restores its registers by
 * itself. Both run code of the tracer's that must not be unmapped under them, so the process is
 * resumed for short times until no thread is in that code.
 *
 * Without the right to attach (Yama, or a process that has changed its user) the handler has to
 * suffice, and stays in the process. It also stays if another tracer has attached first, which
 * adopts the orphan. Nothing here waits without a limit.
 */
#include "session/recover.h"

#include "engine/agent/ring_drain.h"
#include "engine/trap/adopt.h"
#include "engine/trap/sigmask_shadow.h"
#include "engine/trap/sigtrap.h"
#include "engine/trap/watch.h"
#include "recovery/remote_call_recovery.h"
#include "recovery/rescue.h"
#include "recovery/vma_merge.h"
#include "session/detach.h"
#include "session/drain_threads.h"
#include "session/quiesce.h"
#include "session/session_state.h"
#include "target/forks.h"
#include "target/task_state.h"
#include "tracee/attach.h"
#include "tracee/journal.h"
#include "tracee/proc.h"
#include "tracee/space.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * Once in some thousand kills, /proc shows for a moment what looks like another tracer. So that is
 * believed only after STRANGE_LOOKS looks in a row.
 */
enum { STRANGE_LOOKS = 20, ATTACH_TRIES = 2000, SEIZE_ROUNDS = 100, ABANDONED_MS = 300 };

/* A process whose tracer was killed. */
struct orphan {
	struct journal *journal;
	struct space *space; /* owns the journal; NULL: its memory cannot be opened */
};

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/*
 * Returns true if this is still the process that the journal describes, and no other tracer has it.
 */
static bool is_ours(const struct journal_subject *subject)
{
	long tracer = proc_status_number(subject->pid, "TracerPid");

	return proc_start_time(subject->pid) == subject->start_time &&
	       (tracer <= 0 || tracer == subject->tracer || tracer == getpid());
}

/*
 * Returns true if some threads are still attached to the dead tracer. The guardian waits then. If
 * it attached to the other threads only and detached again, that would be worse: one of them may
 * have hit a breakpoint meanwhile, or created another thread.
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
				    : tracees_attach(session->target.tracees, subject->pid,
						     &process, &why);

		free(why);
		if (!error)
			return process;
		/* The attach also fails if a thread is just exiting, so it is tried again. */
		if (space)
			rescue_beat(space);
		pause_ms(1);
	}
	return NULL;
}

/* The tracer may have used debug registers; they are cleared at the end. */
static void assume_watched(struct thread *thread, void *context)
{
	(void)context;
	trap_assume_watched(thread);
}

/*
 * Sets what the tracer knew of the dispositions, also of CLONE_VM children, which have inherited
 * them.
 */
static void adopt_disposition(struct session *session, const struct space *space)
{
	const struct journal_subject *subject = journal_subject(space->journal);
	size_t cursor = 0;
	void *value;

	while (map_next(&session->target.tracees->processes, &cursor, NULL, &value)) {
		struct process *process = value;

		if (process->space != space)
			continue;
		sigtrap_adopt(process, subject);
		process_each_thread(process, assume_watched, NULL);
	}
}

static void adopt_space(struct session *session, struct process *process, struct space *space)
{
	space_bind(space, session->target.tracees);
	process->space = space; /* the process owns the reference now */
	process->starting = false;
	forks_share_space(&session->target, process);
	adopt_disposition(session, space);
	/*
	 * Which clock the agent's code reads is not known. If it is the system's, a thread in the
	 * vDSO, or in a handler that returns there, goes back to the agent's code.
	 */
	if (space->arch->agent)
		space_find_kernel_code(space, process->pid);
}

/* Restores the mask of a thread that was being single-stepped with its signals blocked. */
static void unmask(const struct session *session, const struct space *space)
{
	struct rescue_step *step = &journal_subject(space->journal)->step;
	const struct thread *thread = tracees_thread(session->target.tracees, (pid_t)step->tid);

	if (thread && thread->process->space == space)
		remote_call_recovery_unmask(thread, step);
}

/* Stops all threads, also those that appear meanwhile. Returns NULL if the process has ended. */
static struct process *stop_whole(struct session *session, pid_t pid)
{
	for (int rounds = 0;; rounds++) {
		quiesce_process(session, pid);
		struct process *process = tracees_process(session->target.tracees, pid);
		int found = process ? tracees_seize_new(session->target.tracees, process) : 0;

		if (process && process->space)
			forks_share_space(&session->target, process);
		if (found <= 0 || rounds == SEIZE_ROUNDS)
			return process;
	}
}

/* Merges mappings that the handler in the process may have split. */
static void mend_mappings(struct process *process)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&process->tracees->threads, &cursor, NULL, &value)) {
		struct thread *thread = value;

		if (thread->process == process && thread_is_safe_stop(thread) &&
		    vma_merge(thread) == 0)
			return;
	}
}

static void leave(struct session *session, pid_t pid)
{
	struct process *process = stop_whole(session, pid);

	if (!process || !process->space)
		return;
	unmask(session, process->space);
	trap_heal(process->space, false); /* no thread can enter the handler after this */
	bool clear = drain_threads_run(session, pid);

	process = tracees_process(session->target.tracees, pid);
	/* A thread may stay in the tracer's code, which must stay, too. */
	if (!clear || !process || !process->space || trap_adopt(process->space) != 0)
		return;
	sigmask_shadow_adopt(session->target.tracees, process->space);
	mend_mappings(process);
	detach_all(session, true);
}

/* Opens the memory of the process that the journal describes, if that is possible now. */
static void open_space(struct orphan *orphan)
{
	int error;
	const struct journal_subject *subject = journal_subject(orphan->journal);
	const struct arch *arch = arch_find(subject->elf_machine, subject->elf_class);

	if (!arch || !is_ours(subject) ||
	    !(orphan->space = space_create(subject->pid, arch, &error)))
		return;
	journal_destroy(orphan->space->journal);
	orphan->space->journal = orphan->journal;
	space_forget_reader(orphan->space, orphan->space->reader); /* no thread is stopped */
}

/*
 * Opens the journal and the memory of a process, which runs. Returns false if there is no journal.
 */
static bool open_orphan(int fd, struct orphan *orphan)
{
	orphan->journal = journal_adopt(fd);
	orphan->space = NULL;
	if (!orphan->journal)
		return false;
	open_space(orphan);
	return true;
}

static void recover_one(struct session *session, struct orphan *orphan)
{
	const struct journal_subject *subject = journal_subject(orphan->journal);
	struct process *process = attach(session, subject, orphan->space);

	/* Nothing is left to wait for, so take out also the breakpoints that had to stay. */
	if (!process && orphan->space && is_ours(subject))
		trap_heal(orphan->space, false);
	if (process && !orphan->space)
		open_space(orphan); /* is_ours() may have been false for a moment */
	if (!process || !orphan->space)
		return;
	pid_t pid = process->pid;

	adopt_space(session, process, orphan->space);
	leave(session, pid);
}

void session_recover(const int *journals, size_t count)
{
	struct session_result result = {0};
	struct session_options options = {0};
	struct session session = {.target = {.options = &options}, .result = &result};

	struct vec orphans = VEC_OF(struct orphan);
	struct orphan orphan;

	session.target.leaving = session.recovering = true;
	for (size_t i = 0; i < count; i++) {
		if (!open_orphan(journals[i], &orphan))
			continue;
		if (orphan.space) {
			agent_turn_off(orphan.space);
			trap_heal(orphan.space, true);
		}
		vec_push(&orphans, &orphan);
	}
	for (size_t i = 0; i < orphans.count; i++) {
		session.target.tracees = tracees_create(&task_state_sizes);
		recover_one(&session, vec_at(&orphans, i));
		tracees_settle_abandoned(session.target.tracees, ABANDONED_MS);
	}
	vec_deinit(&orphans);
}

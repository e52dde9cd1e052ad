/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attaching to a running process: every thread in /proc/PID/task is seized, again and again until a
 * whole pass finds nothing new. Threads that a seized thread creates meanwhile are attached by the
 * kernel and come with their parent's PTRACE_EVENT_CLONE; but not one whose creation was under way
 * when its parent was seized. Those are there at the latest when each thread has been stopped once,
 * and are looked for again then (inferior_seize_new()). Seizing stops nobody; only one thread is
 * then interrupted, as planting breakpoints needs one at hand. One that runs is preferred, as an
 * interrupt ends some system calls (epoll_wait, for one) with EINTR.
 */
#include "base/cleanup.h"
#include "base/xalloc.h"
#include "inferior/inferior.h"
#include "inferior/proc.h"
#include "inferior/ptrace.h"
#include "inferior/seize.h"
#include "inferior/waiting.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* How long an exec is waited for, and how often threads that it may wait for are looked after. */
enum { EXEC_TRIES = 150, EXEC_WAIT_MS = 20 };
enum { REFUSALS = 4, PAUSE_NS = 1000000 };

static bool has_not_ended(pid_t tid)
{
	return !strchr("ZX?", proc_state(tid));
}

static long read_number(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[32];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (n <= 0)
		return -1;
	text[n] = '\0';
	return strtol(text, NULL, 10);
}

/* Which of the reasons for EPERM it is, for the user. */
static char *explain_permission(pid_t pid)
{
	long tracer = proc_status_number(pid, "TracerPid");
	long scope = read_number("/proc/sys/kernel/yama/ptrace_scope");
	long uid = proc_status_number(pid, "Uid");

	if (tracer > 0)
		return xasprintf("already traced by process %ld", tracer);
	if (proc_state(pid) == 'Z')
		return xasprintf("it has exited (zombie)");
	if (geteuid() && uid >= 0 && (uid_t)uid != geteuid())
		return xasprintf("not permitted: it belongs to user %ld; CAP_SYS_PTRACE is needed",
				 uid);
	if (scope == 3)
		return xasprintf("not permitted: kernel.yama.ptrace_scope is 3, no process may be "
				 "traced until the next boot");
	if (geteuid() && scope > 0)
		return xasprintf("not permitted: kernel.yama.ptrace_scope is %ld; run with "
				 "CAP_SYS_PTRACE, or as the one who launches the command",
				 scope);
	if (geteuid())
		return xasprintf(
			"not permitted: it runs with more rights than you "
			"(set-user-ID, capabilities, or not dumpable); CAP_SYS_PTRACE is needed");
	return xasprintf("not permitted: a kernel thread, or CAP_SYS_PTRACE is missing");
}

static char *explain(int error, pid_t pid)
{
	if (error == -EBUSY)
		return xstrdup("it is in the middle of an exec, which does not end");
	return error && error != -EPERM ? xstrdup(strerror(-error)) : explain_permission(pid);
}

/*
 * Takes the stop of a thread that may stand already. The end of one that nothing is known of yet is
 * no news to anybody; an exec may wait for it.
 */
static void pass_end(struct thread *thread, void *context)
{
	int status;

	(void)context;
	if (thread->state != THREAD_RUNNING || waiting_poll(thread->tid, &status) <= 0)
		return;
	if (stop_status_decode(status).kind != STOP_ENDING || !thread->process->starting) {
		thread_keep_stop(thread, status);
		return;
	}
	thread_note_ending(thread);
	pt_continue(thread->tid, 0);
}

/*
 * Seizes a thread of a process that may be in the middle of an exec, which waits for its other
 * threads to end, and those that are ours for us (seize.h): 0 or -errno, -EBUSY when the exec does
 * not end, -EINTR when it cannot while we are here.
 */
static int patient_seize(const struct inferior *inferior, struct process *process, pid_t tid)
{
	int refused = 0;
	int error;

	for (int tries = 0; tries < EXEC_TRIES; tries++) {
		error = seize_within(tid, inferior->ptrace_options, EXEC_WAIT_MS);
		/* So says the kernel of one that has ended, whose id may be another's by now. */
		if (error == -EPERM && has_not_ended(tid) && ++refused < REFUSALS) {
			nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
			continue;
		}
		if (error != -EINTR)
			return error;
		process_each_thread(process, pass_end, NULL);
		if (!process->starting)
			return error;
	}
	return -EBUSY;
}

/*
 * Whether a thread of ours that has ended, the leader, has left its id to one that is not ours: who
 * calls exec has it from then on.
 */
static bool is_another_now(const struct thread *thread)
{
	return thread->ending && proc_status_number(thread->tid, "TracerPid") == 0;
}

/* `known`: what had this id before, or NULL. */
static void note_seized(struct inferior *inferior, struct process *process, pid_t tid,
			struct thread *known)
{
	struct thread *thread = known ? known : thread_create(inferior, process, tid);

	process->ending -= thread->ending;
	thread->ending = false;
	thread->fresh = false;
	/* Only one that has been stopped can be told to stop at system calls. */
	if (inferior->passed_syscall)
		pt_interrupt(tid);
}

/*
 * Seizes one thread: 1 when it is ours now, or when it ended under our hands; 0 when it was ours
 * already; or -errno.
 */
static int seize_thread(struct inferior *inferior, struct process *process, pid_t tid)
{
	struct thread *known = inferior_thread(inferior, tid);

	if (known && !is_another_now(known))
		return 0;
	int error = patient_seize(inferior, process, tid);

	if (!error) {
		note_seized(inferior, process, tid, known);
		return 1;
	}
	if (error == -EINTR)
		return 0; /* in an exec: there are no others any more */
	if (error != -ESRCH && error != -EPERM)
		return error;
	if (proc_status_number(tid, "TracerPid") == getpid())
		return 0; /* attached by the kernel: its parent will tell */
	if (has_not_ended(tid))
		return error;
	/* A leader that has exited stays listed; any other thread that has is gone in a moment. */
	return tid != process->pid;
}

/*
 * One pass over the threads: how many were new or ended meanwhile, or -errno. A pass is complete
 * only when this is 0: the kernel ends the listing at a thread that ends while it stands there.
 * (One of ours does not; it stays until we have heard of its end.)
 */
static int seize_new(struct inferior *inferior, struct process *process, DIR *task)
{
	struct dirent *entry;
	int found = 0;

	rewinddir(task);
	while ((entry = readdir(task))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		int seized = tid > 0 ? seize_thread(inferior, process, tid) : 0;

		if (seized < 0)
			return seized;
		found += seized;
	}
	return found;
}

/* Seizes what is there, also what comes meanwhile: how many of them have been found, or -errno. */
static int seize_all(struct inferior *inferior, struct process *process)
{
	char path[64];
	int found;
	int all = 0;

	snprintf(path, sizeof path, "/proc/%d/task", (int)process->pid);
	DIR *task = opendir(path);

	if (!task)
		return -ESRCH;
	do {
		found = seize_new(inferior, process, task);
		all += found;
	} while (found > 0);
	closedir(task);
	return found < 0 ? found : all;
}

static void collect_children(struct thread *thread, void *children)
{
	proc_children(thread->process->pid, thread->tid, children);
}

/*
 * Attaches to one such child; it may have got memory of its own between the look and the seizing.
 */
static void seize_borrower(struct inferior *inferior, struct process *process, pid_t pid)
{
	if (inferior_process(inferior, pid) || !same_space(process->pid, pid, false) ||
	    patient_seize(inferior, process, pid) != 0)
		return;
	struct process *child = process_create(inferior, pid);
	struct thread *thread = thread_create(inferior, child, pid);

	thread->fresh = false;
	child->silent = child->borrower = true;
	child->borrows = process;
	if (same_space(process->pid, pid, false))
		return;
	if (thread_stop(inferior, thread, 1000) == 0)
		pt_detach(pid, thread->stop == STOP_SIGNAL ? thread->stop_signal : 0);
	thread_destroy(inferior, thread);
}

/*
 * Children that live in this process's memory (vfork, posix_spawn under way) would run into our
 * breakpoints with nobody to serve them. They are attached too, and `borrows` says whose memory
 * they are in.
 */
static void seize_borrowers(struct inferior *inferior, struct process *process)
{
	struct vec children = VEC_OF(pid_t);

	process_each_thread(process, collect_children, &children);
	for (size_t i = 0; i < children.count; i++)
		seize_borrower(inferior, process, *(pid_t *)vec_at(&children, i));
	vec_deinit(&children);
}

int inferior_seize_new(struct inferior *inferior, struct process *process)
{
	int found = seize_all(inferior, process);

	seize_borrowers(inferior, process);
	return found;
}

struct choice {
	struct thread *thread;
	int score;
};

/*
 * How well a thread serves to be stopped first: one that runs best; one that sleeps may have its
 * system call ended; one in uninterruptible sleep (a parent in vfork) does not stop soon, and a
 * leader that has exited never.
 */
static int score(char state)
{
	const char *order = "ZDTtSR";
	const char *place = strchr(order, state);

	return place ? (int)(place - order) : 0;
}

static void choose(struct thread *thread, void *context)
{
	struct choice *choice = context;
	int value = score(proc_state(thread->tid));

	if (choice->thread && value <= choice->score)
		return;
	choice->thread = thread;
	choice->score = value;
}

static void let_go(struct thread *thread, void *context)
{
	if (thread_stop(context, thread, 1000) != 0) {
		thread_abandon(context, thread);
		return;
	}
	pt_detach(thread->tid, thread->stop == STOP_SIGNAL ? thread->stop_signal : 0);
	thread_destroy(context, thread);
}

int inferior_attach(struct inferior *inferior, pid_t pid, struct process **process, char **why)
{
	*why = NULL;
	if (inferior_process(inferior, pid)) {
		*why = xstrdup("given twice");
		return -EBUSY;
	}
	if (proc_state(pid) == '?') {
		*why = xstrdup("no such process");
		return -ESRCH;
	}
	struct process *made = process_create(inferior, pid);

	made->starting = true;
	int found = seize_all(inferior, made);

	/* All that were there were about to end, for an exec perhaps: then there is one more. */
	for (int tries = 0; !found && tries < EXEC_TRIES && has_not_ended(proc_living_task(pid));
	     tries++) {
		nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
		found = seize_all(inferior, made);
	}
	if (found < 0 || !made->threads) {
		*why = explain(found < 0 ? found : 0, pid);
		if (!made->threads) {
			map_remove(&inferior->processes, (uint64_t)pid);
			free(made);
		} else {
			process_each_thread(made, let_go, inferior);
		}
		return found < 0 ? found : -EPERM;
	}
	seize_borrowers(inferior, made);
	struct choice choice = {0};

	process_each_thread(made, choose, &choice);
	pt_interrupt(choice.thread->tid);
	*process = made;
	return 0;
}

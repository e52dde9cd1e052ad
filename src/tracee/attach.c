/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attaching to a running process. Every thread in /proc/PID/task is seized, in passes, until a pass
 * finds nothing new. The kernel attaches threads that a seized thread creates, and reports them by
 * PTRACE_EVENT_CLONE of the parent; but not a thread whose creation was under way when its parent
 * was seized. Such threads exist at the latest when each thread has been stopped once;
 * tracees_seize_new() finds them then. Seizing stops no thread. One thread is then interrupted, as
 * planting breakpoints needs a stopped thread. A running one is preferred: an interrupt ends some
 * system calls, like epoll_wait(2), with EINTR.
 */
#include "tracee/attach.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "tracee/abandoned.h"
#include "tracee/proc.h"
#include "tracee/ptrace.h"
#include "tracee/resume.h"
#include "tracee/seize.h"
#include "tracee/space.h"
#include "tracee/state.h"
#include "tracee/tracee.h"
#include "tracee/waiting.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* How long an exec may take, and how often the threads that it may wait for are checked. */
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

/* Finds the reason for an EPERM. Returns a text for the user, to be freed. */
static char *explain_permission(pid_t pid, long tracer)
{
	long scope = read_number("/proc/sys/kernel/yama/ptrace_scope");
	long uid = proc_status_number(pid, "Uid");

	if (tracer <= 0)
		tracer = proc_status_number(pid, "TracerPid");
	if (tracer > 0)
		return xasprintf("already traced by process %ld", tracer);
	if (proc_state(pid) == 'Z')
		return xasprintf("it has exited (zombie)");
	if (proc_is_kernel_thread(pid))
		return xasprintf("it is a kernel thread");
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
	return xasprintf("not permitted: CAP_SYS_PTRACE is missing");
}

char *attach_explain(int error, pid_t pid, pid_t tracer)
{
	if (error == -EBUSY)
		return xstrdup("it is in the middle of an exec, which does not end");
	return error && error != -EPERM ? xstrdup(strerror(-error))
					: explain_permission(pid, tracer);
}

/*
 * Handles the stop of a thread that may have stopped already. In a process that is `starting`, a
 * thread at STOP_ENDING is just resumed: no records exist of it, and an exec may wait for its end.
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

/* Notes who traces a thread that must not be attached to: later it may be gone. */
static void note_tracer(struct process *process, pid_t tid)
{
	const long tracer = proc_status_number(tid, "TracerPid");

	if (tracer > 0)
		process->refused_by = (pid_t)tracer;
}

/*
 * Seizes a thread of a process that may be in the middle of an exec. The exec waits for the other
 * threads to end, and those that are traced wait for the tracer (seize.h). 0 or -errno; -EBUSY if
 * the exec does not end; -EINTR if it cannot end while this function runs.
 */
static int seize_despite_exec(const struct tracees *tracees, struct process *process, pid_t tid)
{
	int refused = 0;
	int error;

	for (int tries = 0; tries < EXEC_TRIES; tries++) {
		error = seize_within(tid, tracees->ptrace_options, EXEC_WAIT_MS);
		/*
		 * EPERM also means that the thread has ended; its tid may be another thread's by
		 * now.
		 */
		if (error == -EPERM && has_not_ended(tid) && ++refused < REFUSALS) {
			note_tracer(process, tid);
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
 * Returns true if `thread`, a former leader that has ended, has lost its tid to a thread that is
 * not traced: an exec gives the leader's tid to the thread that called it.
 */
static bool is_another_now(const struct thread *thread)
{
	return thread->ending && proc_status_number(thread->tid, "TracerPid") == 0;
}

/* `known`: the thread that had this tid before, or NULL. */
static void note_seized(struct tracees *tracees, struct process *process, pid_t tid,
			struct thread *known)
{
	struct thread *thread = known ? known : thread_create(tracees, process, tid);

	process->ending -= thread->ending;
	thread->ending = false;
	thread->fresh = false;
	/* A thread can be told to stop at system calls only while it is stopped. */
	if (tracees->passed_syscall)
		pt_interrupt(tid);
}

/*
 * Seizes one thread: 1 if it was seized now, or has ended meanwhile; 0 if it was traced already; or
 * -errno.
 */
static int seize_thread(struct tracees *tracees, struct process *process, pid_t tid)
{
	struct thread *known = tracees_thread(tracees, tid);

	if (known && !is_another_now(known))
		return 0;
	int error = seize_despite_exec(tracees, process, tid);

	if (!error) {
		note_seized(tracees, process, tid, known);
		return 1;
	}
	if (error == -EINTR)
		return 0; /* in an exec: there are no other threads any more */
	if (error != -ESRCH && error != -EPERM)
		return error;
	if (proc_status_number(tid, "TracerPid") == getpid())
		return 0; /* attached by the kernel: its parent will report it */
	if (has_not_ended(tid))
		return error;
	/* A leader that has exited stays listed; other threads that have exited vanish at once. */
	return tid != process->pid;
}

/*
 * One pass over the threads. Returns how many were new or ended meanwhile, or -errno. The list is
 * complete only if the result is 0: the kernel ends the listing at a thread that ends during the
 * pass. (A traced thread does not: it stays until its end has been collected.)
 */
static int seize_new(struct tracees *tracees, struct process *process, DIR *task)
{
	struct dirent *entry;
	int found = 0;

	rewinddir(task);
	while ((entry = readdir(task))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		int seized = tid > 0 ? seize_thread(tracees, process, tid) : 0;

		if (seized < 0)
			return seized;
		found += seized;
	}
	return found;
}

/* Seizes all threads, including new ones. Returns how many were found, or -errno. */
static int seize_all(struct tracees *tracees, struct process *process)
{
	char path[64];
	int found;
	int all = 0;

	snprintf(path, sizeof path, "/proc/%d/task", (int)process->pid);
	DIR *task = opendir(path);

	if (!task)
		return -ESRCH;
	do {
		found = seize_new(tracees, process, task);
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
 * Attaches to one CLONE_VM child. The child may get a space of its own between the check and the
 * seizing, so it is checked again and detached then.
 */
static void seize_vm_child(struct tracees *tracees, struct process *process, pid_t pid)
{
	if (tracees_process(tracees, pid) || !same_space(process->pid, pid, false) ||
	    seize_despite_exec(tracees, process, pid) != 0)
		return;
	struct process *child = process_create(tracees, pid);
	struct thread *thread = thread_create(tracees, child, pid);

	thread->fresh = false;
	child->silent = child->shares_parent_vm = true;
	child->vm_parent = process;
	if (same_space(process->pid, pid, false))
		return;
	if (thread_stop(tracees, thread, 1000) == 0)
		pt_detach(pid, thread->stop == STOP_SIGNAL ? thread->stop_signal : 0);
	thread_destroy(tracees, thread);
}

/*
 * Attaches to children that live in this process's memory (vfork(2) or posix_spawn(3) under way).
 * They could hit the tracer's breakpoints, and would be killed by them if not traced. `vm_parent`
 * says whose memory they are in.
 */
static void seize_vm_childs(struct tracees *tracees, struct process *process)
{
	struct vec children = VEC_OF(pid_t);

	process_each_thread(process, collect_children, &children);
	for (size_t i = 0; i < children.count; i++)
		seize_vm_child(tracees, process, *(pid_t *)vec_at(&children, i));
	vec_deinit(&children);
}

int tracees_seize_new(struct tracees *tracees, struct process *process)
{
	int found = seize_all(tracees, process);

	seize_vm_childs(tracees, process);
	return found;
}

struct choice {
	struct thread *thread;
	int score;
};

/*
 * Rates a thread as the first one to be stopped, by its state letter. A running one is best. A
 * sleeping one may have its system call ended. One in uninterruptible sleep (a parent in vfork)
 * does not stop soon, and a leader that has exited never.
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
		abandoned_add(context, thread);
		thread_destroy(context, thread);
		return;
	}
	pt_detach(thread->tid, thread->stop == STOP_SIGNAL ? thread->stop_signal : 0);
	thread_destroy(context, thread);
}

int tracees_attach(struct tracees *tracees, pid_t pid, struct process **process, char **why)
{
	*why = NULL;
	if (tracees_process(tracees, pid)) {
		*why = xstrdup("given twice");
		return -EBUSY;
	}
	if (proc_state(pid) == '?') {
		*why = xstrdup("no such process");
		return -ESRCH;
	}
	struct process *made = process_create(tracees, pid);

	made->starting = true;
	int found = seize_all(tracees, made);

	/*
	 * All threads found were about to end, perhaps because of an exec: then there is one more
	 * thread.
	 */
	for (int tries = 0; !found && tries < EXEC_TRIES && has_not_ended(proc_living_task(pid));
	     tries++) {
		nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
		found = seize_all(tracees, made);
	}
	if (found < 0 || !made->threads) {
		*why = attach_explain(found < 0 ? found : 0, pid, made->refused_by);
		if (!made->threads) {
			map_remove(&tracees->processes, (uint64_t)pid);
			state_free_process(made);
		} else {
			process_each_thread(made, let_go, tracees);
		}
		return found < 0 ? found : -EPERM;
	}
	seize_vm_childs(tracees, made);
	struct choice choice = {0};

	process_each_thread(made, choose, &choice);
	/*
	 * The mappings are read while the threads run, which makes their pause half a millisecond
	 * shorter. An exec from here on is reported. Other changes are found when memory is
	 * compared with files.
	 */
	(void)maps_read(choice.thread->tid, &made->maps_before);
	pt_interrupt(choice.thread->tid);
	*process = made;
	return 0;
}

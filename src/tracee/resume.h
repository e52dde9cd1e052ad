/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Resumes stopped threads, keeps stops that were collected early, and knows which threads must not
 * be resumed any more: see resume.c.
 */
#ifndef TRACER_TRACEE_RESUME_H
#define TRACER_TRACEE_RESUME_H

#include "tracee/tracee.h"

/*
 * Resumes a stopped thread and delivers `signal` unless it is 0. A thread that has died is no
 * error.
 */
void thread_resume(struct thread *thread, int signal);
/*
 * Resumes a thread whose STOP_SYSCALL was found by a wait for another stop. Calls passed_syscall.
 */
void thread_pass_syscall(struct thread *thread);
/* Keeps a thread in its group-stop (PTRACE_LISTEN). */
void thread_listen(struct thread *thread);
/* Stores a wait status that tracees_next() returns before it waits for a new one. */
void thread_defer(struct thread *thread, int wait_status);
/* Drops the stored wait status, if there is one. */
void thread_forget_deferred(struct tracees *tracees, struct thread *thread);
/*
 * Like thread_defer(), for a stop that the thread stays in until its status is returned. If the
 * stop ends the thread's program (stop_ends_program()), thread_resume() does not resume the thread.
 */
void thread_keep_stop(struct thread *thread, int wait_status);
/*
 * Checks whether a stopped thread has been killed by another thread's exec. Such a thread is at its
 * PTRACE_EVENT_EXIT stop, and the exec waits for it. The stop is deferred.
 */
void thread_look_for_end(struct thread *thread);
/*
 * Collects the signal-delivery stop that the thread is in. From then on the signal is lost if the
 * tracer is killed before it resumes the thread (waiting.h).
 */
void thread_take_stop(struct thread *thread);
/*
 * Returns true if a stop that ends the program is deferred: older registers must not be stored
 * then.
 */
bool thread_is_over(const struct thread *thread);

#endif

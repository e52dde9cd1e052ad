/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attaching to a running process: see attach.c. */
#ifndef TRACER_TRACEE_ATTACH_H
#define TRACER_TRACEE_ATTACH_H

#include "tracee/tracee.h"

/*
 * Attaches to all threads of `pid`: 0, or -errno with *why a text for the user, which the caller
 * frees. The process is `starting`; at least one of its threads will report STOP_TRAP.
 */
int tracees_attach(struct tracees *tracees, pid_t pid, struct process **process, char **why);
/*
 * Attaches to threads of an attached process, and to CLONE_VM children, whose creation was under
 * way when their creators were seized. The result is complete if each thread has been stopped once
 * since then. Returns the number of threads found, which run, or -errno.
 */
int tracees_seize_new(struct tracees *tracees, struct process *process);

/*
 * Returns why a process cannot be attached to. `error`: a -errno. `tracer`: the pid of one that was
 * found at it, which may be gone by now, or 0. The caller frees the text.
 */
char *attach_explain(int error, pid_t pid, pid_t tracer);

#endif

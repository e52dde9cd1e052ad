/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TRACER_TRACEE_SANDBOX_H
#define TRACER_TRACEE_SANDBOX_H

#include <stdbool.h>

struct thread;

/*
 * Returns true if seccomp(2) may kill the process of the stopped thread for a system call that the
 * tracer's SIGTRAP handler makes. Also returns true if the filters cannot be read.
 */
bool sandbox_may_kill(const struct thread *thread);

#endif

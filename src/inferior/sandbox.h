/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TRACER_INFERIOR_SANDBOX_H
#define TRACER_INFERIOR_SANDBOX_H

#include <stdbool.h>

struct thread;

/*
 * Whether one of the system calls that our SIGTRAP handler makes may be the end of the stopped
 * thread's process, by seccomp(2). Where its filters may not be looked at, it may.
 */
bool sandbox_may_kill(const struct thread *thread);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attaches to a thread without blocking for long. */
#ifndef TRACER_TRACEE_SEIZE_H
#define TRACER_TRACEE_SEIZE_H

#include <sys/types.h>

/*
 * Like pt_seize(), but gives up after `timeout_ms`: 0 or -errno; -EINTR if it gave up, which does
 * not affect the thread.
 */
int seize_within(pid_t tid, unsigned long options, unsigned timeout_ms);

#endif

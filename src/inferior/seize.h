/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attaching to a thread without waiting for it. */
#ifndef TRACER_INFERIOR_SEIZE_H
#define TRACER_INFERIOR_SEIZE_H

#include <sys/types.h>

/*
 * pt_seize() that gives up after `timeout_ms`: 0 or -errno; -EINTR when it gave up, of which the
 * thread does not notice anything.
 */
int seize_within(pid_t tid, unsigned long options, unsigned timeout_ms);

#endif

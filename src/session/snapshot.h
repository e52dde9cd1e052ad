/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --stacks: what all threads of the processes are doing, once. See snapshot.c. */
#ifndef TRACER_SESSION_SNAPSHOT_H
#define TRACER_SESSION_SNAPSHOT_H

#include "session/session_state.h"

/*
 * Writes the stacks of all threads of options->pids to options->output_fd. Processes that cannot be
 * attached to are reported. Returns 0, or -errno if there is no other, or if the output failed.
 */
int snapshot_take(struct session *session);

#endif

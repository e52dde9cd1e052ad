/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --profile: samples of the stacks of all threads. See profile.c. */
#ifndef TRACER_SESSION_PROFILE_H
#define TRACER_SESSION_PROFILE_H

#include "session/session_state.h"

/*
 * Samples the threads of options->pids until session->interrupts ends that, or no process is left,
 * and writes folded stacks to options->output_fd. Processes that cannot be looked at are reported.
 * Returns 0, or -errno if there is no other, or if the output failed.
 */
int profile_run(struct session *session);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts a command under trace: see launch.c. */
#ifndef TRACER_TRACEE_LAUNCH_H
#define TRACER_TRACEE_LAUNCH_H

#include "tracee/tracee.h"

/* Starts a command under trace: 0 or -errno. See launch.c for the errors. */
int tracees_launch(struct tracees *tracees, char *const argv[],
		   const struct original_signals *original, struct process **process);

#endif

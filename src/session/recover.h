/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guardian's work after the tracer was killed. */
#ifndef TRACER_SESSION_RECOVER_H
#define TRACER_SESSION_RECOVER_H

#include <stddef.h>

/*
 * Restores the processes that these journals describe: a guardian_duty. Takes over the fds. Runs in
 * a process that exits afterwards, and frees nothing.
 */
void session_recover(const int *journals, size_t count);

#endif

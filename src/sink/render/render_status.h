/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Renders the status of wait(2) as the expressions of <sys/wait.h> that make it: W_EXITCODE(3, 0),
 * SIGSEGV|WCOREFLAG, W_STOPCODE(SIGSTOP): see render_status.c.
 */
#ifndef TRACER_SINK_RENDER_RENDER_STATUS_H
#define TRACER_SINK_RENDER_RENDER_STATUS_H

#include "sink/render/render_number.h"

/* Renders the status of wait(2) (render_status.c). */
void render_status(struct outbuf *out, uint32_t status);

#endif

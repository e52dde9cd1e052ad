/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of signals for the trace and for linux_types.conf. Real-time signals are counted from the
 * kernel's first one, as strace(1) does.
 */
#ifndef TRACER_SINK_RENDER_SIGNAME_H
#define TRACER_SINK_RENDER_SIGNAME_H

#include "sink/render/outbuf.h"

/* Writes "SIGCHLD"; "SIGRTMIN" for 32, "SIGRT_2" for 34; "SIG99" for a number that is no signal. */
void signame_put(struct outbuf *out, int64_t number);

/* Writes the meaning: "Child exited". */
void signame_put_meaning(struct outbuf *out, int64_t number);

#endif

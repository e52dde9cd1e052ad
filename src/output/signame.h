/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of signals, as lines about them show, and those of linux_types.conf: real-time signals are
 * counted from the kernel's first one, as strace(1) does it.
 */
#ifndef TRACER_OUTPUT_SIGNAME_H
#define TRACER_OUTPUT_SIGNAME_H

#include "output/outbuf.h"

/* SIGCHLD; SIGRTMIN for 32, SIGRT_2 for 34; SIG99 for a number that is no signal. */
void signame_put(struct outbuf *out, int64_t number);

/* What it means: "Child exited". */
void signame_put_meaning(struct outbuf *out, int64_t number);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Error numbers of the kernel as text. */
#ifndef TRACER_SINK_RENDER_ERRNAME_H
#define TRACER_SINK_RENDER_ERRNAME_H

#include "sink/render/outbuf.h"

#include <stdint.h>

/* Returns the name of an error number, or NULL. */
const char *errname_find(int64_t number);

/*
 * Writes the result of a system call that failed with `number`: `-1 ENOENT (No such file or
 * directory)`. If the kernel is about to restart the call, there is no result yet: `? ERESTARTSYS
 * (…)`. `number` -1 means that the call never returns: `?`.
 */
void errname_put_result(struct outbuf *out, int64_t number);

#endif

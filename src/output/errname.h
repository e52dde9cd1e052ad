/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Error numbers of the kernel as text. */
#ifndef TRACER_OUTPUT_ERRNAME_H
#define TRACER_OUTPUT_ERRNAME_H

#include "output/outbuf.h"

#include <stdint.h>

/*
 * What came back from a system call that failed with `number`: `-1 ENOENT (No such file or
 * directory)`. Where the kernel is about to make the call once more there is no result yet: `?
 * ERESTARTSYS (…)`. -1 for `number`: it never comes back, `?`.
 */
void errname_put_result(struct outbuf *out, int64_t number);

#endif

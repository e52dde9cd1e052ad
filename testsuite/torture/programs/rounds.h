/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program whose threads count their rounds, and that a test talks to by lines on its stdin. */
#ifndef ROUNDS_H
#define ROUNDS_H

#include <stdatomic.h>

/* Says "ready" and answers "progress" with "done" when each of the threads has got on; returns at "stop". */
void rounds_serve(const atomic_ulong *rounds, int threads);

#endif

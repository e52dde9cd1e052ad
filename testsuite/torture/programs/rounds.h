/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program whose threads count their rounds, and that a test talks to by lines on its stdin. */
#ifndef ROUNDS_H
#define ROUNDS_H

#include <stdatomic.h>
#include <stdbool.h>

/* Says "ready" and answers "progress" with "done" when each of the threads has got on; returns at "stop". */
void rounds_serve(const atomic_ulong *rounds, int threads);

/*
 * Does that with so many threads, each of which runs `work` with its count as the argument, which returns when `stop` is
 * true. 0, or 2: they could not be made.
 */
int rounds_run(void *(*work)(void *), atomic_ulong *rounds, int threads, atomic_bool *stop);

#endif

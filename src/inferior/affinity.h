/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the tracer itself runs: near the one thread that keeps it busy. The tracee is never moved. */
#ifndef TRACER_INFERIOR_AFFINITY_H
#define TRACER_INFERIOR_AFFINITY_H

#include <sys/types.h>

struct affinity;

/* NULL when there is nothing to choose: one processor only, or the mask cannot be read. */
struct affinity *affinity_create(void);
/* Lets the tracer run where it might before. */
void affinity_destroy(struct affinity *affinity);

/* To be called for each stop that is served; cheap. `affinity` may be NULL. */
void affinity_served(struct affinity *affinity, pid_t tid);

#endif

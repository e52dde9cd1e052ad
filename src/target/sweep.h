/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frees sites that nothing refers to: see sweep.c. */
#ifndef TRACER_TARGET_SWEEP_H
#define TRACER_TARGET_SWEEP_H

struct target;
/* Does so if there are many. To be called between stops only. */
void sweep_sites(struct target *target);

#endif

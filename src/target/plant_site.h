/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A breakpoint with a probe, at an address. */
#ifndef TRACER_TARGET_PLANT_SITE_H
#define TRACER_TARGET_PLANT_SITE_H

#include "target/target_state.h"

/* Plants it, and makes it a patch candidate of the agent. Lists it if that fails. */
void plant_site(struct target *target, struct thread *thread, uint64_t address,
		const struct probe_request *request);
/* Plants a function found by its address at run time (IFUNC implementation, filled data word). */
void plant_found(struct target *target, struct thread *thread, uint64_t address, const char *name,
		 bool one_of_many);
/* Lists a place where no breakpoint could be planted. */
void plant_list_refused(struct target *target, const struct thread *thread,
			const struct probe_request *request, int error);

#endif

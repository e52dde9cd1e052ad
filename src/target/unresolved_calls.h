/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls of functions that no loaded module defines: see unresolved_calls.c. */
#ifndef TRACER_TARGET_UNRESOLVED_CALLS_H
#define TRACER_TARGET_UNRESOLVED_CALLS_H

#include "target/target_state.h"

/* A call whose callee no module defines. */
struct undefined_call {
	uint64_t address; /* address of the breakpoint */
	uint64_t slot;	  /* GOT slot of an indirect call, else 0 */
	char *name;
};

void unresolved_init(struct modules *modules);
void unresolved_deinit(struct modules *modules);
/* `modules` belong to a fork child and copy the list of `from`. */
void unresolved_clone(struct modules *modules, const struct modules *from);
/* Forgets the calls that an unloaded module makes. */
void unresolved_forget(struct modules *modules, const struct module *module);
/*
 * Notes that a call has been planted, through GOT slot `slot` unless that is 0. Returns true if no
 * module defines the callee: the site is then looked up again later, and the agent gets the call
 * only after that.
 */
bool unresolved_note(struct modules *modules, const struct probe_request *request, uint64_t address,
		     uint64_t slot);
/* Removes the noted calls whose callees the new module defines, and visits each. */
typedef void unresolved_visit(void *context, const struct undefined_call *call);
void unresolved_take(struct modules *modules, const struct module *fresh, unresolved_visit *visit,
		     void *context);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which functions are caught inside the process (--engine=agent), and what that needs of a
 * session: see agent_policy.c.
 */
#ifndef TRACER_TARGET_AGENT_POLICY_H
#define TRACER_TARGET_AGENT_POLICY_H

#include "target/target_state.h"

/* Records how many probes of which engine there were. To be called at the end. */
void agent_policy_tell_engines(struct target *target);
/* Returns how many calls were lost so far, or dropped as --lossy allows. */
uint64_t agent_policy_lost(const struct target *target);
/* Lists records that were lost. To be called at the end, before untraced_show(). */
void agent_policy_list_lost(struct target *target);
void agent_policy_init(struct target *target);
/* Makes a probe that was planted at `address`, for the function `symbol`, a patch candidate. */
void agent_policy_add(struct target *target, struct space *space, uint64_t address,
		      const char *symbol, const struct module *module,
		      const struct probe_site *site);
/* Makes a call through a GOT slot a patch candidate. */
void agent_policy_add_call(struct target *target, struct space *space, const struct module *module,
			   const struct agent_call *call);
/* Finds what the agent must leave alone in a module. To be called before its probes are planted. */
void agent_policy_module(struct target *target, struct thread *thread, struct module *module);
/*
 * Patches candidates, as far as possible. To be called after agent_policy_module() for all modules;
 * `thread` is at a safe stop.
 */
void agent_policy_install(struct target *target, struct thread *thread);
/*
 * Defers the work of agent_policy_install() in two parts, so that threads of a process that was
 * just attached to are not stopped for long: WORK_PATCHING.
 */
void agent_policy_install_soon(struct target *target, struct space *space);
/*
 * The functions of WORK_PATCHING and WORK_RINGS (deferred_work.h); `context` is the target.
 * look_ahead: the longer part of agent_policy_install(), while the process runs. piece: the rest.
 * is_due: what agent_policy_install() left undone may be tried again at `now`.
 */
int agent_policy_look_ahead(void *context, struct process *process);
void agent_policy_piece(void *context, struct thread *thread);
bool agent_policy_is_due(void *context, const struct space *space, uint64_t now);
bool agent_policy_lacks_rings(void *context, const struct space *space, uint64_t now);
/*
 * WORK_DRAINING: drains the rings of all processes. `is_stopped`: a stop is handled next, so no
 * record may be left in a ring.
 */
struct wake_up agent_policy_poll(void *context, bool is_stopped);
/* engine_events.delayed */
void agent_policy_delayed(void *context, struct thread *thread, uint64_t sp, uint64_t time,
			  uint64_t more);
/* engine_events.show_caller */
uint64_t agent_policy_show_caller(void *context, struct thread *thread, uint64_t place,
				  uint64_t word);
/* engine_events.is_chosen */
bool agent_policy_is_chosen(void *context, const struct thread *thread, uint64_t place);
unsigned agent_policy_drain_rings(struct target *target);
/*
 * Resumes a thread that has faulted in the agent's code, where this reads memory. Returns true
 * then.
 */
bool agent_policy_fault(struct target *target, const struct stop *stop);
/*
 * At a SIGTRAP that is no breakpoint's: if the program's trap flag has stepped through an entry
 * jump, resumes the thread without the signal and returns true.
 */
bool agent_policy_stepped(struct target *target, const struct stop *stop);
/* Records the agent's counts. To be called before the space's memory or its probes go. */
void agent_policy_collect(struct target *target, struct space *space);
/*
 * Takes the agent's return addresses off the stacks of a space. All its threads are stopped; to be
 * called before trap_leave().
 */
void agent_policy_leave(struct target *target, struct space *space);

#endif

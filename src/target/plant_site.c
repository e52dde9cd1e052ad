/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A breakpoint with a probe, at an address. */
#include "target/plant_site.h"

#include "base/cleanup.h"
#include "base/diag.h"
#include "engine/agent/gates.h"
#include "target/agent_policy.h"
#include "target/debug.h"
#include "target/module.h"
#include "target/shown_names.h"
#include "target/sigmask_hooks.h"
#include "target/sites.h"
#include "target/target_state.h"
#include "target/unresolved_calls.h"
#include "tracee/proc.h"

#include <errno.h>
#include <string.h>

/* Nothing is listed for an exiting process, whose memory is gone. */
void plant_list_refused(struct target *target, const struct thread *thread,
			const struct probe_request *request, int error)
{
	_cleanup_free_ char *name = shown_names_function(target, request->module, request->name);
	const char *reason = strerror(-error);

	if (proc_is_exiting(thread->tid))
		return;
	if (error == -EEXIST)
		reason = "a breakpoint instruction of the program's own stands there";
	else if (error == -EFAULT)
		reason = "its code cannot be read";
	else if (error == -EIO || error == -EACCES || error == -EPERM)
		reason = "its code cannot be written";
	else if (error == -ENOTSUP)
		reason = "it is called without a PLT, in a program that has a shadow stack";
	else if (error == -EBUSY)
		reason = "a breakpoint with another purpose stands there";
	else if (error == -EXDEV)
		reason = "its code lies in memory that other processes may share";
	untraced_function(target->untraced, request->module ? request->module->base_name : NULL,
			  name, request->one_of_many, reason);
}

void plant_site(struct target *target, struct thread *thread, uint64_t address,
		const struct probe_request *request)
{
	struct space *space = thread->process->space;
	const struct probe_site *site = sites_get(target, space, request->kind, address,
						  request->name, request->module);
	agent_take_gate_out(thread, address);
	/* The function may have been found before, as an IFUNC that is bound in another module. */
	int error = agent_has(space, address)
			    ? -EALREADY
			    : trap_plant(target->trap, thread, address, site,
					 sigmask_hooks_function_hook(target, request->name));
	char safe[256];

	if (error && error != -EALREADY)
		plant_list_refused(target, thread, request, error);
	target->planted += !error;
	if (!error && !unresolved_note(space->modules, request, address, 0))
		agent_policy_add(target, space, address, request->name, request->module, site);
	if (!error && debug_wanted(target, DEBUG_FUNCTIONS))
		diag("process %d: %s at 0x%llx", (int)thread->process->pid,
		     diag_safe(safe, sizeof safe, site->info->display),
		     (unsigned long long)address);
}

void plant_found(struct target *target, struct thread *thread, uint64_t address, const char *name,
		 bool one_of_many)
{
	struct modules *modules = thread->process->space->modules;
	struct probe_request request = {PROBE_ENTRY, name, modules_find(modules, address),
					one_of_many};

	plant_site(target, thread, address, &request);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that are planted at later stops of a process.
 *
 * While functions are planted in a process that was attached to, at least one of its threads is
 * stopped: some microseconds for each function. That is nothing for a few, and too long for
 * thousands. So if there are more than AT_ONCE, the process is resumed, and interrupted again for
 * as many functions as can be planted in PAUSE_NS, until all are done (deferred_work.c). A call of
 * a function that is not planted yet is not seen, as if the tracer had attached later. The main
 * program's functions are planted last: once their calls are seen, all calls are.
 *
 * Only matches that are known at the attach are deferred. What the process loads afterwards is
 * planted when it is loaded, before it can be called.
 *
 * Where system calls are traced, no thread is interrupted for deferred work, so no planting is
 * deferred.
 */
#include "target/deferred_planting.h"

#include "engine/agent/agent.h"
#include "target/agent_policy.h"
#include "target/debug.h"
#include "target/plant.h"
#include "target/sigmask_hooks.h"
#include "target/stacks/running_calls.h"
#include "target/table_functions.h"
#include "target/target_state.h"
#include "target/waiting_matches.h"
#include "tracee/clock.h"
#include "tracee/tracee.h"

enum { AT_ONCE = 256 };

/* ------------------------------------------------------------------ planting */

static void rest(struct target *target, struct modules *modules)
{
	deferred_work_rest(&modules->work);
	deferred_work_want(&target->work, &modules->work, WORK_PLANTING);
}

/* Plants until clock_now() is past `end`. */
static void plant_some(struct target *target, struct thread *thread, uint64_t end)
{
	struct space *space = thread->process->space;
	struct modules *modules = space->modules;

	while (modules->waiting.matches.count) {
		const size_t number = waiting_matches_next(modules);
		struct waiting_matches *waiting = waiting_matches_at(modules, number);

		if (waiting->next == waiting->found.count) {
			waiting_matches_drop(modules, number);
			continue;
		}
		if (clock_now() > end) {
			rest(target, modules);
			return;
		}
		if (!waiting->next)
			plant_begin(target, thread, waiting->module, waiting->found.count);
		plant_match(target, thread, waiting->module,
			    vec_at(&waiting->found, waiting->next++));
	}
	deferred_work_is_done(&modules->work, WORK_PLANTING);
	debug_say(target, DEBUG_PROCESSES, "process %d: all functions are planted",
		  (int)thread->process->pid);
	table_functions_plant(target, thread);
	target->notify.planted(target->notify.context, thread->process);
	if (modules->finds_running)
		running_calls_find(target, thread);
	modules->finds_running = false;
	agent_policy_install_soon(target, space);
}

void deferred_start(struct target *target, struct thread *thread)
{
	struct modules *modules = thread->process->space->modules;
	size_t count = 0;

	modules->waiting.gathers = false;
	for (size_t i = 0; i < modules->waiting.matches.count; i++)
		count += waiting_matches_at(modules, i)->found.count;
	if (count > AT_ONCE)
		rest(target, modules); /* finding them has taken its time already */
	else
		plant_some(target, thread, AGENT_NO_LIMIT);
}

void deferred_planting_piece(void *context, struct thread *thread)
{
	/*
	 * The thread may be back from vfork(2), and has to be safe at the breakpoints planted now.
	 */
	sigmask_hooks_unblock_one(context, thread);
	plant_some(context, thread, clock_now() + PAUSE_NS);
}

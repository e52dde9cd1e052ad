/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which functions are caught inside the process (--engine=agent), and what that needs of a session.
 *
 * The agent replaces return addresses by return trampolines. Functions that use their return
 * address keep their breakpoints: those that return twice or on another stack, those that look up
 * their caller, and the unwinder's own. So does code that is not known to be a called function,
 * whatever its symbol says. In a process whose runtime walks or copies stacks by itself, nothing is
 * caught inside; nor are the functions of a virtual machine that generated code calls (runtimes.c).
 */
#include "target/agent_policy.h"

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "engine/agent/agent_arch.h"
#include "engine/agent/agent_signals.h"
#include "engine/agent/branches.h"
#include "engine/agent/delays.h"
#include "engine/agent/faults.h"
#include "engine/agent/got_calls.h"
#include "engine/agent/install.h"
#include "engine/agent/lost_clock.h"
#include "engine/agent/patch_candidates.h"
#include "engine/agent/return_addresses.h"
#include "engine/agent/ring_drain.h"
#include "engine/agent/unit.h"
#include "engine/trap/breakpoint_takeover.h"
#include "object/code_pointers.h"
#include "object/elf_got_slots.h"
#include "object/elf_symbols.h"
#include "object/elf_text.h"
#include "sink/sink.h"
#include "target/debug.h"
#include "target/deferred_work.h"
#include "target/module.h"
#include "target/return_address_readers.h"
#include "target/runtimes.h"
#include "target/sigmask_hooks.h"
#include "target/target_state.h"
#include "target/unwinders.h"
#include "tracee/clock.h"
#include "tracee/proc.h"
#include "tracee/resume.h"
#include "unwind/extent.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* A PLT stub has 8 or 16 bytes and ends with a jump; the code behind that is not decoded. */
enum { PLT_STUB = 16 };

/*
 * Limits of the period at which rings are drained, in µs. Lines must not come late, rings must not
 * run full, and draining must not use much processor time. When a ring is fuller than
 * AGENT_AT_ONCE, all are drained again at once.
 */
enum { POLL_MAX_US = 20000, POLL_MIN_US = 500 };

/*
 * Functions that code compiled with -pg calls first, to have its caller recorded: they read their
 * caller's return address on the stack.
 */
static const char *const profilers[] = {"mcount", "_mcount", "__fentry__"};

static void decided(void *context, const struct probe_site *site, const char *reason)
{
	const struct target *target = context;
	char safe[256];

	if (!debug_wanted(target, DEBUG_FUNCTIONS))
		return;
	diag_safe(safe, sizeof safe, site ? site->info->display : "exceptions");
	if (reason)
		diag("%s: by breakpoint: %s", safe, reason);
	else
		diag("%s: in the process", safe);
}

static bool code_around(const struct space *space, uint64_t address, uint64_t *start,
			uint64_t *length)
{
	const struct module *module = space->modules ? modules_find(space->modules, address) : NULL;

	if (!module || !extent_around(module->file, address - module->bias, start, length))
		return false;
	*start += module->bias;
	return true;
}

static bool points_into(const struct space *space, uint64_t low, uint64_t high)
{
	const struct module *module = space->modules ? modules_find(space->modules, low) : NULL;

	return !module || elf_points_into(module->file, low - module->bias, high - module->bias);
}

/*
 * Several functions may have the name: versions of one symbol, or static functions. Implementations
 * of IFUNCs and functions found through a table of pointers have no symbol; .eh_frame has their
 * length.
 */
static uint64_t length_at(const struct module *module, const char *name, uint64_t address)
{
	const struct elf_symbol *symbol = elf_find_symbol(module->file, name);

	for (; symbol; symbol = elf_find_next(module->file, symbol))
		if (symbol->type == STT_FUNC && symbol->value == address)
			return symbol->size;
	return extent_of_function(module->file, address);
}

/*
 * Returns true if calls of `name` lead to a function that uses its return address, and no hook
 * shows it the true one.
 */
static bool must_know_caller(const struct target *target, const struct space *space,
			     const char *name)
{
	return !readers_are_put_right(target, name) &&
	       (readers_are_asked_for(name) || readers_are_read_by(space, name));
}

/*
 * Keeps a symbol close behind the function from being overwritten: it may be called as a function.
 */
static void note_next_symbol(const struct module *module, uint64_t address,
			     struct patch_candidate *candidate)
{
	const uint64_t distance = extent_to_next_symbol(module->file, address - module->bias);

	if (distance >= AGENT_JUMP)
		return;
	candidate->kept = (uint8_t)distance;
	candidate->kept_because = "another function begins right behind it";
}

void agent_policy_add(struct target *target, struct space *space, uint64_t address,
		      const char *symbol, const struct module *module,
		      const struct probe_site *site)
{
	struct patch_candidate candidate = {.address = address, .site = site};
	const char *reason = NULL;

	if (!target->agent)
		return;
	candidate.is_plt_stub = site->info->kind == PROBE_CALL;
	if (candidate.is_plt_stub ? must_know_caller(target, space, symbol)
				  : readers_are_asked_for(symbol) ||
					    (module && readers_are_read(space->arch, module->file,
									address - module->bias)))
		reason = "it makes something of its return address";
	else if (module && module->is_machine && !candidate.is_plt_stub)
		reason = "generated code may call it, whose runtime walks stacks by itself";
	else if (module && module->is_profiled && !candidate.is_plt_stub)
		reason = "it may have its caller noted, for a profile (-pg)";
	else if (!module ||
		 (!candidate.is_plt_stub && address == elf_entry(module->file) + module->bias))
		reason = "it is not known to be a function that is called";
	else if (elf_relocates_code(module->file, address - module->bias, AGENT_MOVED_MAX))
		reason = "its first instructions are relocated";
	else if (candidate.is_plt_stub)
		candidate.length = PLT_STUB;
	else
		candidate.length = length_at(module, symbol, address - module->bias);
	if (!candidate.is_plt_stub && !reason && candidate.length)
		note_next_symbol(module, address, &candidate);
	if (!reason)
		reason = agent_add_candidate(space, &candidate);
	if (reason)
		decided(target, site, reason);
}

void agent_policy_add_call(struct target *target, struct space *space, const struct module *module,
			   const struct agent_call *call)
{
	const char *name = call->site->info->name;
	const char *reason;

	if (!target->agent)
		return;
	if (must_know_caller(target, space, name))
		reason = "it makes something of its return address";
	else if (!module ||
		 elf_relocates_code(module->file, call->address - module->bias, AGENT_MOVED_MAX))
		reason = "the code that calls it is relocated";
	else
		reason = agent_add_call_candidate(target->agent, space, call);
	if (reason)
		decided(target, call->site, reason);
}

static bool is_profiled(const struct module *module)
{
	for (size_t i = 0; i < sizeof profilers / sizeof *profilers; i++)
		if (elf_has_got_slot(module->file, profilers[i]) ||
		    (module->is_main && elf_find_symbol(module->file, profilers[i])))
			return true;
	return false;
}

void agent_policy_module(struct target *target, struct thread *thread, struct module *module)
{
	struct space *space = thread->process->space;

	if (!target->agent || !space->arch->agent)
		return;
	module->is_machine = runtimes_generate_code(module);
	module->is_profiled = is_profiled(module);
	readers_note(target, space, module);
	if (space->modules->is_hooked)
		unwinders_hook(target, thread, module);
	const char *reason = runtimes_walk_stacks(module);

	if (reason)
		agent_refuse(target->agent, thread, reason);
}

/* Returns true for a stripped static program, whose unwinder cannot be found. */
static bool hides_unwinder(const struct module *program)
{
	return !elf_interpreter(program->file) &&
	       !elf_find_symbol(program->file, "dl_iterate_phdr") &&
	       !elf_find_symbol(program->file, "_dl_find_object");
}

void agent_policy_install(struct target *target, struct thread *thread)
{
	struct space *space = thread->process->space;

	if (!target->agent || !space || target->leaving)
		return;
	agent_add_rings(thread);
	if (!agent_has_candidates(space))
		return;
	const struct module *program = space->modules ? modules_program(space->modules) : NULL;

	if (!program || hides_unwinder(program))
		agent_refuse(target->agent, thread, "the program's unwinder cannot be found");
	else if (trap_has_exchanged_stacks(space))
		agent_refuse(target->agent, thread, "the program copies stacks");
	else if (proc_has_shadow_stack(thread->tid))
		agent_refuse(target->agent, thread, "the program has a shadow stack");
	if (!agent_has_candidates(space))
		return;
	/*
	 * A launched program has not started to work, so it may be stopped for long; what it loads
	 * later is mostly little.
	 */
	const bool is_waited_for = program && program->ran_before;

	/* Gates do not change return addresses, so for gates alone no unwinder is hooked. */
	if (agent_has_call_candidates(space) && unwinders_hook_all(target, thread) &&
	    is_waited_for) {
		deferred_work_rest(&space->modules->work);
		agent_policy_install_soon(target, space);
		return;
	}
	if (agent_install(target->agent, thread, is_waited_for ? PAUSE_NS : AGENT_NO_LIMIT)) {
		deferred_work_rest(&space->modules->work);
		agent_policy_install_soon(target, space);
	}
}

void agent_policy_piece(void *context, struct thread *thread)
{
	/*
	 * The thread may be back from vfork(2), and has to be safe at the breakpoints planted now.
	 */
	sigmask_hooks_unblock_one(context, thread);
	agent_policy_install(context, thread);
}

void agent_policy_install_soon(struct target *target, struct space *space)
{
	if (!target->agent || target->leaving || !agent_has_candidates(space))
		return;
	deferred_work_want(&target->work, &space->modules->work, WORK_PATCHING);
}

int agent_policy_look_ahead(void *context, struct process *process)
{
	const struct target *target = context;

	/* The last thread that stopped may end meanwhile; the main thread rarely does. */
	if (!proc_is_exiting(process->pid))
		process->space->reader = process->pid;
	return agent_look_ahead(target->agent, process->space, process->pid, PAUSE_NS);
}

/* The context of counted(): whose calls were counted. */
struct counting {
	struct target *target;
	pid_t pid;
};

/* Returns the process that a space belongs to, rather than a CLONE_VM child of it. */
static pid_t owner_of(const struct target *target, const struct space *space)
{
	size_t cursor = 0;
	void *value;
	pid_t pid = 0;

	while (map_next(&target->tracees->processes, &cursor, NULL, &value)) {
		const struct process *process = value;

		if (process->space == space && (!pid || !process->shares_parent_vm))
			pid = process->pid;
	}
	return pid;
}

static void counted(void *context, const struct probe_site *site, const struct agent_count *count)
{
	const struct counting *counting = context;
	const size_t length = count->bucket_count * sizeof *count->buckets;
	const struct record_value value = {
		.kind = VALUE_STRING, .size = sizeof(uint64_t), .length = (uint32_t)length};
	const struct record head = {
		.size = (uint32_t)(sizeof head + (length ? sizeof value + length : 0)),
		.version = RECORD_VERSION,
		.kind = RECORD_COUNTED,
		.value_count = length != 0,
		.pid = counting->pid,
		.probe = site->info->id,
		.number = (int64_t)count->calls,
		.duration = count->time};
	uint8_t *record = xcalloc(1, head.size);

	memcpy(record, &head, sizeof head);
	if (length) {
		memcpy(record + sizeof head, &value, sizeof value);
		memcpy(record + sizeof head + sizeof value, count->buckets, length);
	}
	counting->target->notify.record(counting->target->notify.context,
					(const struct record *)(const void *)record);
	free(record);
}

unsigned agent_policy_drain_rings(struct target *target)
{
	return agent_drain_rings(target->agent, target->tracees, false);
}

void agent_policy_delayed(void *context, struct thread *thread, uint64_t sp, uint64_t time,
			  uint64_t more)
{
	const struct target *target = context;

	if (target->agent)
		agent_delayed(target->agent, thread, sp, time, more);
}

uint64_t agent_policy_show_caller(void *context, struct thread *thread, uint64_t place,
				  uint64_t word)
{
	const struct target *target = context;

	return target->agent ? agent_show_caller(target->agent, thread, place, word) : word;
}

bool agent_policy_is_chosen(void *context, const struct thread *thread, uint64_t place)
{
	const struct target *target = context;

	return target->agent && agent_has_chosen(thread, place);
}

/*
 * Returns the next period: the time after which the fullest ring is expected to reach
 * AGENT_AT_ONCE, as it became `full` in `elapsed_us`.
 */
static unsigned next_poll(unsigned poll, unsigned full, uint64_t elapsed_us)
{
	uint64_t best = full ? elapsed_us * AGENT_AT_ONCE / full : POLL_MAX_US;

	if (best < POLL_MIN_US)
		best = POLL_MIN_US;
	if (best < poll)
		return (unsigned)best;
	/* A short time without calls says little. */
	if (elapsed_us < poll / 2)
		return poll;
	return poll && poll < POLL_MAX_US / 2 ? 2 * poll : POLL_MAX_US;
}

struct wake_up agent_policy_poll(void *context, bool is_stopped)
{
	struct target *target = context;
	struct ring_polling *polling = &target->polling;

	if (!agent_has_rings(target->agent)) {
		polling->period_us = 0;
		return (struct wake_up){.at_once = false};
	}
	uint64_t now = clock_now();
	unsigned full = agent_drain_rings(target->agent, target->tracees, !is_stopped);

	if (agent_lacks_any_rings(target->agent))
		deferred_work_ask_due(&target->work, WORK_RINGS, now);
	polling->period_us = next_poll(polling->period_us, full, (now - polling->last) / 1000);
	polling->last = now;
	return (struct wake_up){full > AGENT_AT_ONCE, polling->period_us};
}

bool agent_policy_fault(struct target *target, const struct stop *stop)
{
	bool faulted = stop->kind == STOP_SIGNAL &&
		       (stop->signal == SIGSEGV || stop->signal == SIGBUS ||
			stop->signal == SIGFPE || stop->signal == SIGILL);

	if (!target->agent || stop->first || !stop->thread || !stop->thread->process->space ||
	    !stop->thread->process->space->agent)
		return false;
	if ((!faulted && stop->kind != STOP_TRAP) || !agent_fault(stop->thread, !faulted))
		return false;
	if (faulted) {
		agent_mind_clock(target->agent, stop->thread);
		thread_resume(stop->thread, 0);
	}
	return faulted;
}

bool agent_policy_stepped(struct target *target, const struct stop *stop)
{
	if (!target->agent || !agent_stepped(target->agent, stop->thread))
		return false;
	thread_resume(stop->thread, 0);
	return true;
}

void agent_policy_collect(struct target *target, struct space *space)
{
	agent_policy_drain_rings(target);
	if (!target->agent || !space)
		return;
	struct counting counting = {target, owner_of(target, space)};

	agent_collect(target->agent, space, counted, &counting);
}

bool agent_policy_is_due(void *context, const struct space *space, uint64_t now)
{
	const struct target *target = context;

	return target->agent && agent_has_candidates(space) &&
	       !deferred_work_waits(&target->work, WORK_PATCHING) && agent_is_due(space, now);
}

bool agent_policy_lacks_rings(void *context, const struct space *space, uint64_t now)
{
	const struct target *target = context;

	(void)now;
	return target->agent && agent_lacks_rings(space);
}

/* Without --lossy nothing is dropped: any count was written by the program itself. */
static uint64_t dropped(const struct target *target)
{
	return target->agent && target->options->lossy ? agent_dropped(target->agent) : 0;
}

uint64_t agent_policy_lost(const struct target *target)
{
	return (target->agent ? agent_lost(target->agent) : 0) + dropped(target);
}

void agent_policy_list_lost(struct target *target)
{
	uint64_t lost = target->agent ? agent_lost(target->agent) : 0;
	_cleanup_free_ char *reason = xasprintf(
		"%llu records that a process had made of them made no sense: it has written over its rings",
		(unsigned long long)lost);

	if (lost)
		untraced_thing(target->untraced, "some calls", reason);
	_cleanup_free_ char *calls = xasprintf("%llu calls", (unsigned long long)dropped(target));

	if (dropped(target))
		untraced_thing(target->untraced, calls,
			       "their processes were not to wait for the tracer (--lossy)");
}

void agent_policy_tell_engines(struct target *target)
{
	const struct record record = {.size = sizeof record,
				      .version = RECORD_VERSION,
				      .kind = RECORD_PROBES,
				      .time = clock_wall(),
				      .call = target->planted,
				      .duration = agent_policy_lost(target),
				      .number = target->agent ? (int64_t)agent_probes(target->agent)
							      : 0};

	target->notify.record(target->notify.context, &record);
}

void agent_policy_leave(struct target *target, struct space *space)
{
	agent_policy_collect(target, space);
	agent_restore_returns(space);
	agent_close_files(target->tracees, space);
}

static const enum agent_clock_choice clocks[] = {[CLOCK_AUTO] = AGENT_CLOCK_ANY,
						 [CLOCK_TSC] = AGENT_CLOCK_OF_PROCESSOR,
						 [CLOCK_SYSTEM] = AGENT_CLOCK_OF_SYSTEM};

void agent_policy_init(struct target *target)
{
	if (target->options->engine == ENGINE_TRAP)
		return;
	const struct agent_options options = {
		/*
		 * Counts have neither the exact duration of a single call nor its depth; these
		 * need records.
		 */
		.records = target_needs_each_call(target),
		.buckets = sink_needs_buckets(target->options->sink, target->options->output),
		.lines = target_takes_place(target->options->output),
		.stacks = target_stack_depth(target->options->output) > 0,
		.native_frames = target->options->output->where_native
					 ? target_stack_depth(target->options->output)
					 : 0,
		.lossy = target->options->lossy,
		.clock = clocks[target->options->clock]};

	target->agent = agent_create(target->trap, target->tracker, decided, code_around,
				     points_into, &options);
	if (!target->agent && target->options->engine == ENGINE_AGENT)
		diag("--engine=agent: the threads of this machine cannot be told apart; "
		     "breakpoints are used");
	unwinders_init(target);
}

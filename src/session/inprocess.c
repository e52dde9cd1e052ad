/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which functions are counted inside the process (--engine=agent), and what that needs of a
 * session.
 *
 * The agent puts a stub in place of return addresses. Functions that make something of theirs keep
 * their breakpoints: those that return twice or on another stack, those that ask who called them,
 * and the unwinder's own; and what is no function that is called, whatever its symbol says. Whole
 * processes do where a runtime walks stacks by itself, or copies them; and the functions of virtual
 * machines that generated code calls (runtimes.c).
 */
#include "session/private.h"

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "engine/agent/agent_arch.h"
#include "image/code_pointers.h"
#include "image/extent.h"
#include "inferior/proc.h"
#include "session/runtimes.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

/* Those of PLTs have 8 or 16 bytes, and end by a jump; what is behind that is not looked at. */
enum { PLT_STUB = 16 };

/*
 * How often rings are looked at, in us: lines are not to come late, rings not to run full, and the
 * processor is not ours. When one is fuller than that they are looked at again at once.
 */
enum { POLL_MAX_US = 20000, POLL_MIN_US = 500 };

enum { ASK_AGAIN_NS = 100000000 };

/*
 * What functions call first that have been compiled with -pg, to have noted who calls them: that is
 * read where the return address is.
 */
static const char *const profilers[] = {"mcount", "_mcount", "__fentry__"};

static void decided(void *context, const struct probe_site *site, const char *reason)
{
	const struct session *session = context;
	char safe[256];

	if (!debug_wanted(session, DEBUG_FUNCTIONS))
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
 * Several functions may have the name: of several versions, or static ones. Without a symbol are
 * implementations of IFUNCs, and functions that were found through a table of pointers; .eh_frame
 * says how long those are.
 */
static uint64_t length_at(const struct module *module, const char *name, uint64_t address)
{
	const struct elf_symbol *symbol = elf_find_symbol(module->file, name);

	for (; symbol; symbol = elf_find_next(module->file, symbol))
		if (symbol->type == STT_FUNC && symbol->value == address)
			return symbol->size;
	return extent_of_function(module->file, address);
}

/* What is called by that name from wherever makes something of its return address. */
static bool must_know_caller(const struct session *session, const struct space *space,
			     const char *name)
{
	return !callers_are_put_right(session, name) &&
	       (callers_are_asked_for(name) || callers_are_read_by(space, name));
}

/* Its first byte may be a function's, whoever calls that. */
static void note_next_symbol(const struct module *module, uint64_t address, struct agent_wish *wish)
{
	const uint64_t distance = extent_to_next_symbol(module->file, address - module->bias);

	if (distance >= AGENT_JUMP)
		return;
	wish->kept = (uint8_t)distance;
	wish->kept_because = "another function begins right behind it";
}

void inprocess_wish(struct session *session, struct space *space, uint64_t address,
		    const char *symbol, const struct module *module, const struct probe_site *site)
{
	struct agent_wish wish = {.address = address, .site = site};
	const char *reason = NULL;

	if (!session->agent)
		return;
	wish.is_plt_stub = site->info->kind == PROBE_CALL;
	if (wish.is_plt_stub ? must_know_caller(session, space, symbol)
			     : callers_are_asked_for(symbol) ||
				       (module && callers_are_read(space->arch, module->file,
								   address - module->bias)))
		reason = "it makes something of its return address";
	else if (module && module->is_machine && !wish.is_plt_stub)
		reason = "generated code may call it, whose runtime walks stacks by itself";
	else if (module && module->is_profiled && !wish.is_plt_stub)
		reason = "it may have its caller noted, for a profile (-pg)";
	else if (!module ||
		 (!wish.is_plt_stub && address == elf_entry(module->file) + module->bias))
		reason = "it is not known to be a function that is called";
	else if (elf_relocates_code(module->file, address - module->bias, AGENT_MOVED_MAX))
		reason = "its first instructions are relocated";
	else if (wish.is_plt_stub)
		wish.length = PLT_STUB;
	else
		wish.length = length_at(module, symbol, address - module->bias);
	if (!wish.is_plt_stub && !reason && wish.length)
		note_next_symbol(module, address, &wish);
	if (!reason)
		reason = agent_wish(space, &wish);
	if (reason)
		decided(session, site, reason);
}

void inprocess_wish_call(struct session *session, struct space *space, const struct module *module,
			 const struct agent_call *call)
{
	const char *name = call->site->info->name;
	const char *reason;

	if (!session->agent)
		return;
	if (must_know_caller(session, space, name))
		reason = "it makes something of its return address";
	else if (!module ||
		 elf_relocates_code(module->file, call->address - module->bias, AGENT_MOVED_MAX))
		reason = "the code that calls it is relocated";
	else
		reason = agent_wish_call(session->agent, space, call);
	if (reason)
		decided(session, call->site, reason);
}

static bool is_profiled(const struct module *module)
{
	for (size_t i = 0; i < sizeof profilers / sizeof *profilers; i++)
		if (elf_has_slot(module->file, profilers[i]) ||
		    (module->is_main && elf_find_symbol(module->file, profilers[i])))
			return true;
	return false;
}

void inprocess_module(struct session *session, struct thread *thread, struct module *module)
{
	struct space *space = thread->process->space;

	if (!session->agent || !space->arch->agent)
		return;
	module->is_machine = runtimes_generate_code(module);
	module->is_profiled = is_profiled(module);
	callers_note(session, space, module);
	if (space->modules->is_hooked)
		unwinders_hook(session, thread, module);
	const char *reason = runtimes_walk_stacks(module);

	if (reason)
		agent_refuse(session->agent, thread, reason);
}

/* A program linked statically and stripped has an unwinder that cannot be found. */
static bool hides_unwinder(const struct module *program)
{
	return !elf_interpreter(program->file) &&
	       !elf_find_symbol(program->file, "dl_iterate_phdr") &&
	       !elf_find_symbol(program->file, "_dl_find_object");
}

void inprocess_install(struct session *session, struct thread *thread)
{
	struct space *space = thread->process->space;

	if (!session->agent || !space || session->leaving)
		return;
	agent_add_rings(thread);
	if (!agent_has_wishes(space))
		return;
	const struct module *program = space->modules ? modules_program(space->modules) : NULL;

	if (!program || hides_unwinder(program))
		agent_refuse(session->agent, thread, "the program's unwinder cannot be found");
	else if (trap_has_exchanged_stacks(space))
		agent_refuse(session->agent, thread, "the program copies stacks");
	else if (proc_has_shadow_stack(thread->tid))
		agent_refuse(session->agent, thread, "the program has a shadow stack");
	if (!agent_has_wishes(space))
		return;
	/* Nobody waits yet for one that was launched, and what it loads later is mostly little. */
	const bool is_waited_for = program && program->ran_before;

	/* A gate leaves return addresses alone. */
	if (agent_has_wishes_of_calls(space) && unwinders_hook_all(session, thread) &&
	    is_waited_for) {
		later_rest(space->modules);
		inprocess_install_soon(session, space);
		return;
	}
	if (agent_install(session->agent, thread, is_waited_for ? PAUSE_NS : AGENT_NO_LIMIT)) {
		later_rest(space->modules);
		inprocess_install_soon(session, space);
	}
}

void inprocess_install_soon(struct session *session, struct space *space)
{
	if (!session->agent || session->leaving || !agent_has_wishes(space))
		return;
	space->modules->install_soon = true;
	session->install_soon = true;
}

void inprocess_look_ahead(struct session *session)
{
	size_t cursor = 0;
	void *value;

	session->install_soon = false;
	while (map_next(&session->inferior->processes, &cursor, NULL, &value)) {
		struct process *process = value;
		struct space *space = process->space;

		if (!space || !space->modules || !space->modules->install_soon)
			continue;
		if (later_rests(space->modules)) {
			session->install_soon = true;
			continue;
		}
		space->modules->install_soon = agent_look_ahead(session->agent, space, process->pid,
								PAUSE_NS) == -EAGAIN;
		session->install_soon |= space->modules->install_soon;
		if (!space->modules->install_soon)
			later_stop(session, process);
	}
}

/* Where calls were counted: a space, and whose it is. */
struct counting {
	struct session *session;
	pid_t pid;
};

/* Of those that live in a memory the one that it belongs to. */
static pid_t owner_of(const struct session *session, const struct space *space)
{
	size_t cursor = 0;
	void *value;
	pid_t pid = 0;

	while (map_next(&session->inferior->processes, &cursor, NULL, &value)) {
		const struct process *process = value;

		if (process->space == space && (!pid || !process->borrower))
			pid = process->pid;
	}
	return pid;
}

static void counted(void *context, const struct probe_site *site, uint64_t calls, uint64_t time)
{
	const struct counting *counting = context;
	const struct record record = {.size = sizeof record,
				      .version = RECORD_VERSION,
				      .kind = RECORD_COUNTED,
				      .pid = counting->pid,
				      .probe = site->info->id,
				      .number = (int64_t)calls,
				      .duration = time};

	session_record(counting->session, &record);
}

unsigned inprocess_fetch(struct session *session)
{
	return agent_fetch(session->agent, session->inferior, false);
}

void inprocess_delayed(void *context, struct thread *thread, uint64_t sp, uint64_t time,
		       uint64_t more)
{
	const struct session *session = context;

	if (session->agent)
		agent_delayed(session->agent, thread, sp, time, more);
}

uint64_t inprocess_show_caller(void *context, struct thread *thread, uint64_t place, uint64_t word)
{
	const struct session *session = context;

	return session->agent ? agent_show_caller(session->agent, thread, place, word) : word;
}

/*
 * From how full rings became in the time since they were looked at last: when they would be so full
 * that it is to be at once.
 */
static unsigned next_poll(unsigned poll, unsigned full, uint64_t elapsed_us)
{
	uint64_t best = full ? elapsed_us * AGENT_AT_ONCE / full : POLL_MAX_US;

	if (best < POLL_MIN_US)
		best = POLL_MIN_US;
	if (best < poll)
		return (unsigned)best;
	/* A moment without calls says little. */
	if (elapsed_us < poll / 2)
		return poll;
	return poll && poll < POLL_MAX_US / 2 ? 2 * poll : POLL_MAX_US;
}

/*
 * A thread of each process that lacks some is to come to a stop at which they can be made; another
 * one after a while, if that one did not do.
 */
static void ask_for_rings(struct session *session, uint64_t now)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&session->inferior->processes, &cursor, NULL, &value)) {
		struct process *process = value;
		struct modules *modules = process->space ? process->space->modules : NULL;

		if (!modules || !agent_lacks_rings(process->space) ||
		    now - modules->rings_asked < ASK_AGAIN_NS)
			continue;
		modules->rings_asked = now;
		later_stop(session, process);
	}
}

void inprocess_poll(struct session *session, bool is_stopped)
{
	if (!agent_has_rings(session->agent)) {
		session->busy = false;
		session->poll_us = 0;
		return;
	}
	uint64_t now = inferior_clock();
	unsigned full = agent_fetch(session->agent, session->inferior, !is_stopped);

	if (agent_lacks_any_rings(session->agent))
		ask_for_rings(session, now);
	session->busy = full > AGENT_AT_ONCE;
	session->poll_us = next_poll(session->poll_us, full, (now - session->polled) / 1000);
	session->polled = now;
	interrupts_tick(session->interrupts, session->poll_us);
}

bool inprocess_fault(struct session *session, const struct stop *stop)
{
	bool faulted = stop->kind == STOP_SIGNAL &&
		       (stop->signal == SIGSEGV || stop->signal == SIGBUS ||
			stop->signal == SIGFPE || stop->signal == SIGILL);

	if (!session->agent || stop->first || !stop->thread || !stop->thread->process->space ||
	    !stop->thread->process->space->agent)
		return false;
	if ((!faulted && stop->kind != STOP_TRAP) || !agent_fault(stop->thread, !faulted))
		return false;
	if (faulted) {
		agent_mind_clock(session->agent, stop->thread);
		thread_resume(stop->thread, 0);
	}
	return faulted;
}

bool inprocess_stepped(struct session *session, const struct stop *stop)
{
	if (!session->agent || !agent_stepped(session->agent, stop->thread))
		return false;
	thread_resume(stop->thread, 0);
	return true;
}

void inprocess_collect(struct session *session, struct space *space)
{
	inprocess_fetch(session);
	if (!session->agent || !space)
		return;
	struct counting counting = {session, owner_of(session, space)};

	agent_collect(session->agent, space, counted, &counting);
}

bool inprocess_is_due(const struct session *session, const struct space *space, uint64_t now)
{
	return session->agent &&
	       (agent_lacks_rings(space) ||
		(agent_has_wishes(space) && !session->install_soon && agent_is_due(space, now)));
}

void inprocess_list_lost(struct session *session)
{
	uint64_t lost = session->agent ? agent_lost(session->agent) : 0;
	_cleanup_free_ char *reason = xasprintf(
		"%llu records that a process had made of them made no sense: it has written over its rings",
		(unsigned long long)lost);

	if (lost)
		untraced_thing(session->untraced, "some calls", reason);
	/* Without it what a ring says of that is the process's own writing. */
	uint64_t dropped = session->agent && session->options->lossy ? agent_dropped(session->agent)
								     : 0;
	_cleanup_free_ char *calls = xasprintf("%llu calls", (unsigned long long)dropped);

	if (dropped)
		untraced_thing(session->untraced, calls,
			       "their processes were not to wait for the tracer (--lossy)");
}

void inprocess_tell_engines(struct session *session)
{
	const struct record record = {
		.size = sizeof record,
		.version = RECORD_VERSION,
		.kind = RECORD_PROBES,
		.call = session->planted,
		.number = session->agent ? (int64_t)agent_probes(session->agent) : 0};

	session_record(session, &record);
}

void inprocess_leave(struct session *session, struct space *space)
{
	inprocess_collect(session, space);
	agent_restore_returns(space);
	agent_close_files(session->inferior, space);
}

static const enum agent_clock_choice clocks[] = {[CLOCK_AUTO] = AGENT_CLOCK_ANY,
						 [CLOCK_TSC] = AGENT_CLOCK_OF_PROCESSOR,
						 [CLOCK_SYSTEM] = AGENT_CLOCK_OF_SYSTEM};

void inprocess_init(struct session *session)
{
	if (session->options->engine == ENGINE_TRAP)
		return;
	const struct agent_options options = {
		/* What is counted there has neither the time of a single call nor its depth. */
		.records = !session->options->summary || session->options->depth_max ||
			   summary_needs_each_call(session->options->output),
		.lossy = session->options->lossy,
		.clock = clocks[session->options->clock]};

	session->agent = agent_create(session->trap, &session->events, decided, code_around,
				      points_into, &options);
	if (!session->agent && session->options->engine == ENGINE_AGENT)
		diag("--engine=agent: the threads of this machine cannot be told apart; "
		     "breakpoints are used");
	unwinders_init(session);
}

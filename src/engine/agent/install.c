/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Patches a function's beginning with a jump.
 *
 * The function already begins with a breakpoint. All threads of the space are stopped. A function
 * has to wait for the next time if a thread has its pc in the bytes that the jump will cover, or in
 * the XOL slot that leads there, or if such an address is anywhere on a thread's stack (a signal
 * handler that was started there will return to it). A thread that has just hit the breakpoint
 * itself, as threads do that call the function all the time, is put back to it.
 *
 * First the probe stub is written, whose breakpoint replaces the function's; then the jump is
 * written over the latter. If there are many candidates, only some are patched at a time, and then
 * the process runs for a multiple of that time. Candidates that have been called come first, as
 * their breakpoints cost most.
 *
 * No thread sees a partly written jump, as none runs. Only an untraced child that shares the memory
 * (CLONE_UNTRACED) could; such children are rare.
 */
#include "engine/agent/install.h"

#include "base/xalloc.h"
#include "engine/agent/agent_state.h"
#include "engine/agent/branches.h"
#include "engine/agent/buckets.h"
#include "engine/agent/clock.h"
#include "engine/agent/entry_jumps.h"
#include "engine/agent/gates.h"
#include "engine/agent/got_calls.h"
#include "engine/agent/in_way.h"
#include "engine/agent/jump_islands.h"
#include "engine/agent/kept.h"
#include "engine/agent/patch_candidates.h"
#include "engine/agent/plans.h"
#include "engine/agent/ring_drain.h"
#include "engine/agent/stack_rules.h"
#include "engine/agent/unit.h"
#include "engine/agent/unwinding.h"
#include "engine/trap/breakpoint_takeover.h"
#include "engine/trap/sigtrap.h"
#include "tracee/clock.h"
#include "tracee/journal.h"
#include "tracee/maps_snapshot.h"
#include "tracee/memory_batch.h"
#include "tracee/resume.h"
#include "tracee/space.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
	FUNCTION_MAX = 1 << 20,
	/* How long the process runs in between: at least, and multiples of the last stop. */
	AGAIN_NS = 20000000,
	SHARE = 20,
	SHARE_OF_CALLED = 5,
	AT_ONCE = 64,	      /* functions patched at least: under 1 ms on an idle processor */
	ISLANDS_AT_ONCE = 16, /* each may take a system call of the process */
	AGENT_BEHIND = 16
};

/* What is being installed in a space. */
struct installing {
	struct agent *agent;
	struct thread *thread; /* makes the remote calls */
	struct space *space;
	struct agent_space *own;
	struct vec turned;    /* struct thread *: put back to a breakpoint, to be resumed */
	struct vec covered;   /* uint64_t: functions whose breakpoints are under jumps now */
	struct in_way in_way; /* what has to wait */
	bool *is_done;	      /* of each candidate: it is decided */
	size_t done;	      /* candidates */
	size_t islands;	      /* candidates that needed islands, with or without success */
	bool nobody;	      /* nothing can be installed now */
	bool is_early;	      /* the thread has hit a breakpoint and its stop is still queued */
	uint64_t end;	      /* clock_now(): what is left then waits for the next time */
};

/* ------------------------------------------------------------------ where threads are */

static void look(struct thread *thread, void *context)
{
	struct installing *installing = context;

	if (thread != installing->thread && trap_turn_back(thread))
		vec_push(&installing->turned, &thread);
	if (in_way_look(&installing->in_way, thread) != 0)
		installing->nobody = true;
}

/* ------------------------------------------------------------------ one function */

static int prepare_records(struct installing *installing, struct agent_unit *unit)
{
	int error = ring_drain_prepare(installing->agent, installing->thread, unit);

	if (!error)
		error = trap_plant(installing->agent->trap, installing->thread,
				   unit->base + AGENT_RECORD_FULL, NULL, &unit->full);
	return error;
}

static struct agent_unit *unit_near(const struct installing *installing, uint64_t address)
{
	static const uint64_t reach = UINT64_C(0x70000000);
	const struct agent_space *own = installing->own;

	for (size_t i = 0; i < own->units.count; i++) {
		struct agent_unit *unit = *(struct agent_unit **)vec_at(&own->units, i);
		uint64_t distance = unit->base > address ? unit->base - address
							 : address - unit->base;

		if (distance < reach && unit_has_number(unit, installing->space))
			return unit;
	}
	return NULL;
}

static struct agent_unit *make_unit(struct installing *installing, uint64_t address)
{
	struct agent_space *own = installing->own;
	struct agent_unit *unit;

	own->refused = clock_prepare(installing->agent, installing->thread);
	if (own->refused)
		return NULL;
	int error = unit_create(installing->agent, installing->thread, address, &unit);

	installing->is_early = error == -EBUSY;
	if (error == -ENOTSUP)
		own->refused = "a thread may not read the clock";
	else if (error == -EPERM)
		own->refused = "its system calls are filtered (seccomp), and only root may "
			       "make some past that";
	else if (error && !installing->is_early)
		own->refused = "no memory for it can be had near enough";
	if (error)
		return NULL;
	unit->hook = (struct hook){.context = unit, .redirect = agent_redirect};
	unit->full = (struct hook){.context = unit, .redirect = agent_redirect_return};
	unit->agent = installing->agent;
	if (installing->agent->records && prepare_records(installing, unit) != 0)
		own->refused = "no memory for its records can be had";
	vec_push(&own->units, &unit);
	gates_unit_made(installing->space);
	stack_rules_tell_units(installing->space);
	return own->refused ? NULL : unit;
}

static struct agent_unit *find_unit(struct installing *installing, uint64_t address)
{
	struct agent_unit *unit = unit_near(installing, address);
	struct maps maps;

	if (unit)
		return unit;
	if (maps_read(installing->thread->tid, &maps) == 0)
		maps_snapshot_begin(installing->space, &maps);
	unit = make_unit(installing, address);
	maps_snapshot_end(installing->space);
	return unit;
}

static int write_jump(struct installing *installing, struct agent_probe *probe,
		      const uint8_t *before)
{
	struct space *space = installing->space;
	const struct entry_jump *jump = &probe->jump;
	const uint64_t stub = unit_probe_stub(probe->unit, probe->number);

	kept_settle(space, probe->address, jump);
	probe->journal = journal_jump(space->journal, probe->address, before, jump->bytes,
				      jump->length);
	if (probe->candidate.part)
		journal_set_when(space->journal, probe->journal, JOURNAL_STAYS);
	int error = space_write(space, probe->address, jump->bytes, jump->length);

	if (!error) {
		if (!candidate_is_front(&probe->candidate))
			vec_push(&installing->covered, &probe->address);
		map_put(&installing->own->probes, probe->address, probe);
		probe->unit->probes[probe->number] = probe;
		probe->is_counted = !probe->candidate.was_granted && probe->site;
		installing->agent->probes += probe->is_counted;
		probe->candidate.was_granted = true;
		return 0;
	}
	journal_forget(space->journal, probe->journal);
	trap_unplant(space, stub + AGENT_PROBE_BREAKPOINT);
	if (jump->length < AGENT_JUMP)
		island_free(installing->own, probe->address);
	free(probe);
	return error;
}

/* Writes the stub, and a breakpoint in it that will replace the function's. */
static int prepare(struct installing *installing, const struct patch_candidate *candidate,
		   struct agent_unit *unit, const uint8_t stub[AGENT_PROBE_STUB])
{
	struct trap *trap = installing->agent->trap;
	uint32_t number = unit_next_number(unit);
	uint64_t place = unit_probe_stub(unit, number);
	int error = space_write(installing->space, place, stub, AGENT_PROBE_STUB);

	if (!error && unit->plans && candidate->site)
		error = plans_write(unit->plans, installing->space, unit->base, number,
				    candidate->site->plan);
	if (!error && candidate->site)
		error = buckets_prepare(unit, installing->thread, number);
	installing->is_early |= error == -EBUSY;
	if (!error)
		error = trap_plant(trap, installing->thread, place + AGENT_PROBE_BREAKPOINT,
				   candidate->site,
				   candidate->site ? &unit->hook : candidate->hook);
	return error;
}

/* Makes the jump to the stub, by an island if not all of the jump's bytes may be written. */
static int make_jump(struct installing *installing, const struct agent_function *function,
		     const struct agent_unit *unit, struct entry_jump *jump)
{
	const uint64_t stub = unit_probe_stub(unit, unit_next_number(unit));

	if (function->covered == AGENT_JUMP) {
		*jump = (struct entry_jump){.length = AGENT_JUMP, .span = AGENT_JUMP};
		installing->space->arch->emit_jump(function->address, stub, jump->bytes);
		return 0;
	}
	int error = island_make(installing->own, installing->thread, function->address,
				(unsigned)function->covered, stub, jump);

	installing->islands++;
	installing->is_early |= error == -EBUSY;
	if (!error)
		kept_watch(installing->space);
	return error;
}

/* Patches the candidate with a jump to `stub`, which is not written yet. Returns 0 or -errno. */
static int catch_by(struct installing *installing, const struct patch_candidate *candidate,
		    struct agent_unit *unit, const uint8_t stub[AGENT_PROBE_STUB],
		    const struct agent_function *function)
{
	struct entry_jump jump;

	kept_make_way(installing->thread, candidate->address,
		      candidate->address + function->covered);
	int error = make_jump(installing, function, unit, &jump);

	if (error)
		return error;
	error = prepare(installing, candidate, unit, stub);
	if (error) {
		if (jump.length < AGENT_JUMP)
			island_free(installing->own, candidate->address);
		return error;
	}
	struct agent_probe *probe = xcalloc(1, sizeof *probe);

	*probe = (struct agent_probe){.address = candidate->address,
				      .site = candidate->site,
				      .candidate = *candidate,
				      .unit = unit,
				      .jump = jump};
	unit_give_number(unit, probe);
	return write_jump(installing, probe, function->bytes);
}

static int write_stub(const struct installing *installing, const struct patch_candidate *candidate,
		      const struct agent_unit *unit, const struct agent_function *function,
		      uint8_t stub[AGENT_PROBE_STUB])
{
	const struct agent_arch *arch = installing->space->arch->agent;
	const struct agent *agent = installing->agent;
	struct decoder *decoder = trap_decoder(agent->trap);
	const uint32_t number = unit_next_number(unit);

	if (candidate_is_gate(candidate))
		return arch->write_gate_stub(decoder, function, unit->base, number,
					     &candidate->gate, stub);
	if (candidate->calls)
		return arch->write_call_stub(decoder, function, candidate->got_slot, unit->base,
					     number, candidate_role(agent, candidate), stub);
	return arch->write_probe_stub(decoder, function, unit->base, number,
				      candidate_role(agent, candidate), stub);
}

/*
 * Makes up the stub for a jump that covers as many bytes of the function as can be displaced and
 * written over. An instruction that cannot be displaced stays, like the bytes behind the function.
 */
static int find_covered(const struct installing *installing,
			const struct patch_candidate *candidate, const struct agent_unit *unit,
			struct agent_function *function, uint8_t stub[AGENT_PROBE_STUB])
{
	int error = -ENOTSUP;

	for (size_t covered = candidate->kept ? candidate->kept : AGENT_JUMP;
	     error == -ENOTSUP && covered; covered--) {
		function->covered = covered;
		error = write_stub(installing, candidate, unit, function, stub);
	}
	return error;
}

/* Returns NULL, or why the trap engine keeps the function. */
static const char *install_one(struct installing *installing,
			       const struct patch_candidate *candidate)
{
	struct space *space = installing->space;
	uint64_t length = candidate->length < FUNCTION_MAX ? candidate->length : FUNCTION_MAX;
	uint8_t stub[AGENT_PROBE_STUB];

	const char *reason = candidate_is_obstructed(space, candidate);

	if (reason)
		return reason;
	struct agent_unit *unit = find_unit(installing, candidate->address);

	if (!unit)
		return installing->own->refused;
	uint8_t *bytes = xmalloc(length + AGENT_BEHIND);
	size_t known = agent_read_code(space, candidate->address, bytes, length + AGENT_BEHIND);
	struct agent_function function = {.address = candidate->address,
					  .bytes = bytes,
					  .length = known < length ? known : length};

	function.behind = known - function.length;
	int error = find_covered(installing, candidate, unit, &function, stub);

	if (!error)
		error = catch_by(installing, candidate, unit, stub, &function);
	free(bytes);
	if (error == -ENOSPC && candidate->kept)
		return candidate->kept_because;
	if (error == -ENOTSUP || error == -ENOSPC)
		return "its first instructions cannot be moved";
	return error ? strerror(-error) : NULL;
}

/* Returns false if the candidate has to wait. */
static bool decide(struct installing *installing, const struct patch_candidate *candidate)
{
	const struct agent *agent = installing->agent;
	const char *reason = candidate->refusal;

	if (!reason)
		reason = installing->own->refused;
	if (!reason && agent->records && candidate->site)
		reason = plans_refuse(candidate->site->plan);
	if (!reason)
		reason = install_one(installing, candidate);
	if (installing->is_early)
		return false;
	agent_decide(agent, candidate->site, reason);
	return true;
}

static bool is_time_up(const struct installing *installing)
{
	return (installing->done >= AT_ONCE || installing->islands >= ISLANDS_AT_ONCE) &&
	       clock_now() > installing->end;
}

static bool is_waiting(const struct installing *installing, size_t number)
{
	return !installing->is_done[number] && !installing->in_way.is_busy[number];
}

static void decide_one(struct installing *installing, size_t number)
{
	const struct patch_candidate candidate =
		*(struct patch_candidate *)vec_at(&installing->own->candidates, number);

	if (!is_waiting(installing, number) || !decide(installing, &candidate))
		return;
	installing->is_done[number] = true;
	installing->done++;
}

static uint64_t candidate_address(const struct installing *installing, size_t number)
{
	return ((struct patch_candidate *)vec_at(&installing->own->candidates, number))->address;
}

/*
 * Decides on the functions right behind, which the jump may share bytes with, the last one first.
 * Returns false if one of them has to wait.
 */
static bool decide_behind(struct installing *installing, size_t number)
{
	const size_t count = installing->own->candidates.count;
	size_t last = number;

	while (last + 1 < count &&
	       candidate_address(installing, last + 1) - candidate_address(installing, last) <
		       AGENT_SPAN_MAX)
		last++;
	for (; last > number; last--) {
		if (is_waiting(installing, last) && !is_time_up(installing))
			decide_one(installing, last);
		if (!installing->is_done[last])
			return false;
	}
	return true;
}

static void install_some(struct installing *installing, bool called)
{
	const struct vec *candidates = &installing->own->candidates;

	for (size_t i = 0; i < candidates->count && !installing->is_early; i++) {
		const struct patch_candidate *candidate = vec_at(candidates, i);

		if (candidate->was_called != called || !is_waiting(installing, i))
			continue;
		if (is_time_up(installing))
			return;
		if (decide_behind(installing, i))
			decide_one(installing, i);
	}
}

/* Breakpoints may be forgotten only after the jumps over them have been written. */
static void install_gathered(struct installing *installing)
{
	struct space *space = installing->space;
	const bool gathers = memory_batch_begin(space);

	install_some(installing, true);
	install_some(installing, false);
	if (gathers)
		memory_batch_end(space);
	maps_snapshot_end(space); /* for jump_islands.c */
	for (size_t i = 0; i < installing->covered.count; i++)
		trap_covered(space, *(uint64_t *)vec_at(&installing->covered, i));
	unwinding_update(space);
}

/* Removes decided candidates. Returns true if others have been called, and do not have to wait. */
static bool keep_others(struct installing *installing)
{
	struct vec *candidates = &installing->own->candidates;
	bool was_called = false;
	size_t kept = 0;

	for (size_t i = 0; i < candidates->count; i++) {
		const struct patch_candidate candidate =
			*(struct patch_candidate *)vec_at(candidates, i);

		if (installing->is_done[i])
			continue;
		was_called |= candidate.was_called && is_waiting(installing, i);
		*(struct patch_candidate *)vec_at(candidates, kept++) = candidate;
	}
	candidates->count = kept;
	return was_called;
}

/* All threads are stopped. Returns true if installing has to continue soon. */
static bool install_all(struct installing *installing)
{
	struct vec *candidates = &installing->own->candidates;
	const struct patch_candidate *first = vec_at(candidates, 0),
				     *last = vec_at(candidates, candidates->count - 1);

	installing->is_done = xcalloc(candidates->count, sizeof *installing->is_done);
	installing->in_way = (struct in_way){
		.space = installing->space,
		.candidates = candidates,
		.is_busy = xcalloc(candidates->count, sizeof *installing->in_way.is_busy),
		.low = first->address,
		.high = last->address + AGENT_JUMP};
	space_each_thread(installing->thread->process->tracees, installing->space, look,
			  installing);
	/* Includes threads that have just been put back to their breakpoints. */
	candidates_note_calls(candidates, installing->space);
	if (!installing->nobody)
		install_gathered(installing);
	bool is_soon = keep_others(installing);

	free(installing->is_done);
	free(installing->in_way.is_busy);
	return is_soon;
}

/* Makes the first unit while the other threads run. Returns true if one was made. */
static bool make_first_unit(struct installing *installing)
{
	const struct vec *candidates = &installing->own->candidates;
	const size_t before = installing->own->units.count;

	for (size_t i = 0; i < candidates->count; i++) {
		const struct patch_candidate *candidate = vec_at(candidates, i);

		if (!candidate->refusal) {
			find_unit(installing, candidate->address);
			break;
		}
	}
	return installing->own->units.count > before;
}

/* The first time that all threads are stopped: returns true if two would have the same ring. */
static bool are_alike(struct installing *installing)
{
	struct agent_space *own = installing->own;
	const bool known = own->bases_known;

	own->bases_known = true;
	return !known && installing->agent->records && ring_drain_share_bases(installing->thread);
}

bool agent_install(struct agent *agent, struct thread *thread, uint64_t longest)
{
	struct space *space = thread->process->space;
	struct installing installing = {.agent = agent,
					.thread = thread,
					.space = space,
					.own = space->agent,
					.turned = VEC_OF(struct thread *),
					.covered = VEC_OF(uint64_t)};

	if (!agent_has_candidates(space))
		return false;

	const uint64_t begun = clock_now();
	bool is_soon = false;

	installing.nobody = agent_look_ahead(agent, space, thread->tid, AGENT_NO_LIMIT) != 0;
	/* Making a unit takes long enough for one stop of a program that waits. */
	const bool again = !installing.nobody && make_first_unit(&installing) &&
			   longest != AGENT_NO_LIMIT;

	if (!installing.nobody)
		installing.nobody = again || installing.is_early || !agent_stop_others(thread);
	installing.end = clock_now() + longest;
	if (!installing.nobody && are_alike(&installing))
		agent_refuse(agent, thread, AGENT_ALIKE);
	else if (!installing.nobody)
		is_soon = install_all(&installing);
	for (size_t i = 0; i < installing.turned.count; i++) {
		struct thread *turned = *(struct thread **)vec_at(&installing.turned, i);

		thread_resume(turned, sigtrap_to_deliver(turned));
	}
	/* A thread that cannot be stopped takes long: give the program most of the time. */
	const uint64_t ended = clock_now();

	installing.own->due = ended;
	if (!installing.is_early && !again)
		installing.own->due += AGAIN_NS +
				       (is_soon ? SHARE_OF_CALLED : SHARE) * (ended - begun);
	vec_deinit(&installing.turned);
	vec_deinit(&installing.covered);
	return again;
}

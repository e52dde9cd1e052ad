/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A function's beginning becomes a jump.
 *
 * It begins with a breakpoint already. All threads of the space are stopped; where one of them has
 * its pc within the bytes that the jump will cover, or in the out-of-line slot that leads there, or
 * has such an address anywhere on its stack (a handler that was begun there will return to it), the
 * function has to wait for the next time. A thread that has just run into the breakpoint itself, as
 * those do that call the function all the time, is put back to it.
 *
 * Written are the probe's stub, whose breakpoint takes the place of the function's; then the jump,
 * over that one.
 * Where there are many, only some are done at a time, and then the process goes on for a multiple
 * of that; those first that have been called, as their breakpoints cost most.
 *
 * No thread sees half of it, as none runs. Children in the memory that nobody traces
 * (CLONE_UNTRACED) would; they are as rare as those.
 */
#include "engine/agent/private.h"

#include "base/xalloc.h"
#include "engine/trap/sigtrap.h"
#include "inferior/gather.h"
#include "inferior/journal.h"
#include "inferior/kept_maps.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
	STACK_SEEN = 65536,
	FUNCTION_MAX = 1 << 20,
	/* For how long the process goes on: at least, and as a multiple of what was done last. */
	AGAIN_NS = 20000000,
	SHARE = 20,
	SHARE_OF_CALLED = 5,
	/* functions, however long that takes: less than a ms, with the processor to itself */
	AT_ONCE = 64,
	DETOURS_AT_ONCE = 16, /* each may take a system call of the process */
	AGENT_BEHIND = 16
};

enum wish_state {
	WAITS,
	IS_BUSY, /* not now */
	IS_DONE
};

/* What is to be installed in a space. */
struct installing {
	struct agent *agent;
	struct thread *thread; /* that serves us */
	struct space *space;
	struct agent_space *own;
	struct vec turned;	 /* struct thread *: put back to a breakpoint, to be resumed */
	struct vec covered;	 /* uint64_t: functions whose breakpoints are under jumps now */
	uint64_t low, high;	 /* all jumps will be between them */
	enum wish_state *states; /* of each wish */
	size_t done;		 /* how many wishes */
	size_t detours;		 /* for how many one was made, or looked for in vain */
	bool nobody;		 /* nothing can be done now */
	bool is_early;		 /* the thread has run into a breakpoint, and not said so yet */
	uint64_t end;		 /* inferior_clock(): from then on it is left for the next time */
};

/* ------------------------------------------------------------------ where threads are */

static bool mark_covered(struct installing *installing, uint64_t address)
{
	const struct vec *wishes = &installing->own->wishes;

	if (address - installing->low >= installing->high - installing->low)
		return false;
	size_t found = wishes_covered_own(wishes, address);

	if (found < wishes->count)
		installing->states[found] = IS_BUSY;
	return found < wishes->count;
}

/* Some thread is there, or may return to it. */
static void mark(struct installing *installing, uint64_t address)
{
	uint64_t program_pc;

	if (mark_covered(installing, address) ||
	    !trap_program_pc(installing->space, address, &program_pc))
		return;
	mark_covered(installing, program_pc);
	/* The beginning of a slot leads to what is behind the first byte, too. */
	mark_covered(installing, program_pc + 1);
}

static void mark_stack(struct installing *installing, uint64_t sp)
{
	static const size_t words = STACK_SEEN / sizeof(uint64_t);
	uint64_t *stack = xmalloc(STACK_SEEN);
	size_t length = memory_read_pages(&installing->space->memory, sp & ~UINT64_C(7), stack,
					  words * sizeof *stack);

	for (size_t i = 0; i < length / sizeof *stack; i++)
		mark(installing, stack[i]);
	free(stack);
}

static void look(struct thread *thread, void *context)
{
	struct installing *installing = context;
	struct regs regs;

	if (thread != installing->thread && trap_turn_back(thread))
		vec_push(&installing->turned, &thread);
	if (regs_load(thread->tid, &regs) != 0) {
		installing->nobody = true;
		return;
	}
	mark(installing, regs.pc);
	mark_stack(installing, regs.r[REG_SP]);
}

/* ------------------------------------------------------------------ one function */

static int prepare_records(struct installing *installing, struct agent_unit *unit)
{
	int error = lines_prepare(installing->agent, installing->thread, unit);

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
	unit->hook.redirect = agent_redirect;
	unit->full.redirect = lines_redirect_return;
	unit->agent = installing->agent;
	if (installing->agent->records && prepare_records(installing, unit) != 0)
		own->refused = "no memory for its records can be had";
	vec_push(&own->units, &unit);
	gates_unit_made(installing->space);
	return own->refused ? NULL : unit;
}

static struct agent_unit *find_unit(struct installing *installing, uint64_t address)
{
	struct agent_unit *unit = unit_near(installing, address);
	struct maps maps;

	if (unit)
		return unit;
	if (maps_read(installing->thread->tid, &maps) == 0)
		kept_maps_begin(installing->space, &maps);
	unit = make_unit(installing, address);
	kept_maps_end(installing->space);
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
	if (probe->wish.part)
		journal_set_when(space->journal, probe->journal, JOURNAL_STAYS);
	int error = space_write(space, probe->address, jump->bytes, jump->length);

	if (!error) {
		if (!wish_is_front(&probe->wish))
			vec_push(&installing->covered, &probe->address);
		map_put(&installing->own->probes, probe->address, probe);
		probe->unit->probes[probe->number] = probe;
		probe->is_counted = !probe->wish.was_granted && probe->site;
		installing->agent->probes += probe->is_counted;
		probe->wish.was_granted = true;
		return 0;
	}
	journal_forget(space->journal, probe->journal);
	trap_unplant(space, stub + AGENT_PROBE_BREAKPOINT);
	if (jump->length < AGENT_JUMP)
		detour_free(installing->own, probe->address);
	free(probe);
	return error;
}

/* Its stub, with a breakpoint that will take the place of the function's. */
static int prepare(struct installing *installing, const struct agent_wish *wish,
		   struct agent_unit *unit, const uint8_t stub[AGENT_PROBE_STUB])
{
	struct trap *trap = installing->agent->trap;
	uint32_t number = unit_next_number(unit);
	uint64_t place = unit_probe_stub(unit, number);
	int error = space_write(installing->space, place, stub, AGENT_PROBE_STUB);

	if (!error && unit->plans && wish->site)
		error = plans_write(unit->plans, installing->space, unit->base, number,
				    wish->site->plan);
	if (!error)
		error = trap_plant(trap, installing->thread, place + AGENT_PROBE_BREAKPOINT,
				   wish->site, wish->site ? &unit->hook : wish->hook);
	return error;
}

/* The jump to the function's stub, by a detour where not all of its bytes may be written. */
static int make_jump(struct installing *installing, const struct agent_function *function,
		     const struct agent_unit *unit, struct entry_jump *jump)
{
	const uint64_t stub = unit_probe_stub(unit, unit_next_number(unit));

	if (function->covered == AGENT_JUMP) {
		*jump = (struct entry_jump){.length = AGENT_JUMP, .span = AGENT_JUMP};
		installing->space->arch->emit_jump(function->address, stub, jump->bytes);
		return 0;
	}
	int error = detour_make(installing->own, installing->thread, function->address,
				(unsigned)function->covered, stub, jump);

	installing->detours++;
	installing->is_early |= error == -EBUSY;
	if (!error)
		kept_watch(installing->space);
	return error;
}

/* Catches it inside, by way of `stub`, which has been made up: 0 or -errno. */
static int catch_by(struct installing *installing, const struct agent_wish *wish,
		    struct agent_unit *unit, const uint8_t stub[AGENT_PROBE_STUB],
		    const struct agent_function *function)
{
	struct entry_jump jump;

	kept_make_way(installing->thread, wish->address, wish->address + function->covered);
	int error = make_jump(installing, function, unit, &jump);

	if (error)
		return error;
	error = prepare(installing, wish, unit, stub);
	if (error) {
		if (jump.length < AGENT_JUMP)
			detour_free(installing->own, wish->address);
		return error;
	}
	struct agent_probe *probe = xcalloc(1, sizeof *probe);

	*probe = (struct agent_probe){.address = wish->address,
				      .site = wish->site,
				      .wish = *wish,
				      .unit = unit,
				      .jump = jump};
	unit_give_number(unit, probe);
	return write_jump(installing, probe, function->bytes);
}

static enum agent_role role_of(const struct agent *agent, const struct agent_wish *wish)
{
	if (wish->part)
		return wish->part == UNWINDER_BEGINS ? AGENT_BEGINS_UNWINDING : AGENT_LANDS;
	return agent->records ? AGENT_RECORDS : AGENT_COUNTS;
}

static int write_stub(const struct installing *installing, const struct agent_wish *wish,
		      const struct agent_unit *unit, const struct agent_function *function,
		      uint8_t stub[AGENT_PROBE_STUB])
{
	const struct agent_arch *arch = installing->space->arch->agent;
	const struct agent *agent = installing->agent;
	struct decoder *decoder = trap_decoder(agent->trap);
	const uint32_t number = unit_next_number(unit);

	if (wish_is_gate(wish))
		return arch->write_gate_stub(decoder, function, unit->base, number, &wish->gate,
					     stub);
	if (wish->calls)
		return arch->write_call_stub(decoder, function, wish->slot, unit->base, number,
					     role_of(agent, wish), stub);
	return arch->write_probe_stub(decoder, function, unit->base, number, role_of(agent, wish),
				      stub);
}

/*
 * Makes up the stub, for a jump that covers as much of the function as can be moved, and may be
 * written over. An instruction that cannot be moved has to stay, as what is behind the function has
 * to.
 */
static int find_covered(const struct installing *installing, const struct agent_wish *wish,
			const struct agent_unit *unit, struct agent_function *function,
			uint8_t stub[AGENT_PROBE_STUB])
{
	int error = -ENOTSUP;

	for (size_t covered = wish->kept ? wish->kept : AGENT_JUMP; error == -ENOTSUP && covered;
	     covered--) {
		function->covered = covered;
		error = write_stub(installing, wish, unit, function, stub);
	}
	return error;
}

/* NULL, or why it stays with the trap engine. */
static const char *install_one(struct installing *installing, const struct agent_wish *wish)
{
	struct space *space = installing->space;
	uint64_t length = wish->length < FUNCTION_MAX ? wish->length : FUNCTION_MAX;
	uint8_t stub[AGENT_PROBE_STUB];

	const char *reason = wish_is_obstructed(space, wish);

	if (reason)
		return reason;
	struct agent_unit *unit = find_unit(installing, wish->address);

	if (!unit)
		return installing->own->refused;
	uint8_t *bytes = xmalloc(length + AGENT_BEHIND);
	size_t known = agent_read_code(space, wish->address, bytes, length + AGENT_BEHIND);
	struct agent_function function = {.address = wish->address,
					  .bytes = bytes,
					  .length = known < length ? known : length};

	function.behind = known - function.length;
	int error = find_covered(installing, wish, unit, &function, stub);

	if (!error)
		error = catch_by(installing, wish, unit, stub, &function);
	free(bytes);
	if (error == -ENOSPC && wish->kept)
		return wish->kept_because;
	if (error == -ENOTSUP || error == -ENOSPC)
		return "its first instructions cannot be moved";
	return error ? strerror(-error) : NULL;
}

/* False: that must be done another time. */
static bool decide(struct installing *installing, const struct agent_wish *wish)
{
	const struct agent *agent = installing->agent;
	const char *reason = wish->refusal;

	if (!reason)
		reason = installing->own->refused;
	if (!reason && agent->records && wish->site)
		reason = plans_refuse(wish->site->plan);
	if (!reason)
		reason = install_one(installing, wish);
	if (installing->is_early)
		return false;
	agent_decide(agent, wish->site, reason);
	return true;
}

static bool is_time_up(const struct installing *installing)
{
	return (installing->done >= AT_ONCE || installing->detours >= DETOURS_AT_ONCE) &&
	       inferior_clock() > installing->end;
}

static void decide_one(struct installing *installing, size_t number)
{
	const struct agent_wish wish = *(struct agent_wish *)vec_at(&installing->own->wishes,
								    number);

	if (installing->states[number] != WAITS || !decide(installing, &wish))
		return;
	installing->states[number] = IS_DONE;
	installing->done++;
}

static uint64_t wish_address(const struct installing *installing, size_t number)
{
	return ((struct agent_wish *)vec_at(&installing->own->wishes, number))->address;
}

/*
 * Decides on functions so close behind that bytes of them may become part of the jump, the last one
 * first. False: one of them has to wait.
 */
static bool decide_behind(struct installing *installing, size_t number)
{
	const size_t count = installing->own->wishes.count;
	size_t last = number;

	while (last + 1 < count &&
	       wish_address(installing, last + 1) - wish_address(installing, last) < AGENT_SPAN_MAX)
		last++;
	for (; last > number; last--) {
		if (installing->states[last] == WAITS && !is_time_up(installing))
			decide_one(installing, last);
		if (installing->states[last] != IS_DONE)
			return false;
	}
	return true;
}

static void install_some(struct installing *installing, bool called)
{
	const struct vec *wishes = &installing->own->wishes;

	for (size_t i = 0; i < wishes->count && !installing->is_early; i++) {
		const struct agent_wish *wish = vec_at(wishes, i);

		if (wish->was_called != called || installing->states[i] != WAITS)
			continue;
		if (is_time_up(installing))
			return;
		if (decide_behind(installing, i))
			decide_one(installing, i);
	}
}

/* Breakpoints are forgotten when the jumps over them have been written, and not before. */
static void install_gathered(struct installing *installing)
{
	struct space *space = installing->space;
	const bool gathers = gather_begin(space);

	install_some(installing, true);
	install_some(installing, false);
	if (gathers)
		gather_end(space);
	kept_maps_end(space); /* detours.c reads them */
	for (size_t i = 0; i < installing->covered.count; i++)
		trap_covered(space, *(uint64_t *)vec_at(&installing->covered, i));
	unwinding_update(space);
}

/* Takes out what has been decided. Whether some of those that are left have been called. */
static bool keep_others(struct installing *installing)
{
	struct vec *wishes = &installing->own->wishes;
	bool was_called = false;
	size_t kept = 0;

	for (size_t i = 0; i < wishes->count; i++) {
		const struct agent_wish wish = *(struct agent_wish *)vec_at(wishes, i);

		if (installing->states[i] == IS_DONE)
			continue;
		was_called |= wish.was_called && installing->states[i] == WAITS;
		*(struct agent_wish *)vec_at(wishes, kept++) = wish;
	}
	wishes->count = kept;
	return was_called;
}

/* All threads are stopped. Whether it has to go on soon. */
static bool install_all(struct installing *installing)
{
	struct vec *wishes = &installing->own->wishes;
	const struct agent_wish *first = vec_at(wishes, 0),
				*last = vec_at(wishes, wishes->count - 1);

	installing->states = xcalloc(wishes->count, sizeof *installing->states);
	installing->low = first->address;
	installing->high = last->address + AGENT_JUMP;
	space_each_thread(installing->thread->process->inferior, installing->space, look,
			  installing);
	/* Those as well to which threads have just been put back. */
	wishes_note_calls(wishes, installing->space);
	if (!installing->nobody)
		install_gathered(installing);
	bool is_soon = keep_others(installing);

	free(installing->states);
	return is_soon;
}

/* What the first of them will need is made while the others run. Whether that was to be made. */
static bool make_first_unit(struct installing *installing)
{
	const struct vec *wishes = &installing->own->wishes;
	const size_t before = installing->own->units.count;

	for (size_t i = 0; i < wishes->count; i++) {
		const struct agent_wish *wish = vec_at(wishes, i);

		if (!wish->refusal) {
			find_unit(installing, wish->address);
			break;
		}
	}
	return installing->own->units.count > before;
}

/* All threads are stopped, for the first time: the rings of two would be the same. */
static bool are_alike(struct installing *installing)
{
	struct agent_space *own = installing->own;
	const bool known = own->bases_known;

	own->bases_known = true;
	return !known && installing->agent->records && lines_share_bases(installing->thread);
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

	if (!agent_has_wishes(space))
		return false;

	const uint64_t begun = inferior_clock();
	bool is_soon = false;

	installing.nobody = agent_look_ahead(agent, space, thread->tid, AGENT_NO_LIMIT) != 0;
	/* To make a unit is enough for once, where a program waits. */
	const bool again = !installing.nobody && make_first_unit(&installing) &&
			   longest != AGENT_NO_LIMIT;

	if (!installing.nobody)
		installing.nobody = again || installing.is_early || !agent_stop_others(thread);
	installing.end = inferior_clock() + longest;
	if (!installing.nobody && are_alike(&installing))
		agent_refuse(agent, thread, AGENT_ALIKE);
	else if (!installing.nobody)
		is_soon = install_all(&installing);
	for (size_t i = 0; i < installing.turned.count; i++) {
		struct thread *turned = *(struct thread **)vec_at(&installing.turned, i);

		thread_resume(turned, turned->sigtrap_own ? SIGTRAP : 0);
	}
	/* Where a thread cannot be stopped it takes long: most of the time is the program's. */
	const uint64_t ended = inferior_clock();

	installing.own->due = ended;
	if (!installing.is_early && !again)
		installing.own->due += AGAIN_NS +
				       (is_soon ? SHARE_OF_CALLED : SHARE) * (ended - begun);
	vec_deinit(&installing.turned);
	vec_deinit(&installing.covered);
	return again;
}

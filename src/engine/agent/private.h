/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of engine/agent share. */
#ifndef TRACER_ENGINE_AGENT_PRIVATE_H
#define TRACER_ENGINE_AGENT_PRIVATE_H

#include "engine/agent/agent.h"
#include "engine/agent/agent_arch.h"
#include "engine/agent/unwinding_abi.h"
#include "inferior/journal.h"

struct agent {
	struct trap *trap;
	const struct engine_events *events;
	agent_decided *decided;
	agent_function_around *around;
	agent_points_into *points_into;
	bool records; /* of each call, instead of counts */
	bool lossy;   /* where a ring is full they are left out */
	const struct agent_arch *host;
	bool system_clock; /* is read in processes, instead of the processor's */
	struct agent_moment {
		uint64_t clock; /* agent_clock() */
		uint64_t time;	/* inferior_clock() */
		uint64_t epoch; /* inferior_wall_clock() */
	} begun;
	uint64_t given_up; /* lines.c: until when records were held back when waiting was in vain */
	uint64_t narrowest; /* how far the clock goes on at least while all three are read */
	size_t probes;
	uint64_t lost;	       /* records that made no sense, of spaces that are gone */
	uint64_t dropped;      /* calls that were left out, of the same */
	uint64_t generated;    /* see agent_generated() */
	struct vec spaces;     /* struct space * that have rings */
	unsigned char *buffer; /* RINGS_RECORD_MAX bytes */
};

/* Why no records are made inside where two threads have the same fs base. */
#define AGENT_ALIKE "threads of the program cannot be told apart"

/* A jump as it is written over a function's beginning, maybe with some bytes that stay. */
struct entry_jump {
	uint8_t bytes[ARCH_JUMP_MAX];
	uint8_t length; /* of these, so many are written */
	uint8_t span;	/* so many it has, with those that stay */
	/* bit k: it leads to the stub with a breakpoint in the place of its byte k, and without */
	uint8_t traps;
};

struct agent_probe {
	uint64_t address;
	const struct probe_site *site; /* NULL: it is a gate, of wish.hook */
	struct agent_wish wish;	       /* that it was made for */
	struct agent_unit *unit;
	uint32_t number; /* in the unit */
	struct entry_jump jump;
	size_t journal;	      /* of the jump */
	bool is_counted;      /* in agent->probes */
	bool lost;	      /* the program has written over that */
	uint64_t calls, time; /* that have been collected */
};

/* See agent_abi.h. */
struct agent_unit {
	/* of the breakpoints in its probes' stubs; first: the hook is a pointer to it */
	struct hook hook;
	struct agent *agent;
	uint64_t base;
	uint8_t *shared;      /* AGENT_SHARED_BYTES, ours */
	struct hook full;     /* of the breakpoint at AGENT_RECORD_FULL */
	struct plans *plans;  /* NULL: it counts */
	uint32_t probes_used; /* numbers ever given out */
	struct vec free;    /* uint32_t: of these, that nothing in the process refers to any more */
	uint32_t dropped;   /* how many may have become so since that was looked for */
	struct vec learned; /* uint64_t: return addresses that have been found good */
	unsigned evicted;   /* of these, in place of which others were put */
	struct agent_probe *probes[AGENT_PROBE_COUNT];
};

/* A mapping that is looked through for branches, of which some is held at a time: branches.c. */
struct agent_look {
	uint8_t *held; /* NULL: none is; owned */
	uint64_t start, length;
	uint64_t done;			/* of its bytes */
	uint64_t held_from, held_count; /* which of its bytes those are */
};

struct agent_space {
	struct vec wishes;	 /* struct agent_wish */
	struct vec units;	 /* struct agent_unit * */
	struct map probes;	 /* address of the function → struct agent_probe * */
	struct map asking;	 /* see agent_asks_caller(); the value is not NULL */
	const char *refused;	 /* why no unit can be made, or shall be; or NULL */
	struct rings *rings;	 /* NULL: there are none */
	struct agent *agent;	 /* with the rings */
	uint64_t clock_function; /* clock_prepare(); 0: not found so far */
	bool clock_is_forbidden; /* a thread was kept from reading it */
	bool bases_known;	 /* lines_share_bases() was asked */
	uint64_t due;		 /* when agent_install() may be called again */
	struct agent_look look;
	struct map detours;	 /* where one stands → struct detour * */
	struct map detour_pages; /* where one begins → struct detour_page * */
	struct unwinding {
		struct agent_unwinder unwinder; /* address 0: there is none, or it is not known */
		uint64_t cfa_offset;
		struct agent_unit *unit; /* whose code serves it; NULL: it stops */
		bool is_off;		 /* unwinding_turn_off() */
		pid_t threads[UNWINDING_THREADS];
	} unwinding;
};

struct agent_space *agent_space_of(struct space *space);

/*
 * What the memory files of units are called (memfd_create(2)); they are open in the process for a
 * moment only.
 */
#define AGENT_FILE "tracer-agent"

/* unit.c */

/*
 * Makes one that reaches `address`: 0 or -errno; -ENOTSUP: the clock is forbidden to the thread,
 * which is at a clean stop. After clock_prepare().
 */
int unit_create(const struct agent *agent, struct thread *thread, uint64_t address,
		struct agent_unit **made);
/* The code of units that read that clock, arch->code_length bytes; to be freed. */
uint8_t *unit_code(const struct agent_arch *arch, bool system_clock);
/*
 * Maps a memory file of ours, made in the process, there and here; `scratch` are 32 bytes of ours
 * in the process, zero. 0 or -errno.
 */
int unit_map_file(struct thread *thread, uint64_t scratch, uint64_t address, uint64_t length,
		  uint8_t **memory);
/* The tracer's side only. */
void unit_destroy(struct agent_unit *unit);
uint64_t unit_probe_stub(const struct agent_unit *unit, uint32_t number);
/*
 * Whether there is a number for another probe; and that, which is given out by it. One that was
 * used before is only when all are, as return slots may refer to it; its counts go on from where
 * they are.
 */
bool unit_has_number(struct agent_unit *unit, const struct space *space);
uint32_t unit_next_number(const struct agent_unit *unit);
void unit_give_number(struct agent_unit *unit, struct agent_probe *probe);
bool unit_is_return_stub(const struct agent_unit *unit, uint64_t address);
/*
 * A return address is among those that are good; and makes it one, maybe instead of another.
 * `is_stub`: the return stub of another unit is; those of its own it knows.
 */
bool unit_knows(const struct agent_unit *unit, uint64_t address, bool is_stub);
void unit_learn(struct agent_unit *unit, uint64_t address, bool is_stub);
/* None in [low, high) is, from now on. */
void unit_unlearn(struct agent_unit *unit, uint64_t low, uint64_t high);
/* What has been counted of each probe, by their numbers; to be freed. */
struct unit_count {
	uint64_t calls, time;
};
struct unit_count *unit_counts(const struct agent_unit *unit);
void unit_add_call(struct agent_unit *unit, uint32_t number);

static inline bool wish_is_gate(const struct agent_wish *wish)
{
	return !wish->site && !wish->part;
}

/* agent.c */

/* Tells what has become of a wish, if it was a probe's: see agent_decided. */
void agent_decide(const struct agent *agent, const struct probe_site *site, const char *reason);
/* Stops all other threads of the thread's space: whether they stand. */
bool agent_stop_others(const struct thread *thread);
/* The unit in whose code, stubs included, `pc` is, or NULL. */
struct agent_unit *agent_unit_at(const struct agent_space *own, uint64_t pc);

/* calls.c: calls by pointers, and what wishes for those and for functions have in common */

/* Whether nobody branches into what its jump covers. */
static inline bool wish_is_closed(const struct agent_wish *wish)
{
	return wish->is_plt_stub || (wish->slot && wish->breakpoint == wish->address);
}
/* Whether its jump covers what is in front of a call. */
static inline bool wish_is_front(const struct agent_wish *wish)
{
	return wish->breakpoint != wish->address;
}
/* Plants the breakpoint that the trap engine serves such calls by: 0 or -errno. */
int wish_plant(struct trap *trap, struct thread *thread, const struct agent_wish *wish);
/* NULL, or what stands where the jump for the wish would, or in what that would move. */
const char *wish_is_obstructed(const struct space *space, const struct agent_wish *wish);
/*
 * Where a probe's stub begins when the stack is as at a function's entry: it may be what puts the
 * return address there itself.
 */
uint64_t probe_entered(const struct agent_probe *probe);
/* A thread that has come to the breakpoint of a stub is where the call begins. */
void probe_turn_back(const struct agent_probe *probe, struct regs *regs);

/* unwinding.c */

/* What has been installed, or not any more, may be of an unwinder. No thread is in our code. */
void unwinding_update(struct space *space);
/* What was in [low, high) has been unmapped, and its probes are gone. */
void unwinding_forget(struct space *space, uint64_t low, uint64_t high);
/* While another process runs in the space. */
void unwinding_turn_off(struct space *space);
void unwinding_thread_gone(struct space *space, pid_t tid);

/* check.c */

/* As trap_read_code(), and without our jumps. */
size_t agent_read_code(const struct space *space, uint64_t address, void *bytes, size_t length);

/* detours.c */

/* A jump to a function's stub, to which the jump at the function's beginning leads. */
struct detour {
	uint64_t address;
	uint64_t function;
};
enum { DETOUR_PAGE = 4096, DETOUR_BYTES = 16 };

/*
 * Makes the jump from the function to `stub` of which only the first `covered` bytes, less than
 * AGENT_JUMP, are to be written, and the detours that it leads by. All threads are stopped. 0 or
 * -errno: -ENOSPC where nothing can be mapped where it could lead; -EBUSY: `thread` is not at a
 * clean stop.
 */
int detour_make(struct agent_space *own, struct thread *thread, uint64_t function, unsigned covered,
		uint64_t stub, struct entry_jump *jump);
/* Frees those of the function. Nobody is in there, nor will be. */
void detour_free(struct agent_space *own, uint64_t function);
void detours_deinit(struct agent_space *own);
/* The probe in whose detour `pc` is, which it is at the beginning of, or NULL. */
const struct agent_probe *detour_probe(const struct agent_space *own, uint64_t pc);
/* Whether the thread, which is stopped, was in one; it is where the function begins then. */
bool detour_leave(struct thread *thread, struct regs *regs);
/* Whether the code in the journal is that of a unit, and no detours. */
bool agent_is_unit(const struct journal_entry *entry);

/* kept.c */

/* Whether our jump stands at the beginning of the function there. */
bool agent_has_jump(const struct space *space, uint64_t address);
/*
 * Takes out jumps that need bytes in [low, high) to stay, which are about to change. `thread` is at
 * a clean stop.
 */
void kept_make_way(struct thread *thread, uint64_t low, uint64_t high);
/* Has the same done from now on for breakpoints that are planted. */
void kept_watch(struct space *space);
/* What a jump needs to stay is written now, as the jump is about to be written. */
void kept_settle(struct space *space, uint64_t address, const struct entry_jump *jump);

/* gates.c */

/* A unit has been made: tests of gates in all of them are to know its return stubs. */
void gates_unit_made(struct space *space);
/*
 * The probe whose gate's test the thread runs, at `pc`, and its stack pointer at the function's
 * beginning; NULL: it runs none.
 */
struct agent_probe *gates_place(const struct space *space, const struct regs *regs, uint64_t *sp);

/* guards.c */

/*
 * Whether the thread, which is stopped, is at the guard of a stub: it is where the function begins
 * then, with everything as it was there.
 */
bool guards_leave(struct thread *thread, struct regs *regs);
/*
 * The same of one that has faulted there: the function is the trap engine's from then on. So it is
 * of one that has faulted in what was displaced, which is in the function then; but false, as it
 * cannot but fault.
 */
bool guards_fault(struct thread *thread, struct regs *regs);
/*
 * Takes the jump to a probe's stub back for good, and plants a breakpoint in its place. `thread` is
 * at a clean stop. Other threads may be in the stub, which stays.
 */
void guards_give_up(struct thread *thread, struct agent_probe *probe, const char *reason);
bool agent_is_stub(const struct agent_space *own, uint64_t address);
/* hook.redirect of the breakpoints in stubs. */
bool agent_redirect(struct hook *hook, struct thread *thread, struct regs *regs);
/* clock.c */

/* The clock that is read in processes, now. */
uint64_t agent_clock(const struct agent *agent);
/*
 * All clocks at one moment: not those before and behind a time in which the tracer did not run.
 * clocks_begin() first.
 */
struct agent_moment agent_now(const struct agent *agent);
/* The same, and how many ns a unit of agent_clock() takes: after 2 ms it is known. */
struct agent_moment agent_now_measured(const struct agent *agent, double *ns);
void clocks_begin(struct agent *agent);
/* How much later that clock is `ns` ns later: as known so far, without waiting. */
uint64_t agent_clock_units(const struct agent *agent, uint64_t ns);
/* NULL: that clock can be read in the thread's space; or why not. Before units are made there. */
const char *clock_prepare(const struct agent *agent, const struct thread *thread);
/* A thread reads the system's clock for us, in the vDSO: where it goes on then; 0: it does not. */
uint64_t clock_reader(const struct space *space, const struct regs *regs);

/* How many ns a unit of the clock takes. */
double agent_ns(const struct agent *agent);

/* plans.c: the capture plans of a unit's probes, in the tracee */

struct plans;
struct plans *plans_create(void);
void plans_destroy(struct plans *plans);
/* NULL, or why records of such calls cannot be made in a process. */
const char *plans_refuse(const struct capture_plan *plan);
/*
 * Writes what a probe's calls are captured by: 0, -ENOSPC when there is no room for it, or -errno.
 */
int plans_write(struct plans *plans, struct space *space, uint64_t unit, uint32_t number,
		const struct capture_plan *plan);

/* lines.c */

/* hook.redirect of a unit's breakpoint at AGENT_RECORD_FULL. */
bool lines_redirect_return(struct hook *hook, struct thread *thread, struct regs *regs);
/*
 * Whether the thread, at a function's entry, would wait for memory that the plan reads, if it did
 * that itself. That is asked where it calls from there for the first time: mostly what is passed at
 * a place is of one kind.
 */
bool lines_would_wait(const struct space *space, const struct regs *regs,
		      const struct capture_plan *plan);
/*
 * Makes room in a thread's ring, which stands at a breakpoint of ours; true: it had none, and has
 * got one.
 */
bool lines_help(struct agent *agent, struct thread *thread, const struct regs *regs);
/* For thread.sent_again: not the same again when the thread has made a record meanwhile. */
uint64_t lines_mark(const struct thread *thread, uint64_t place);
/* Whether two threads of the process, of those that are stopped, have the same fs base. */
bool lines_share_bases(const struct thread *thread);
/* Makes what all units of the space need: 0 or -errno. */
int lines_prepare(struct agent *agent, struct thread *thread, const struct agent_unit *unit);
void lines_space_gone(struct space *space);
/*
 * Of a forked child, whose true return addresses are back: pending calls return by the trap engine.
 */
void lines_take_over(struct agent *agent, struct thread *thread);

/* wishes.c: struct agent_wish. All but the first need them sorted. */

void wishes_sort(struct vec *wishes);
/* The last one that begins before `address`; or count. */
size_t wishes_last_before(const struct vec *wishes, uint64_t address);
/* The one whose jump would cover `address`, but for its first byte; or count. */
size_t wishes_covered(const struct vec *wishes, uint64_t address);
/*
 * The same, as far as that is its own code: what stands behind a short one is padding, or it is
 * refused.
 */
size_t wishes_covered_own(const struct vec *wishes, uint64_t address);
/* Sets was_called of those whose breakpoints have been hit since the last time. */
void wishes_note_calls(struct vec *wishes, const struct space *space);

/* computed.c */

/*
 * Whether a jump of the function to an address that it computes may lead to where our jump would
 * stand in it, at `jump`, behind its first byte.
 */
bool computed_may_lead_into(const struct agent *agent, const struct space *space,
			    const struct agent_function *function, uint64_t jump);

/* returns.c */

/* Return slots as they stand in a tracee. */
struct return_slot {
	uint64_t place, return_address, time, probe;
};
/* False: it is free, or at rest. */
static inline bool return_slot_in_use(const struct return_slot *slot)
{
	return slot->place && slot->place % 8 == 0;
}
struct return_slots {
	uint64_t unit; /* its base */
	struct return_slot slots[AGENT_SLOT_COUNT];
};

/* Of an address among the return stubs of the unit at `base`; else AGENT_SLOT_COUNT or more. */
static inline uint64_t return_slot_number(uint64_t base, uint64_t stub)
{
	return (stub - base - AGENT_RETURN_STUBS) / AGENT_RETURN_STUB;
}
/*
 * Whether a call whose return address is at `place` would find a slot now, as agent_entry.S looks
 * for one; true where that cannot be told. `tail_call`: that address is a stub.
 */
bool return_slot_is_there(const struct space *space, const struct agent_unit *unit, uint64_t place,
			  bool tail_call);
/* Those of the unit at `base`, or NULL when they cannot be read; to be freed. */
struct return_slots *return_slots_read(const struct space *space, uint64_t base);
/*
 * What is on a stopped thread's stack from `low` on, `most` bytes of it; how many there are.
 * *whole: that is all of the stack.
 */
enum { STACK_NEAR = 65536 };
size_t returns_read_stack(struct thread *thread, uint64_t low, uint64_t *words, size_t most,
			  bool *whole);
/*
 * The thread stands where there was no room for its return's record: that will be seen by the trap
 * engine.
 */
void returns_give_up(const struct agent_unit *unit, struct thread *thread, const struct regs *regs);
/*
 * The true return address of a call of which records are made is there again, and its return will
 * be seen by the trap engine, if it is pending. Before the memory of its unit is unmapped.
 */
void returns_untold(struct agent *agent, struct thread *thread, uint64_t place, uint64_t stub,
		    uint64_t return_address);
/* The slot whose stub `word` is, if it is at `place`; else NULL. */
const struct return_slot *return_slot_of(const struct return_slots *slots, uint64_t word,
					 uint64_t place);

#endif

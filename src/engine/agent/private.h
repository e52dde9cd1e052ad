/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of engine/agent share. */
#ifndef TRACER_ENGINE_AGENT_PRIVATE_H
#define TRACER_ENGINE_AGENT_PRIVATE_H

#include "engine/agent/agent.h"
#include "engine/agent/agent_arch.h"

struct agent {
	struct trap *trap;
	const struct engine_events *events;
	agent_decided *decided;
	const struct agent_arch *host; /* whose clock it is */
	uint64_t clock, time;	       /* that clock and inferior_clock() at one moment */
	size_t probes;
};

struct agent_probe {
	uint64_t address;
	const struct probe_site *site;
	struct agent_unit *unit;
	uint32_t number;      /* in the unit */
	size_t journal;	      /* of the jump */
	uint64_t calls, time; /* that have been collected */
};

/* See agent_abi.h. */
struct agent_unit {
	struct hook
		hook; /* of the breakpoints in its probes' stubs; first: the hook is a pointer to it */
	struct agent *agent;
	uint64_t base;
	uint8_t *shared;      /* AGENT_SHARED_BYTES, ours */
	uint32_t probes_used; /* numbers ever given out; none is used twice */
	struct agent_probe *probes[AGENT_PROBE_COUNT];
};

struct agent_space {
	struct vec wishes;   /* struct agent_wish */
	struct vec units;    /* struct agent_unit * */
	struct map probes;   /* address of the function → struct agent_probe * */
	struct map asking;   /* see agent_asks_caller(); the value is not NULL */
	const char *refused; /* why no unit can be made, or shall be; or NULL */
	uint64_t tried;	     /* when agent_install() was called last */
};

struct agent_space *agent_space_of(struct space *space);

/* What the memory files of units are called (memfd_create(2)); they are open in the process for a moment only. */
#define AGENT_FILE "tracer-agent"

/* unit.c */

/* Makes one that reaches `address`: 0 or -errno. `thread` is at a clean stop. */
int unit_create(struct thread *thread, uint64_t address, struct agent_unit **made);
/* The tracer's side only. */
void unit_destroy(struct agent_unit *unit);
uint64_t unit_probe_stub(const struct agent_unit *unit, uint32_t number);
bool unit_is_return_stub(const struct agent_unit *unit, uint64_t address);
/* A return address is among those that are good; and makes it one: false when there is no room. */
bool unit_knows(const struct agent_unit *unit, uint64_t address);
bool unit_learn(struct agent_unit *unit, uint64_t address);
/* None in [low, high) is, from now on. */
void unit_unlearn(struct agent_unit *unit, uint64_t low, uint64_t high);
/* What has been counted of each probe, by their numbers; to be freed. */
struct unit_count {
	uint64_t calls, time;
};
struct unit_count *unit_counts(const struct agent_unit *unit);
void unit_add_call(struct agent_unit *unit, uint32_t number);

/* agent.c */

/* Stops all other threads of the thread's space: whether they stand. */
bool agent_stop_others(const struct thread *thread);
bool agent_is_stub(const struct agent_space *own, uint64_t address);
/* hook.redirect of the breakpoints in stubs. */
bool agent_redirect(struct hook *hook, struct thread *thread, struct regs *regs);
/* How many ns a unit of the clock takes. */
double agent_ns(const struct agent *agent);

/* returns.c */

/* Return slots as they stand in a tracee. */
struct return_slot {
	uint64_t place, return_address, time, probe;
};
struct return_slots {
	uint64_t unit; /* its base */
	struct return_slot slots[AGENT_SLOT_COUNT];
};

/* Those of the unit at `base`, or NULL when they cannot be read; to be freed. */
struct return_slots *return_slots_read(const struct space *space, uint64_t base);
/* The slot whose stub `word` is, if it is at `place`; else NULL. */
const struct return_slot *return_slot_of(const struct return_slots *slots, uint64_t word,
					 uint64_t place);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of engine/agent share. */
#ifndef TRACER_ENGINE_AGENT_AGENT_STATE_H
#define TRACER_ENGINE_AGENT_AGENT_STATE_H

#include "engine/agent/agent.h"
#include "engine/agent/agent_arch.h"
#include "engine/agent/unwinding_abi.h"
#include "tracee/journal.h"

struct agent {
	struct trap *trap;
	struct call_tracker *tracker;
	const struct engine_events *events; /* the tracker's */
	agent_decided *decided;
	agent_function_around *around;
	agent_points_into *points_into;
	bool records; /* make a record of each call, instead of counting it */
	bool buckets; /* when counting, keep how long each call took, in buckets */
	bool lines;   /* records have the line of the script, or a stack: script_lines.c */
	bool stacks;  /* records have a whole stack: stack_rules.c */
	unsigned native_frames; /* see agent_options */
	bool lossy;		/* drop a call's record if the ring is full */
	const struct agent_arch *host;
	bool system_clock; /* tracees read the system's clock instead of the processor's */
	struct clock_sample {
		uint64_t clock; /* agent_clock() */
		uint64_t time;	/* clock_now() */
		uint64_t epoch; /* clock_wall() */
	} begun;
	uint64_t given_up; /* the time order up to which ring_drain.c waited in vain */
	/* the least that agent_clock() advances while all three clocks are read */
	uint64_t narrowest;
	size_t probes;
	uint64_t lost;	    /* invalid records, of spaces that are gone */
	uint64_t dropped;   /* calls without a record for lack of room, of spaces that are gone */
	uint64_t generated; /* see agent_generated() */
	struct vec spaces;  /* struct space *: those with rings */
	unsigned char *buffer; /* RINGS_RECORD_MAX bytes */
};

/* The reason not to make records in a process where two threads have the same fs base. */
#define AGENT_ALIKE "threads of the program cannot be told apart"

/* A jump over a function's beginning; its last bytes may belong to what follows (a punned jump). */
struct entry_jump {
	uint8_t bytes[ARCH_JUMP_MAX];
	uint8_t length; /* how many of `bytes` are written */
	uint8_t span;	/* length of the jump, including the bytes that stay */
	/* bit k: the jump leads to the stub both with and without a breakpoint in its byte k */
	uint8_t traps;
};

struct agent_probe {
	uint64_t address;
	/* NULL: a gate, of candidate.hook, or a function of an unwinder */
	const struct probe_site *site;
	struct patch_candidate candidate; /* the candidate that it was made for */
	struct agent_unit *unit;
	uint32_t number; /* index in the unit */
	struct entry_jump jump;
	size_t journal;	      /* entry of the jump */
	bool is_counted;      /* counted in agent->probes */
	bool lost;	      /* the program has written over the jump */
	uint64_t calls, time; /* as of the last agent_collect() */
};

/* A memory file with the buckets of some probes of a unit. */
struct bucket_file {
	uint64_t address, length;
	uint8_t *memory; /* mapped in the tracer */
};

/* A unit, and its probes. For its layout see agent_abi.h. */
struct agent_unit {
	struct hook hook; /* hook of the breakpoints in probe stubs */
	struct agent *agent;
	uint64_t base;
	uint8_t *shared;	    /* AGENT_SHARED_BYTES, mapped in the tracer */
	struct hook full;	    /* hook of the breakpoint at AGENT_RECORD_FULL */
	struct plans *plans;	    /* NULL: the unit counts */
	struct script_lines *lines; /* NULL: lines of scripts and stacks are not shown */
	struct stack_rules *rules;  /* NULL: whole stacks are not shown */
	uint32_t probes_used;	    /* how many different numbers were given out */
	struct vec free;	    /* uint32_t: numbers that no return trampoline refers to */
	uint32_t dropped;   /* numbers whose probes are gone, since the last search for free ones */
	struct vec learned; /* uint64_t: return addresses that the unit accepts */
	unsigned evicted;   /* how many of those replaced another one */
	struct vec buckets; /* struct bucket_file, by the probes' numbers */
	struct agent_probe *probes[AGENT_PROBE_COUNT];
};

/* The search for branches in one mapping, part of which is held at a time: branches.c. */
struct branch_scan {
	uint8_t *held; /* NULL: no search in progress; owned */
	uint64_t start, length;
	uint64_t done;			/* bytes of the mapping that were searched */
	uint64_t held_from, held_count; /* the part of the mapping that is in `held` */
};

/* thread->agent: allocated by tracee, with the thread. */
struct agent_thread {
	/* End of a stack that the thread has run on, by maps(5); 0: not known. */
	uint64_t stack_end;
	/* The fs base of the creating thread at clone time; 0: not known. */
	uint64_t maker_base;
	/* Identifies a call that was retried once; see ring_drain_mark(). */
	uint64_t sent_again;
};

struct agent_space {
	struct vec candidates;	 /* struct patch_candidate */
	struct vec units;	 /* struct agent_unit * */
	struct map probes;	 /* address of the function → struct agent_probe * */
	struct map asking;	 /* see agent_asks_caller(); the value is not NULL */
	const char *refused;	 /* why units cannot, or must not be made; or NULL */
	struct rings *rings;	 /* NULL: there are none */
	struct agent *agent;	 /* set with `rings` */
	uint64_t stack_epoch;	 /* see stack_rules_epoch() */
	uint64_t clock_function; /* clock_prepare(); 0: not found so far */
	bool clock_is_forbidden; /* a thread was kept from reading the clock */
	bool bases_known;	 /* ring_drain_share_bases() was called */
	uint64_t due;		 /* when agent_install() may be called again */
	struct branch_scan look;
	struct map islands;	 /* address of the island → struct island * */
	struct map island_pages; /* address of the page → struct island_page * */
	struct unwinding {
		struct agent_unwinder unwinder; /* get_cfa 0: no unwinder is known */
		uint64_t cfa_offset;
		/* the unit that serves the unwinder; NULL: the unwinder stops */
		struct agent_unit *unit;
		bool is_off; /* unwinding_turn_off() */
		pid_t threads[UNWINDING_THREADS];
	} unwinding;
};

/* Returns what is kept of the space, and makes it if nothing is. */
struct agent_space *agent_space_of(struct space *space);

/*
 * The name of units' memory files (memfd_create(2)), which are open in the process only while they
 * are mapped.
 */
#define AGENT_FILE "tracer-agent"

static inline bool candidate_is_gate(const struct patch_candidate *candidate)
{
	return !candidate->site && !candidate->part;
}

/* Reports what became of a patch candidate: calls agent->decided unless `site` is NULL. */
void agent_decide(const struct agent *agent, const struct probe_site *site, const char *reason);
/* Stops all other threads of the thread's space. Returns true if all have stopped. */
bool agent_stop_others(const struct thread *thread);

/* Returns true if no code can branch into the bytes that the candidate's jump covers. */
static inline bool candidate_is_closed(const struct patch_candidate *candidate)
{
	return candidate->is_plt_stub ||
	       (candidate->got_slot && candidate->breakpoint == candidate->address);
}
/* Returns true if the candidate's jump covers the instructions in front of a call. */
static inline bool candidate_is_front(const struct patch_candidate *candidate)
{
	return candidate->breakpoint != candidate->address;
}

/* What the stub of the candidate leads to. */
static inline enum agent_role candidate_role(const struct agent *agent,
					     const struct patch_candidate *candidate)
{
	if (candidate->part)
		return candidate->part == UNWINDER_BEGINS ? AGENT_BEGINS_UNWINDING : AGENT_LANDS;
	return agent->records ? AGENT_RECORDS : AGENT_COUNTS;
}

/* A jump to a probe stub, which a function's punned jump leads to. */
struct island {
	uint64_t address;
	uint64_t function;
};
enum { ISLAND_PAGE = 4096, ISLAND_BYTES = 16 };

/* Returns true if `address` is a return trampoline of any unit. */
bool agent_is_stub(const struct agent_space *own, uint64_t address);
/* The unit whose code or stubs contain `pc`, or NULL. */
struct agent_unit *agent_unit_at(const struct agent_space *own, uint64_t pc);

#endif

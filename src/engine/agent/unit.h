/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes units (agent_abi.h) by remote calls of one stopped thread: see unit.c. */
#ifndef TRACER_ENGINE_AGENT_UNIT_H
#define TRACER_ENGINE_AGENT_UNIT_H

#include "engine/agent/agent.h"
#include "engine/agent/agent_state.h"

/*
 * Closes the memory file that a killed tracer may have left open in the process. All threads of the
 * space are stopped.
 */
void agent_close_files(struct tracees *tracees, struct space *space);
/* Returns true if the journal entry is the code of a unit, and not a page of islands. */
bool agent_is_unit(const struct journal_entry *entry);
/*
 * Makes a unit within reach of `address`. `thread` is at a safe stop, and clock_prepare() has been
 * called. Returns 0 or -errno; -ENOTSUP: the thread may not read the clock.
 */
int unit_create(const struct agent *agent, struct thread *thread, uint64_t address,
		struct agent_unit **made);
/*
 * The code of a unit that reads the given clock: arch->code_length bytes, which the caller frees.
 */
uint8_t *unit_code(const struct agent_arch *arch, bool system_clock);
/*
 * Makes a memory file in the process, and maps it there at `address`, and in the tracer. `scratch`:
 * 32 zero bytes of the tracer's memory in the process. Returns 0 or -errno.
 */
int unit_map_file(struct thread *thread, uint64_t scratch, uint64_t address, uint64_t length,
		  uint8_t **memory);
/* Frees the tracer's side of a unit, not the mappings in the tracee. */
void unit_destroy(struct agent_unit *unit);
uint64_t unit_probe_stub(const struct agent_unit *unit, uint32_t number);
/*
 * unit_has_number(): returns true if the unit has a number for another probe. unit_next_number():
 * that number. unit_give_number(): assigns it to a probe. Used numbers are given out again only
 * when all are used, since return trampolines may refer to them; the counts of such a number
 * continue.
 */
bool unit_has_number(struct agent_unit *unit, const struct space *space);
uint32_t unit_next_number(const struct agent_unit *unit);
void unit_give_number(struct agent_unit *unit, struct agent_probe *probe);
bool unit_is_return_stub(const struct agent_unit *unit, uint64_t address);
/*
 * unit_knows(): returns true if the unit accepts the return address. unit_learn(): makes it accept
 * the address, maybe instead of another. `is_stub`: the address is a return trampoline of another
 * unit; the unit always accepts its own.
 */
bool unit_knows(const struct agent_unit *unit, uint64_t address, bool is_stub);
void unit_learn(struct agent_unit *unit, uint64_t address, bool is_stub);
/* Makes the unit accept no return address in [low, high). */
void unit_unlearn(struct agent_unit *unit, uint64_t low, uint64_t high);
/* The counts of each probe so far, indexed by its number. The caller frees them. */
struct unit_count {
	uint64_t calls, time;
};
struct unit_count *unit_counts(const struct agent_unit *unit);
/* A word of the counter of a probe, AGENT_COUNTER_*, in the memory that the process has, too. */
uint64_t *unit_counter(const struct agent_unit *unit, uint32_t number, unsigned which);
void unit_add_call(struct agent_unit *unit, uint32_t number);

#endif

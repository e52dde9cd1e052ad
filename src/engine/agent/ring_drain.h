/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Passes the records that processes have made of their calls to the trace: see ring_drain.c. */
#ifndef TRACER_ENGINE_AGENT_RING_DRAIN_H
#define TRACER_ENGINE_AGENT_RING_DRAIN_H

#include "engine/agent/agent.h"
#include "engine/agent/agent_state.h"

/*
 * Returns true if threads of the space found no free ring, and more rings can be made. The calls of
 * such threads stop until agent_add_rings() is called for a thread at a safe stop. To be called
 * after agent_drain_rings(), and periodically.
 */
bool agent_lacks_rings(const struct space *space);
/* Returns true if agent_lacks_rings() for any space. */
bool agent_lacks_any_rings(const struct agent *agent);
void agent_add_rings(struct thread *thread);
/*
 * Passes on the records in all rings, of all threads, in the order of their times. Returns how full
 * the fullest ring was, from 0 to AGENT_FULL. To be called before a stop is handled, and every few
 * ms; more often if rings would run full, as their threads stop then. `in_order`: keep records for
 * the next call if a thread is in the middle of a record that may have to precede them; false if a
 * stop is to be handled.
 */
unsigned agent_drain_rings(struct agent *agent, struct tracees *tracees, bool in_order);
/* Returns true if there are rings to drain. */
bool agent_has_rings(const struct agent *agent);
/* How many records were lost because the ring's content was invalid. */
uint64_t agent_lost(const struct agent *agent);
/* How many calls have no record because a ring was full (lossy). */
uint64_t agent_dropped(const struct agent *agent);
/* `maker`, stopped in clone(2), has made the thread `made`. */
void agent_thread_made(const struct agent *agent, const struct thread *maker, struct thread *made);
/* The thread has ended, or runs no code of the program any more. */
void agent_thread_gone(struct agent *agent, struct thread *thread);
/*
 * A CLONE_VM child is about to run in the space: from now on the trap engine handles the space's
 * calls.
 */
void agent_shared(struct space *space);
/*
 * Makes the processes stop writing records: the tracer that read them was killed. Works by the
 * journal.
 */
void agent_turn_off(struct space *space);
/*
 * Returns true if a thread at a function's entry would wait, if it read the memory that the plan
 * asks for. Called for the first call from each place, as calls from one place mostly pass pointers
 * of one kind.
 */
bool ring_drain_would_wait(const struct space *space, const struct regs *regs,
			   const struct capture_plan *plan);
/*
 * Makes room in the ring of a thread that is at a breakpoint of the agent. Returns true if the
 * thread had no ring, and has one now.
 */
bool ring_drain_help(struct agent *agent, struct thread *thread, const struct regs *regs);
/* A value for agent_thread.sent_again, which changes when the thread makes a record. */
uint64_t ring_drain_mark(const struct thread *thread, uint64_t place);
/* Returns true if a thread that has just begun has the fs base of its maker, or of a ring. */
bool ring_drain_has_known_base(const struct thread *thread);
/* Returns true if two stopped threads of the process have the same fs base. */
bool ring_drain_share_bases(const struct thread *thread);
/* Makes the rings that all units of the space need, and tells the unit. Returns 0 or -errno. */
int ring_drain_prepare(struct agent *agent, struct thread *thread, struct agent_unit *unit);
void ring_drain_space_gone(struct space *space);

#endif

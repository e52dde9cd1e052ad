/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults in the first instructions of a function that the agent catches: an access to unreadable
 * memory: see guards.c.
 */
#ifndef TRACER_ENGINE_AGENT_GUARDS_H
#define TRACER_ENGINE_AGENT_GUARDS_H

#include "engine/agent/agent.h"
#include "engine/agent/agent_state.h"

/*
 * Takes a stopped thread out of a probe stub if its call has not begun: its pc is then the
 * beginning of the function. Returns true if it was moved.
 */
bool agent_leave(struct thread *thread);
/*
 * If the stopped thread is at the guard of a stub, or in a gate: moves it to the function's
 * beginning, with all registers as they were there, and returns true.
 */
bool guards_leave(struct thread *thread, struct regs *regs);
/*
 * Like guards_leave(), after a fault; and gives the function back to the trap engine. For a fault
 * in a displaced instruction, moves the thread to that instruction in the function, but returns
 * false: the instruction will fault there again, and the program gets that signal.
 */
bool guards_fault(struct thread *thread, struct regs *regs);

#endif

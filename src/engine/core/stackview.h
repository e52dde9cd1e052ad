/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the matching of calls (callstack.h) needs to know of a thread's registers and memory. */
#ifndef TRACER_ENGINE_CORE_STACKVIEW_H
#define TRACER_ENGINE_CORE_STACKVIEW_H

#include "engine/core/callstack.h"
#include "tracee/tracee.h"

/* A stack_view whose context is a struct thread. */
extern const struct stack_view stackview_thread;

/* Returns the arrival of a thread with these registers at `pc`. */
struct arrival stackview_arrival(const struct abi *abi, const struct regs *regs, uint64_t pc);

/*
 * Returns integer argument `index` of the function that begins here, from a register or the stack.
 */
uint64_t stackview_argument(const struct space *space, const struct regs *regs, unsigned index);

/*
 * Finds the target of longjmp(), which the thread is about to run with these registers. `mangled`:
 * the jmp_buf is glibc's, see base/arch.h. Returns false if it cannot be read.
 */
bool stackview_find_jump(const struct space *space, const struct regs *regs, bool mangled,
			 struct stack_jump *jump);

/*
 * Must be called before a signal is delivered to the thread: makes sure that the thread's signal
 * stack is known while the handler runs.
 */
void stackview_before_signal(struct thread *thread);

#endif

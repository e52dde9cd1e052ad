/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the pending calls of a thread (callstack.h) have to know of its registers and memory. */
#ifndef TRACER_ENGINE_TRAP_STACKVIEW_H
#define TRACER_ENGINE_TRAP_STACKVIEW_H

#include "engine/trap/callstack.h"
#include "inferior/inferior.h"

/* Its context is a struct thread. */
extern const struct stack_view stackview_thread;

/* Where a thread is that came to `pc`. */
struct arrival stackview_arrival(const struct abi *abi, const struct regs *regs, uint64_t pc);

/*
 * Integer argument `index` of the function that begins here; those in registers, or on the stack.
 */
uint64_t stackview_argument(const struct space *space, const struct regs *regs, unsigned index);

/*
 * Where longjmp(), which the thread is about to run with these registers, goes; `mangled`: it is
 * glibc's, see base/arch.h. False when that cannot be read.
 */
bool stackview_find_jump(const struct space *space, const struct regs *regs, bool mangled,
			 struct stack_jump *jump);

/*
 * To be called before a signal is delivered to the thread: makes sure that its signal stack is
 * known while the handler runs.
 */
void stackview_before_signal(struct thread *thread);

#endif

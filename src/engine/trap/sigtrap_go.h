/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Like sigtrap_will_call() and sigtrap_called(), for Go's runtime.rt_sigaction. */
#ifndef TRACER_ENGINE_TRAP_SIGTRAP_GO_H
#define TRACER_ENGINE_TRAP_SIGTRAP_GO_H

#include "tracee/tracee.h"

bool sigtrap_go_will_call(struct thread *thread, const struct regs *regs);
void sigtrap_go_called(struct thread *thread, uint64_t result);
/*
 * Makes the handlers of the process block SIGTRAP again where the program wanted that. `thread` is
 * at a safe stop.
 */
void sigtrap_go_end(struct thread *thread);

#endif

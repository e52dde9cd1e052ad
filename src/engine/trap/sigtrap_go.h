/* SPDX-License-Identifier: GPL-2.0-or-later */
/* As sigtrap_will_call() and sigtrap_called(), of Go's runtime.rt_sigaction. */
#ifndef TRACER_ENGINE_TRAP_SIGTRAP_GO_H
#define TRACER_ENGINE_TRAP_SIGTRAP_GO_H

#include "inferior/inferior.h"

bool sigtrap_go_will_call(struct thread *thread, const struct regs *regs);
void sigtrap_go_called(struct thread *thread, uint64_t result);
/* With `thread` at a clean stop: its process's handlers block SIGTRAP again where they shall. */
void sigtrap_go_end(struct thread *thread);

#endif

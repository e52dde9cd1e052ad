/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A gate decides in the tracee whether a thread that enters a function has to stop for a hook
 * there. Most calls of such functions (sigaction, longjmp) are of no interest to the tracer.
 */
#ifndef TRACER_ENGINE_AGENT_GATE_H
#define TRACER_ENGINE_AGENT_GATE_H

#include <stdint.h>

enum gate_kind {
	GATE_ARGUMENT, /* stop if the low 32 bits of the first argument are `value` */
	GATE_JUMP,     /* glibc's longjmp(): stop if the jump may leave a pending call */
};

struct gate {
	enum gate_kind kind;
	uint8_t value; /* at most 127 */
};

#endif

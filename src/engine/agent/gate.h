/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A gate: the process itself decides whether a thread that enters a function has to stop for a hook
 * there. Most calls of such a function (sigaction, longjmp) mean nothing to the tracer.
 */
#ifndef TRACER_ENGINE_AGENT_GATE_H
#define TRACER_ENGINE_AGENT_GATE_H

#include <stdint.h>

enum gate_kind {
	GATE_ARGUMENT, /* a thread stops if the low 32 bits of the first argument are `value` */
	GATE_JUMP,     /* at glibc's longjmp(): it stops if a pending call may be left by that */
};

struct gate {
	enum gate_kind kind;
	uint8_t value; /* at most 127 */
};

#endif

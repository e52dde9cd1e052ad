/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The effect of one instruction on the places of slot_flow.c: see slot_places.c. */
#ifndef TRACER_CODE_SLOT_PLACES_H
#define TRACER_CODE_SLOT_PLACES_H

#include "code/slot_flow_private.h"

/* Returns true if the value may be in this member of any object. */
bool slot_flow_is_member(const struct slot_flow *flow, int64_t member);
/* Returns the places that the memory operand may be. */
uint64_t slot_flow_read_by(const struct slot_flow *flow, const struct flow_insn *insn);
/* Returns the places that hold the value after an instruction, from those that hold it before. */
uint64_t slot_flow_behind(struct slot_flow *flow, const struct flow_insn *insn);
/*
 * Returns the places that get the value from a call that it is passed to. The callee may return it
 * or, if it is a function of the same object, store it on the stack by way of another argument.
 */
uint64_t slot_flow_given_back(const struct slot_flow *flow, const struct flow_insn *insn);

#endif

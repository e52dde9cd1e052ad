/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One step of a walk by call-frame information: from a frame's registers to its caller's. See
 * unwind_step.c.
 */
#ifndef TRACER_UNWIND_UNWIND_STEP_H
#define TRACER_UNWIND_UNWIND_STEP_H

#include "unwind/eh_rows.h"
#include "unwind/unwind_rule.h"
#include "unwind/unwind_table.h"
#include "unwind/unwind_view.h"

/* The registers of a frame, by their DWARF numbers. The pc has the number dwarf_return. */
struct unwind_registers {
	uint64_t values[EH_REGISTERS];
	uint32_t known; /* set of the numbers whose values are known */
};

/* What a step tells besides the caller's registers. */
struct unwind_found {
	uint64_t cfa;
	uint64_t place; /* where on the stack the return address was; 0: in no memory */
	bool is_signal_frame;
	bool may_descend; /* the caller may be on another stack */
};

void unwind_registers_load(struct unwind_registers *to, const struct arch *arch,
			   const struct regs *from);
/* Returns true if the numbers in the set `wanted` are known. */
static inline bool unwind_registers_have(const struct unwind_registers *registers, uint32_t wanted)
{
	return (registers->known & wanted) == wanted;
}

/*
 * Both steps make the caller's registers of a frame's. The pc is as it was read: it may be an
 * address of the tracer's code. If they fail, the registers are unchanged: -ENOENT if nothing
 * describes the code; -ENODATA if a register is needed whose value is not known; -EFAULT if memory
 * is unreadable; -ECHILD if the frame is the outermost one; -EINVAL if the description is damaged.
 */

/* By a rule. Of the caller's registers, only sp, bp and pc are known afterwards. */
int unwind_step_by_rule(struct unwind_view *view, const struct unwind_rule *rule,
			struct unwind_registers *registers, struct unwind_found *found);
/* By the row for the code at `address` of the file; keeps all registers that the row tells. */
int unwind_step_by_row(struct unwind_view *view, struct unwind_table *table, uint64_t address,
		       struct unwind_registers *registers, struct unwind_found *found);

#endif

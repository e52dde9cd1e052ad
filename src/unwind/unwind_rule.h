/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes unwind rules (rule_step.h) of the rows of call-frame information: see unwind_rule.c. */
#ifndef TRACER_UNWIND_UNWIND_RULE_H
#define TRACER_UNWIND_UNWIND_RULE_H

#include "unwind/eh_rows.h"
#include "unwind/rule_step.h"

/* Makes the rule of a row. `reader` reads the row's file, for its expressions. */
struct unwind_rule unwind_rule_of(const struct eh_unwind_row *row,
				  const struct eh_function *function, struct eh_reader *reader);

#endif

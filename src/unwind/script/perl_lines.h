/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of Perl: see perl_lines.c. */
#ifndef TRACER_UNWIND_SCRIPT_PERL_LINES_H
#define TRACER_UNWIND_SCRIPT_PERL_LINES_H

#include "base/memory.h"

/*
 * perl_line(COP, OP, LINE, NEXTSTATE, SCOPE): the line at which perl's own warn() and caller() see
 * an op. COP: the statement that was begun last. OP: the op that runs; or, if bit 0 is set, the op
 * that a call returns to. LINE: where a cop has its line. NEXTSTATE, SCOPE: numbers of these ops in
 * this version of perl. Returns 0 if the cop is unreadable.
 */
unsigned perl_line(const struct memory_source *memory, const uint64_t *arguments);

#endif

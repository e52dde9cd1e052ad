/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the number of the stack of a call, in the process: see agent_stack.c. */
#ifndef TRACER_SYSDEPS_X86_64_AGENT_STACK_H
#define TRACER_SYSDEPS_X86_64_AGENT_STACK_H

#include "x86_64/agent_line.h"

void agent_find_stack(struct line_search *search);
/* Adds to a key what the stack of the call depends on. */
void agent_add_stack_key(const struct line_search *search, struct memo_key *key);

#endif

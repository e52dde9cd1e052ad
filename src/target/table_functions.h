/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions without a symbol that are found through tables of pointers with a symbol (`@
 * *SYMBOL[INDEX]` in a .conf file): from a match to the breakpoint.
 */
#ifndef TRACER_TARGET_TABLE_FUNCTIONS_H
#define TRACER_TARGET_TABLE_FUNCTIONS_H

#include "probe/match.h"

#include <stdbool.h>
#include <stdint.h>

struct modules;
struct target;
struct space;
struct thread;

/* Notes a MATCH_SLOT or MATCH_GETTER. `address`: that of the word in the process. */
void table_functions_add(struct modules *modules, uint64_t address, const struct match *match);
/* Plants the functions whose addresses are known by now, and watches the words of the others. */
void table_functions_plant(struct target *target, struct thread *thread);
/* Forgets tables of an unloaded module, which was between these addresses. */
void table_functions_forget(struct space *space, uint64_t low, uint64_t high);

/*
 * The functions of WORK_WORDS (deferred_work.h); `context` is the target. are_due: there are words
 * that are not filled in yet. have_news: table_functions_plant() has something to do.
 */
enum { WORDS_TICK_US = 50000 };
bool table_functions_are_due(void *context, const struct space *space, uint64_t now);
void table_functions_piece(void *context, struct thread *thread);
bool table_functions_have_news(void *context, const struct space *space);

#endif

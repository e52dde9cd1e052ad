/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions without a symbol, found through tables of pointers that have one (`@ *SYMBOL[INDEX]` in
 * a .conf file): from a match to the breakpoint.
 */
#ifndef TRACER_SESSION_TABLES_H
#define TRACER_SESSION_TABLES_H

#include "probe/match.h"

struct modules;
struct session;
struct space;
struct thread;

/* Notes a MATCH_SLOT or MATCH_GETTER, of which `address` is that of the word in the process. */
void tables_add(struct modules *modules, uint64_t address, const struct match *match);
/* Plants those functions whose addresses are there by now, and watches the words of the others. */
void tables_plant(struct session *session, struct thread *thread);
/* The module between these addresses is gone, and its tables with it. */
void tables_forget(struct space *space, uint64_t low, uint64_t high);
/* Whether tables_plant() has something to do, without needing a stopped thread. */
bool tables_have_news(const struct session *session, const struct space *space);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stop that the trap engine serves: what trap.c and serving.c share. */
#ifndef TRACER_ENGINE_TRAP_SERVING_H
#define TRACER_ENGINE_TRAP_SERVING_H

#include "engine/trap/goroutines.h"
#include "engine/trap/overhead.h"
#include "engine/trap/trap.h"

struct trap {
	const struct engine_events *events;
	struct decoder *decoder;
	struct overhead overhead;
	uint64_t calls; /* numbers given out */
	uint64_t stops;
	unsigned char *buffer; /* the record under construction */
};

/* One stop being served. */
struct serving {
	struct trap *trap;
	struct thread *thread;
	struct space *space;
	struct regs regs;
	uint64_t time;	     /* of the stop */
	struct keeping kept; /* where its calls are */
	struct call *made;   /* pushed at this stop: gets its start time last */
	uint64_t owed;	     /* of calls that are over now */
	uint64_t result;
	bool redirected; /* struct hook */
	bool fp_loaded;
	struct fp_regs fp;
};

/* trap.c: what becomes of a call, whose record is made now; call_popped, with a struct serving. */
void serving_popped(void *context, const struct call *call, bool returned);

/*
 * serving.c: a SIGTRAP where none of our breakpoints is, as if by one at `address`. False: it is
 * the program's own, and to be passed on to it.
 */
bool serving_not_ours(struct serving *serving, uint64_t address);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tracer's sign of life: whether it is inside a read or write of a tracee's memory, and has
 * been for too long. The tracing thread counts in a page that the guardian sees, too.
 *
 * Pages are asked for before they are read (resident.h). One that is there when it is asked for and
 * gone when it is read makes the tracing thread wait in the kernel, where nobody but a SIGKILL from
 * outside can help.
 */
#ifndef TRACER_INFERIOR_PULSE_H
#define TRACER_INFERIOR_PULSE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

struct pulse {
	atomic_uint beats; /* odd: inside */
	atomic_int tid;	   /* of the memory, 0: of a thread that is gone */
};

/* NULL: there can be none. To be made before the process that watches is forked. */
struct pulse *pulse_create(void);
void pulse_destroy(struct pulse *pulse);

/* Around each access by the tracing thread, which alone writes. `pulse` may be NULL. */
static inline void pulse_beat(struct pulse *pulse)
{
	unsigned beats = atomic_load_explicit(&pulse->beats, memory_order_relaxed);

	atomic_store_explicit(&pulse->beats, beats + 1, memory_order_relaxed);
}

static inline void pulse_enter(struct pulse *pulse, pid_t tid)
{
	if (!pulse)
		return;
	atomic_store_explicit(&pulse->tid, tid, memory_order_relaxed);
	pulse_beat(pulse);
}

static inline void pulse_leave(struct pulse *pulse)
{
	if (pulse)
		pulse_beat(pulse);
}

/* What the last look of the one who watches was. Starts as zeros. */
struct pulse_look {
	unsigned beats;
	long switches;
	unsigned number; /* of looks that were all the same */
};

/*
 * One more look; how many of them now, this one included, have found the tracer asleep in the same
 * read, without having been awake in between. `tracer`: its pid, which is the tracing thread's tid.
 */
unsigned pulse_look(const struct pulse *pulse, struct pulse_look *look, pid_t tracer);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rings of a space, in which its threads pass records to the tracer (agent_abi.h). A thread has
 * a ring from a stop at which it is bound until it ends. The program can write there, too, so all
 * that is read is checked.
 */
#ifndef TRACER_ENGINE_AGENT_RINGS_H
#define TRACER_ENGINE_AGENT_RINGS_H

#include "engine/agent/rings_abi.h"
#include "tracee/tracee.h"

struct rings;

/*
 * Makes the rings in the process of `thread`, which is at a safe stop. `scratch`: 32 zero bytes of
 * the tracer's memory there; `near`: where the rings should be, roughly. Returns 0 or -errno.
 */
int rings_create(struct thread *thread, uint64_t scratch, uint64_t near, struct rings **rings);
/* Returns true if a thread has found no room for its ring. */
bool rings_lack(const struct rings *rings);
/* Makes room for a thread that lacked it, and for all threads of the process. As rings_create(). */
void rings_grow(struct rings *rings, struct thread *thread);
/*
 * Makes rings whose first block is `memory`: AGENT_RINGS_BYTES mapped by mmap(2), which they own
 * from now on. `address`: see rings_address().
 */
struct rings *rings_over(uint8_t *memory, uint64_t address);
/* Frees the tracer's side only. */
void rings_destroy(struct rings *rings);
/* Where the first block is in the process. */
uint64_t rings_address(const struct rings *rings);

/* Gives a stopped thread a ring. Returns false if it has one already, or if none is free. */
bool rings_bind(struct rings *rings, pid_t tid, uint64_t fs_base);
/* The ring of a thread, or NULL; whether the ring has an unread record, as of the last look. */
struct ring;
struct ring *rings_of_thread(const struct rings *rings, pid_t tid);
bool ring_has_record(const struct ring *ring);
/* The number of bytes that the thread has ever written; 0 if it has no ring. */
uint64_t rings_head(const struct rings *rings, pid_t tid);
/* Returns true if a thread other than `tid` has a ring with this fs base. */
bool rings_have(const struct rings *rings, pid_t tid, uint64_t fs_base);
/* The thread is gone, and its ring has been read. */
void rings_unbind(struct rings *rings, pid_t tid);
/*
 * Returns true if the stopped thread has chosen its call with the return address at `place`
 * (--sample), and makes it forget that.
 */
bool rings_take_chosen(const struct rings *rings, pid_t tid, uint64_t place);
/* Prevents threads from finding their rings; what they have written can still be read. */
void rings_close(struct rings *rings);

/*
 * rings_stuck(): returns a thread that did not finish a record for 100 ms, as of the last
 * rings_look(), or 0; `now` as there. It may wait for a page that does not arrive. Each is returned
 * once per record. rings_was_stuck(): returns true if the thread was returned by it.
 */
pid_t rings_stuck(struct rings *rings, uint64_t now);
bool rings_was_stuck(struct rings *rings, pid_t tid);

/*
 * Notes for each ring how far to read: to the end of all records that were begun before `clock`
 * (agent_clock()) and `now` (clock_now()) were read.
 */
void rings_look(struct rings *rings, uint64_t clock, uint64_t now);
/*
 * Returns the earliest time of a record that a preempted thread may still be writing: younger
 * records may have to come behind it. UINT64_MAX if there is none, or only one that has taken too
 * long to wait for. Sets *tid to the thread.
 */
uint64_t rings_floor(const struct rings *rings, pid_t *tid);
/* The most bytes that any ring has to be read now. */
uint64_t rings_fullest(const struct rings *rings);
/*
 * Returns the ring whose next record, up to the limit of rings_look(), is the oldest, and sets
 * *time to its time (agent_clock()). NULL if there is none.
 */
struct ring *rings_oldest(struct rings *rings, uint64_t *time);
/*
 * Takes that record, copies it to *head, and its size, kind and values to `record`, which has
 * RINGS_RECORD_MAX bytes. All is checked that can be without its plan. Returns false if the record
 * is invalid.
 */
bool rings_take(struct rings *rings, struct ring *ring, struct ring_record *head,
		struct record *record);
enum { RINGS_RECORD_MAX = AGENT_RECORD_MAX + sizeof(struct record) };
pid_t ring_tid(const struct ring *ring);
/* Allows threads to write over the records that have been taken. */
void rings_release(struct rings *rings);
/* At least so many records were lost because they were invalid. */
uint64_t rings_damaged(const struct rings *rings);
/* So many calls have no record because a ring was full; a number of the process's. */
uint64_t rings_dropped(const struct rings *rings);

#endif

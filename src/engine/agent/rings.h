/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rings of a space, through which its threads hand records to the tracer (agent_abi.h). A
 * thread has one from when it is bound, at a stop, to its end. The program can write there as well
 * as we: whatever is read is checked.
 */
#ifndef TRACER_ENGINE_AGENT_RINGS_H
#define TRACER_ENGINE_AGENT_RINGS_H

#include "engine/agent/rings_abi.h"
#include "inferior/inferior.h"

struct rings;

/*
 * Makes them in the process of `thread`, which is at a clean stop; `scratch` are 32 bytes of memory
 * of ours there, zero, and `near` is about where they are to lie. 0 or -errno.
 */
int rings_create(struct thread *thread, uint64_t scratch, uint64_t near, struct rings **rings);
/* Whether a thread has found no room for its ring. */
bool rings_lack(const struct rings *rings);
/* Makes as much as is lacking, and as all threads that there are could need; as above. */
void rings_grow(struct rings *rings, struct thread *thread);
/*
 * Those of which the first block lies in `memory`, AGENT_RINGS_BYTES mapped by mmap(2), which is
 * theirs from now on; `address` as below.
 */
struct rings *rings_over(uint8_t *memory, uint64_t address);
/* Our side only. */
void rings_destroy(struct rings *rings);
/* Where they are in the process. */
uint64_t rings_address(const struct rings *rings);

/* Gives a stopped thread a ring: false when it has one already, or there is none for it. */
bool rings_bind(struct rings *rings, pid_t tid, uint64_t fs_base);
/* The ring of a thread, or NULL; whether it holds more, as far as was looked. */
struct ring;
struct ring *rings_of_thread(const struct rings *rings, pid_t tid);
bool ring_has_record(const struct ring *ring);
/* How much the thread has ever written, 0 where it has no ring. */
uint64_t rings_head(const struct rings *rings, pid_t tid);
/* Whether a thread other than `tid` has its ring by this fs base. */
bool rings_have(const struct rings *rings, pid_t tid, uint64_t fs_base);
/* It is gone; what it has written has been read. */
void rings_unbind(struct rings *rings, pid_t tid);
/* No thread finds its ring from now on; what has been written can be read. */
void rings_close(struct rings *rings);

/*
 * A thread that has not come to the end of a record for a while, as the last looks have seen it
 * (`now` as theirs), or 0:
 * it may wait for a page that does not come. It is named once; and whether a thread was.
 */
pid_t rings_stuck(struct rings *rings, uint64_t now);
bool rings_was_stuck(struct rings *rings, pid_t tid);

/*
 * Notes how far each ring is to be read now: to the end of what had been begun before `clock` (of
 * the processes) and `now` (inferior_clock()) were read.
 */
void rings_look(struct rings *rings, uint64_t clock, uint64_t now);
/*
 * A thread may be preempted in the middle of a record, which may be as old as that, and what is
 * younger may have to come behind it. UINT64_MAX: none is, or for so long that it is not waited
 * for. `tid`: which thread it is.
 */
uint64_t rings_floor(const struct rings *rings, pid_t *tid);
/* How many bytes are to be read now of the ring that has most of them. */
uint64_t rings_fullest(const struct rings *rings);
/*
 * The ring whose next record, up to there, is the oldest; *time is the clock's. NULL: there is
 * none.
 */
struct ring *rings_oldest(struct rings *rings, uint64_t *time);
/*
 * Copies that record, checked as far as it can be without its plan: what its head says, and to
 * `record`, of RINGS_RECORD_MAX bytes, its size, kind and values. False: it made no sense.
 */
bool rings_take(struct rings *rings, struct ring *ring, struct ring_record *head,
		struct record *record);
enum { RINGS_RECORD_MAX = AGENT_RECORD_MAX + sizeof(struct record) };
pid_t ring_tid(const struct ring *ring);
/* What has been taken may be written over. */
void rings_release(struct rings *rings);
/* How many records, or more, were lost as they made no sense. */
uint64_t rings_damaged(const struct rings *rings);
/* How many calls were left out as a ring was full: what the process says. */
uint64_t rings_dropped(const struct rings *rings);

#endif

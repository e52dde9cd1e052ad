/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The patch journal of one address space: every change is noted here before it is made, so that
 * undoing everything is replaying it backwards, whoever does it. It lies in a memory file of
 * its own, in a fixed layout, so that another process can hold it too.
 */
#ifndef TRACER_INFERIOR_JOURNAL_H
#define TRACER_INFERIOR_JOURNAL_H

#include "inferior/rescue_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum journal_kind {
	JOURNAL_FREE,
	JOURNAL_BYTES,	 /* `length` (≤ 8) bytes at `address` changed from `before` to `after` */
	JOURNAL_MAPPING, /* `length` bytes mapped at `address` */
	JOURNAL_MASK,	 /* signal mask of thread `address` changed from `before` to `after` */
	/* the same as JOURNAL_BYTES, of a jump: not to be undone but with all threads stopped */
	JOURNAL_JUMP,
	JOURNAL_AGENT, /* `length` bytes of code at `address` that threads run by themselves */
	/* a memory file called AGENT_FILE (engine/agent) may be open in the process */
	JOURNAL_DESCRIPTOR,
	JOURNAL_LIMIT /* resource limit `address` raised likewise; the hard one was `slot` */
};

enum journal_when {
	JOURNAL_AT_ONCE,
	JOURNAL_LAST, /* after all others */
	JOURNAL_STAYS /* not then, but with all that needs it */
};

struct journal_entry {
	uint64_t address;
	uint64_t length;
	uint32_t kind;
	uint32_t when; /* enum journal_when: where changes are undone while the process runs */
	uint64_t slot; /* out of line, that threads are sent to from there; 0: none */
	uint8_t before[8];
	uint8_t after[8];
};

/* What is known of the process besides its memory: enough to attach to it and put it right. */
struct journal_subject {
	int32_t pid;
	int32_t tracer;
	uint64_t start_time;  /* of the process: proc_start_time() */
	uint16_t elf_machine; /* its architecture: arch_find() */
	uint8_t elf_class;
	uint8_t guarded; /* the kernel has our handler for SIGTRAP instead of `action` */
	uint64_t rescue; /* where that handler's block begins, 0: none */
	uint8_t action[32];
	struct rescue_step step;
	/* a thread that is sent into a system call for the tracer, or back: inferior/remote.c */
	struct rescue_step call;
	uint64_t handlers_opened; /* struct process.handlers_opened */
};

struct journal;
struct space;

/*
 * `pid`: whose memory it will be about; its file is named after that, for who looks for it
 * (guardian_await()).
 */
struct journal *journal_create(pid_t pid);
/* What the file of such a journal is called (memfd_create(2)). */
enum { JOURNAL_NAME = 32 };
void journal_name(pid_t pid, char name[JOURNAL_NAME]);
void journal_destroy(struct journal *journal);

/* The memory file that it lies in; the journal's own. */
int journal_fd(const struct journal *journal);
/*
 * A journal that another process has written, from that file, which is the journal's from now on.
 * NULL: it is none.
 */
struct journal *journal_adopt(int fd);

/* Its subject, to be filled in by whoever changes that. */
struct journal_subject *journal_subject(struct journal *journal);

/* Notes a change that is about to be made; returns its number. `length` of bytes is at most 8. */
size_t journal_bytes(struct journal *journal, uint64_t address, const void *before,
		     const void *after, size_t length);
/* A jump of `length` bytes (at most 8) in place of others. */
size_t journal_jump(struct journal *journal, uint64_t address, const void *before,
		    const void *after, size_t length);
size_t journal_mapping(struct journal *journal, uint64_t address, uint64_t length);

size_t journal_agent(struct journal *journal, uint64_t address, uint64_t length);
size_t journal_descriptor(struct journal *journal);
size_t journal_mask(struct journal *journal, int32_t tid, uint64_t before, uint64_t after);

/* A limit of the process, raised: its soft value before and after, and the hard one before. */
size_t journal_limit(struct journal *journal, int resource, uint64_t before, uint64_t after,
		     uint64_t hard);

/* Notes the slot that goes with a change. */
void journal_set_slot(struct journal *journal, size_t number, uint64_t slot);

/* Notes when a change is to be undone. */
void journal_set_when(struct journal *journal, size_t number, enum journal_when when);

/* Forgets an entry whose change was not made, or is gone with its memory. No entry: nothing. */
#define JOURNAL_NO_ENTRY SIZE_MAX
void journal_forget(struct journal *journal, size_t number);

/* The entry, or NULL when it is free; and how many numbers were ever given out. */
const struct journal_entry *journal_entry(const struct journal *journal, size_t number);
size_t journal_count(const struct journal *journal);
/*
 * Whether `address` lies in code of a JOURNAL_AGENT. At once, as long as it is this process that
 * writes the journal.
 */
bool journal_in_agent(const struct journal *journal, uint64_t address);
/* Whether something was noted to be mapped at `address`. */
bool journal_has_mapping(const struct journal *journal, uint64_t address);

/*
 * Puts one patch back and forgets it. Bytes that are no longer ours (the memory was unmapped,
 * replaced, or written to by the program) are left alone.
 */
void journal_undo_bytes(struct journal *journal, struct space *space, size_t number);

/*
 * The same of all jumps; or of those that do not stay (JOURNAL_STAYS). All threads of the space are
 * stopped.
 */
void journal_undo_jumps(struct journal *journal, struct space *space, bool staying_too);

/*
 * Puts back all bytes, latest first; all threads of the space are stopped. Mappings stay: unmapping
 * takes a stopped thread.
 */
void journal_undo_all_bytes(struct journal *journal, struct space *space);

/*
 * Copies all entries of `from` but masks, and its subject's disposition: a forked child has the
 * same patches at the same places, and the same handlers.
 */
void journal_copy(struct journal *to, const struct journal *from);

#endif

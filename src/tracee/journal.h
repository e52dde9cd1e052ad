/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The patch journal of one address space. Every change is noted here before it is made, so any
 * process can undo all changes by going through the entries backwards. The journal lies in a memory
 * file (memfd) of its own, in a fixed layout, so that another process can hold it as well.
 */
#ifndef TRACER_TRACEE_JOURNAL_H
#define TRACER_TRACEE_JOURNAL_H

#include "tracee/rescue_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum journal_kind {
	JOURNAL_FREE,
	JOURNAL_BYTES,	 /* `length` (≤ 8) bytes at `address` changed from `before` to `after` */
	JOURNAL_MAPPING, /* `length` bytes mapped at `address` */
	JOURNAL_MASK,	 /* signal mask of thread `address` changed from `before` to `after` */
	/* Like JOURNAL_BYTES, but a jump: undone only while all threads are stopped. */
	JOURNAL_JUMP,
	JOURNAL_AGENT, /* `length` bytes of code at `address`, called by the program's threads */
	/* A memory file named AGENT_FILE (engine/agent) may be open in the process. */
	JOURNAL_DESCRIPTOR,
	/*
	 * Soft limit of resource `address` raised from `before` to `after`; `slot`: the old hard
	 * limit.
	 */
	JOURNAL_LIMIT
};

enum journal_when {
	JOURNAL_AT_ONCE,
	JOURNAL_LAST, /* after all other entries */
	JOURNAL_STAYS /* not while the process runs: only with all threads stopped */
};

struct journal_entry {
	uint64_t address;
	uint64_t length;
	uint32_t kind;
	uint32_t when;	   /* enum journal_when: when it is undone if the process runs */
	uint64_t xol_slot; /* the XOL slot that threads are sent to from `address`; 0: none */
	uint8_t before[8];
	uint8_t after[8];
};

/* What is known of the process itself: enough to attach to it and to restore it. */
struct journal_subject {
	int32_t pid;
	int32_t tracer;
	uint64_t start_time;  /* start time of the process: proc_start_time() */
	uint16_t elf_machine; /* architecture of the process: arch_find() */
	uint8_t elf_class;
	uint8_t guarded; /* the kernel has the tracer's SIGTRAP handler instead of `action` */
	uint64_t rescue; /* address of the block of that handler, 0: none */
	uint8_t action[32];
	struct rescue_step step;
	/* A thread that is being sent into a remote call, or back: tracee/remote.c. */
	struct rescue_step call;
	uint64_t handlers_opened; /* struct trap_process.handlers_opened */
};

struct journal;

/*
 * Creates the journal of the memory of process `pid`. Its file is named after the pid, so that
 * guardian_await() finds it.
 */
struct journal *journal_create(pid_t pid);
/* Writes the name of the journal's memory file (memfd_create(2)) for process `pid`. */
enum { JOURNAL_NAME = 32 };
void journal_name(pid_t pid, char name[JOURNAL_NAME]);
void journal_destroy(struct journal *journal);

/* Returns the memory file of the journal, which keeps it. */
int journal_fd(const struct journal *journal);
/*
 * Opens a journal that another process has written. Takes over `fd`. Returns NULL if the file is no
 * journal; the caller keeps `fd` then.
 */
struct journal *journal_adopt(int fd);

/* Returns the subject; the caller fills it in and keeps it up to date. */
struct journal_subject *journal_subject(struct journal *journal);

/* Each notes a change that is about to be made, and returns its number. `length` is at most 8. */
size_t journal_bytes(struct journal *journal, uint64_t address, const void *before,
		     const void *after, size_t length);
/* Notes a jump of `length` bytes (at most 8) over other code. */
size_t journal_jump(struct journal *journal, uint64_t address, const void *before,
		    const void *after, size_t length);
size_t journal_mapping(struct journal *journal, uint64_t address, uint64_t length);

size_t journal_agent(struct journal *journal, uint64_t address, uint64_t length);
size_t journal_descriptor(struct journal *journal);
size_t journal_mask(struct journal *journal, int32_t tid, uint64_t before, uint64_t after);

/* Notes a resource limit about to be raised: soft limit before and after, hard limit before. */
size_t journal_limit(struct journal *journal, int resource, uint64_t before, uint64_t after,
		     uint64_t hard);

/* Sets the XOL slot of a change. */
void journal_set_xol_slot(struct journal *journal, size_t number, uint64_t slot);

/* Sets when a change is to be undone. */
void journal_set_when(struct journal *journal, size_t number, enum journal_when when);

/*
 * Removes an entry whose change was not made, or has gone with its memory. Ignores
 * JOURNAL_NO_ENTRY.
 */
#define JOURNAL_NO_ENTRY SIZE_MAX
void journal_forget(struct journal *journal, size_t number);

/*
 * journal_entry() returns NULL if the entry is free. journal_count() returns one more than the
 * highest number ever used.
 */
const struct journal_entry *journal_entry(const struct journal *journal, size_t number);
size_t journal_count(const struct journal *journal);
/*
 * Returns true if `address` lies in code of a JOURNAL_AGENT. Fast in the process that created the
 * journal; a search of all entries if the journal was adopted.
 */
bool journal_in_agent(const struct journal *journal, uint64_t address);
/* Returns the JOURNAL_JUMP at `address` or NULL. As fast as journal_in_agent(). */
const struct journal_entry *journal_jump_at(const struct journal *journal, uint64_t address);
/* Returns true if a JOURNAL_MAPPING at `address` is noted. */
bool journal_has_mapping(const struct journal *journal, uint64_t address);

/*
 * Copies all entries of `from` except signal masks, and the subject's SIGTRAP disposition: a forked
 * child has the patches and handlers of its parent.
 */
void journal_copy(struct journal *to, const struct journal *from);

#endif

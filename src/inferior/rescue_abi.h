/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the SIGTRAP handler that is put into a tracee (sysdeps/x86/rescue.c) shares with the tracer,
 * which writes all of it; the tracee can only read it. Fixed layout, the same for every word size.
 *
 * A block of memory in the tracee holds the code, at RESCUE_CODE bytes behind its beginning the
 * head, and behind that the first table. Further tables are blocks of their own. A table's
 * entries are in use up to `used`; those whose address is 0 are free.
 */
#ifndef TRACER_INFERIOR_RESCUE_ABI_H
#define TRACER_INFERIOR_RESCUE_ABI_H

#include <stdint.h>

enum {
	RESCUE_BLOCK = 65536, /* bytes of a block */
	RESCUE_CODE = 4096,   /* bytes of it that are left to the code */
	RESCUE_RESTORER = 16  /* where in the code a signal frame may return to */
};

struct rescue_entry {
	uint64_t address; /* of a breakpoint instruction of one byte, 0: free */
	uint64_t before;  /* the byte that belongs there, and one of the following, or none */
};

enum {
	RESCUE_LAST = 0x100, /* to be put back when all others are */
	RESCUE_GONE = 0x200, /* has been put back: only to know whose the hit was */
	RESCUE_WAIT = 0x400  /* not to be put back: who comes by there waits until it has been */
};

struct rescue_table {
	uint64_t next; /* address of the next table, 0: none */
	uint64_t used;
	struct rescue_entry entries[];
};

/* A thread that makes single steps for the tracer with its signals held. */
struct rescue_step {
	uint64_t tid;  /* 0: none does */
	uint64_t held; /* the signal mask it has meanwhile */
	uint64_t mask; /* its own */
};

struct rescue_head {
	/* what the program itself wants at SIGTRAP: SIG_DFL, SIG_IGN or a function */
	uint64_t handler;
	uint64_t flags; /* and the SA_ flags with it */
	/* not 0: system calls may end the process, by a filter: none is to be made */
	uint64_t filtered;
	struct rescue_step step;
	uint64_t beats; /* of a guardian that is at work: who waits for it waits on */
	struct rescue_table table;
};

_Static_assert(sizeof(struct rescue_entry) == 16, "shared layout");
_Static_assert(sizeof(struct rescue_head) == 72, "shared layout");

#endif

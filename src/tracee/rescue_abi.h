/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout that the SIGTRAP handler in a tracee (sysdeps/x86/rescue.c) shares with the tracer.
 * The tracer writes all of it; the tracee can only read. The layout is fixed and does not depend on
 * the word size.
 *
 * A block of the tracee's memory has the code, then, RESCUE_CODE bytes from its beginning, the
 * head, which ends in the first table. Further tables have blocks of their own. The first `used`
 * entries of a table are valid; an entry with address 0 is free.
 */
#ifndef TRACER_TRACEE_RESCUE_ABI_H
#define TRACER_TRACEE_RESCUE_ABI_H

#include <stdint.h>

enum {
	RESCUE_BLOCK = 65536, /* size of a block */
	RESCUE_CODE = 4096,   /* bytes of a block that are reserved for the code */
	RESCUE_RESTORER = 16  /* offset of the code that signal frames may return to */
};

struct rescue_entry {
	uint64_t address; /* of a one-byte breakpoint instruction, 0: free */
	uint64_t before;  /* the byte it has replaced, with one of the flags below or none */
};

enum {
	RESCUE_LAST = 0x100, /* to be restored after all others */
	RESCUE_GONE = 0x200, /* restored already; kept to recognise hits that are reported late */
	/*
	 * the guardian restores it: a thread that hits it waits, and the handler restores the byte
	 * only if the guardian does not come
	 */
	RESCUE_WAIT = 0x400
};

struct rescue_table {
	uint64_t next; /* address of the next table, 0: none */
	uint64_t used;
	struct rescue_entry entries[];
};

/* A thread that single-steps, or makes a remote call, for the tracer while its signals are held. */
struct rescue_step {
	uint64_t tid;  /* 0: no thread */
	uint64_t held; /* the signal mask it has meanwhile */
	uint64_t mask; /* its own signal mask */
};

struct rescue_head {
	/* The program's own handler of SIGTRAP: SIG_DFL, SIG_IGN or a function. */
	uint64_t handler;
	uint64_t flags; /* the SA_ flags of that handler */
	/*
	 * Not 0: a seccomp filter may kill the process, so the handler must not make system calls.
	 */
	uint64_t filtered;
	struct rescue_step step;
	/* Counts up while a guardian is at work: threads that wait for it keep waiting. */
	uint64_t beats;
	struct rescue_table table;
};

_Static_assert(sizeof(struct rescue_entry) == 16, "shared layout");
_Static_assert(sizeof(struct rescue_head) == 72, "shared layout");

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks a native stack: from the registers of a thread to the frames of the calls that it is in.
 * Works over any memory: a live process, a copy of a stack, a core file. See unwind_walk.c.
 */
#ifndef TRACER_UNWIND_UNWIND_WALK_H
#define TRACER_UNWIND_UNWIND_WALK_H

#include "unwind/unwind_step.h"
#include "unwind/unwind_view.h"

struct unwind_frame {
	uint64_t pc; /* the program's, never in the tracer's code */
	uint64_t sp;
	uint64_t cfa; /* sp in the caller, behind the return address; 0: not known */
	/* What contains the pc. file NULL: code of no file, or (start and end 0) no code at all. */
	struct unwind_module module;
	bool is_call;	      /* pc is a return address: the call is in front of it */
	bool is_signal_frame; /* its code returns from a signal handler; its caller is no call */
	/* The frame, or one further in, was found by what looks like a return address. */
	bool is_guessed;
};

/* Why a walk ended. */
enum unwind_end {
	UNWIND_END_OUTER,	/* at the outermost frame: nothing is missing */
	UNWIND_END_LIMIT,	/* no room for more frames */
	UNWIND_END_NO_PROGRESS, /* the next frame would not be above this one: a damaged stack */
	UNWIND_END_UNREADABLE,	/* memory that is needed cannot be read */
	UNWIND_END_LOST		/* nothing tells where the caller is */
};

/* Keeps what walks of one process share. Used by one thread at a time. */
struct unwinder;

/* `process` is the caller's, and must stay valid. */
struct unwinder *unwinder_create(const struct unwind_process *process);
void unwinder_destroy(struct unwinder *unwinder); /* NULL is allowed */

/*
 * Stores up to `room` frames, the innermost one first. Returns how many; at least 1 if there is
 * room. `is_call`: the pc in `regs` is a return address, as a function finds it that was just
 * called. The memory must not change during the walk; if it does, frames may be wrong. *end: why
 * there are no more. No input makes a walk endless or reads outside of the memory source.
 */
size_t unwinder_walk(struct unwinder *unwinder, const struct regs *regs, bool is_call,
		     struct unwind_frame *frames, size_t room, enum unwind_end *end);
/*
 * Stores the registers of frame `index` of those that the last walk has found, as far as they are
 * known, as callees have saved them. Of registers that callees need not save, the values are only
 * right in the innermost frame and in one that a signal has interrupted. The frames of one walk are
 * best asked for from the innermost one on. Returns false if the frame is a guess, or cannot be
 * reached by call-frame information.
 */
bool unwinder_registers(struct unwinder *unwinder, const struct unwind_frame *frames, size_t index,
			struct unwind_registers *registers);
/* Returns a text such as "nothing tells where the caller is". */
const char *unwind_end_text(enum unwind_end end);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the trap engine keeps of each thread and process: thread->trap and process->trap. (Of a
 * space: struct trap_space, breakpoint.h.) tracee allocates both with the task. Files outside of
 * src/engine ask the file that owns a field (sigtrap.h, sigmask_shadow.h, watch.h, leave.h).
 */
#ifndef TRACER_ENGINE_TRAP_TRAP_STATE_H
#define TRACER_ENGINE_TRAP_TRAP_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The program's own disposition of SIGTRAP. Any but the default needs care (sigtrap.c).
 */
enum sigtrap_state { SIGTRAP_DEFAULT, SIGTRAP_HANDLED, SIGTRAP_IGNORED };

struct trap_process {
	enum sigtrap_state sigtrap;
	/* The program's own struct sigaction for SIGTRAP, in kernel layout, or the start of it. */
	uint8_t sigtrap_action[32];
	/* The kernel has the tracer's handler in place of the program's. */
	bool sigtrap_guarded;
	/* The handler of an earlier, killed tracer was found in the kernel. */
	bool sigtrap_stale;
	bool sigtrap_reset; /* the kernel has reset the disposition; restoring it is put off */
	/* When the disposition was last read from the kernel: ns of clock_now(). */
	uint64_t sigtrap_checked;
	uint64_t sigtrap_set;  /* when the tracer last set it: ns of clock_now() */
	uint64_t sigtrap_sets; /* how often the tracer has set it */
	/* The signals that each signal's handler blocks; 0: unknown, or none. */
	uint64_t handler_masks[64];
	/*
	 * sigtrap_go.c: bit n-1: signal n's handler does not block SIGTRAP any more, though the
	 * program asked for that.
	 */
	uint64_t handlers_opened;
};

struct trap_thread {
	/* The generation of the space's watches when the debug registers were last set: watch.c. */
	unsigned watch_generation;
	uint64_t xol_slot; /* the only XOL slot that the thread may be in; 0: none */
	bool is_out;	   /* see trap_note_outside() */

	bool sigtrap_changes; /* a sigaction() call under way sets SIGTRAP */
	uint64_t sigtrap_flags;
	uint64_t sigtrap_handler; /* the handler that this sigaction() sets */
	uint64_t sigtrap_old; /* where a sigaction() under way stores the old action, 0: nowhere */
	/* At this stop: the disposition must be set again before the thread is resumed. */
	bool sigtrap_gone;
	/* Stopped by a SIGTRAP of the program's, which took the place of the breakpoint's. */
	bool sigtrap_own;
	/* process->trap->sigtrap_sets when the thread was last resumed from a breakpoint. */
	uint64_t sigtrap_sets;
	bool sigtrap_blocked; /* at this stop: SIGTRAP was blocked when the breakpoint was hit */

	/* Index of the journal entry of its mask, plus 1; 0: none. See sigmask_shadow.h. */
	size_t unblocked;
	/* sigmask_shadow.c: mask_next becomes its mask when the call returns. */
	bool mask_due;
	uint64_t mask_next;
	uint64_t masks[6];    /* its latest signal masks, newest first: sigmask_history.h */
	unsigned masks_known; /* number of valid entries in `masks` */
};

#endif

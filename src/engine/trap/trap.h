/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trap engine: breakpoints on function entries and PLT stubs, handled over ptrace(2). A call
 * costs two stops, one at entry and one at return.
 */
#ifndef TRACER_ENGINE_TRAP_TRAP_H
#define TRACER_ENGINE_TRAP_TRAP_H

#include "engine/core/engine.h"

struct call_tracker;
struct trap;

/*
 * `tracker` must outlive the engine. Returns NULL if no instruction decoder can be created.
 */
struct trap *trap_create(struct call_tracker *tracker);
void trap_destroy(struct trap *trap);

/*
 * Plants a probe, a hook or both at `address` in the space of `thread`, which is stopped. Returns
 * 0, -EALREADY if a probe is planted there already, or -errno as breakpoint_insert().
 */
int trap_plant(struct trap *trap, struct thread *thread, uint64_t address,
	       const struct probe_site *site, struct hook *hook);

/*
 * From now on `planting` is called before a breakpoint of `length` bytes is written anywhere in
 * the space. Its `thread` is stopped.
 */
typedef void trap_planting(struct thread *thread, uint64_t address, size_t length);
void trap_watch_planting(struct space *space, trap_planting *planting);

/* Forgets all breakpoints in [low, high): the module there was unloaded. */
void trap_forget(struct space *space, uint64_t low, uint64_t high);

/*
 * Handles a SIGTRAP stop. Returns true if the tracer caused it: the thread has been resumed.
 * Returns false if the signal is the program's own.
 */
bool trap_stop(struct trap *trap, const struct stop *stop);

enum { TRAP_EXITS = 4 };

typedef bool trap_inside(const void *context, uint64_t pc);
/*
 * A thread that is run out of the tracer's code has got a SIGSEGV or SIGBUS. Returns true if the
 * code itself has faulted, and the thread goes on behind that.
 */
typedef bool trap_fault(struct thread *thread);

/* Code that the tracer has mapped, other than XOL slots, and that threads run without a stop. */
struct trap_code {
	trap_inside *inside;
	const void *context;
	trap_fault *fault; /* NULL: the code does not fault */
	/*
	 * Returns true if a thread at `pc` must reach one of `exits` or a breakpoint. `exits` are
	 * addresses of instructions; 0: unused. NULL: the thread is single-stepped.
	 */
	trap_inside *leads_to_exit;
	uint64_t exits[TRAP_EXITS];
};

/*
 * Plants the breakpoints of the stopped thread's space that its memory does not contain: those
 * that the parent of a forked child got while the kernel was copying it.
 */
void trap_complete(struct trap *trap, struct thread *thread);

/*
 * The thread is stopped at the entry of longjmp() or a variant: the calls that the jump leaves are
 * popped. `mangled`: the function is glibc's, whose jmp_buf is mangled (PTR_MANGLE).
 */
void trap_long_jump(struct trap *trap, struct thread *thread, bool mangled);

/*
 * The thread is gone or runs another program: its pending calls are dropped. `report`: emit a
 * RECORD_UNWOUND for each.
 */
void trap_thread_gone(struct trap *trap, struct thread *thread, bool report);

/* The engine's instruction decoder, for code that looks for places to plant something at. */
struct decoder *trap_decoder(const struct trap *trap);

/* Number of stops handled so far, for -v and the benchmarks. */
uint64_t trap_stops(const struct trap *trap);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the agent's code in a tracee (sysdeps/x86_64/agent_entry.S) shares with the tracer: the
 * layout of a *unit*, a piece of a tracee's address space that serves the functions in its reach.
 * Its parts lie one behind the other, so that code finds them by the distance from itself:
 *
 *	text	read and executed. The code; a return stub for each return slot; a stub for each
 *		probe.
 *	slots	private to the process, also after fork(2): what each return stub stands for. And
 *		what is needed for exceptions.
 *	shared	a memory file that the tracer has open: counters and tallies, which must outlive the
 *		process, and the return addresses that have been found good.
 *	plans	private to the process; only where records are made: what to capture of each
 *		probe's calls, and what is kept of a call from its entry to its return.
 *
 * Records go to rings, one for each thread, which all units of a space share: a memory file that
 * lies anywhere.
 *
 * Also read by the assembler, so there are macros only, and no types.
 */
#ifndef TRACER_ENGINE_AGENT_AGENT_ABI_H
#define TRACER_ENGINE_AGENT_AGENT_ABI_H

#define AGENT_LAYOUT 22 /* to be changed with anything below */

/* Offsets in a unit, and how long its parts are. */
#define AGENT_RETURNED                                                                             \
	0x400 /* in the code: where return stubs jump to; its beginning is where probes do */
#define AGENT_RECORD_ENTRY 0x600 /* where probes and return stubs jump to that make records */
#define AGENT_RECORD_RETURN 0x740
#define AGENT_RECORD_FULL 0x860 /* a breakpoint: a return for whose record there is no room */
#define AGENT_COPY 0x940	/* reads what may not be there */
#define AGENT_COPY_WORD 0x949	/* where that faults, it goes on at the next of these: by bytes */
#define AGENT_COPY_BYTES 0x968
#define AGENT_COPY_BYTE 0x96d /* and here: that was all */
#define AGENT_COPY_END 0x971
#define AGENT_EXITS 0x980 /* offsets, 4 bytes each: AGENT_EXIT_COUNT of each kind of unit */
#define AGENT_EXIT_COUNT 4
/*
 * Reads the system's clock by the function whose address is behind it, as ns; that returns to
 * AGENT_CLOCK_READ.
 */
#define AGENT_CLOCK 0x9a0
#define AGENT_CLOCK_READ 0x9c5
#define AGENT_CLOCK_FUNCTION 0x9f8
/* Reads a string: by words and, at the end of a page, by bytes. Where it faults that was all. */
#define AGENT_STRING 0xa00
#define AGENT_STRING_WORD 0xa37
#define AGENT_STRING_BYTE 0xa5c
#define AGENT_STRING_END 0xa82
/* The test of a gate at longjmp(), as long as AGENT_JUMP_TEST_BYTES; see agent_entry.S. */
#define AGENT_JUMP_TEST 0xaa0
#define AGENT_JUMP_TEST_BYTES 0xa0
/* Where stubs jump to at functions of an unwinder (unwinding_abi.h). */
#define AGENT_UNWINDING_BEGINS 0xb50
#define AGENT_UNWINDING_LANDS 0xc40
#define AGENT_CODE_BYTES 0x8000
#define AGENT_RETURN_CALLS 0x8000
#define AGENT_RETURN_STUBS (AGENT_RETURN_CALLS + AGENT_RETURN_CALL)
#define AGENT_PROBE_STUBS 0x18000
#define AGENT_TEXT_BYTES 0x44000
#define AGENT_SLOTS 0x44000
#define AGENT_SLOTS_BYTES 0x60000 /* with what is behind them */
#define AGENT_UNWINDING 0x64000
#define AGENT_UNWINDING_BYTES 0x40000
#define AGENT_SHARED 0xa4000
#define AGENT_RETURN_SITES 0xa4000
#define AGENT_COUNTERS 0x1a4000
/*
 * 4 bytes, not 0: calls are pending that only the trap engine knows of. Behind it, 8 bytes each:
 * where the return stubs of the space's units begin.
 */
#define AGENT_PENDING 0x1bb000
#define AGENT_GATE_STUBS 0x1bb008
#define AGENT_GATE_UNITS 4
#define AGENT_STUB_SITES 0x1bc000
#define AGENT_TALLIES 0x1c4000
#define AGENT_SHARED_BYTES 0x1a0000
#define AGENT_COUNTING_BYTES 0x244000 /* of a unit that counts only */
#define AGENT_PLANS 0x244000
#define AGENT_PLAN_ADDRESSES 0x245000 /* a word for each probe */
#define AGENT_PLAN_ROOM 0x24c000
#define AGENT_SAVED 0x34c000
#define AGENT_PLANS_BYTES 0x308000
#define AGENT_BYTES 0x54c000

#define AGENT_SLOT_COUNT 4096 /* a power of 2 */
#define AGENT_HOME_BITS 11
#define AGENT_HOME_PIECE 15   /* bits: 32 KiB of a stack have their homes in a row */
#define AGENT_HOME_COUNT 2048 /* half of them */
#define AGENT_PROBE_COUNT 2816

/*
 * call *-16(%rsp); push $slot; jmp returned. The stub proper is behind the call, which puts its
 * address where the caller's has been.
 */
#define AGENT_RETURN_STUB 16
#define AGENT_RETURN_CALL 4
/*
 * push $probe; jmp entry; nop (or a breakpoint); jmp to what was displaced. Of a function whose
 * first instruction accesses memory: jmp to a guard, which reads from there and puts back the stack
 * pointer, by its last AGENT_GUARD_BACK bytes; behind it is what else is at the beginning.
 *
 * Of an instruction that calls by a pointer: what puts the return address on the stack comes first,
 * then what else is at the beginning, at the same place. Where it calls by a register the stub
 * begins with the instructions in front of it, at AGENT_PROBE_FRONT.
 */
#define AGENT_PROBE_STUB 64
#define AGENT_PROBE_BREAKPOINT 10
#define AGENT_PROBE_DISPLACED 16
#define AGENT_PROBE_GUARD 41 /* or later, up to AGENT_PROBE_GUARDED */
#define AGENT_PROBE_GUARDED 54
#define AGENT_PROBE_CALLED AGENT_PROBE_GUARDED
#define AGENT_PROBE_FRONT 22
#define AGENT_GUARD_MAX 13
#define AGENT_GUARD_BACK 5

/*
 * A gate's stub has its test in place of the first two of these, and its breakpoint and what it
 * displaces where a probe's has them. A test that does not fit there is called by the first
 * instruction, for nothing but the stub's address.
 */
#define AGENT_GATE_CALL 5

/*
 * A return slot: where on the stack its stub stands, a multiple of 8; what stood there; time of
 * entry; probe. Place 0: it is free. The first AGENT_HOME_COUNT are homes, of which none is freed:
 * they are at rest when their call is over, which is the place plus AGENT_SLOT_RESTS, and nobody
 * takes one but a call of that same place.
 */
#define AGENT_SLOT 32
#define AGENT_SLOT_PLACE 0
#define AGENT_SLOT_RETURN 8
#define AGENT_SLOT_TIME 16
#define AGENT_SLOT_PROBE 24
#define AGENT_SLOT_TRIES 8
#define AGENT_SLOT_RESTS 1

/*
 * Return addresses that are good, in sets of 4 words that a multiplication chooses; 0: free. Ruby
 * calls libraries from 20,000 places; where a set is full, one more takes the place of another.
 */
#define AGENT_SET_COUNT 32768
#define AGENT_SET_BITS 15
#define AGENT_SET_WORDS 4
#define AGENT_HASH 0x9e3779b1
/*
 * The same of return stubs of other units: what returns there was jumped to by what is caught
 * there.
 */
#define AGENT_STUB_SET_COUNT 1024
#define AGENT_STUB_SET_BITS 10

/*
 * The counter of a probe: calls, then their time in the clock's units. Added to by locked
 * instructions.
 */
#define AGENT_COUNTER 32
#define AGENT_COUNTER_CALLS 0
#define AGENT_COUNTER_TIME 8

/*
 * The tallies of a return slot, 4 of them: more calls and time of a probe, whose number + 1 it
 * holds, 0: of none yet. The probe says which it may be. Another one that asks for it gets it when
 * it has asked in vain for some time in which the owner was not called: what was there is then
 * added to the owner's counter. Who has the slot writes there alone, so without locking.
 */
#define AGENT_TALLY 32
#define AGENT_TALLY_CALLS 0
#define AGENT_TALLY_TIME 8
#define AGENT_TALLY_OWNER 16  /* 4 bytes */
#define AGENT_TALLY_MISSES 20 /* 4 bytes: calls of others that asked for it */
#define AGENT_TALLY_SEEN 24   /* the owner's calls when it was asked for that often */
#define AGENT_TALLY_PATIENCE 64
#define AGENT_TALLY_WAYS 4

/*
 * Words at the beginning of the plans:
 * RINGS  where the rings are;
 * UNIT   which of the space's units this is;
 * ON     0: no records are made;
 * LOSSY  not 0: where a ring is as good as full, a call is only counted, and does not wait for the
 *        tracer.
 */
#define AGENT_RINGS 0
#define AGENT_UNIT 8
#define AGENT_ON 16
#define AGENT_LOSSY 24
#define AGENT_WORDS_BYTES 4096 /* all by themselves there: a forked child has zeros instead */

/* What is kept of a call for its return: struct capture_saved. */
#define AGENT_SAVED_BYTES 512

/*
 * The rings: blocks of some, made as threads need them, as programs may have little room, or have
 * all that they map locked into memory. The first block begins with a table of threads, by their
 * fs base, which says where the ring of each is; the others have that room, too, and do not use it.
 * A ring holds records one behind the other, none of which is cut in two at its end: a word of 0
 * says that the next one is at the beginning. Behind it is a stack for its thread, to make records
 * on: its own may have little room left.
 */
#define AGENT_THREAD 128
#define AGENT_THREAD_COUNT 4096 /* a power of 2; most are free, so that few tries do */
#define AGENT_THREAD_BITS 12
#define AGENT_THREAD_TRIES 8
#define AGENT_RING_BYTES 0x40000
#define AGENT_RINGS_HEAD (AGENT_THREAD * AGENT_THREAD_COUNT)
#define AGENT_STACK 0x4000
#define AGENT_RING_ROOM (AGENT_RING_BYTES + AGENT_STACK)
#define AGENT_BLOCK_RINGS 16
#define AGENT_RING_COUNT 1024
#define AGENT_BLOCK_COUNT (AGENT_RING_COUNT / AGENT_BLOCK_RINGS)
#define AGENT_RINGS_BYTES (AGENT_RINGS_HEAD + AGENT_BLOCK_RINGS * AGENT_RING_ROOM)
/* What calls leave free then, as their returns are recorded in any case. */
#define AGENT_RING_KEPT 0x10000
#define AGENT_RECORD_MAX                                                                           \
	0x3000 /* bytes of the longest record: what may make a longer one is not caught inside */

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout of a *unit*, shared by the tracer and the agent's code in a tracee
 * (sysdeps/x86_64/agent_entry.S). A unit is a range of a tracee's address space that serves the
 * functions within reach of a jmp rel32. Its parts are adjacent, so that the code finds them
 * relative to its pc:
 *
 *	text	readable and executable. The agent's code; the stub of each return trampoline;
 *		a stub for each probe.
 *	slots	private to the process, also after fork(2): the record of each return trampoline;
 *		and what exceptions need (unwinding_abi.h).
 *	shared	a memory file that the tracer has mapped, too: counters and tallies, which must
 *		outlive the process, and the known return addresses.
 *	plans	private to the process; only where records are made: each probe's capture plan,
 *		and what is kept of a call from its entry to its return.
 *
 * Records are written to rings, one per thread, which all units of a space share: they are in a
 * memory file of their own, mapped anywhere.
 *
 * The assembler reads this file, so it has macros only, and no types.
 */
#ifndef TRACER_ENGINE_AGENT_AGENT_ABI_H
#define TRACER_ENGINE_AGENT_AGENT_ABI_H

#define AGENT_LAYOUT 25 /* change it with anything below */

/* Offsets in a unit, and lengths of its parts, in bytes. */
#define AGENT_RETURNED                                                                             \
	0x400 /* return trampolines jump here to count; probe stubs jump to 0 for that */
#define AGENT_RETURNED_TIMED 0x4c0 /* where they jump to if each call's time is kept in a bucket */
#define AGENT_RECORD_ENTRY 0x600   /* where the stubs jump to if records are made */
#define AGENT_RECORD_RETURN 0x740
#define AGENT_RECORD_FULL 0x860 /* breakpoint of a return without room for its record */
#define AGENT_COPY 0x940	/* agent_copy(): reads memory that may be unreadable */
#define AGENT_COPY_WORD 0x949	/* may fault: continue by bytes, at COPY_BYTES */
#define AGENT_COPY_BYTES 0x968
#define AGENT_COPY_BYTE 0x96d /* may fault: end of the readable memory */
#define AGENT_COPY_END 0x971
/* 4-byte offsets of exit instructions: AGENT_EXIT_COUNT of each kind of unit */
#define AGENT_EXITS 0x980
#define AGENT_EXIT_COUNT 4
/*
 * Returns the system's clock in ns. Calls the function whose address is at AGENT_CLOCK_FUNCTION,
 * which returns to AGENT_CLOCK_READ.
 */
#define AGENT_CLOCK 0x9a0
#define AGENT_CLOCK_READ 0x9c5
#define AGENT_CLOCK_FUNCTION 0x9f8
/* agent_copy_string(): reads by words, by bytes at the end of a page. A fault ends the string. */
#define AGENT_STRING 0xa00
#define AGENT_STRING_WORD 0xa37
#define AGENT_STRING_BYTE 0xa5c
#define AGENT_STRING_END 0xa82
/* The test of a gate at longjmp(), and the room it has; see agent_services.S. */
#define AGENT_JUMP_TEST 0xaa0
#define AGENT_JUMP_TEST_BYTES 0xa0
/* agent_load(): reads a word that may be unreadable */
#define AGENT_LOAD 0xb40 /* may fault: continue at LOAD_FAILED */
#define AGENT_LOAD_FAILED 0xb49
/* Where the stubs of an unwinder's functions jump to (unwinding_abi.h). */
#define AGENT_UNWINDING_BEGINS 0xb50
#define AGENT_UNWINDING_LANDS 0xc40
/* agent_match(): compares words that were read before */
#define AGENT_MATCH 0xcc0
#define AGENT_MATCH_WORD 0xcca /* may fault: continue at MATCH_FAILED */
#define AGENT_MATCH_FAILED 0xce5
#define AGENT_CODE_BYTES 0x8000
#define AGENT_RETURN_CALLS 0x8000
#define AGENT_RETURN_STUBS (AGENT_RETURN_CALLS + AGENT_RETURN_CALL)
#define AGENT_PROBE_STUBS 0x18000
#define AGENT_TEXT_BYTES 0x44000
#define AGENT_TRAMPOLINES 0x44000
#define AGENT_TRAMPOLINES_BYTES 0x60000 /* with the part at AGENT_UNWINDING */
#define AGENT_UNWINDING 0x64000
#define AGENT_UNWINDING_BYTES 0x40000
#define AGENT_SHARED 0xa4000
#define AGENT_RETURN_SITES 0xa4000
#define AGENT_COUNTERS 0x1a4000
/*
 * AGENT_PENDING: 4 bytes, not 0 if calls are pending that only the trap engine knows.
 * AGENT_GATE_STUBS: one 8-byte address for each unit of the space, where the stubs of its return
 * trampolines begin.
 */
#define AGENT_PENDING 0x1bb000
#define AGENT_GATE_STUBS 0x1bb008
#define AGENT_GATE_UNITS 4
#define AGENT_SCRATCH 0x1bb800 /* 32 zero bytes, for the names of files that the tracer makes */
#define AGENT_STUB_SITES 0x1bc000
#define AGENT_TALLIES 0x1c4000
#define AGENT_SHARED_BYTES 0x1a0000
#define AGENT_COUNTING_BYTES 0x244000 /* length of a unit that only counts */
#define AGENT_PLANS 0x244000
#define AGENT_PLAN_ADDRESSES 0x245000 /* one word per probe */
#define AGENT_PLAN_ROOM 0x24c000
#define AGENT_SAVED 0x34c000
#define AGENT_PLANS_BYTES 0x308000
#define AGENT_BYTES 0x54c000

#define AGENT_TRAMPOLINE_COUNT 4096 /* return trampolines of a unit; a power of 2 */
#define AGENT_HOME_BITS 11
#define AGENT_HOME_PIECE 15   /* bits: the homes of 32 KiB of a stack are consecutive */
#define AGENT_HOME_COUNT 2048 /* half of the trampolines */
#define AGENT_PROBE_COUNT 2816

/*
 * The stub of a return trampoline: call *-16(%rsp); push $number; jmp returned. The return address
 * on the stack is the address behind the call; the call itself writes it there.
 */
#define AGENT_RETURN_STUB 16
#define AGENT_RETURN_CALL 4
/*
 * A probe stub: push $probe; jmp entry; nop (or a breakpoint); the displaced instructions; a jump
 * behind them. If the function's first instruction accesses memory, the stub begins with a jmp to a
 * guard. The guard reads that memory, and restores the stack pointer by its last AGENT_GUARD_BACK
 * bytes; the push and the jmp entry follow it.
 *
 * The stub of an instruction that calls by a pointer begins with code that pushes the return
 * address; the push and the jmp entry follow at AGENT_PROBE_CALLED. If the call is by a register,
 * the stub first runs the instructions in front of the call, from AGENT_PROBE_FRONT on.
 */
#define AGENT_PROBE_STUB 64
#define AGENT_PROBE_BREAKPOINT 10
#define AGENT_PROBE_DISPLACED 16
#define AGENT_PROBE_GUARD 41 /* or higher, up to AGENT_PROBE_GUARDED */
#define AGENT_PROBE_GUARDED 54
#define AGENT_PROBE_CALLED AGENT_PROBE_GUARDED
#define AGENT_PROBE_FRONT 22
#define AGENT_GUARD_MAX 13
#define AGENT_GUARD_BACK 5

/*
 * A gate's stub has its test in place of the push and the jmp entry; its breakpoint and displaced
 * instructions are where a probe stub has them. A test that does not fit is reached by a call, of
 * this length, which only passes the address of the stub.
 */
#define AGENT_GATE_CALL 5

/*
 * The record of a return trampoline: the stack address (`place`, a multiple of 8) of the return
 * address that it replaces; that return address; the time of entry; the probe. Place 0: free. The
 * first AGENT_HOME_COUNT trampolines are homes, which are never freed: when its call is over, a
 * home is at rest, with place + AGENT_TRAMPOLINE_RESTS in it, and only a call at the same place can
 * claim it.
 */
#define AGENT_TRAMPOLINE 32
#define AGENT_TRAMPOLINE_PLACE 0
#define AGENT_TRAMPOLINE_RETURN 8
#define AGENT_TRAMPOLINE_TIME 16
#define AGENT_TRAMPOLINE_PROBE 24
#define AGENT_TRAMPOLINE_TRIES 8
#define AGENT_TRAMPOLINE_RESTS 1

/*
 * Return addresses that the tracer has accepted, in sets of 4 words, selected by a multiplicative
 * hash; 0: free. A new address replaces one of a full set. (Ruby calls libraries from 20,000
 * places.)
 */
#define AGENT_SET_COUNT 32768
#define AGENT_SET_BITS 15
#define AGENT_SET_WORDS 4
#define AGENT_HASH 0x9e3779b1
/*
 * Sets of the same kind for return trampolines of other units: a function that is to return there
 * was reached by a jump from a function that the other unit catches.
 */
#define AGENT_STUB_SET_COUNT 1024
#define AGENT_STUB_SET_BITS 10

/*
 * A probe's counter: calls, and their time in units of the clock. Modified by locked instructions.
 * BUCKETS is the address of the probe's buckets, if each call's time is kept, and USED tells which
 * pages of these have counts: a bit each.
 */
#define AGENT_COUNTER 32
#define AGENT_COUNTER_CALLS 0
#define AGENT_COUNTER_TIME 8
#define AGENT_COUNTER_USED 16
#define AGENT_COUNTER_BUCKETS 24

/*
 * Buckets: how many calls took so long, in units of the clock, as 8-byte counts with the index that
 * histogram_bucket() of base/histogram.h has for so many bits. They are modified by locked
 * instructions. A probe has AGENT_SHARDS arrays of them, selected by a hash of where the stack is,
 * so that threads rarely wait for each other. They are in memory files of their own, mapped
 * anywhere: one for the first AGENT_BUCKETS_FEW probes of a unit, and one for each
 * AGENT_BUCKETS_MANY more. Only pages that have counts take memory.
 */
#define AGENT_BUCKETS_BITS 6
#define AGENT_BUCKETS_SHIFT 15 /* an array: 2^SHIFT bytes */
#define AGENT_BUCKETS_PAGE 4096
#define AGENT_SHARD_BITS 3
#define AGENT_SHARDS 8
#define AGENT_SHARD_PIECE 16 /* bits: 64 KiB of a stack have one shard */
#define AGENT_BUCKETS_FEW 32
#define AGENT_BUCKETS_MANY 256
#define AGENT_BUCKETS_BYTES (AGENT_SHARDS << AGENT_BUCKETS_SHIFT) /* of a probe */

/*
 * Each return trampoline has 4 tallies. A tally counts further calls and time of one probe: OWNER
 * is the probe's number + 1; 0: no owner. The low bits of a probe's number select its tally. If
 * another probe has missed the tally for a while and the owner was not called meanwhile, the tally
 * goes to that probe, and its content is added to the owner's counter. Only the call that has
 * claimed the trampoline writes to its tallies, so no locking is needed.
 */
#define AGENT_TALLY 32
#define AGENT_TALLY_CALLS 0
#define AGENT_TALLY_TIME 8
#define AGENT_TALLY_OWNER 16  /* 4 bytes */
#define AGENT_TALLY_MISSES 20 /* 4 bytes: calls of other probes that wanted it */
#define AGENT_TALLY_SEEN 24   /* AGENT_TALLY_CALLS at the last multiple of PATIENCE misses */
#define AGENT_TALLY_PATIENCE 64
#define AGENT_TALLY_WAYS 4

/*
 * Words at the beginning of the plans:
 * RINGS  address of the rings;
 * UNIT   index of this unit in the space;
 * ON     0: make no records;
 * LOSSY  not 0: if a ring is nearly full, count the call in `dropped`, and make no record; 0: wait
 *        for the tracer;
 * SCRIPTS address of the struct agent_scripts (scripts_abi.h); 0: lines of scripts are not shown.
 */
#define AGENT_RINGS 0
#define AGENT_UNIT 8
#define AGENT_ON 16
#define AGENT_LOSSY 24
#define AGENT_SCRIPTS 32
#define AGENT_WORDS_BYTES 4096 /* a mapping of their own: zeros in a forked child */

/* What is kept of a call for its return: struct capture_saved. */
#define AGENT_SAVED_BYTES 512

/*
 * The rings are mapped in blocks, as threads need them, because a program may have little address
 * space, or lock all its mappings into memory. The first block begins with a hash table of threads,
 * by fs base, with the position of each thread's ring; the other blocks have that room too, unused.
 * A ring is a sequence of records; none wraps around: a word of 0 says that the next record is at
 * the beginning of the ring. Behind each ring is a stack on which its thread makes records, as the
 * program's stack may have little room left, and what its last walks of stacks have read
 * (agent_memo.h).
 */
#define AGENT_THREAD 128
#define AGENT_THREAD_COUNT 4096 /* a power of 2; mostly free, so an entry is found in few tries */
#define AGENT_THREAD_BITS 12
#define AGENT_THREAD_TRIES 8
#define AGENT_RING_BYTES 0x40000
#define AGENT_RINGS_HEAD (AGENT_THREAD * AGENT_THREAD_COUNT)
#define AGENT_STACK 0x4000
#define AGENT_RING_STACK (AGENT_RING_BYTES + AGENT_STACK) /* where the stack begins */
#define AGENT_MEMOS 0xc000
#define AGENT_RING_ROOM (AGENT_RING_STACK + AGENT_MEMOS)
#define AGENT_BLOCK_RINGS 16
#define AGENT_RING_COUNT 1024
#define AGENT_BLOCK_COUNT (AGENT_RING_COUNT / AGENT_BLOCK_RINGS)
#define AGENT_RINGS_BYTES (AGENT_RINGS_HEAD + AGENT_BLOCK_RINGS * AGENT_RING_ROOM)
/* With LOSSY, calls leave this many bytes free: a return is always recorded. */
#define AGENT_RING_KEPT 0x10000
#define AGENT_RECORD_MAX                                                                           \
	0x3000 /* bytes of the longest record; the trap engine keeps functions that may exceed it */

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the agent needs of an architecture (arch->agent, NULL: it has none). Layout:
 * engine/agent/agent_abi.h.
 */
#ifndef TRACER_ENGINE_AGENT_AGENT_ARCH_H
#define TRACER_ENGINE_AGENT_AGENT_ARCH_H

#include "base/arch.h"
#include "engine/agent/agent_abi.h"
#include "engine/agent/gate.h"
#include "engine/agent/sieve.h"

/* The beginning of a function, as it is without us. */
struct agent_function {
	uint64_t address;
	const uint8_t *bytes;
	size_t length; /* so many of them are its own */
	size_t behind; /* and so many more stand behind those */
	/* how many bytes from its beginning on a jump may be written over: at most AGENT_JUMP */
	size_t covered;
};

/* A branch found, its opcode at `from`; `is_call`: it comes back there. */
typedef void agent_branch(void *context, uint64_t from, uint64_t target, bool is_call);
/* An address that code names. */
typedef void agent_reference(void *context, uint64_t address);

/*
 * AGENT_MOVED_MAX: bytes of the instructions that the jump takes the place of, at most.
 * AGENT_SPAN_MAX: bytes of a jump with fillers in front of it, at most.
 */
enum {
	AGENT_JUMP = 5,
	AGENT_SPAN_MAX = 2 * (AGENT_JUMP - 1),
	AGENT_MOVED_MAX = AGENT_JUMP - 1 + 15,
	AGENT_CLOCK_BYTES = 3
};

/*
 * What the stub of a probe leads to: where calls are counted, or recorded; or what is done at the
 * functions of an unwinder (unwinding_abi.h).
 */
enum agent_role { AGENT_COUNTS, AGENT_RECORDS, AGENT_BEGINS_UNWINDING, AGENT_LANDS };

/* How an instruction goes by a pointer. */
enum agent_way {
	AGENT_OTHERWISE,	/* not at all, or in a way that cannot be run elsewhere */
	AGENT_CALLS_THROUGH,	/* it calls what the slot holds */
	AGENT_JUMPS_THROUGH,	/* it jumps there */
	AGENT_CALLS_BY_REGISTER /* it calls what a register holds */
};

struct agent_arch {
	const uint8_t *code; /* for the beginning of a unit, without relocations */
	size_t code_length;

	/* The clock that it reads; and whether that runs evenly, and alike on all processors. */
	uint64_t (*clock)(void);
	bool (*clock_is_steady)(void);
	/*
	 * The thread's next instruction, which `bytes` begin with, reads it: done in `regs`, with
	 * the pc. False: it does not.
	 */
	bool (*emulate_clock)(const uint8_t bytes[AGENT_CLOCK_BYTES], struct regs *regs);
	/*
	 * Changes a copy of the code, so that it reads the system's clock instead, CLOCK_MONOTONIC,
	 * by the function whose address is at AGENT_CLOCK_FUNCTION.
	 */
	void (*use_system_clock)(uint8_t *code, size_t length);
	/* Whether the processor lets programs tell their threads apart, which records need. */
	bool (*can_tell_threads)(void);

	/*
	 * The return stub of `slot`, for the unit at `unit`, with the call in front of it.
	 * `records`: they are made, else calls are counted.
	 */
	void (*write_return_stub)(uint64_t unit, uint32_t slot, bool records,
				  uint8_t out[AGENT_RETURN_STUB]);
	/*
	 * The stub of probe `probe` of the unit at `unit`, for a function whose first `covered`
	 * bytes a jump is to be written over. -ENOTSUP: what stands there cannot be run elsewhere,
	 * or may fault; -ERANGE: it is out of reach from there.
	 */
	int (*write_probe_stub)(struct decoder *decoder, const struct agent_function *function,
				uint64_t unit, uint32_t probe, enum agent_role role,
				uint8_t out[AGENT_PROBE_STUB]);
	/*
	 * The stub of a gate, likewise: it goes to its breakpoint if the call meets the condition,
	 * else at once to what was displaced. What is spent by that no C function expects anything
	 * of at its entry.
	 */
	int (*write_gate_stub)(struct decoder *decoder, const struct agent_function *function,
			       uint64_t unit, uint32_t probe, const struct gate *gate,
			       uint8_t out[AGENT_PROBE_STUB]);
	/*
	 * An address in the stub of the gate whose test a thread with these registers runs, outside
	 * of the stub, and its stack pointer at the function's beginning. `top` is on top of its
	 * stack.
	 */
	uint64_t (*gate_stub_of)(uint64_t unit, const struct regs *regs, uint64_t top,
				 uint64_t *sp);
	/*
	 * As write_probe_stub(), for the instruction that ends `code` and calls by a pointer. The
	 * instructions before it are those that straight_before() has found. It is the probe's call
	 * only if the pointer is what the word at `slot` holds.
	 */
	int (*write_call_stub)(struct decoder *decoder, const struct agent_function *code,
			       uint64_t slot, uint64_t unit, uint32_t probe, enum agent_role role,
			       uint8_t out[AGENT_PROBE_STUB]);
	/*
	 * Where in a function's code the instructions begin that are in front of the one at
	 * `offset`, have room for a jump, and can be run elsewhere, one after the other; SIZE_MAX:
	 * there are none such.
	 */
	size_t (*straight_before)(struct decoder *decoder, const struct agent_function *function,
				  size_t offset);
	/* How the instruction that `code` begins with goes by a pointer. */
	enum agent_way (*way_of)(struct decoder *decoder, const struct agent_function *code,
				 uint64_t slot, size_t *length);
	/*
	 * A byte that does nothing in front of a jump (arch.emit_jump) at that address. No jump
	 * begins with it.
	 */
	uint8_t (*filler)(uint64_t address);
	/* What such a stub begins with if it has a guard, and no other does. */
	uint8_t leads_to_guard;
	/*
	 * Whether a guard begins with these bytes of such a stub, or what is behind one, where the
	 * stack pointer is `pushed` bytes lower than at the function's beginning.
	 */
	bool (*is_guard)(const uint8_t bytes[AGENT_GUARD_BACK], uint64_t *pushed);
	/*
	 * Which instruction of the function, whose code begins with these `length` bytes, stands
	 * `offset` bytes behind the first of what was displaced into its stub: where it begins.
	 * SIZE_MAX: none.
	 */
	size_t (*offset_in_function)(struct decoder *decoder, const uint8_t *code, size_t length,
				     size_t offset);
	/*
	 * Finds where relative branches in `length` bytes of code at `address` lead to, and which
	 * word jumps by a word in the module go by; of those that `asked` has. And more: bytes that
	 * only might be a branch are taken for one.
	 */
	void (*find_branches)(const uint8_t *code, size_t length, uint64_t address,
			      const struct sieve *asked, agent_branch *found, void *context);
	/*
	 * Whether what find_branches() has found `from` the byte at `offset` of a function's code
	 * is a branch, and no part of another instruction. True also when that cannot be told.
	 */
	bool (*is_branch)(struct decoder *decoder, const struct agent_function *function,
			  size_t offset);
	/*
	 * Whether code may jump by a register, or by a word that is not one of the module's at a
	 * fixed place; as bytes say, of which some may be no such jump.
	 */
	bool (*jumps_by_pointer)(const uint8_t *code, size_t length);
	/* Whether code may read a table of distances of 32 bits, as a jump by way of one does. */
	bool (*reads_distances)(const uint8_t *code, size_t length);
	/*
	 * Finds the places in the module that a function's instructions take the address of. And
	 * more, as above.
	 */
	void (*find_references)(const struct agent_function *function, agent_reference *found,
				void *context);
	/*
	 * Whether an instruction of a function that begins in [from, to) of its code names the word
	 * at `offset` from the register that DWARF gives the number `reg`: moves it, compares it,
	 * or takes its address. As far as that can be told from bytes.
	 */
	bool (*names_word)(const struct agent_function *function, size_t from, size_t to,
			   uint64_t reg, int64_t offset);
	/*
	 * Whether a function does nothing but return a word behind what its argument points to; how
	 * far behind.
	 */
	bool (*returns_member)(const uint8_t *code, size_t length, uint64_t *offset);

	long sys_memfd_create, sys_close, sys_prctl, sys_madvise;
};

#endif

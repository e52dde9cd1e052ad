/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the agent needs of an architecture: arch->agent, or NULL if the agent does not support it.
 * The layout of units is in engine/agent/agent_abi.h.
 */
#ifndef TRACER_ENGINE_AGENT_AGENT_ARCH_H
#define TRACER_ENGINE_AGENT_AGENT_ARCH_H

#include "base/arch.h"
#include "engine/agent/agent_abi.h"
#include "engine/agent/gate.h"
#include "engine/agent/sieve.h"

/* The beginning of a function, without the tracer's changes. */
struct agent_function {
	uint64_t address;
	const uint8_t *bytes;
	size_t length; /* how many of `bytes` belong to the function */
	size_t behind; /* how many of `bytes` follow it */
	/* how many bytes from the beginning on may be written over by a jump: at most AGENT_JUMP */
	size_t covered;
};

/* Called for a branch that was found, with its opcode at `from`; `is_call`: it is a call. */
typedef void agent_branch(void *context, uint64_t from, uint64_t target, bool is_call);
/* Called for an address that code refers to. */
typedef void agent_reference(void *context, uint64_t address);

/*
 * AGENT_SPAN_MAX: the longest jump with fillers in front of it, in bytes. AGENT_MOVED_MAX: the most
 * bytes of instructions that a jump displaces.
 */
enum {
	AGENT_JUMP = 5,
	AGENT_SPAN_MAX = 2 * (AGENT_JUMP - 1),
	AGENT_MOVED_MAX = AGENT_JUMP - 1 + 15,
	AGENT_CLOCK_BYTES = 3
};

/*
 * What a probe stub leads to: code that counts calls, or records them, or handles a function of an
 * unwinder (unwinding_abi.h).
 */
enum agent_role { AGENT_COUNTS, AGENT_RECORDS, AGENT_BEGINS_UNWINDING, AGENT_LANDS };

/* What a return trampoline leads to: code that adds up times, or also keeps each, or records. */
enum agent_returns { AGENT_RETURNS_SUMMED, AGENT_RETURNS_TIMED, AGENT_RETURNS_RECORDED };

/* How an instruction uses a pointer to code. */
enum agent_way {
	AGENT_OTHERWISE,	/* not at all, or in a way that cannot be run out of line */
	AGENT_CALLS_THROUGH,	/* calls the function that a GOT slot points to */
	AGENT_JUMPS_THROUGH,	/* jumps to it */
	AGENT_CALLS_BY_REGISTER /* calls the function that a register points to */
};

struct agent_arch {
	const uint8_t *code; /* for the beginning of a unit; has no relocations */
	size_t code_length;

	/*
	 * Reads the clock that `code` reads; returns true if it has one rate and is synchronous on
	 * all processors.
	 */
	uint64_t (*clock)(void);
	bool (*clock_is_steady)(void);
	/*
	 * If `bytes`, the thread's next instruction, reads the clock: sets its results and the pc
	 * in `regs`, and returns true.
	 */
	bool (*emulate_clock)(const uint8_t bytes[AGENT_CLOCK_BYTES], struct regs *regs);
	/*
	 * Changes a copy of `code`, so that it reads CLOCK_MONOTONIC instead, by the function whose
	 * address is at AGENT_CLOCK_FUNCTION.
	 */
	void (*use_system_clock)(uint8_t *code, size_t length);
	/*
	 * Returns true if a thread can read its fs base without a system call, which records need.
	 */
	bool (*can_tell_threads)(void);

	/*
	 * Writes the stub of return trampoline `slot` for the unit at `unit`, with the call in
	 * front of it.
	 */
	void (*write_return_stub)(uint64_t unit, uint32_t slot, enum agent_returns returns,
				  uint8_t out[AGENT_RETURN_STUB]);
	/*
	 * Writes the stub of probe `probe` of the unit at `unit`, for a function whose first
	 * `covered` bytes a jump will cover. Returns 0; -ENOTSUP if the instructions there cannot
	 * be run out of line, or may fault; -ERANGE if an operand is out of reach from the stub.
	 */
	int (*write_probe_stub)(struct decoder *decoder, const struct agent_function *function,
				uint64_t unit, uint32_t probe, enum agent_role role,
				uint8_t out[AGENT_PROBE_STUB]);
	/*
	 * Like write_probe_stub(), for a gate: the stub goes to its breakpoint if the call meets
	 * the condition, else to the displaced instructions. The test only changes registers and
	 * flags that have no meaning at the entry of a C function.
	 */
	int (*write_gate_stub)(struct decoder *decoder, const struct agent_function *function,
			       uint64_t unit, uint32_t probe, const struct gate *gate,
			       uint8_t out[AGENT_PROBE_STUB]);
	/*
	 * For a thread that is in the test of a gate, outside of the stub: returns an address in
	 * the stub, and sets *sp to the stack pointer at the function's beginning. `top` is the
	 * word on top of the thread's stack.
	 */
	uint64_t (*gate_stub_of)(uint64_t unit, const struct regs *regs, uint64_t top,
				 uint64_t *sp);
	/*
	 * Like write_probe_stub(), for a call by a pointer, which is the last instruction of
	 * `code`. straight_before() has found the instructions before it. It is a call of the probe
	 * only if the pointer is the word at `slot`.
	 */
	int (*write_call_stub)(struct decoder *decoder, const struct agent_function *code,
			       uint64_t slot, uint64_t unit, uint32_t probe, enum agent_role role,
			       uint8_t out[AGENT_PROBE_STUB]);
	/*
	 * Returns the offset in `function` where instructions begin that lead up to the call at
	 * `offset`, have room for a jump, can be run out of line, and contain no branch; SIZE_MAX
	 * if there are none.
	 */
	size_t (*straight_before)(struct decoder *decoder, const struct agent_function *function,
				  size_t offset);
	/*
	 * How the first instruction of `code` uses a pointer; sets *length if it is not
	 * AGENT_OTHERWISE.
	 */
	enum agent_way (*way_of)(struct decoder *decoder, const struct agent_function *code,
				 uint64_t slot, size_t *length);
	/*
	 * A byte that has no effect in front of a jump (arch.emit_jump) at that address. No jump
	 * begins with it.
	 */
	uint8_t (*filler)(uint64_t address);
	/* The first byte of probe stubs that have a guard, and only of those. */
	uint8_t leads_to_guard;
	/*
	 * Returns true if these bytes of a probe stub begin a guard, or the instruction that ends
	 * it. Sets *pushed to the number of bytes by which the stack pointer is lower than at the
	 * function's beginning.
	 */
	bool (*is_guard)(const uint8_t bytes[AGENT_GUARD_BACK], uint64_t *pushed);
	/*
	 * Returns the offset in the function of the instruction whose copy begins `offset` bytes
	 * behind the first displaced instruction in the stub; SIZE_MAX if there is none. `code`:
	 * the first `length` bytes of the function.
	 */
	size_t (*offset_in_function)(struct decoder *decoder, const uint8_t *code, size_t length,
				     size_t offset);
	/*
	 * Reports the targets of relative branches in `length` bytes of code at `address`, and the
	 * words that jumps by a word in the module refer to, if `asked` contains the target. Also
	 * reports bytes that only look like a branch.
	 */
	void (*find_branches)(const uint8_t *code, size_t length, uint64_t address,
			      const struct sieve *asked, agent_branch *found, void *context);
	/*
	 * Returns true if the byte at `offset` of a function, at which find_branches() has reported
	 * a branch, is one, and not a part of another instruction. Also returns true if this cannot
	 * be decided.
	 */
	bool (*is_branch)(struct decoder *decoder, const struct agent_function *function,
			  size_t offset);
	/*
	 * Returns true if code may jump by a register, or by a word that is not at a fixed place of
	 * the module. Decided by bytes, some of which may be no such jump.
	 */
	bool (*jumps_by_pointer)(const uint8_t *code, size_t length);
	/* Returns true if code may read a table of 32-bit distances, as jump tables are. */
	bool (*reads_distances)(const uint8_t *code, size_t length);
	/*
	 * Reports the addresses in the module that a function's instructions refer to, and some
	 * that only look like it.
	 */
	void (*find_references)(const struct agent_function *function, agent_reference *found,
				void *context);
	/*
	 * Returns true if an instruction in [from, to) of a function moves, compares, or takes the
	 * address of the word at `offset` from the register with the DWARF number `reg`. Decided by
	 * bytes, without decoding.
	 */
	bool (*names_word)(const struct agent_function *function, size_t from, size_t to,
			   uint64_t reg, int64_t offset);
	/*
	 * Returns true if a function only returns a word of the structure that its argument points
	 * to. Sets *offset to the word's offset.
	 */
	bool (*returns_member)(const uint8_t *code, size_t length, uint64_t *offset);

	long sys_memfd_create, sys_close, sys_prctl, sys_madvise;
};

#endif

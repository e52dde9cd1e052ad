/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's part for x86_64.
 *
 * A function is caught by a `jmp rel32` at its beginning; the probe stub runs the instructions that
 * this covers. A signal handler must never see a pc inside the jump, and should see none in a stub.
 * So these instructions are chosen from a list (agent_plain.c): they fault only by unreadable
 * memory, by numbers, or if the processor lacks them. After such a fault the thread is moved from
 * the stub to the instruction's place in the function, without the jump (engine/agent/guards.c).
 * (At the end of the stack any of them faults, and so does the agent's code.) A function that
 * begins with other instructions keeps its breakpoint.
 *
 * No branch may lead into the bytes of the jump behind the first, not even from another function
 * (glibc's mempcpy continues in memcpy). The code is not decoded for that: each byte that could be
 * the opcode of a branch counts as one.
 */
#include "x86_64/agent.h"
#include "code/relocate.h"
#include "engine/agent/agent_arch.h"
#include "x86/x86.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

/*
 * The bytes between stubs are hlt. They must not be int3: when the tracer is killed, a thread that
 * it has just sent from a stub's breakpoint to a stub's beginning gets its SIGTRAP there. By an
 * int3 before its pc the handler in the process (sysdeps/x86/rescue.c) would take the SIGTRAP for
 * the program's own.
 */
enum { REG_NUMBER_SP = 4, NO_INDEX = 4, REG_NUMBER_11 = 11 };
enum { WORD = 4, JUMP_GROUP = 4 /* of opcode 0xff */ };
enum {
	CALL = 0xe8,
	JMP = 0xe9,
	JCC = 0x0f,
	JCC_NEAR = 0x80,
	REX_W = 0x48,
	BND = 0xf2,
	HWCAP2_FSGSBASE = 2,
	NEVER_RUN = 0xf4,
	NOP = 0x90
};

static const uint64_t LOW = UINT64_C(1) << 31;

static const uint8_t code[] = {
#include "x86_64/agent_code.inc"
};

/* True if the kernel allows rdfsbase (arch/x86: HWCAP2_FSGSBASE). */
static bool can_tell_threads(void)
{
	return getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE;
}

/* ------------------------------------------------------------------ stubs */

/*
 * Prefixes that a jump ignores. The filler may become the highest byte of another jump's distance:
 * 0x48 is a GiB ahead, behind where the heap of a program at a low address grows; 0xf2 is 224 MiB
 * back, in front of a program at any other address.
 */
static uint8_t filler(uint64_t address)
{
	return address < LOW ? REX_W : BND;
}

static size_t put_jump(uint8_t *out, uint64_t from, uint64_t to)
{
	return x86_emit_jump_relative(from, to, out);
}

static size_t put_push(uint8_t *out, uint32_t value)
{
	out[0] = 0x68;
	memcpy(out + 1, &value, sizeof value);
	return 5;
}

static void write_return_stub(uint64_t unit, uint32_t slot, enum agent_returns returns,
			      uint8_t out[AGENT_RETURN_STUB])
{
	static const uint8_t call_displaced[AGENT_RETURN_CALL] = {0xff, 0x54, 0x24, 0xf0};
	static const uint64_t places[] = {[AGENT_RETURNS_SUMMED] = AGENT_RETURNED,
					  [AGENT_RETURNS_TIMED] = AGENT_RETURNED_TIMED,
					  [AGENT_RETURNS_RECORDED] = AGENT_RECORD_RETURN};
	uint64_t call = unit + AGENT_RETURN_CALLS + (uint64_t)slot * AGENT_RETURN_STUB;

	memset(out, NEVER_RUN, AGENT_RETURN_STUB);
	memcpy(out, call_displaced, sizeof call_displaced);
	size_t length = sizeof call_displaced + put_push(out + sizeof call_displaced, slot);

	put_jump(out + length, call + length, unit + places[returns]);
}

/* ------------------------------------------------------------------ displaced instructions */

/* The instructions that are being copied from a function to its stub. */
struct moving {
	const struct agent_function *function;
	uint64_t stub;
	size_t taken;	/* bytes of the function so far */
	size_t written; /* bytes of the stub so far */
	bool ended;	/* the last one does not continue behind itself */
	bool has_frame; /* mov %rsp,%rbp was among them */
	uint8_t *out;
	uint8_t guard[AGENT_GUARD_MAX];
	size_t guard_length;
};

/* Copies an instruction, and adjusts a pc-relative operand. */
static int put_copy(struct moving *moving, const struct x86_scan *scan, size_t length)
{
	uint8_t *place = moving->out + moving->written;
	int32_t old;

	memcpy(place, moving->function->bytes + moving->taken, length);
	if (!scan->pc_relative)
		return 0;
	memcpy(&old, place + scan->displacement_offset, sizeof old);
	int64_t moved = old + (int64_t)(moving->function->address + moving->taken) -
			(int64_t)(moving->stub + moving->written);
	int32_t adjusted = (int32_t)moved;

	memcpy(place + scan->displacement_offset, &adjusted, sizeof adjusted);
	return adjusted == moved ? 0 : -ERANGE;
}

/* Writes a branch to its target, with a distance of 32 bits. */
static int put_branch(struct moving *moving, const struct displaced *displaced)
{
	uint64_t from = moving->stub + moving->written;
	int64_t distance = (int64_t)(displaced->target - from);
	uint8_t *place = moving->out + moving->written;

	if (distance != (int32_t)distance || distance - 8 != (int32_t)(distance - 8))
		return -ERANGE;
	if (displaced->action == ACTION_JUMP) {
		moving->written += put_jump(place, from, displaced->target);
		moving->ended = true;
		return 0;
	}
	put_jump(place + 1, from + 1, displaced->target);
	place[0] = JCC;
	place[1] = (uint8_t)(JCC_NEAR | displaced->condition);
	moving->written += X86_64_NEAR_JCC;
	return 0;
}

/* The operand may fault: if the instruction is the first, a guard tries it before. */
static void note_guard(struct moving *moving, const uint8_t *bytes, const struct x86_scan *scan)
{
	if (!moving->taken)
		moving->guard_length = x86_64_put_guard(bytes, scan, moving->guard);
}

/* A jump of a PLT stub, or through a register or a table. */
static int put_jump_by_pointer(struct moving *moving, const uint8_t *bytes,
			       const struct x86_scan *scan, size_t length)
{
	const bool memory = scan->mod != 3;

	if (scan->segment || scan->address_size)
		return -ENOTSUP;
	if (memory && !scan->pc_relative)
		note_guard(moving, bytes, scan);
	int error = put_copy(moving, scan, length);

	moving->written += length;
	moving->ended = true;
	return error;
}

/* No-ops, too: offset_in_function() counts on the same instructions in function and stub. */
static void put_as_it_is(struct moving *moving, const uint8_t *bytes,
			 const struct displaced *displaced)
{
	memcpy(moving->out + moving->written, bytes, displaced->length);
	moving->written += displaced->length;
	moving->ended = displaced->action == ACTION_RETURN;
}

static bool makes_frame(const uint8_t *bytes, size_t length)
{
	return length == 3 &&
	       (!memcmp(bytes, "\x48\x89\xe5", 3) || !memcmp(bytes, "\x48\x8b\xec", 3));
}

/*
 * The called function has to return to the program's code. A call in the stub pushes its own return
 * address, which is then written over, as processors match calls with returns: after a jump all
 * returns on the way out would be mispredicted.
 */
static void put_return_address(struct moving *moving, uint64_t address)
{
	static const uint8_t call[] = {0xe8, 0x01, 0, 0, 0, NEVER_RUN};
	static const uint8_t low[] = {0xc7, 0x04, 0x24};	/* movl $low,(%rsp) */
	static const uint8_t high[] = {0xc7, 0x44, 0x24, 0x04}; /* movl $high,4(%rsp) */
	uint8_t *place = moving->out + moving->written;

	memcpy(place, call, sizeof call);
	place += sizeof call;
	memcpy(place, low, sizeof low);
	memcpy(place + sizeof low, &address, WORD);
	place += sizeof low + WORD;
	memcpy(place, high, sizeof high);
	memcpy(place + sizeof high, (const uint8_t *)&address + WORD, WORD);
	moving->written += sizeof call + sizeof low + sizeof high + 2 * WORD;
	moving->ended = true;
}

/* A call of an address, or through a GOT slot. */
static int put_call(struct moving *moving, const struct x86_scan *scan,
		    const struct displaced *displaced)
{
	const uint64_t behind = moving->function->address + moving->taken + displaced->length;

	put_return_address(moving, behind);
	if (displaced->action == ACTION_CALL) {
		struct displaced jump = *displaced;

		jump.action = ACTION_JUMP;
		return put_branch(moving, &jump);
	}
	if (!scan->pc_relative)
		return -ENOTSUP;
	uint8_t *modrm = moving->out + moving->written + scan->displacement_offset - 1;
	int error = put_copy(moving, scan, displaced->length);

	*modrm = (uint8_t)((*modrm & 0xc7) | JUMP_GROUP << 3);
	moving->written += displaced->length;
	return error;
}

/*
 * Programs may let a division raise SIGFPE without having enabled that. As the first instruction,
 * it would run again at the function's beginning, and the call would be counted twice.
 */
static bool is_division(const struct x86_scan *scan)
{
	return scan->encoding == ENCODING_LEGACY && scan->map == MAP_ONE_BYTE &&
	       (scan->opcode & 0xfe) == 0xf6 && scan->reg >= 6;
}

/* Copies an instruction that is no branch. */
static int move_plain(struct moving *moving, const uint8_t *bytes, const struct x86_scan *scan,
		      size_t length)
{
	const enum x86_64_plain plain = x86_64_plain(scan, moving->has_frame);

	if (plain == PLAIN_NOT || (!moving->taken && is_division(scan)))
		return -ENOTSUP;
	if (plain == PLAIN_ACCESS)
		note_guard(moving, bytes, scan);
	int error = put_copy(moving, scan, length);

	moving->written += length;
	moving->has_frame |= makes_frame(bytes, length);
	return error;
}

static int move_one(struct moving *moving, struct decoder *decoder)
{
	const struct agent_function *function = moving->function;
	const uint8_t *bytes = function->bytes + moving->taken;
	size_t length = function->length - moving->taken;
	struct displaced displaced;
	struct x86_scan scan;
	int error = x86_scan(bytes, length, X86_MODE_64, &scan);

	if (!error)
		error = x86_displace(decoder, &arch_x86_64, X86_MODE_64, bytes, length,
				     function->address + moving->taken, &displaced);
	if (error || displaced.length > length)
		return -ENOTSUP;
	if (displaced.kind == DISPLACED_COPY)
		error = move_plain(moving, bytes, &scan, displaced.length);
	else if (displaced.action == ACTION_RETURN || displaced.action == ACTION_SKIP)
		put_as_it_is(moving, bytes, &displaced); /* these run at any address */
	else if (displaced.action == ACTION_JUMP || displaced.action == ACTION_JUMP_IF)
		error = put_branch(moving, &displaced);
	else if (displaced.action == ACTION_JUMP_OPERAND)
		error = put_jump_by_pointer(moving, bytes, &scan, displaced.length);
	else if (displaced.action == ACTION_CALL || displaced.action == ACTION_CALL_OPERAND)
		error = put_call(moving, &scan, &displaced);
	else
		error = -ENOTSUP;
	moving->taken += displaced.length;
	return error;
}

/* ------------------------------------------------------------------ reads of return addresses */

enum { LOOKED_AT = 256 };

/* True if the operand is the word on top of the stack, or may be, by an index. */
static bool names_top(const struct x86_scan *scan)
{
	return scan->has_sib && (scan->sib & 7) == REG_NUMBER_SP && !(scan->rex & 1) &&
	       scan->opcode != 0x8d &&
	       ((scan->sib >> 3 & 7) != NO_INDEX || scan->rex & 2 ||
		(scan->displacement > -8 && scan->displacement < 8));
}

/* True if the instruction changes the stack pointer, or may not continue behind itself. */
static bool ends_look(const struct x86_scan *scan)
{
	bool to_sp = scan->mod == 3 && scan->rm == REG_NUMBER_SP && !(scan->rex & 1);
	bool from_operand = scan->reg == REG_NUMBER_SP && !(scan->rex & 4);

	switch (scan->map == MAP_ONE_BYTE ? scan->opcode : 0) {
	case 0x50 ... 0x57: /* push */
	case 0x68:
	case 0x6a:
	case 0xc2 ... 0xc3: /* ret */
	case 0xc8 ... 0xc9: /* enter, leave */
	case 0xcc:
	case 0xe8 ... 0xe9: /* call, jmp */
	case 0xeb:
	case 0xff: /* also call and jmp of operands */
		return true;
	case 0x80 ... 0x83:
	case 0x89:
	case 0xc7:
		return to_sp;
	case 0x03:
	case 0x2b:
	case 0x8b:
	case 0x8d:
		return from_operand;
	default:
		return false;
	}
}

/*
 * Returns true if a function reads, changes or pops its return address, before it moves the stack
 * pointer otherwise: setjmp() and similar functions under any name, functions that are called to
 * get at data behind the call, functions that return elsewhere.
 */
static bool handles_return_address(struct decoder *decoder, const struct agent_function *function)
{
	size_t end = function->length < LOOKED_AT ? function->length : LOOKED_AT;
	struct x86_scan scan;

	for (size_t i = 0; i < end;) {
		const uint8_t *bytes = function->bytes + i;

		if (x86_scan(bytes, function->length - i, X86_MODE_64, &scan) != 0)
			return false;
		int length = x86_decode_length(decoder, X86_MODE_64, bytes, function->length - i,
					       &scan);

		if (length <= 0)
			return false;
		if (names_top(&scan) || (scan.encoding == ENCODING_LEGACY &&
					 scan.map == MAP_ONE_BYTE && (scan.opcode & 0xf8) == 0x58))
			return true;
		if (scan.encoding == ENCODING_LEGACY && ends_look(&scan))
			return false;
		i += (size_t)length;
	}
	return false;
}

/*
 * Returns true if the `length` bytes behind the displaced ones are padding, which the jump may
 * cover: nops or int3 up to where another function may begin. Compilers align functions to 16
 * bytes.
 */
static bool is_padding(struct decoder *decoder, const struct moving *moving, size_t length)
{
	const struct agent_function *function = moving->function;
	uint64_t end = function->address + moving->taken + length;
	size_t known = function->length + function->behind;
	struct x86_scan scan;

	if (moving->taken < function->length || end > (function->address | 15) + 1)
		return false;
	for (size_t i = moving->taken; i < moving->taken + length;) {
		const uint8_t *bytes = function->bytes + i;
		int size = 1;

		if (x86_scan(bytes, known - i, X86_MODE_64, &scan) != 0)
			return false;
		if (bytes[0] != 0xcc)
			size = x86_decode_length(decoder, X86_MODE_64, bytes, known - i, &scan);
		bool is_nop = scan.encoding == ENCODING_LEGACY &&
			      ((scan.map == MAP_ONE_BYTE &&
				(scan.opcode == 0x90 || scan.opcode == 0xcc)) ||
			       (scan.map == MAP_0F && scan.opcode == 0x1f));

		if (size <= 0 || !is_nop)
			return false;
		i += (size_t)size;
	}
	return true;
}

/* Puts the guard in front of what a stub begins with. */
static int put_guard(const struct moving *moving, uint64_t entry, uint32_t probe)
{
	const size_t at = AGENT_PROBE_GUARDED - moving->guard_length;
	const uint64_t stub = moving->stub;
	uint8_t *out = moving->out;
	size_t length = AGENT_PROBE_GUARDED;

	if (moving->written > at)
		return -ENOTSUP;
	memset(out, NEVER_RUN, AGENT_PROBE_BREAKPOINT);
	put_jump(out, stub, stub + at);
	memset(out + moving->written, NEVER_RUN, AGENT_PROBE_STUB - moving->written);
	memcpy(out + at, moving->guard, moving->guard_length);
	length += put_push(out + length, probe);
	put_jump(out + length, stub + length, entry);
	return 0;
}

/* Writes the rest of a stub: its breakpoint, and the displaced instructions. */
static int move_beginning(struct moving *moving, struct decoder *decoder)
{
	const struct agent_function *function = moving->function;
	uint8_t *out = moving->out;

	out[AGENT_PROBE_BREAKPOINT] = NOP;
	put_jump(out + AGENT_PROBE_BREAKPOINT + 1, moving->stub + AGENT_PROBE_BREAKPOINT + 1,
		 moving->stub + AGENT_PROBE_DISPLACED);
	while (moving->taken < function->covered && !moving->ended) {
		int error = move_one(moving, decoder);

		if (error)
			return error;
	}
	if (moving->taken < function->covered &&
	    !is_padding(decoder, moving, function->covered - moving->taken))
		return -ENOTSUP;
	if (!moving->ended)
		moving->written += put_jump(out + moving->written, moving->stub + moving->written,
					    function->address + moving->taken);
	return 0;
}

static struct moving begin_stub(const struct agent_function *function, uint64_t unit,
				uint32_t probe, uint8_t out[AGENT_PROBE_STUB])
{
	memset(out, NEVER_RUN, AGENT_PROBE_STUB);
	return (struct moving){.function = function,
			       .stub = unit + AGENT_PROBE_STUBS +
				       (uint64_t)probe * AGENT_PROBE_STUB,
			       .written = AGENT_PROBE_DISPLACED,
			       .out = out};
}

static int write_probe_stub(struct decoder *decoder, const struct agent_function *function,
			    uint64_t unit, uint32_t probe, enum agent_role role,
			    uint8_t out[AGENT_PROBE_STUB])
{
	struct moving moving = begin_stub(function, unit, probe, out);
	const uint64_t entry = unit + x86_64_entry_of(role);
	size_t length = put_push(out, probe);

	put_jump(out + length, moving.stub + length, entry);
	if ((role == AGENT_COUNTS || role == AGENT_RECORDS) &&
	    handles_return_address(decoder, function))
		return -ENOTSUP;
	int error = move_beginning(&moving, decoder);

	return !error && moving.guard_length ? put_guard(&moving, entry, probe) : error;
}

static int write_gate_stub(struct decoder *decoder, const struct agent_function *function,
			   uint64_t unit, uint32_t probe, const struct gate *gate,
			   uint8_t out[AGENT_PROBE_STUB])
{
	struct moving moving = begin_stub(function, unit, probe, out);
	/* cmp $value, %edi; jne to the displaced instructions */
	const uint8_t test[5] = {0x83, 0xff, gate->value, 0x75, AGENT_PROBE_DISPLACED - 5};

	memset(out, NOP, AGENT_PROBE_BREAKPOINT);
	if (gate->kind == GATE_ARGUMENT) {
		memcpy(out, test, sizeof test);
	} else {
		put_jump(out, moving.stub, unit + AGENT_JUMP_TEST);
		out[0] = CALL;
	}
	int error = move_beginning(&moving, decoder);

	return !error && moving.guard_length ? -ENOTSUP : error;
}

/* The first instruction of the test pops the address in the stub into %r11. */
static uint64_t gate_stub_of(uint64_t unit, const struct regs *regs, uint64_t top, uint64_t *sp)
{
	const bool is_first = regs->pc == unit + AGENT_JUMP_TEST;

	*sp = regs->r[REG_SP] + (is_first ? sizeof top : 0);
	return is_first ? top : regs->r[REG_NUMBER_11];
}

const struct agent_arch x86_64_agent = {
	.code = code,
	.code_length = sizeof code,
	.clock = x86_64_clock,
	.clock_is_steady = x86_64_clock_is_steady,
	.emulate_clock = x86_64_emulate_clock,
	.use_system_clock = x86_64_use_system_clock,
	.can_tell_threads = can_tell_threads,
	.write_return_stub = write_return_stub,
	.write_probe_stub = write_probe_stub,
	.write_gate_stub = write_gate_stub,
	.gate_stub_of = gate_stub_of,
	.write_call_stub = x86_64_write_call_stub,
	.straight_before = x86_64_straight_before,
	.way_of = x86_64_way_of,
	.filler = filler,
	.leads_to_guard = JMP,
	.is_guard = x86_64_is_guard,
	.offset_in_function = x86_64_offset_in_function,
	.find_branches = x86_64_find_branches,
	.is_branch = x86_64_is_branch,
	.jumps_by_pointer = x86_64_jumps_by_pointer,
	.reads_distances = x86_64_reads_distances,
	.find_references = x86_64_find_references,
	.names_word = x86_64_names_word,
	.returns_member = x86_64_returns_member,
	.sys_memfd_create = 319,
	.sys_close = 3,
	.sys_prctl = 157,
	.sys_madvise = 28,
};

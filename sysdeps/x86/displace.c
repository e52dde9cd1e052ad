/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How an x86 instruction is displaced. Instructions that set the pc, and do nothing else, are
 * emulated; they are recognised by their encoding (Intel SDM volume 2; AMD APM volume 3). Of the
 * others, those that can run anywhere are copied, with their pc-relative displacement noted. These
 * are refused:
 *
 *	- far branches, iret, sysenter, 32-bit syscall: they contain, or imply, a return address
 *	- int3, int1, into, int n except Linux's 0x80: the kernel reports the pc to handlers
 *	- transactions, whose abort address is pc-relative
 *	- near branches with an operand-size prefix: Intel and AMD disagree on their effect in
 *	  64-bit code, and in 32-bit code they cut the pc to 16 bits
 *
 * Some instructions are copied although they store their address: system calls (the return address
 * in rcx), fstenv and similar (the last x87 instruction). Programs do not jump there.
 *
 * Instructions that fault are copied, too: the kernel reports a pc in the XOL slot, and
 * displaced_program_pc() maps it to the program's.
 */
#include "code/relocate.h"
#include "x86/x86.h"

#include <errno.h>
#include <string.h>

/* State of the classification of one instruction. */
struct work {
	enum x86_mode mode;
	const uint8_t *bytes;
	size_t length;
	struct x86_scan scan;
	struct displaced *out;
};

/* Reads a little-endian, sign-extended immediate behind the scanned part, and sets the length. */
static int take_immediate(struct work *work, unsigned size, int64_t *value)
{
	const uint8_t *place = work->bytes + work->scan.length;
	uint32_t raw = 0;

	if (work->scan.length + size > work->length || work->scan.length + size > 15)
		return -EILSEQ;
	for (unsigned i = 0; i < size; i++)
		raw |= (uint32_t)place[i] << (8 * i);
	*value = size == 1 ? (int8_t)raw : size == 2 ? (int16_t)raw : (int32_t)raw;
	work->out->length = (uint8_t)(work->scan.length + size);
	return 0;
}

/* Bytes of an address; also the size of the loop counter. */
static uint8_t address_size(const struct work *work)
{
	if (work->mode == X86_MODE_64)
		return work->scan.address_size ? 4 : 8;
	return work->scan.address_size ? 2 : 4;
}

/*
 * True for near branches whose size Intel and AMD agree on, and without an (invalid) lock prefix.
 */
static bool is_plain_branch(const struct work *work)
{
	bool wide = work->mode == X86_MODE_64 && (work->scan.rex & 8);

	return !work->scan.lock && (!work->scan.operand_size || wide);
}

static int emulate(struct work *work, enum displaced_action action)
{
	work->out->kind = DISPLACED_EMULATE;
	work->out->action = (uint8_t)action;
	return 0;
}

static int relative_branch(struct work *work, enum displaced_action action, unsigned size)
{
	struct displaced *out = work->out;
	int64_t distance;

	if (!is_plain_branch(work))
		return -ENOTSUP;
	if (take_immediate(work, size, &distance))
		return -EILSEQ;
	out->target = out->address + out->length + (uint64_t)distance;
	if (work->mode == X86_MODE_32)
		out->target = (uint32_t)out->target;
	return emulate(work, action);
}

static int conditional_jump(struct work *work, unsigned size)
{
	work->out->condition = work->scan.opcode & 15;
	return relative_branch(work, ACTION_JUMP_IF, size);
}

/* loopne, loope, loop, jcxz: e0 … e3 */
static int counter_jump(struct work *work)
{
	static const uint8_t conditions[3] = {5 /* not equal */, 4 /* equal */, CONDITION_ALWAYS};
	uint8_t which = work->scan.opcode & 3;

	work->out->operand.address_size = address_size(work);
	if (which == 3)
		return relative_branch(work, ACTION_JUMP_CXZ, 1);
	work->out->condition = conditions[which];
	return relative_branch(work, ACTION_LOOP, 1);
}

static int near_return(struct work *work, unsigned immediate_size)
{
	int64_t pop = 0;

	if (!is_plain_branch(work))
		return -ENOTSUP;
	if (take_immediate(work, immediate_size, &pop))
		return -EILSEQ;
	work->out->pop = immediate_size ? (uint16_t)pop : 0;
	return emulate(work, ACTION_RETURN);
}

static void memory_operand(const struct work *work, struct displaced_operand *operand)
{
	const struct x86_scan *scan = &work->scan;
	uint8_t rex_b = (scan->rex & 1) << 3, rex_x = (scan->rex & 2) << 2;

	operand->memory = true;
	operand->displacement = scan->displacement;
	operand->segment = scan->segment > 1 ? scan->segment : 0;
	if (scan->pc_relative) {
		operand->base = OPERAND_PC;
	} else if (scan->has_sib) {
		uint8_t index = (scan->sib >> 3 & 7) | rex_x;

		if (index != REG_SP)
			operand->index = (int8_t)index;
		operand->scale = (uint8_t)(1 << (scan->sib >> 6));
		if ((scan->sib & 7) != 5 || scan->mod != 0)
			operand->base = (int8_t)((scan->sib & 7) | rex_b);
	} else if (scan->mod != 0 || scan->rm != 5) {
		operand->base = (int8_t)(scan->rm | rex_b);
	}
}

static int indirect_branch(struct work *work, enum displaced_action action)
{
	struct displaced_operand *operand = &work->out->operand;

	if (!is_plain_branch(work))
		return -ENOTSUP;
	operand->address_size = address_size(work);
	operand->base = operand->index = OPERAND_NONE;
	work->out->length = work->scan.length;
	if (work->scan.mod == 3) {
		operand->base = (int8_t)(work->scan.rm | (work->scan.rex & 1) << 3);
		return emulate(work, action);
	}
	if (operand->address_size == 2)
		return -ENOTSUP; /* 16-bit addressing uses other registers */
	memory_operand(work, operand);
	return emulate(work, action);
}

static int copy(struct work *work, struct decoder *decoder)
{
	struct displaced *out = work->out;
	int length = x86_decode_length(decoder, work->mode, work->bytes, work->length, &work->scan);

	if (length < 0)
		return length;
	out->kind = DISPLACED_COPY;
	out->length = (uint8_t)length;
	if (work->scan.pc_relative) {
		out->rip_offset = (int8_t)work->scan.displacement_offset;
		out->operand.address_size = address_size(work);
	}
	return 0;
}

static int skip(struct work *work)
{
	work->out->length = work->scan.length;
	return emulate(work, ACTION_SKIP);
}

/* Group 5: inc, dec, call, far call, jmp, far jmp, push. */
static int displace_group_5(struct work *work, struct decoder *decoder)
{
	switch (work->scan.reg) {
	case 2:
		return indirect_branch(work, ACTION_CALL_OPERAND);
	case 4:
		return indirect_branch(work, ACTION_JUMP_OPERAND);
	case 3:
	case 5:
		return -ENOTSUP;
	default:
		return copy(work, decoder);
	}
}

static int software_interrupt(struct work *work, struct decoder *decoder)
{
	if (work->scan.length >= work->length)
		return -EILSEQ;
	return work->bytes[work->scan.length] == 0x80 ? copy(work, decoder) : -ENOTSUP;
}

static int displace_one_byte(struct work *work, struct decoder *decoder)
{
	const struct x86_scan *scan = &work->scan;

	switch (scan->opcode) {
	case 0x70 ... 0x7f:
		return conditional_jump(work, 1);
	case 0x90: /* with REX.B: xchg %r8,%rax; with rep: pause, a hint */
		return scan->rex & 1 || scan->lock ? copy(work, decoder) : skip(work);
	case 0xc2:
		return near_return(work, 2);
	case 0xc3:
		return near_return(work, 0);
	case 0xc6:
	case 0xc7: /* xabort, xbegin */
		return scan->mod == 3 && scan->reg == 7 ? -ENOTSUP : copy(work, decoder);
	case 0xcd:
		return software_interrupt(work, decoder);
	case 0x9a: /* far call */
	case 0xca: /* far return */
	case 0xcb:
	case 0xcc: /* int3 */
	case 0xce: /* into */
	case 0xcf: /* iret */
	case 0xea: /* far jump */
	case 0xf1: /* int1 */
		return -ENOTSUP;
	case 0xe0 ... 0xe3:
		return counter_jump(work);
	case 0xe8:
		return relative_branch(work, ACTION_CALL, 4);
	case 0xe9:
		return relative_branch(work, ACTION_JUMP, 4);
	case 0xeb:
		return relative_branch(work, ACTION_JUMP, 1);
	case 0xff:
		return displace_group_5(work, decoder);
	default:
		return copy(work, decoder);
	}
}

static int displace_0f(struct work *work, struct decoder *decoder)
{
	const struct x86_scan *scan = &work->scan;

	switch (scan->opcode) {
	case 0x05: /* syscall, sysret: in 32-bit code the kernel selects the return address */
	case 0x07:
		return work->mode == X86_MODE_64 ? copy(work, decoder) : -ENOTSUP;
	case 0x34: /* sysenter, sysexit */
	case 0x35:
		return -ENOTSUP;
	case 0x1e: /* endbr64, endbr32; others of this opcode read the shadow stack */
		if (scan->rep && scan->mod == 3 && scan->reg == 7 && (scan->rm & 6) == 2)
			return skip(work);
		return copy(work, decoder);
	case 0x1f:
		return scan->lock ? copy(work, decoder) : skip(work);
	case 0x80 ... 0x8f:
		return conditional_jump(work, 4);
	default:
		return copy(work, decoder);
	}
}

/* See `at_once` in struct displaced. */
static bool runs_at_once(const struct x86_scan *scan)
{
	if (scan->encoding != ENCODING_LEGACY)
		return true;
	if (scan->map == MAP_0F)
		return scan->opcode != 0x05 && scan->opcode != 0x07;
	if (scan->map != MAP_ONE_BYTE)
		return true;
	switch (scan->opcode) {
	case 0x17:	    /* pop %ss: a single-step would end one instruction later */
	case 0x6c ... 0x6f: /* string instructions may be repeated */
	case 0x8e:	    /* mov to a segment register: like pop %ss */
	case 0x9c:	    /* pushf: would push the flag of a single-step */
	case 0xa4 ... 0xa7:
	case 0xaa ... 0xaf:
	case 0xcd:
	case 0xf4: /* hlt */
		return false;
	default:
		return true;
	}
}

int x86_displace(struct decoder *decoder, const struct arch *arch, enum x86_mode mode,
		 const uint8_t *bytes, size_t length, uint64_t address, struct displaced *out)
{
	struct work work = {.mode = mode, .bytes = bytes, .length = length, .out = out};
	int err = x86_scan(bytes, length, mode, &work.scan);

	if (err)
		return err;
	memset(out, 0, sizeof *out);
	out->arch = arch;
	out->address = address;
	out->rip_offset = -1;
	if (work.scan.encoding != ENCODING_LEGACY)
		err = copy(&work, decoder);
	else if (work.scan.map == MAP_ONE_BYTE)
		err = displace_one_byte(&work, decoder);
	else if (work.scan.map == MAP_0F)
		err = displace_0f(&work, decoder);
	else
		err = copy(&work, decoder);
	if (err)
		return err;
	memcpy(out->code, bytes, out->length);
	out->at_once = out->kind == DISPLACED_COPY && runs_at_once(&work.scan);
	return 0;
}

bool x86_condition_holds(const struct regs *regs, uint8_t condition)
{
	bool carry = regs->flags & 1, parity = regs->flags & 4, zero = regs->flags & 0x40;
	bool sign = regs->flags & 0x80, overflow = regs->flags & 0x800;
	bool holds[8] = {overflow,
			 carry,
			 zero,
			 carry || zero,
			 sign,
			 parity,
			 sign != overflow,
			 zero || sign != overflow};

	/* An odd condition is the opposite of the even one before it. */
	return holds[condition >> 1 & 7] != (condition & 1);
}

size_t x86_emit_jump_relative(uint64_t from, uint64_t to, uint8_t *out)
{
	uint32_t distance = (uint32_t)(to - (from + 5));

	out[0] = 0xe9;
	memcpy(out + 1, &distance, sizeof distance);
	return 5;
}

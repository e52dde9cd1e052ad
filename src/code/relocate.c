/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The architecture-independent half of displaced instructions: it builds the code for an XOL slot,
 * and applies emulated instructions to the registers. The architecture decides whether an
 * instruction is copied or emulated, and with what operands (arch->displace). It also evaluates
 * branch conditions and makes the jump that leaves the XOL slot.
 *
 * An XOL slot holds the instruction's own bytes, followed by a jump to the next instruction. The
 * bytes keep their length, so every pc inside the slot stands for exactly one pc in the program,
 * whenever a signal, a detach or an exit interrupts the thread; displaced_program_pc() does that
 * translation. Only a pc-relative displacement is changed in the bytes, by the distance that the
 * instruction was moved.
 *
 * Emulation reads all its operands first, then writes memory, then the registers. If a read or
 * write fails, nothing has changed, and the instruction can be made to fault at its own address. A
 * target that is not canonical faults on the branch and not at the target, so it is refused with
 * the same error. Addresses wrap at the architecture's word, as the processor's do.
 *
 * Shadow stacks are not supported: an emulated call does not push to the thread's shadow stack.
 */
#include "code/relocate.h"

#include <errno.h>
#include <string.h>

/* Keeps the low `size` bytes. */
static uint64_t cut(uint64_t value, unsigned size)
{
	return size >= 8 ? value : value & ((UINT64_C(1) << (size * 8)) - 1);
}

static uint64_t next_pc(const struct displaced *displaced)
{
	return cut(displaced->address + displaced->length, displaced->arch->abi->word);
}

/*
 * Changes the pc-relative displacement in `code` by the distance between the program and the XOL
 * slot.
 */
static int adjust_displacement(const struct displaced *displaced, uint64_t slot_address,
			       uint8_t *code)
{
	uint8_t *place = code + displaced->rip_offset;
	int32_t old;
	int64_t moved;

	memcpy(&old, place, sizeof old);
	moved = (int64_t)((uint64_t)(int64_t)old + displaced->address - slot_address);

	int32_t adjusted = (int32_t)moved;

	/* With 32-bit addressing the sum wraps, so every address is in reach. */
	if (adjusted != moved && displaced->operand.address_size != 4)
		return -ERANGE;
	memcpy(place, &adjusted, sizeof adjusted);
	return 0;
}

int displaced_emit(const struct displaced *displaced, uint64_t slot_address, uint8_t *out,
		   size_t *out_length)
{
	uint8_t jump[ARCH_JUMP_MAX];
	size_t length = displaced->length, jump_length;

	memcpy(out, displaced->code, length);
	if (displaced->rip_offset >= 0) {
		int err = adjust_displacement(displaced, slot_address, out);

		if (err)
			return err;
	}
	jump_length = displaced->arch->emit_jump(slot_address + length, next_pc(displaced), jump);
	if (length + jump_length > DISPLACED_CODE_MAX)
		return -ERANGE;
	memcpy(out + length, jump, jump_length);
	*out_length = length + jump_length;
	return 0;
}

uint64_t displaced_program_pc(const struct displaced *displaced, uint64_t slot_address, uint64_t pc)
{
	uint64_t offset = pc - slot_address;

	if (offset >= DISPLACED_CODE_MAX)
		return pc;
	return offset < displaced->length ? displaced->address + offset : next_pc(displaced);
}

/* Computes the address of a memory operand. */
static uint64_t operand_address(const struct displaced *displaced, const struct regs *regs)
{
	const struct displaced_operand *operand = &displaced->operand;
	uint64_t sum = (uint64_t)operand->displacement;

	if (operand->base == OPERAND_PC)
		sum += next_pc(displaced);
	else if (operand->base >= 0)
		sum += regs->r[operand->base];
	if (operand->index >= 0)
		sum += regs->r[operand->index] * operand->scale;
	sum = cut(sum, operand->address_size);
	if (operand->segment == 4)
		sum += regs->fs_base;
	else if (operand->segment == 5)
		sum += regs->gs_base;
	return cut(sum, displaced->arch->abi->word);
}

/* Computes the address to which an indirect branch goes. */
static int operand_target(const struct displaced *displaced, const struct regs *regs,
			  const struct memory_source *memory, uint64_t *target)
{
	unsigned word = displaced->arch->abi->word;

	if (!displaced->operand.memory) {
		*target = cut(regs->r[displaced->operand.base], word);
		return 0;
	}
	if (!memory_read_word(memory, operand_address(displaced, regs), word, target))
		return -EFAULT;
	return 0;
}

/* Decrements the loop counter, whose width is the address size, and returns the new value. */
static uint64_t count_down(struct regs *regs, unsigned size)
{
	uint64_t left = cut(regs->r[REG_CX] - 1, size);

	/* A 16-bit write keeps the rest of the register, a 32-bit write clears it. */
	if (size == 2)
		regs->r[REG_CX] = (regs->r[REG_CX] & ~UINT64_C(0xffff)) | left;
	else
		regs->r[REG_CX] = left;
	return left;
}

static int push_word(const struct displaced *displaced, struct regs *regs, uint64_t value,
		     displaced_write *write, void *context)
{
	unsigned word = displaced->arch->abi->word;
	uint64_t sp = cut(regs->r[REG_SP] - word, word);
	int err = write(context, sp, &value, word);

	if (err)
		return err == -ESRCH ? err : -EFAULT;
	regs->r[REG_SP] = sp;
	return 0;
}

/* Returns true if the address is canonical: a sign-extended 48-bit address. */
static bool is_canonical(const struct displaced *displaced, uint64_t address)
{
	if (displaced->arch->abi->word < 8)
		return true;
	return (uint64_t)((int64_t)(address << 16) >> 16) == address;
}

/* Emulates a call. `target` is checked before the return address is pushed. */
static int do_call(const struct displaced *displaced, struct regs *regs, uint64_t target,
		   displaced_write *write, void *context)
{
	int err;

	if (!is_canonical(displaced, target))
		return -EFAULT;
	err = push_word(displaced, regs, next_pc(displaced), write, context);
	if (!err)
		regs->pc = target;
	return err;
}

static int do_return(const struct displaced *displaced, struct regs *regs,
		     const struct memory_source *memory)
{
	unsigned word = displaced->arch->abi->word;
	uint64_t target;

	if (!memory_read_word(memory, cut(regs->r[REG_SP], word), word, &target) ||
	    !is_canonical(displaced, target))
		return -EFAULT;
	regs->r[REG_SP] = cut(regs->r[REG_SP] + word + displaced->pop, word);
	regs->pc = target;
	return 0;
}

static int do_operand(const struct displaced *displaced, struct regs *regs,
		      const struct memory_source *memory, displaced_write *write, void *context)
{
	uint64_t target;
	int err = operand_target(displaced, regs, memory, &target);

	if (err)
		return err;
	if (displaced->action == ACTION_CALL_OPERAND)
		return do_call(displaced, regs, target, write, context);
	if (!is_canonical(displaced, target))
		return -EFAULT;
	regs->pc = target;
	return 0;
}

static bool condition_holds(const struct displaced *displaced, const struct regs *regs)
{
	return displaced->condition == CONDITION_ALWAYS ||
	       displaced->arch->condition_holds(regs, displaced->condition);
}

/* Returns true if a relative jump is taken. Decrements the counter of a loop instruction. */
static bool is_taken(const struct displaced *displaced, struct regs *regs)
{
	unsigned size = displaced->operand.address_size;

	switch (displaced->action) {
	case ACTION_JUMP:
		return true;
	case ACTION_JUMP_IF:
		return condition_holds(displaced, regs);
	case ACTION_LOOP:
		return count_down(regs, size) != 0 && condition_holds(displaced, regs);
	case ACTION_JUMP_CXZ:
		return cut(regs->r[REG_CX], size) == 0;
	default:
		return false;
	}
}

int displaced_emulate(const struct displaced *displaced, struct regs *regs,
		      const struct memory_source *memory, displaced_write *write, void *context)
{
	if (displaced->kind != DISPLACED_EMULATE)
		return -EINVAL;
	switch (displaced->action) {
	case ACTION_CALL:
		return do_call(displaced, regs, displaced->target, write, context);
	case ACTION_CALL_OPERAND:
	case ACTION_JUMP_OPERAND:
		return do_operand(displaced, regs, memory, write, context);
	case ACTION_RETURN:
		return do_return(displaced, regs, memory);
	default:
		regs->pc = is_taken(displaced, regs) ? displaced->target : next_pc(displaced);
		return 0;
	}
}

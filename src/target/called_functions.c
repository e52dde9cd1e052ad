/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which function a call instruction calls, as far as the code and the GOT tell. */
#include "target/called_functions.h"

#include "code/relocate.h"
#include "engine/trap/breakpoint_takeover.h"
#include "object/elf_got_slots.h"
#include "object/elf_symbols.h"
#include "target/module.h"

enum { CALL_BYTES = 5, SLOT_CALL_BYTES = 6 };

/* Returns the target of a direct call in front of `address`, or 0. */
static uint64_t called_directly(const struct target *target, const struct space *space,
				uint64_t address)
{
	uint8_t code[CALL_BYTES];
	struct displaced call;

	if (trap_read_code(space, address - CALL_BYTES, code, sizeof code) != sizeof code ||
	    space->arch->displace(trap_decoder(target->trap), code, sizeof code,
				  address - CALL_BYTES, &call) != 0 ||
	    call.length != CALL_BYTES || call.kind != DISPLACED_EMULATE ||
	    call.action != ACTION_CALL)
		return 0;
	return call.target;
}

/* Reads a GOT slot. Returns 0 if it cannot be read. */
static uint64_t read_slot(const struct space *space, uint64_t slot)
{
	uint64_t target;

	return memory_read_word(&space->readable, slot, space->arch->abi->word, &target) ? target
											 : 0;
}

/* A GOT slot may have been changed since the call. Returns true if `target` has the name. */
static bool has_name(const struct space *space, uint64_t target, const char *name)
{
	const struct module *module = modules_find(space->modules, target);

	if (!module || !name)
		return false;
	for (const struct elf_symbol *symbol = elf_find_symbol(module->file, name); symbol;
	     symbol = elf_find_next(module->file, symbol))
		if (symbol->value + module->bias == target)
			return true;
	return false;
}

/* Returns the function that a GOT slot leads to; 0: none, or not the one that it is for. */
static uint64_t in_slot(const struct space *space, const struct module *module,
			const struct got_slot *slot)
{
	const uint64_t target = read_slot(space, slot->address + module->bias);

	return has_name(space, target, slot->name) ? target : 0;
}

/* Returns where the PLT stub at `address` leads, or 0 if no stub is there. */
static uint64_t through_stub(const struct space *space, uint64_t address)
{
	const struct module *module = modules_find(space->modules, address);
	size_t count;
	const struct got_slot *slots = module ? elf_got_slots(module->file, &count) : NULL;

	for (size_t i = 0; slots && i < count; i++)
		if (slots[i].stub && slots[i].stub + module->bias == address)
			return in_slot(space, module, &slots[i]);
	return 0;
}

/* Returns the function that the GOT slot at an address of the space leads to, or 0. */
static uint64_t through_slot(const struct space *space, uint64_t address)
{
	const struct module *module = modules_find(space->modules, address);
	size_t count;
	const struct got_slot *slots = module ? elf_got_slots(module->file, &count) : NULL;

	for (size_t i = 0; slots && i < count; i++)
		if (slots[i].address + module->bias == address)
			return in_slot(space, module, &slots[i]);
	return 0;
}

/* Returns where a call through a GOT slot in front of `address` leads, or 0 if there is none. */
static uint64_t called_by_slot(const struct space *space, uint64_t address)
{
	const struct arch *arch = space->arch;
	uint8_t code[SLOT_CALL_BYTES];
	uint64_t slot;

	address -= SLOT_CALL_BYTES;
	return trap_read_code(space, address, code, sizeof code) == sizeof code &&
			       code[0] == arch->slot_call_opcode &&
			       arch->slot_call(code, address, 0, &slot)
		       ? through_slot(space, slot)
		       : 0;
}

void called_functions_find(const struct target *target, const struct space *space,
			   uint64_t return_address, uint64_t found[CALLED_FUNCTIONS])
{
	found[0] = called_directly(target, space, return_address);
	found[1] = found[0] ? through_stub(space, found[0]) : called_by_slot(space, return_address);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which function a call instruction calls, as far as the code and the GOT tell. */
#include "target/stacks/called_functions.h"

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

/* Returns the GOT slot (`by_stub`: whose PLT stub is) at an address of the module, or NULL. */
static const struct got_slot *slot_at(const struct module *module, uint64_t address, bool by_stub)
{
	size_t count;
	const struct got_slot *slots = elf_got_slots(module->file, &count);

	for (size_t i = 0; i < count; i++) {
		const uint64_t place = by_stub ? slots[i].stub : slots[i].address;

		if (place && place + module->bias == address)
			return &slots[i];
	}
	return NULL;
}

/* Returns the address of the GOT slot of the PLT stub at `address`, or 0 if no stub is there. */
static uint64_t slot_of_stub(const struct space *space, uint64_t address)
{
	const struct module *module = modules_find(space->modules, address);
	const struct got_slot *slot = module ? slot_at(module, address, true) : NULL;

	return slot ? slot->address + module->bias : 0;
}

/* Returns the address of the GOT slot of a call through it in front of `address`, or 0. */
static uint64_t slot_of_call(const struct space *space, uint64_t address)
{
	const struct arch *arch = space->arch;
	uint8_t code[SLOT_CALL_BYTES];
	uint64_t slot;

	address -= SLOT_CALL_BYTES;
	return trap_read_code(space, address, code, sizeof code) == sizeof code &&
			       code[0] == arch->slot_call_opcode &&
			       arch->slot_call(code, address, 0, &slot)
		       ? slot
		       : 0;
}

void called_functions_find(const struct target *target, const struct space *space,
			   uint64_t return_address, struct called_functions *called)
{
	called->direct = called_directly(target, space, return_address);
	called->slot = called->direct ? slot_of_stub(space, called->direct)
				      : slot_of_call(space, return_address);
	called->by_slot = called->slot ? read_slot(space, called->slot) : 0;
}

bool called_functions_slot_is_right(const struct space *space,
				    const struct called_functions *called)
{
	const struct module *module = modules_find(space->modules, called->slot);
	const struct module *definer = modules_find(space->modules, called->by_slot);
	const struct got_slot *slot = module ? slot_at(module, called->slot, false) : NULL;

	if (!slot || !slot->name || !definer)
		return false;
	for (const struct elf_symbol *symbol = elf_find_symbol(definer->file, slot->name); symbol;
	     symbol = elf_find_next(definer->file, symbol))
		if (symbol->value + definer->bias == called->by_slot)
			return true;
	return false;
}

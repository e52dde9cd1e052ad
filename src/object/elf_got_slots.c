/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads from relocations which GOT slots hold function addresses, and which function initialises
 * the module first. The order of PLT stubs never decides which GOT slot belongs to which symbol,
 * because each linker has its own order. elf_plt.c then finds the stubs by the GOT slots they jump
 * through.
 */
#include "object/elf_got_slots.h"

#include "base/cleanup.h"
#include "base/vec.h"
#include "object/elf_plt.h"
#include "object/elf_private.h"
#include "object/elf_records.h"
#include "object/elf_relocations.h"
#include "object/elf_symtab.h"
#include "object/elf_text.h"

#include <string.h>

struct slot_search {
	struct elf_file *file;
	const GElf_Sym *symbols;
	size_t symbol_count;
	const struct string_table *names;
	struct vec slots; /* struct got_slot */
};

/* Reads a word of the file in its class's size, such as the addend of a REL relocation. */
static bool read_word(const struct elf_file *file, uint64_t address, uint64_t *word)
{
	uint64_t offset, available;
	bool wide = file->arch->elf_class == ELFCLASS64;
	uint32_t narrow;

	if (!elf_locate(file, address, &offset, &available))
		return false;
	if (wide)
		return elf_read_records(file, ELF_T_XWORD, offset, 1, word);
	if (!elf_read_records(file, ELF_T_WORD, offset, 1, &narrow))
		return false;
	*word = narrow;
	return true;
}

/* Returns false if the relocation has no symbol, or one that is not a function. */
static bool name_function(const struct slot_search *search, uint64_t index, struct got_slot *slot)
{
	const bool is_called = slot->kind == SLOT_JUMP || slot->kind == SLOT_CODE;

	if (!index || index >= search->symbol_count)
		return false;
	const GElf_Sym *symbol = &search->symbols[index];
	unsigned type = GELF_ST_TYPE(symbol->st_info);

	/* Undefined functions often have no type. */
	if (!is_called && type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return false;
	slot->name = elf_name_at(search->names, symbol->st_name);
	if (symbol->st_shndx == SHN_UNDEF)
		slot->canonical = symbol->st_value;
	return slot->name;
}

/* Reads the opcode in front of a word of the code. */
static bool read_opcode(const struct elf_file *file, uint64_t address, uint8_t *opcode)
{
	return elf_is_code(file, address) && elf_read(file, address - 1, opcode, 1);
}

/* Returns true if the word at `address` is the distance in a call or a jump. */
static bool is_in_call(const struct elf_file *file, uint64_t address)
{
	uint8_t opcode;

	return read_opcode(file, address, &opcode) && file->arch->calls_by_distance(opcode);
}

/*
 * Returns true if an instruction loads the word, and the word is a symbol's address without offset.
 */
static bool is_loaded(const struct elf_file *file, const GElf_Rela *relocation, bool implicit)
{
	uint64_t addend = (uint64_t)relocation->r_addend;
	uint8_t opcode;

	return elf_has_text_relocations(file) && read_opcode(file, relocation->r_offset, &opcode) &&
	       elf_loads_word(file->arch, opcode) &&
	       (!implicit || read_word(file, relocation->r_offset, &addend)) && !addend;
}

static bool add_slot(void *context, const GElf_Rela *relocation, bool implicit)
{
	struct slot_search *search = context;
	const struct arch *arch = search->file->arch;
	uint64_t type = GELF_R_TYPE(relocation->r_info);
	struct got_slot slot = {.address = relocation->r_offset};

	if (type == arch->r_irelative) {
		slot.kind = SLOT_IRELATIVE;
		slot.addend = (uint64_t)relocation->r_addend;
		if (implicit && !read_word(search->file, slot.address, &slot.addend))
			return true;
	} else if (type == arch->r_jump_slot) {
		slot.kind = SLOT_JUMP;
	} else if (type == arch->r_glob_dat) {
		slot.kind = SLOT_DATA;
	} else if (arch->r_distance && type == arch->r_distance &&
		   is_in_call(search->file, slot.address)) {
		slot.kind = SLOT_CODE;
	} else if (type == arch->r_address && is_loaded(search->file, relocation, implicit)) {
		slot.kind = SLOT_LOADED;
	} else {
		return true;
	}
	if (slot.kind != SLOT_IRELATIVE &&
	    !name_function(search, GELF_R_SYM(relocation->r_info), &slot))
		return true;
	vec_push(&search->slots, &slot);
	return true;
}

static void read_slots(struct elf_file *file)
{
	struct slot_search search = {.file = file, .slots = VEC_OF(struct got_slot)};
	_cleanup_free_ GElf_Sym *symbols = elf_load_dynamic_symbols(file, &search.symbol_count);

	search.symbols = symbols;
	search.symbol_count = symbols ? search.symbol_count : 0;
	search.names = elf_dynamic_names(file);
	elf_for_each_relocation(file, false, add_slot, &search);
	file->slots = search.slots.items;
	file->slot_count = search.slots.count;
	elf_find_stubs(file, file->slots, file->slot_count);
}

const struct got_slot *elf_got_slots(struct elf_file *file, size_t *count)
{
	if (!file->slots_read) {
		file->slots_read = true;
		read_slots(file);
	}
	*count = file->slot_count;
	return file->slots;
}

bool elf_has_got_slot(struct elf_file *file, const char *name)
{
	size_t count;
	const struct got_slot *slots = elf_got_slots(file, &count);

	for (size_t i = 0; i < count; i++)
		if (slots[i].name && !strcmp(slots[i].name, name))
			return true;
	return false;
}

/*
 * Finds the relocation with the lowest address in DT_INIT_ARRAY that tells the value of its word.
 */
struct init_search {
	const struct arch *arch;
	uint64_t start;
	uint64_t place; /* the address found, or the array's end */
	GElf_Rela relocation;
};

static bool find_init(void *context, const GElf_Rela *relocation, bool implicit)
{
	struct init_search *search = context;
	bool symbolic = GELF_R_SYM(relocation->r_info) != 0;
	bool relative = GELF_R_TYPE(relocation->r_info) == search->arch->r_relative && !implicit &&
			relocation->r_addend;

	if (relocation->r_offset < search->start || relocation->r_offset >= search->place ||
	    (!symbolic && !relative))
		return true;
	search->place = relocation->r_offset;
	search->relocation = *relocation;
	return search->place != search->start;
}

/* Returns the value that the relocation gives to its word; 0 if another file defines the symbol. */
static uint64_t relocated_value(struct elf_file *file, const GElf_Rela *relocation)
{
	uint64_t value = (uint64_t)relocation->r_addend;
	uint64_t index = GELF_R_SYM(relocation->r_info);
	size_t count;

	if (!index)
		return value;
	_cleanup_free_ GElf_Sym *symbols = elf_load_dynamic_symbols(file, &count);

	if (!symbols || index >= count || symbols[index].st_shndx == SHN_UNDEF)
		return 0;
	return symbols[index].st_value + value;
}

/*
 * Returns the first entry that is not empty. In a RELA file it is the addend of its RELATIVE
 * relocation; an exported constructor has a relocation against its symbol; in a REL file and with
 * packed relocations (DT_RELR), it is in the file itself. An entry of -1 is an old terminator.
 */
static uint64_t first_of_init_array(struct elf_file *file)
{
	enum { ENTRIES = 64 };
	unsigned word = file->arch->abi->word;
	uint64_t start = file->tags[DT_INIT_ARRAY], size = file->tags[DT_INIT_ARRAYSZ];
	uint64_t end = start + (size < ENTRIES * word ? size : ENTRIES * word);
	uint64_t content;

	if (!start || end < start)
		return 0;
	struct init_search search = {.arch = file->arch, .start = start, .place = end};

	elf_for_each_relocation(file, true, find_init, &search);
	for (uint64_t at = start; at + word <= search.place; at += word)
		if (read_word(file, at, &content) && content &&
		    content != (word == 8 ? UINT64_MAX : UINT32_MAX))
			return content;
	return search.place == end ? 0 : relocated_value(file, &search.relocation);
}

uint64_t elf_init_function(struct elf_file *file)
{
	if (!file->init_read) {
		file->init_read = true;
		file->init = file->tags[DT_INIT] ? file->tags[DT_INIT] : first_of_init_array(file);
	}
	return file->init;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GOT slots that hold function addresses, and the first initialisation function: what relocations
 * say. Which slot belongs to which symbol is never guessed from the order of PLT stubs; that order
 * is each linker's own. The stubs are found afterwards, by the slot they jump through (elf_plt.c).
 */
#include "image/elf_private.h"

#include "base/cleanup.h"
#include "base/vec.h"
#include "base/xalloc.h"

struct slot_search {
	struct elf_file *file;
	const GElf_Sym *symbols;
	size_t symbol_count;
	const struct string_table *names;
	struct vec slots; /* struct elf_slot */
};

/* A word of the file in its class's size: the addend of a REL relocation. */
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

/* NULL when the relocation is against no symbol, or one that is no function. */
static const char *function_name(const struct slot_search *search, uint64_t index, bool jump)
{
	if (!index || index >= search->symbol_count)
		return NULL;
	const GElf_Sym *symbol = &search->symbols[index];
	unsigned type = GELF_ST_TYPE(symbol->st_info);

	/* Undefined functions often have no type. */
	if (!jump && type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return NULL;
	return elf_name_at(search->names, symbol->st_name);
}

static bool add_slot(void *context, const GElf_Rela *relocation, bool implicit)
{
	struct slot_search *search = context;
	const struct arch *arch = search->file->arch;
	uint64_t type = GELF_R_TYPE(relocation->r_info);
	struct elf_slot slot = {.address = relocation->r_offset};

	if (type == arch->r_irelative) {
		slot.kind = SLOT_IRELATIVE;
		slot.addend = (uint64_t)relocation->r_addend;
		if (implicit && !read_word(search->file, slot.address, &slot.addend))
			return true;
	} else if (type == arch->r_jump_slot || type == arch->r_glob_dat) {
		slot.kind = type == arch->r_jump_slot ? SLOT_JUMP : SLOT_DATA;
		slot.name = function_name(search, GELF_R_SYM(relocation->r_info),
					  slot.kind == SLOT_JUMP);
		if (!slot.name)
			return true;
	} else {
		return true;
	}
	vec_push(&search->slots, &slot);
	return true;
}

static void read_slots(struct elf_file *file)
{
	struct slot_search search = {.file = file, .slots = VEC_OF(struct elf_slot)};
	_cleanup_free_ GElf_Sym *symbols = elf_load_dynamic_symbols(file, &search.symbol_count);

	search.symbols = symbols;
	search.symbol_count = symbols ? search.symbol_count : 0;
	search.names = elf_dynamic_names(file);
	elf_for_each_relocation(file, false, add_slot, &search);
	file->slots = search.slots.items;
	file->slot_count = search.slots.count;
	elf_find_stubs(file, file->slots, file->slot_count);
}

const struct elf_slot *elf_slots(struct elf_file *file, size_t *count)
{
	if (!file->slots_read) {
		file->slots_read = true;
		read_slots(file);
	}
	*count = file->slot_count;
	return file->slots;
}

/* The RELATIVE relocation of one of the words from `start` to `end`: the lowest of them. */
struct init_search {
	const struct arch *arch;
	uint64_t start, end;
	uint64_t place, addend; /* of the lowest found; place is `end` before */
};

static bool find_init(void *context, const GElf_Rela *relocation, bool implicit)
{
	struct init_search *search = context;

	if (implicit || GELF_R_TYPE(relocation->r_info) != search->arch->r_relative ||
	    relocation->r_offset < search->start || relocation->r_offset >= search->place ||
	    !relocation->r_addend)
		return true;
	search->place = relocation->r_offset;
	search->addend = (uint64_t)relocation->r_addend;
	return search->place != search->start;
}

/*
 * The first entry that is not empty. In a RELA file it is the addend of its relocation; otherwise,
 * and with packed relocations (DT_RELR), it lies in the file. -1 is an old terminator.
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
	struct init_search search = {.arch = file->arch, .start = start, .end = end, .place = end};

	elf_for_each_relocation(file, true, find_init, &search);
	for (uint64_t at = start; at + word <= search.place; at += word)
		if (read_word(file, at, &content) && content &&
		    content != (word == 8 ? UINT64_MAX : UINT32_MAX))
			return content;
	return search.addend;
}

uint64_t elf_init_function(struct elf_file *file)
{
	if (!file->init_read) {
		file->init_read = true;
		file->init = file->tags[DT_INIT] ? file->tags[DT_INIT] : first_of_init_array(file);
	}
	return file->init;
}

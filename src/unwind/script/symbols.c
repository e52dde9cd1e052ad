/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds symbols in a loaded ELF file, and the variables that they are in the process.
 *
 * Where a thread-local variable is, the dynamic linker has written into the words that it relocated
 * for the variable: the number of the module and the offset in the module's block (general dynamic
 * model), or the distance from the thread pointer (initial exec model). The relocations must be
 * those of the symbol itself: a library has others, for variables that it keeps to itself. A
 * program whose own variable it is has no such word, since the linker computed the distance; then
 * the thread-local segment tells it (local exec model). Source: ELF Handling For Thread-Local
 * Storage, the variant of x86-64, and its psABI for the numbers.
 */
#include "unwind/script/symbols.h"

#include "object/elf_relocations.h"
#include "object/elf_symbols.h"

#include <stdlib.h>
#include <string.h>

/*
 * Types of relocations: of a copy of another file's variable; of a word with a module's number,
 * whose offset is in the next word; of a distance.
 */
enum { COPY = 5, TLS_MODULE = 16, TLS_DISTANCE = 18 };

/* Looks for a relocation of a thread-local symbol. */
struct tls_search {
	const GElf_Sym *symbols;
	size_t count;
	const struct string_table *names;
	const char *name;
	uint32_t type;	  /* of the relocation that was found; 0: none */
	uint64_t address; /* of its word */
};

static bool visit(void *context, const GElf_Rela *relocation, bool implicit)
{
	struct tls_search *search = context;
	const uint32_t type = (uint32_t)GELF_R_TYPE(relocation->r_info);
	const uint64_t symbol = GELF_R_SYM(relocation->r_info);
	const char *name;

	(void)implicit;
	if ((type != TLS_MODULE && type != TLS_DISTANCE) || symbol >= search->count)
		return true;
	if (*search->name) {
		name = elf_name_at(search->names, search->symbols[symbol].st_name);
		if (!name || strcmp(name, search->name) != 0)
			return true;
	} else if (symbol || type != TLS_MODULE) {
		/* A word for the file's own block has no symbol, and is that of a module. */
		return true;
	}
	search->type = type;
	search->address = relocation->r_offset;
	return false;
}

/* Reads what the dynamic linker has written for the symbol. */
static bool find_relocated(const struct script_module *module, const struct tls_search *search,
			   struct script_symbol *symbol)
{
	const uint64_t word = module->bias + search->address;

	symbol->tls_module = 0;
	if (search->type == TLS_DISTANCE)
		return memory_read_word(module->memory, word, 8, &symbol->value);
	if (!*search->name) /* the block itself; behind the module's number is no offset */
		return memory_read_word(module->memory, word, 8, &symbol->tls_module) &&
		       symbol->tls_module;
	return memory_read_word(module->memory, word, 8, &symbol->tls_module) &&
	       memory_read_word(module->memory, word + 8, 8, &symbol->value) && symbol->tls_module;
}

/*
 * Returns the size of the thread-local segment of a program, rounded up to its alignment; 0: none.
 */
static uint64_t static_block(struct elf_file *file)
{
	const uint64_t headers = elf_program_headers(file);
	const unsigned count = file->header.e_phnum;
	Elf64_Phdr header;

	if (file->header.e_phentsize != sizeof header || !headers)
		return 0;
	for (unsigned i = 0; i < count; i++) {
		if (!elf_read(file, headers + i * sizeof header, &header, sizeof header))
			return 0;
		const uint64_t alignment = header.p_align ? header.p_align : 1;

		if (header.p_type == PT_TLS)
			return (header.p_memsz + alignment - 1) / alignment * alignment;
	}
	return 0;
}

/* Finds a thread-local variable that the file defines. Returns its place in the file's block. */
static bool find_variable(const struct tls_search *search, uint64_t *offset)
{
	for (size_t i = 0; i < search->count; i++) {
		const GElf_Sym *symbol = &search->symbols[i];
		const char *name = elf_name_at(search->names, symbol->st_name);

		if (GELF_ST_TYPE(symbol->st_info) == STT_TLS && symbol->st_shndx != SHN_UNDEF &&
		    name && !strcmp(name, search->name)) {
			*offset = symbol->st_value;
			return true;
		}
	}
	return false;
}

static bool find_tls(const struct script_module *module, struct tls_search *search,
		     struct script_symbol *symbol)
{
	struct elf_file *file = module->file;
	uint64_t offset = 0;

	if (!search->symbols || !search->names)
		return false;
	if (*search->name && !find_variable(search, &offset))
		return false;
	*symbol = (struct script_symbol){0};
	elf_for_each_relocation(file, false, visit, search);
	if (search->type)
		return find_relocated(module, search, symbol);
	/* Only a program knows the distance of its own variables. */
	const uint64_t block = elf_interpreter(file) ? static_block(file) : 0;

	symbol->value = offset - block;
	return block > 0;
}

/* Looks for the relocation of a place. */
struct place_search {
	uint64_t offset;
	uint32_t type; /* of the relocation; 0: there is none */
};

static bool visit_place(void *context, const GElf_Rela *relocation, bool implicit)
{
	struct place_search *search = context;

	(void)implicit;
	if (relocation->r_offset != search->offset)
		return true;
	search->type = (uint32_t)GELF_R_TYPE(relocation->r_info);
	return false;
}

bool script_module_tls_at(const struct script_module *module, uint64_t address,
			  struct script_symbol *symbol)
{
	struct place_search search = {.offset = address - module->bias};

	*symbol = (struct script_symbol){0};
	elf_for_each_relocation(module->file, false, visit_place, &search);
	if (search.type == TLS_DISTANCE)
		return memory_read_word(module->memory, address, 8, &symbol->value) &&
		       symbol->value;
	return search.type == TLS_MODULE &&
	       memory_read_word(module->memory, address, 8, &symbol->tls_module) &&
	       memory_read_word(module->memory, address + 8, 8, &symbol->value) &&
	       symbol->tls_module;
}

/* Looks for the GOT slot of a symbol. */
struct slot_search {
	const struct arch *arch;
	const GElf_Sym *symbols;
	size_t count;
	const struct string_table *names;
	const char *name;
	uint64_t address; /* of the slot; 0: there is none */
};

static bool visit_slot(void *context, const GElf_Rela *relocation, bool implicit)
{
	struct slot_search *search = context;
	const uint64_t symbol = GELF_R_SYM(relocation->r_info);
	const char *name;

	(void)implicit;
	if (GELF_R_TYPE(relocation->r_info) != search->arch->r_glob_dat || symbol >= search->count)
		return true;
	name = elf_name_at(search->names, search->symbols[symbol].st_name);
	if (!name || strcmp(name, search->name) != 0)
		return true;
	search->address = relocation->r_offset;
	return false;
}

/*
 * A program may have a copy of a library's variable, and then the library uses that, too. The
 * dynamic linker has written the address of the one that is used to the library's GOT. Returns 0 if
 * nothing is there.
 */
static uint64_t used_variable(const struct script_module *module, const char *name)
{
	struct slot_search search = {.arch = elf_arch(module->file), .name = name};
	GElf_Sym *symbols = elf_load_dynamic_symbols(module->file, &search.count);
	uint64_t address = 0;

	search.symbols = symbols;
	search.names = elf_dynamic_names(module->file);
	if (symbols && search.names)
		elf_for_each_relocation(module->file, false, visit_slot, &search);
	free(symbols);
	if (search.address)
		memory_read_word(module->memory, module->bias + search.address,
				 search.arch->abi->word, &address);
	return address;
}

/* Returns true if a variable of a program is a copy of a library's. */
static bool is_copy(struct elf_file *file, uint64_t address)
{
	struct place_search search = {.offset = address};

	elf_for_each_relocation(file, false, visit_place, &search);
	return search.type == COPY;
}

bool script_module_find(void *context, const char *name, struct script_symbol *symbol)
{
	const struct script_module *module = context;
	const struct elf_symbol *found = elf_find_symbol(module->file, name);
	const bool is_program = elf_interpreter(module->file) != NULL;
	const bool is_variable = found && found->type == STT_OBJECT;

	if (!found || (is_variable && is_program && is_copy(module->file, found->value)))
		return false;
	*symbol = (struct script_symbol){.value = module->bias + found->value, .size = found->size};
	if (is_variable && !is_program) {
		const uint64_t used = used_variable(module, name);

		if (used)
			symbol->value = used;
	}
	return true;
}

bool script_module_find_tls(void *context, const char *name, struct script_symbol *symbol)
{
	const struct script_module *module = context;
	struct tls_search search = {.name = name};

	/* The layout of thread-local storage below is that of 64-bit programs. */
	if (elf_arch(module->file)->abi->word != 8)
		return false;
	GElf_Sym *symbols = elf_load_dynamic_symbols(module->file, &search.count);

	search.symbols = symbols;
	search.names = elf_dynamic_names(module->file);
	const bool is_found = find_tls(module, &search, symbol);

	free(symbols);
	return is_found;
}

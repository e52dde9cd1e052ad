/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the elf*.c files and by the parts of unwind/ and code/ that keep their results in the
 * file. No other file includes it.
 */
#ifndef TRACER_OBJECT_ELF_PRIVATE_H
#define TRACER_OBJECT_ELF_PRIVATE_H

#include "object/elf.h"

#include <gelf.h>

enum {
	ELF_STRING_MAX = 4096, /* bytes of a path or a SONAME, with its NUL */
	ELF_SECTIONS_MAX = 1 << 16,
	ELF_TABLE_MAX = 256 << 20,     /* bytes of a symbol, string or hash table */
	ELF_RELOCATIONS_MAX = 16 << 20 /* records read in one table */
};

/* Index of the defined symbols, by name. */
struct name_index {
	uint32_t *buckets; /* index of the first symbol, plus 1 */
	uint32_t *next;	   /* per symbol: index of the next in its bucket, plus 1 */
	uint32_t mask;
};

/* The decoded symbols of one symbol table, as far as a tracer needs them. */
struct symbol_table {
	bool read;
	struct elf_symbol *items;
	size_t count;
	struct name_index index; /* empty until a name is looked up */
};

/* Names, cut off at the '@' of a version. A NUL follows the last byte. */
struct string_table {
	char *text; /* NULL: there is no table */
	size_t size;
};

/* A filter with the names in .symtab. `words` is NULL if there are none or they cannot be read. */
struct name_filter {
	uint64_t *words;
	uint64_t mask; /* number of words minus 1; the number is a power of 2 */
};

struct extent {
	uint64_t start, size;
	uint64_t entry;	    /* address of the FDE in .eh_frame */
	uint64_t lsda;	    /* as in struct eh_function */
	bool asked, answer; /* see extent_remember() */
};

/* DT_GNU_HASH; see elf_hash.c. */
struct gnu_hash {
	uint32_t header[4];
	unsigned word; /* bytes of a filter word */
	uint64_t filter, buckets, chains;
	/* NULL if there are too many, or damaged: then they are read one by one */
	uint32_t *filter_words;
};

/* Bits in an entry of DT_VERSYM, and in the version records. */
enum { VERSION_HIDDEN = 0x8000, VERSION_NUMBER = 0x7fff };

struct elf_file {
	unsigned references;
	const uint8_t *map;	   /* the mapped file; only elf_file_read() may access it */
	struct elf_pieces *pieces; /* elf_records.c: the pieces read last */
	uint64_t size;
	const struct arch *arch;
	GElf_Ehdr header;
	struct elf_segment *segments; /* the PT_LOAD ones */
	size_t segment_count;
	uint64_t program_headers, dynamic; /* addresses */
	uint64_t eh_frame_header;	   /* address of PT_GNU_EH_FRAME */
	uint64_t relro, relro_size;	   /* PT_GNU_RELRO */
	uint64_t tags[DT_NUM];		   /* values in the dynamic section, 0 if absent */
	uint64_t gnu_hash;		   /* DT_GNU_HASH */
	uint64_t versions;		   /* DT_VERSYM */
	uint64_t versions_defined;	   /* DT_VERDEF */
	uint64_t versions_needed;	   /* DT_VERNEED */
	uint64_t relative_count;	   /* DT_RELACOUNT or DT_RELCOUNT */
	char *soname, *interpreter;
	const char *damage; /* what could not be read; see elf_damage() */

	/* Read when first asked for. */
	bool sections_read;
	GElf_Shdr *sections;
	size_t section_count;
	char *section_names;
	size_t section_names_size;
	bool hash_read;
	struct gnu_hash *hash; /* NULL if there is none, or it is damaged */
	bool dynamic_names_read;
	struct string_table dynamic_names;  /* .dynstr */
	struct string_table internal_names; /* .strtab, once .symtab has been decoded */
	struct name_filter *mentions;	    /* elf_mentions.c; NULL: not asked for yet */
	struct symbol_table exported;	    /* .dynsym */
	struct symbol_table internal;	    /* .symtab */
	struct elf_symbol *symbols;	    /* both tables, if neither is empty */
	struct got_slot *slots;
	size_t slot_count;
	bool slots_read;
	bool ifuncs_read;
	struct ifunc *ifuncs; /* elf_ifuncs.c; ascending */
	size_t ifunc_count;
	bool code_read;
	struct named_code *code; /* elf_address.c; ascending */
	size_t code_count;
	struct code_pointers *code_pointers; /* code_pointers.c; NULL: not asked for yet */
	bool slot_calls_read;
	struct slot_call *slot_calls; /* code/slot_calls.c */
	size_t slot_call_count;
	bool relocated_read;
	/* elf_text.c: addresses of words in code that relocations change; ascending */
	uint64_t *relocated;
	size_t relocated_count;
	bool from_memory;     /* rebuilt by elf_memory.c */
	bool go_known, is_go; /* code/go_module.c */
	bool go_registers_known, go_registers;
	bool init_read;
	uint64_t init;
	bool landings_read;
	uint64_t *landings; /* unwind/landing_pads.c */
	size_t landing_count;
	bool extents_read, starts_read;
	struct extent *extents; /* unwind/extent.c; ascending */
	uint64_t *starts;	/* unwind/extent.c: values of defined symbols; ascending */
	size_t start_count;
	size_t extent_count;
	struct unwind_table *unwind; /* unwind/unwind_table.c; NULL: not asked for yet */
	void (*unwind_free)(struct unwind_table *table);
	bool signal_calls_read;
	struct signal_call_site *signal_calls; /* code/signal_calls.c */
	size_t signal_call_count;
};

/*
 * elf.c: like elf_open(), for `size` bytes that the caller has mapped with mmap(2). The file takes
 * over the mapping, also if this fails.
 */
int elf_open_image(uint8_t *bytes, uint64_t size, struct elf_file **out);
/* elf.c: like elf_open_image(), for what elf_open_debug() opens. */
int elf_open_debug_image(uint8_t *bytes, uint64_t size, struct elf_file **out);

/*
 * Returns false to end the walk. Relocations of REL tables come with addend 0 and `implicit` set.
 */
typedef bool elf_relocation_visitor(void *context, const GElf_Rela *relocation, bool implicit);

/* Returns true for the opcodes that load the number behind them into a register. */
static inline bool elf_loads_word(const struct arch *arch, uint8_t opcode)
{
	enum { REGISTERS = 8 };

	return (uint8_t)(opcode - arch->word_load_opcode) < REGISTERS;
}

/* Returns true if the slot is a word of the code, and not of the GOT. */
static inline bool got_slot_is_code(const struct got_slot *slot)
{
	return slot->kind == SLOT_CODE || slot->kind == SLOT_LOADED;
}

#endif

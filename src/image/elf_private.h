/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the elf*.c files and the readers of exception tables share. Nothing else includes it. */
#ifndef TRACER_IMAGE_ELF_PRIVATE_H
#define TRACER_IMAGE_ELF_PRIVATE_H

#include "image/elf.h"

#include <gelf.h>

enum {
	ELF_STRING_MAX = 4096, /* of a path or a SONAME, with its NUL */
	ELF_SECTIONS_MAX = 1 << 16,
	ELF_TABLE_MAX = 256 << 20,     /* bytes of a symbol, string or hash table */
	ELF_RELOCATIONS_MAX = 16 << 20 /* records looked at in one table */
};

/* Defined symbols by name. */
struct name_index {
	uint32_t *buckets; /* index of the first symbol, plus 1 */
	uint32_t *next;	   /* per symbol: index of the next in its bucket, plus 1 */
	uint32_t mask;
};

/* The decoded part of one symbol table that concerns a tracer. */
struct symbol_table {
	bool read;
	struct elf_symbol *items;
	size_t count;
	struct name_index index; /* empty until a name is looked up */
};

/* Names, cut off at the '@' of a version; a NUL stands behind the last byte. */
struct string_table {
	char *text; /* NULL when there is none */
	size_t size;
};

/* Of the names that .symtab has; no words: it has none, or they cannot be read. */
struct name_filter {
	uint64_t *words;
	uint64_t mask; /* of their number, a power of 2 */
};

struct extent {
	uint64_t start, size;
	uint64_t entry;	    /* in .eh_frame */
	uint64_t lsda;	    /* struct eh_function */
	bool asked, answer; /* extent_remember() */
};

/* DT_GNU_HASH; elf_hash.c. */
struct gnu_hash {
	uint32_t header[4];
	unsigned word; /* bytes of a filter word */
	uint64_t filter, buckets, chains;
	uint32_t *filter_words; /* NULL: too many, or damaged: read one by one */
};

/* In DT_VERSYM, and the records of versions. */
enum { VERSION_HIDDEN = 0x8000, VERSION_NUMBER = 0x7fff };

struct elf_file {
	unsigned references;
	const uint8_t *map;	   /* the file; only elf_file_read() may touch it */
	struct elf_pieces *pieces; /* elf_records.c: what was read of it last */
	uint64_t size;
	const struct arch *arch;
	GElf_Ehdr header;
	struct elf_segment *segments; /* PT_LOAD */
	size_t segment_count;
	uint64_t program_headers, dynamic; /* addresses */
	uint64_t eh_frame_header;	   /* address of PT_GNU_EH_FRAME */
	uint64_t relro, relro_size;	   /* PT_GNU_RELRO */
	uint64_t tags[DT_NUM];		   /* values of the dynamic section, 0 when absent */
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
	struct gnu_hash *hash; /* NULL when there is none that is sound */
	bool dynamic_names_read;
	struct string_table dynamic_names;  /* .dynstr */
	struct string_table internal_names; /* .strtab, when .symtab is decoded */
	struct name_filter *mentions;	    /* elf_mentions.c; NULL: not asked so far */
	struct symbol_table exported;	    /* .dynsym */
	struct symbol_table internal;	    /* .symtab */
	struct elf_symbol *symbols;	    /* both, when neither is empty */
	struct elf_slot *slots;
	size_t slot_count;
	bool slots_read;
	bool ifuncs_read;
	struct ifunc *ifuncs; /* elf_ifuncs.c; ascending */
	size_t ifunc_count;
	bool code_read;
	struct named_code *code; /* elf_address.c; ascending */
	size_t code_count;
	struct code_pointers *code_pointers; /* code_pointers.c; NULL: not asked so far */
	bool slot_calls_read;
	struct slot_call *slot_calls; /* slot_calls.c */
	size_t slot_call_count;
	bool relocated_read;
	uint64_t *relocated; /* words in code that relocations change: elf_text.c; ascending */
	size_t relocated_count;
	bool from_memory;     /* elf_memory.c put it together */
	bool go_known, is_go; /* go_module.c */
	bool go_registers_known, go_registers;
	bool init_read;
	uint64_t init;
	bool landings_read;
	uint64_t *landings; /* landing.c */
	size_t landing_count;
	bool extents_read, starts_read;
	struct extent *extents; /* extent.c; ascending */
	uint64_t *starts;	/* values of defined symbols: extent.c; ascending */
	size_t start_count;
	size_t extent_count;
	bool signal_calls_read;
	struct signal_call_site *signal_calls; /* signal_calls.c */
	size_t signal_call_count;
};

/*
 * elf.c: as elf_open(), of `size` bytes that were mapped (mmap) for this and belong to the file
 * from now on, also when it fails.
 */
int elf_open_image(uint8_t *bytes, uint64_t size, struct elf_file **out);

/* elf_records.c: bytes and tables of the file. */

/* For `pieces`; freed with free(). */
struct elf_pieces *elf_pieces_create(void);
/* All `length` bytes at `offset`; false when the file ends before, now or since it was opened. */
bool elf_file_read(const struct elf_file *file, uint64_t offset, void *buffer, size_t length);
/* The same for who comes again and again, close by: a moment ago, it may have been like that. */
bool elf_file_read_near(const struct elf_file *file, uint64_t offset, void *buffer, size_t length);
/* As a new block with a NUL behind it; NULL when it is not there or larger than ELF_TABLE_MAX. */
void *elf_file_load(const struct elf_file *file, uint64_t offset, uint64_t length);
/* File offset of `address`, and how many of the file's bytes are mapped from there on. */
bool elf_locate(const struct elf_file *file, uint64_t address, uint64_t *offset,
		uint64_t *available);
/* Bytes of one record of `type` in this file's class. */
size_t elf_record_size(const struct elf_file *file, Elf_Type type);
/*
 * `count` records at file offset `offset`, translated to the GElf form of `type` (EHDR, PHDR, SHDR,
 * DYN, SYM, REL, RELA, WORD), into `out`. False when they are not all there.
 */
bool elf_read_records(const struct elf_file *file, Elf_Type type, uint64_t offset, size_t count,
		      void *out);
/* The same into a new array; NULL as well when there are none or the table is too large. */
void *elf_load_records(const struct elf_file *file, Elf_Type type, uint64_t offset, uint64_t count);
/* A NUL-terminated string of less than ELF_STRING_MAX bytes; NULL when there is none. */
char *elf_load_string(const struct elf_file *file, uint64_t offset, uint64_t limit);

/* elf_sections.c: section headers; none when the file has none or damaged ones. */
const GElf_Shdr *elf_sections(struct elf_file *file, size_t *count);
/* Never NULL. */
const char *elf_section_name(const struct elf_file *file, const GElf_Shdr *section);
/* The first section of that type, or NULL. */
const GElf_Shdr *elf_section_of_type(struct elf_file *file, uint32_t type);

/* elf_hash.c: the dynamic hash tables. */

/* How many symbols .dynsym has, from whatever tells it. */
size_t elf_dynamic_symbol_count(struct elf_file *file);
/* False when DT_GNU_HASH is there and says that no symbol of this name is defined. */
bool elf_may_define(struct elf_file *file, const char *name);
void elf_free_hash(struct gnu_hash *hash);

/* The hash function of DT_GNU_HASH. */
uint32_t elf_hash_name(const char *name);

/* elf_symbols.c */

/* All of .dynsym by the index that relocations use; NULL when there is none. To be freed. */
GElf_Sym *elf_load_dynamic_symbols(struct elf_file *file, size_t *count);
const struct string_table *elf_dynamic_names(struct elf_file *file);
/* Those at `offset` of the file, whose `text` is to be freed; NULL when there are none. */
struct string_table elf_load_names(const struct elf_file *file, uint64_t offset, uint64_t size);
/* .symtab and the section of its names; false when there is none. */
bool elf_find_symtab(struct elf_file *file, const GElf_Shdr **symbols, const GElf_Shdr **names);
/* The name at `offset`; NULL when there is none or it is empty. */
const char *elf_name_at(const struct string_table *names, uint64_t offset);

/* elf_mentions.c */

/* False when no symbol of .symtab has that name, or there is no .symtab. */
bool elf_may_mention(struct elf_file *file, const char *name);
void elf_free_mentions(struct name_filter *filter);

/* elf_relocations.c */

/* Returns false to end the walk. REL records come with addend 0 and `implicit` set. */
typedef bool elf_relocation_visitor(void *context, const GElf_Rela *relocation, bool implicit);
/*
 * All dynamic relocations: DT_JMPREL, then DT_RELA and DT_REL without what DT_JMPREL had; without a
 * dynamic section, those of sections. `relative`: also those that the linker sorted to the front as
 * RELATIVE.
 */
void elf_for_each_relocation(struct elf_file *file, bool relative, elf_relocation_visitor *visit,
			     void *context);

/*
 * elf_got.c: what a register with the address of the GOT may hold, in code that refers to slots
 * relative to it; 0: nothing is known.
 */
enum { ELF_GOTS = 4 };
void elf_find_gots(struct elf_file *file, uint64_t gots[ELF_GOTS]);

/* elf_text.c: whether the address lies in a segment that is executed. */
bool elf_is_code(const struct elf_file *file, uint64_t address);
/* Whether the file says that its code is relocated. */
bool elf_has_text_relocations(const struct elf_file *file);

/* Whether the opcode is one that loads the number behind it into a register. */
static inline bool elf_loads_word(const struct arch *arch, uint8_t opcode)
{
	enum { REGISTERS = 8 };

	return (uint8_t)(opcode - arch->word_load_opcode) < REGISTERS;
}

/* Whether what is called a slot is a word of the code. */
static inline bool elf_slot_is_code(const struct elf_slot *slot)
{
	return slot->kind == SLOT_CODE || slot->kind == SLOT_LOADED;
}

/* elf_plt.c: fills in `stub` of each slot. */
void elf_find_stubs(struct elf_file *file, struct elf_slot *slots, size_t count);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One ELF file, read once and kept: what a tracer asks of it. Immutable after elf_open(). Every
 * offset, count and index is checked; a damaged file yields fewer symbols or an error, never a bad
 * read. Built on libelf.
 */
#ifndef TRACER_IMAGE_ELF_H
#define TRACER_IMAGE_ELF_H

#include "base/arch.h"
#include "base/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct elf_symbol {
	const char *name; /* without version; owned by the file */
	uint64_t value;	  /* address in the file's own address space; 0 when undefined */
	uint64_t size;
	uint8_t type; /* STT_FUNC, STT_GNU_IFUNC, STT_OBJECT, STT_NOTYPE */
	uint8_t bind; /* STB_GLOBAL, STB_WEAK, STB_LOCAL */
	bool dynamic; /* from .dynsym, not .symtab */
	bool old;     /* in .dynsym for old programs: another version of the name is the default */
	uint16_t version; /* its number in this file; 0 and 1: none */
};

enum slot_kind {
	SLOT_JUMP,	/* JUMP_SLOT */
	SLOT_DATA,	/* GLOB_DAT */
	SLOT_IRELATIVE, /* IRELATIVE */
	/* No slots, but in code that is relocated itself (text relocations): */
	SLOT_CODE,  /* the distance in a call */
	SLOT_LOADED /* the address that an instruction loads into a register, to be called by it */
};

/*
 * A GOT slot that the dynamic linker fills with a function's address, or what else it fills in to
 * have a function called, as its relocation says.
 */
struct elf_slot {
	const char *name; /* symbol, without version; NULL for SLOT_IRELATIVE; owned by the file */
	uint64_t address; /* of the slot, in the file's own address space */
	uint64_t stub;	  /* of the PLT stub that jumps through it, or 0 */
	/*
	 * Of the stub that is the function's address in all of the process, as the program's code
	 * has it as a number (an undefined symbol with a value: the ABIs, "Function Addresses"), or
	 * 0: what a slot of another kind than SLOT_JUMP holds.
	 */
	uint64_t canonical;
	uint64_t addend; /* SLOT_IRELATIVE: the resolver */
	/*
	 * slot_calls(): code loads it, and where that calls it by a register is not known: in a
	 * thunk, or in a function that could not be decoded.
	 */
	bool may_be_unseen;
	uint8_t kind; /* enum slot_kind */
};

/* A loadable segment. */
struct elf_segment {
	uint64_t address, file_offset, file_size, memory_size;
	uint32_t flags; /* PF_* */
};

struct elf_file;

/*
 * Reads the file open at `fd` (kept by the caller; may be closed afterwards). On success *out has
 * one reference. -ENOEXEC: not an ELF file, or too damaged to find its headers; -ENOTSUP: of
 * another architecture; or the errno of reading.
 */
int elf_open(int fd, struct elf_file **out);

/*
 * As elf_open(), of a file that holds debug information, perhaps of another file, and perhaps
 * nothing else: only its sections are there to be asked for, and its .symtab. Nothing else may be
 * called with it but elf_arch(), elf_symbols(), elf_find_symbol(), elf_find_next() and elf_unref().
 */
int elf_open_debug(int fd, struct elf_file **out);

/*
 * Puts a file together from the memory it was loaded into, its ELF header at `header`, for when the
 * file itself cannot be had. It has no section headers and no .symtab. At most `room` bytes are
 * used: -EFBIG; -EFAULT when there is no such memory; -ENOEXEC, -ENOTSUP as above.
 */
int elf_open_memory(const struct memory_source *memory, uint64_t header, uint64_t room,
		    struct elf_file **out);
bool elf_is_from_memory(const struct elf_file *file);
/* Whether the headers in memory at `header` are those of the file. */
bool elf_fits_memory(const struct elf_file *file, const struct memory_source *memory,
		     uint64_t header);

struct elf_file *elf_ref(struct elf_file *file);
void elf_unref(struct elf_file *file); /* NULL is fine */

const struct arch *elf_arch(const struct elf_file *file);
bool elf_is_pie(const struct elf_file *file); /* ET_DYN: addresses are relative to a load bias */
const char *elf_soname(const struct elf_file *file);	  /* or NULL */
const char *elf_interpreter(const struct elf_file *file); /* PT_INTERP, or NULL */
uint64_t elf_entry(const struct elf_file *file);	  /* e_entry */
uint64_t elf_program_headers(
	const struct elf_file *file);		   /* address of them (PT_PHDR or computed), or 0 */
uint64_t elf_dynamic(const struct elf_file *file); /* address of PT_DYNAMIC, or 0 */
uint64_t elf_eh_frame_header(const struct elf_file *file); /* address of PT_GNU_EH_FRAME, or 0 */
const struct elf_segment *elf_segments(const struct elf_file *file, size_t *count);
/* Whether the program cannot write there: not to a segment of code, nor to PT_GNU_RELRO. */
bool elf_is_constant(const struct elf_file *file, uint64_t address);

/*
 * All defined and undefined symbols of .dynsym, then of .symtab when there is one (read when
 * first asked).
 */
const struct elf_symbol *elf_symbols(struct elf_file *file, size_t *count);
/* Whether one of them may be a function that it defines; if not, it was stripped of all. */
bool elf_has_functions(struct elf_file *file);

/*
 * The defined symbol of that name, preferring .dynsym, then what is not local, then the version
 * that programs are linked with today; NULL when there is none. Answers for most files that do not
 * have it without decoding their symbols.
 */
const struct elf_symbol *elf_find_symbol(struct elf_file *file, const char *name);
/* The same of .dynsym alone, which does not read what is perhaps large. */
const struct elf_symbol *elf_find_exported(struct elf_file *file, const char *name);

/*
 * The next defined symbol of the same name (another version, another static function), or NULL.
 * `symbol` must come from elf_find_symbol() or from here. Addresses may come more than once.
 */
const struct elf_symbol *elf_find_next(struct elf_file *file, const struct elf_symbol *symbol);

/* The version that one of .dynsym is defined or wanted as, by the hash of its name; 0: none. */
uint32_t elf_symbol_version(const struct elf_file *file, const struct elf_symbol *symbol);

/*
 * Whether a symbol of that name, of a function's type, is the part of a function that is seldom run
 * (gcc: -freorder-blocks-and-partition). It is jumped to in the middle of a call, so what lies on
 * the stack there is anything.
 */
bool elf_is_part_of_function(const char *name);

/*
 * What of all the above could not be read as far as it was asked for, a text such as "its symbol
 * table is damaged"; NULL when nothing was missed.
 */
const char *elf_damage(const struct elf_file *file);

/*
 * Slots filled with function addresses, with the PLT stubs that use them (read when first
 * asked).
 */
const struct elf_slot *elf_slots(struct elf_file *file, size_t *count);
/* Whether one of them is for a symbol of that name. */
bool elf_has_slot(struct elf_file *file, const char *name);

/*
 * What the function is called that a slot leads to: the slot's symbol; of an IRELATIVE one, which
 * has none, the IFUNC whose resolver that is, by the name that programs use, and that one which is
 * no alias (strrchr, not rindex). NULL: nobody knows.
 */
const char *elf_slot_name(struct elf_file *file, const struct elf_slot *slot);
/* All of its names one after the other, that one being number 0; NULL behind the last. */
const char *elf_slot_alias(struct elf_file *file, const struct elf_slot *slot, size_t index);

/*
 * The function that has code at `address` of the file's own address space, by its symbol or as the
 * PLT stub of it, and how many bytes behind its beginning; NULL: nobody knows. Of several names of
 * a function the plainest that is not local. Owned by the file.
 */
const char *elf_name_of_code(struct elf_file *file, uint64_t address, uint64_t *offset);

/*
 * Whether the function in front of `address` of the file's own address space ends there, as the
 * sizes of symbols say: at least one does, and none goes on.
 */
bool elf_symbol_ends_at(struct elf_file *file, uint64_t address);

/*
 * Orders names by how plain they are: without leading underscores, then the shortest. As strcmp().
 */
int elf_compare_names(const char *left, const char *right);

/*
 * The first initialisation function: DT_INIT, or the first DT_INIT_ARRAY entry as its relocation
 * says. 0 when there is none. When it runs, the module is relocated.
 */
uint64_t elf_init_function(struct elf_file *file);

/*
 * `length` bytes of the file's contents at `address` of its own address space; false outside
 * it.
 */
bool elf_read(const struct elf_file *file, uint64_t address, void *buffer, size_t length);

/*
 * Whether relocations change any of the `length` bytes of code at an address: what the file has
 * there, or memory before the dynamic linker has been there, is not what will be run.
 */
bool elf_relocates_code(struct elf_file *file, uint64_t address, size_t length);

/*
 * Keeps files by identity (device, inode, size, mtime), so that each is read once. Of those that
 * nobody else holds a reference to only some that were asked for lately are kept.
 */
struct elf_cache;

struct elf_cache *elf_cache_create(void);
void elf_cache_destroy(struct elf_cache *cache);
/* As elf_open(), from the cache when the file has not changed. The reference is the caller's. */
int elf_cache_open(struct elf_cache *cache, int fd, struct elf_file **out);
/*
 * As elf_open_memory(), of a file that is known to be `device`, `inode`: those of the same headers
 * are the same. All that are in use together have at most ELF_MEMORY_MAX bytes.
 */
enum { ELF_MEMORY_MAX = 512 << 20 };
int elf_cache_open_memory(struct elf_cache *cache, const struct memory_source *memory,
			  uint64_t header, dev_t device, ino_t inode, struct elf_file **out);

#endif

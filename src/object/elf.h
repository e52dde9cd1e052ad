/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads one ELF file once and keeps the parts that a tracer needs. Immutable after elf_open(),
 * except for parts that are read when first asked for. Every offset, count and index is checked; a
 * damaged file yields fewer symbols or an error, never an invalid read. Built on libelf.
 */
#ifndef TRACER_OBJECT_ELF_H
#define TRACER_OBJECT_ELF_H

#include "base/arch.h"
#include "base/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct elf_symbol {
	const char *name; /* without version; owned by the file */
	uint64_t value;	  /* address in the file's own address space; 0 if undefined */
	uint64_t size;
	uint8_t type; /* STT_FUNC, STT_GNU_IFUNC, STT_OBJECT, STT_NOTYPE */
	uint8_t bind; /* STB_GLOBAL, STB_WEAK, STB_LOCAL */
	bool dynamic; /* from .dynsym, not .symtab */
	/* .dynsym has it for old programs only: another version of the name is the default */
	bool old;
	uint16_t version; /* the version's number in this file; 0 and 1: none */
};

enum slot_kind {
	SLOT_JUMP,	/* JUMP_SLOT */
	SLOT_DATA,	/* GLOB_DAT */
	SLOT_IRELATIVE, /* IRELATIVE */
	/* Not GOT slots, but words in code that is relocated itself (text relocations): */
	SLOT_CODE,  /* the pc-relative distance in a call */
	SLOT_LOADED /* the address that an instruction loads into a register for an indirect call */
};

/*
 * A GOT slot that the dynamic linker fills with a function's address, or another word by which a
 * relocation makes code call a function.
 */
struct got_slot {
	/* of the symbol, without version; NULL for SLOT_IRELATIVE; owned by the file */
	const char *name;
	uint64_t address; /* of the GOT slot, in the file's own address space */
	uint64_t stub;	  /* address of the PLT stub that jumps through the GOT slot, or 0 */
	/*
	 * Address of the PLT stub that is the function's address in the whole process, because the
	 * program's code contains it as a constant (an undefined symbol with a value: see the
	 * psABIs, "Function Addresses"); or 0. GOT slots of other kinds than SLOT_JUMP hold it.
	 */
	uint64_t canonical;
	uint64_t addend; /* SLOT_IRELATIVE: address of the resolver */
	/*
	 * Set by slot_calls(): code loads the GOT slot, but it is unknown where that code calls by
	 * the register: in a thunk, or in a function that could not be decoded.
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
 * Reads the file open at `fd`, which stays the caller's and may be closed afterwards. Returns 0 and
 * a reference in *out; -ENOEXEC if it is not an ELF file, or too damaged to find its headers;
 * -ENOTSUP if it is of another architecture; or the negative errno of reading.
 */
int elf_open(int fd, struct elf_file **out);

/*
 * Like elf_open(), for a file that may hold nothing but debug information, perhaps of another file,
 * or is a core dump (core_file.h).
 * Only its sections and its .symtab are available, so only elf_arch(), elf_symbols(),
 * elf_find_symbol(), elf_find_next() and elf_unref() may be called with the result.
 */
int elf_open_debug(int fd, struct elf_file **out);

struct elf_file *elf_ref(struct elf_file *file);
void elf_unref(struct elf_file *file); /* NULL is allowed */

const struct arch *elf_arch(const struct elf_file *file);
/* ET_DYN: its addresses are relative to a load bias */
bool elf_is_pie(const struct elf_file *file);
const char *elf_soname(const struct elf_file *file);	  /* or NULL */
const char *elf_interpreter(const struct elf_file *file); /* PT_INTERP, or NULL */
uint64_t elf_entry(const struct elf_file *file);	  /* e_entry */
/* Returns their address (PT_PHDR, or computed from the segments), or 0. */
uint64_t elf_program_headers(const struct elf_file *file);
uint64_t elf_dynamic(const struct elf_file *file);	   /* address of PT_DYNAMIC, or 0 */
uint64_t elf_eh_frame_header(const struct elf_file *file); /* address of PT_GNU_EH_FRAME, or 0 */
const struct elf_segment *elf_segments(const struct elf_file *file, size_t *count);
/*
 * Returns true if the program cannot write to `address`: it is in a read-only segment or in
 * PT_GNU_RELRO.
 */
bool elf_is_constant(const struct elf_file *file, uint64_t address);

/*
 * Returns a text such as "its symbol table is damaged" if anything asked for so far could not be
 * read, or NULL if nothing was missed.
 */
const char *elf_damage(const struct elf_file *file);

/*
 * Reads `length` bytes of the file's contents at `address` in its own address space. Returns false
 * if they are not all in the file.
 */
bool elf_read(const struct elf_file *file, uint64_t address, void *buffer, size_t length);

/*
 * Caches files by identity (device, inode, size, mtime), so that each is read once. Of the files to
 * which only the cache holds a reference, it keeps just some recently used ones.
 */
struct elf_cache;

#endif

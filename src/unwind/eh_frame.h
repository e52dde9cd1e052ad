/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the exception-handling tables of a file: the functions in .eh_frame with their
 * language-specific data areas (LSDA), and the number encodings that these tables use. Source: LSB
 * core specification, "Exception Frames".
 */
#ifndef TRACER_UNWIND_EH_FRAME_H
#define TRACER_UNWIND_EH_FRAME_H

#include "object/elf.h"

/* Pointer encodings: a format, what the value is relative to, and a flag. */
enum {
	EH_FORMAT = 0x0f,
	EH_ABSPTR = 0x00,
	EH_ULEB128 = 0x01,
	EH_UDATA2 = 0x02,
	EH_UDATA4 = 0x03,
	EH_UDATA8 = 0x04,
	EH_SIGNED = 0x08, /* signed, as long as a pointer */
	EH_SLEB128 = 0x09,
	EH_SDATA2 = 0x0a,
	EH_SDATA4 = 0x0b,
	EH_SDATA8 = 0x0c,
	EH_RELATIVE = 0x70,
	EH_PCREL = 0x10,   /* relative to the field itself */
	EH_DATAREL = 0x30, /* in .eh_frame_hdr: relative to its start */
	EH_FUNCREL = 0x40,
	EH_ALIGNED = 0x50, /* an aligned EH_ABSPTR, whatever the format is */
	EH_INDIRECT = 0x80,
	EH_OMIT = 0xff /* no value follows */
};

/*
 * Reads a file's contents at ascending addresses, in large pieces. A byte that is not there, or a
 * number that cannot be decoded, sets `failed` and reads as 0, as does every later read until
 * eh_seek().
 */
struct eh_reader {
	const struct elf_file *file;
	uint64_t at; /* address of the next byte */
	bool failed;
	unsigned word;	/* bytes of an address */
	uint8_t *piece; /* the bytes read last, owned */
	uint64_t piece_start;
	size_t piece_length, capacity;
};

/* The addresses of a sequence of call-frame instructions. */
struct eh_program {
	uint64_t start, end;
};

/* A function, or one part of a split function. */
struct eh_function {
	uint64_t start, size; /* of its code */
	uint64_t lsda;	      /* of the LSDA; 0: the function has none */
	uint64_t entry;	      /* address of the FDE, for eh_frame_at() */
	/*
	 * The call-frame instructions, which tell how to find the frame: those of the CIE come
	 * first.
	 */
	struct eh_program common, own;
	uint64_t code_alignment;
	int64_t data_alignment;
	uint64_t return_register; /* the DWARF number that stands for the return address */
	/* The code is where a signal handler returns to: its frame was made by the kernel. */
	bool is_signal_frame;
};

/*
 * .eh_frame_hdr: where .eh_frame begins, and its table: for each function a pair of pointers, to
 * the code and to the FDE, ascending by code.
 */
struct eh_header {
	uint64_t address; /* of .eh_frame_hdr: EH_DATAREL is relative to it */
	uint64_t frames;
	uint64_t table, count; /* count 0: there is no table */
	uint8_t encoding;      /* of the pointers in the table */
};

/* Returns false if the file has no .eh_frame_hdr, or a damaged one. */
bool eh_header_read(const struct elf_file *file, struct eh_header *header);

typedef void eh_function_visitor(void *context, const struct eh_function *function);

/* Visits all functions, in no particular order. Damaged entries are left out. */
void eh_frame_for_each(struct elf_file *file, eh_function_visitor *visit, void *context);
/* Decodes the FDE at `entry` once more. Returns false if there is none. */
bool eh_frame_at(struct elf_file *file, uint64_t entry, struct eh_function *function);

/*
 * From `from` up to `to`, the CFA is `offset` bytes above the register `reg` (a DWARF number). The
 * return address is the word below the CFA (x86-64 and i386 psABI).
 */
struct eh_row {
	uint64_t from, to;
	uint64_t reg;
	int64_t offset;
};

typedef void eh_row_visitor(void *context, const struct eh_row *row);

#endif

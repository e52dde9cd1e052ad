/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables that exceptions are thrown by, from a file: the functions of .eh_frame, with their
 * language-specific data areas (LSDA), and a reader for the forms of number these tables use.
 * Source: LSB core specification, "Exception Frames".
 */
#ifndef TRACER_IMAGE_EH_FRAME_H
#define TRACER_IMAGE_EH_FRAME_H

#include "image/elf.h"

/* Pointer encodings: a format, what the value is relative to, and a flag. */
enum {
	EH_FORMAT = 0x0f,
	EH_ABSPTR = 0x00,
	EH_ULEB128 = 0x01,
	EH_UDATA2 = 0x02,
	EH_UDATA4 = 0x03,
	EH_UDATA8 = 0x04,
	EH_SIGNED = 0x08, /* a pointer's size */
	EH_SLEB128 = 0x09,
	EH_SDATA2 = 0x0a,
	EH_SDATA4 = 0x0b,
	EH_SDATA8 = 0x0c,
	EH_RELATIVE = 0x70,
	EH_PCREL = 0x10,   /* to the field itself */
	EH_DATAREL = 0x30, /* in .eh_frame_hdr: to its start */
	EH_FUNCREL = 0x40,
	EH_ALIGNED = 0x50, /* an aligned EH_ABSPTR, whatever the format */
	EH_INDIRECT = 0x80,
	EH_OMIT = 0xff /* no value follows */
};

/*
 * Reads a file's contents at ascending addresses, by large pieces. What is not there, or cannot be
 * decoded, sets `failed` and reads as 0, as does everything after it until eh_seek().
 */
struct eh_reader {
	const struct elf_file *file;
	uint64_t at; /* address of the next byte */
	bool failed;
	unsigned word;	/* bytes of an address */
	uint8_t *piece; /* what has been read, owned */
	uint64_t piece_start;
	size_t piece_length, capacity;
};

/* `capacity`: bytes to read at once, at least 16. */
void eh_reader_init(struct eh_reader *reader, const struct elf_file *file, size_t capacity);
void eh_reader_deinit(struct eh_reader *reader);
void eh_seek(struct eh_reader *reader, uint64_t address);
uint64_t eh_fixed(struct eh_reader *reader, unsigned size); /* 1, 2, 4 or 8 bytes, unsigned */
uint64_t eh_uleb(struct eh_reader *reader);
/* The bare number of an encoding, sign extended; no base is added to it. */
uint64_t eh_value(struct eh_reader *reader, uint8_t encoding);
/*
 * A pointer: an address of the file's own, 0 when it is null. `base`: what EH_DATAREL and
 * EH_FUNCREL count from; such an encoding fails when it is 0, as do EH_INDIRECT and unknown ones.
 */
uint64_t eh_pointer(struct eh_reader *reader, uint8_t encoding, uint64_t base);
/* As an address of the file's class: sums wrap at its end. */
uint64_t eh_wrap(const struct eh_reader *reader, uint64_t address);

/* What a row of call-frame instructions is: their addresses. */
struct eh_program {
	uint64_t start, end;
};

/* A function, or one part of it when it is split. */
struct eh_function {
	uint64_t start, size; /* of its code */
	uint64_t lsda;	      /* address, 0: it has none */
	uint64_t entry;	      /* address of what tells all this: eh_frame_at() */
	/*
	 * How the frame is found at each of its instructions: first those that it shares with
	 * others.
	 */
	struct eh_program common, own;
	uint64_t code_alignment;
	int64_t data_alignment;
};

typedef void eh_function_visitor(void *context, const struct eh_function *function);

/* All functions; in no order, and damaged entries left out. */
void eh_frame_for_each(struct elf_file *file, eh_function_visitor *visit, void *context);
/* One of them once more: false when there is none. */
bool eh_frame_at(struct elf_file *file, uint64_t entry, struct eh_function *function);

/*
 * Between two addresses the caller's frame begins `offset` behind what a register holds (the CFA);
 * `reg`: DWARF's number of it. What stands below it is the return address (x86-64 and i386 psABI).
 */
struct eh_row {
	uint64_t from, to;
	uint64_t reg;
	int64_t offset;
};

typedef void eh_row_visitor(void *context, const struct eh_row *row);

/*
 * The rows of a function in the order of their addresses, but where the CFA cannot be told so
 * simply; until one is damaged.
 */
void eh_rows_for_each(const struct elf_file *file, const struct eh_function *function,
		      eh_row_visitor *visit, void *context);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the numbers and pointers of the exception-handling tables: see eh_reader.c. */
#ifndef TRACER_UNWIND_EH_READER_H
#define TRACER_UNWIND_EH_READER_H

#include "unwind/eh_frame.h"

/* `capacity`: bytes to read at once, at least 16. */
void eh_reader_init(struct eh_reader *reader, const struct elf_file *file, size_t capacity);
void eh_reader_deinit(struct eh_reader *reader);
void eh_seek(struct eh_reader *reader, uint64_t address);
uint64_t eh_fixed(struct eh_reader *reader, unsigned size); /* of 1, 2, 4 or 8 bytes, unsigned */
uint64_t eh_uleb(struct eh_reader *reader);
/* Reads the number of an encoding, sign-extended, without adding the base it is relative to. */
uint64_t eh_value(struct eh_reader *reader, uint8_t encoding);
/*
 * Reads a pointer. Returns an address in the file's own address space, or 0 for a null pointer.
 * `base`: what EH_DATAREL and EH_FUNCREL are relative to; these encodings fail if it is 0.
 * EH_INDIRECT and unknown encodings always fail.
 */
uint64_t eh_pointer(struct eh_reader *reader, uint8_t encoding, uint64_t base);
/* Truncates an address to the file's class (32 or 64 bits), at which sums wrap. */
uint64_t eh_wrap(const struct eh_reader *reader, uint64_t address);

#endif

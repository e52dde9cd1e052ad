/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells whether a call that is the last instruction in front of an address can return. */
#ifndef TRACER_CODE_FUNCTION_END_H
#define TRACER_CODE_FUNCTION_END_H

#include "object/elf.h"

enum function_end {
	FUNCTION_GOES_ON, /* the call may return; also if nothing is known */
	/* into the next part of the same function, unless that belongs to another function */
	FUNCTION_MAY_GO_ON,
	FUNCTION_IS_AT_ITS_END /* no call returns there */
};

/*
 * Examines the function whose code ends in front of `address`, an address of the file's own address
 * space.
 */
enum function_end function_end_at(struct elf_file *file, uint64_t address);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a call that is the last instruction in front of an address can return. */
#ifndef TRACER_IMAGE_FUNCTION_END_H
#define TRACER_IMAGE_FUNCTION_END_H

#include "image/elf.h"

enum function_end {
	FUNCTION_GOES_ON,      /* or nothing is known */
	FUNCTION_MAY_GO_ON,    /* in another part of it; else that is of another function */
	FUNCTION_IS_AT_ITS_END /* no call returns there */
};

/* Of the function that has its code in front of `address` of the file's own address space. */
enum function_end function_end_at(struct elf_file *file, uint64_t address);

#endif

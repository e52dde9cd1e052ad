/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a file has code of Go's compiler in it: a program, a library for C programs (c-shared),
 * or a C program that such an archive was linked into (c-archive). Stripped or not.
 */
#ifndef TRACER_IMAGE_GO_MODULE_H
#define TRACER_IMAGE_GO_MODULE_H

#include "image/elf.h"

/* Whether Go's linker has made a part of it; found out when it is first asked. */
bool go_module_is(struct elf_file *file);
/*
 * Whether the code at `address` of the file's own address space is Go's compiler's, or assembler.
 * Code of C that was linked in is not.
 */
bool go_module_has_code(struct elf_file *file, uint64_t address);
/*
 * Whether functions of Go's there take arguments in registers of their own (struct abi.is_go), as
 * since Go 1.17; false also where no functions of Go's have names any more.
 */
bool go_module_uses_registers(struct elf_file *file);

#endif

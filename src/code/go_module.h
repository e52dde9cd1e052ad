/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recognises ELF files that contain code made by Go's compiler: a program, a library for C programs
 * (c-shared), or a C program into which a Go archive was linked (c-archive), stripped or not.
 */
#ifndef TRACER_CODE_GO_MODULE_H
#define TRACER_CODE_GO_MODULE_H

#include "object/elf.h"

/*
 * Returns true if Go's linker has made a part of the file. The result is computed at the first call
 * and kept in the file.
 */
bool go_module_is(struct elf_file *file);
/*
 * Returns true if the code at `address`, in the file's own address space, was made by Go's compiler
 * or assembler, and false for C code that was linked in.
 */
bool go_module_has_code(struct elf_file *file, uint64_t address);
/*
 * Returns true if the file's Go functions take arguments in Go's own registers (struct abi.is_go),
 * as they do since Go 1.17. Returns false also if the names of all Go functions have been stripped.
 */
bool go_module_uses_registers(struct elf_file *file);

#endif

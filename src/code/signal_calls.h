/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the places where the code of a file changes signal masks or dispositions by a system call
 * of its own, rt_sigprocmask or rt_sigaction, instead of calling a function. Libc does so when it
 * creates threads, when threads start and end, and in posix_spawn().
 */
#ifndef TRACER_CODE_SIGNAL_CALLS_H
#define TRACER_CODE_SIGNAL_CALLS_H

#include "object/elf.h"

enum signal_call { SIGNAL_CALL_MASK, SIGNAL_CALL_ACTION, SIGNAL_CALLS };

/* All addresses are in the file's own address space. */
struct signal_call_site {
	/* of the instruction that enters the kernel, behind the load of the system call's number */
	uint64_t address;
	uint64_t function; /* where the function that contains `address` begins */
	enum signal_call call;
	/*
	 * SIGNAL_CALL_MASK: the call most likely has SIG_SETMASK or SIG_UNBLOCK, so it ends a
	 * SIG_BLOCK.
	 */
	bool opens;
};

/*
 * Returns all places that are certain, by ascending address, or NULL if there are none. The file
 * owns the array, and is searched at the first call. Each place is certain to be the beginning of
 * an instruction. Other code may jump there with another system call number.
 */
const struct signal_call_site *signal_calls(struct elf_file *file, struct decoder *decoder,
					    size_t *count);

#endif

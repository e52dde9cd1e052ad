/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the code of a file changes signal masks or dispositions by a system call of its own,
 * rt_sigprocmask or rt_sigaction, not by calling a function: as libc itself does when it creates
 * threads, in start and end of them, in posix_spawn().
 */
#ifndef TRACER_IMAGE_SIGNAL_CALLS_H
#define TRACER_IMAGE_SIGNAL_CALLS_H

#include "image/elf.h"

enum signal_call { SIGNAL_CALL_MASK, SIGNAL_CALL_ACTION, SIGNAL_CALLS };

/* Addresses of the file's own. */
struct signal_call_site {
	/* of the instruction that enters the kernel, after the number was loaded */
	uint64_t address;
	uint64_t function; /* where the function that it is in begins */
	enum signal_call call;
	/* of masks: most likely SIG_SETMASK or SIG_UNBLOCK: the other end of a SIG_BLOCK */
	bool opens;
};

/*
 * All that are certain, by ascending addresses; NULL when there are none. Owned by the file; read
 * when first asked for. A place that is told is the beginning of an instruction; what else may jump
 * there with another number is not known.
 */
const struct signal_call_site *signal_calls(struct elf_file *file, struct decoder *decoder,
					    size_t *count);

#endif

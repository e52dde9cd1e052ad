/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that a tracer which was killed has left in the middle of a system call that they made for
 * it (remote.h).
 */
#ifndef TRACER_INFERIOR_STRANDED_H
#define TRACER_INFERIOR_STRANDED_H

#include "inferior/inferior.h"
#include "inferior/rescue_abi.h"

/*
 * Puts a thread, stopped, where it was when it was sent into such a call, with the registers and
 * the mask that it had, if it waits for that (struct landing, base/arch.h). What is pending is
 * delivered there, where the program's stack can be unwound. Others stay where they are.
 */
void stranded_put_back(struct thread *thread);

/* Gives a thread, stopped, its own mask again, if it is the one that was given another. */
void stranded_unmask(const struct thread *thread, struct rescue_step *given);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes from the calling process, for good, all that is not needed for work in its own memory: from
 * then on it can read and write the descriptors it has open, manage its memory, read it as
 * another's (process_vm_readv(2)), lower its limits, and end. Other system calls fail with EPERM.
 * So whoever gets code of his to run in there has gained nothing.
 */
#ifndef TRACER_INFERIOR_CONFINE_H
#define TRACER_INFERIOR_CONFINE_H

/* 0, or -errno: the kernel has no seccomp filters. */
int confine_to_computing(void);

#endif

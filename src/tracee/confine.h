/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes from the calling process, for good, all rights but those for work in its own memory. It can
 * still read and write its open descriptors, manage its memory, read its own memory by
 * process_vm_readv(2), lower its limits, and exit. Other system calls fail with EPERM. So an
 * attacker who gets code to run in this process has gained nothing.
 */
#ifndef TRACER_TRACEE_CONFINE_H
#define TRACER_TRACEE_CONFINE_H

/* 0, or -errno if the kernel has no seccomp filters. */
int confine_to_computing(void);

#endif

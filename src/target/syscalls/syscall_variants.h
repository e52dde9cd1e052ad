/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls in which one argument decides what another one means. */
#ifndef TRACER_TARGET_SYSCALLS_SYSCALL_VARIANTS_H
#define TRACER_TARGET_SYSCALLS_SYSCALL_VARIANTS_H

#include "target/syscalls/syscall_demux.h"

#include <stdint.h>

enum { SYSTEM_VARIANT_BITS = 16 };

/* Returns which variant of a call this is, a number of SYSTEM_VARIANT_BITS bits; 0: it has none. */
uint64_t system_request_variant(const struct system_request *request);
/* Returns what the name of the variant's prototype has after the name of the call; to be freed. */
char *system_variant_suffix(uint64_t variant);

#endif

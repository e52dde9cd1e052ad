/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls of which one argument says what another one is. */
#ifndef TRACER_SESSION_VARIANTS_H
#define TRACER_SESSION_VARIANTS_H

#include "session/unpack.h"

#include <stdint.h>

enum { SYSTEM_VARIANT_BITS = 16 };

/* Which of the ways to be shown that a call may have it has, in so many bits; 0: there is one. */
uint64_t system_request_variant(const struct system_request *request);
/* What the name of its prototype has behind the name of the call, to be freed. */
char *system_variant_suffix(uint64_t variant);

#endif

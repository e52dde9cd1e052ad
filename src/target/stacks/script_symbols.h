/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What frame descriptions may ask of a loaded module: see script_symbols.c. */
#ifndef TRACER_TARGET_STACKS_SCRIPT_SYMBOLS_H
#define TRACER_TARGET_STACKS_SCRIPT_SYMBOLS_H

#include "unwind/script/symbols.h"

/* `module` must outlive what is returned. */
struct script_symbols script_symbols_of(struct script_module *module);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prototypes that say "the text is where that function of the library finds it"
 * (`string @ NAME(arg1)`), made into such that say where that is.
 */
#ifndef TRACER_SESSION_ACCESSORS_H
#define TRACER_SESSION_ACCESSORS_H

#include "base/vec.h"
#include "image/elf.h"
#include "proto/prototype.h"

struct accessors {
	struct vec made; /* struct resolved *, each once */
};

void accessors_init(struct accessors *accessors);
void accessors_deinit(struct accessors *accessors);

/* Whether a prototype has such a parameter. */
bool accessors_are_named(const struct prototype *prototype);

/*
 * The prototype for a function that is defined in `file`, NULL: nobody knows where. It is the same
 * one each time that texts are found in the same way, and lives as long as `accessors`. A parameter
 * of which the accessor is not there, or does more than to look something up, stays as it is.
 */
const struct prototype *accessors_resolve(struct accessors *accessors, struct decoder *decoder,
					  struct elf_file *file, const struct prototype *prototype);

#endif

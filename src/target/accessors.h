/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prototypes that name an accessor for a text (`string @ NAME(arg1)`: "as function NAME of the
 * library finds it") are turned into prototypes with the path to the text.
 */
#ifndef TRACER_TARGET_ACCESSORS_H
#define TRACER_TARGET_ACCESSORS_H

#include "base/vec.h"
#include "object/elf.h"
#include "proto/prototype.h"

struct accessors {
	struct vec made; /* struct resolved *, all different */
};

void accessors_init(struct accessors *accessors);
void accessors_deinit(struct accessors *accessors);

/* Returns true if a prototype has such a parameter. */
bool accessors_are_named(const struct prototype *prototype);

/*
 * Returns the prototype for a function that is defined in `file` (NULL: not known). It is the same
 * one each time that texts are found in the same way, and lives as long as `accessors`. A parameter
 * stays as it is if its accessor is missing, or does more than look something up.
 */
const struct prototype *accessors_resolve(struct accessors *accessors, struct decoder *decoder,
					  struct elf_file *file, const struct prototype *prototype);

#endif

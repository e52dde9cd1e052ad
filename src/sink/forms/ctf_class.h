/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The classes of events that functions have in a CTF trace: see ctf_class.c. */
#ifndef TRACER_SINK_FORMS_CTF_CLASS_H
#define TRACER_SINK_FORMS_CTF_CLASS_H

#include "base/map.h"
#include "probe/probe.h"
#include "sink/forms/ctf_metadata.h"

/* Zeros are an empty table. */
struct ctf_classes {
	struct map ids; /* probe and phase → number of the class, as a pointer */
	unsigned count; /* of classes that have been declared */
};

void ctf_classes_deinit(struct ctf_classes *classes);

/*
 * Returns the class of a phase of a function's calls, which is declared if it is new; 0: there are
 * too many.
 */
unsigned ctf_classes_get(struct ctf_classes *classes, struct ctf_metadata *metadata,
			 const struct probe_info *probe, enum ctf_phase phase);
/* The probe is about to be removed, and its id may be given to another one. */
void ctf_classes_forget(struct ctf_classes *classes, const struct probe_info *probe);

#endif

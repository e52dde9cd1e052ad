/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The classes of events that functions have in a CTF trace. A function has a class for its entry
 * and one for its return, with a field for each argument, so that readers show and search values
 * by their names. A class is declared when it is first needed: most of the functions that are
 * traced are never called.
 *
 * A traced process may load libraries with ever new names. When there are CLASSES_MAX classes, the
 * calls of further functions are written in the common classes, with their arguments as one text.
 */
#include "sink/forms/ctf_class.h"

#include "sink/forms/ctf_value.h"

enum { CLASSES_MAX = 8192 };

void ctf_classes_deinit(struct ctf_classes *classes)
{
	map_deinit(&classes->ids);
}

static uint64_t key_of(const struct probe_info *probe, unsigned phase)
{
	return (uint64_t)probe->id * PHASES + phase + 1;
}

unsigned ctf_classes_get(struct ctf_classes *classes, struct ctf_metadata *metadata,
			 const struct probe_info *probe, enum ctf_phase phase)
{
	const uint64_t key = key_of(probe, phase);
	unsigned id = (unsigned)(uintptr_t)map_get(&classes->ids, key);

	if (id || classes->count == CLASSES_MAX)
		return id;
	id = CTF_COMMON + classes->count++;
	map_put(&classes->ids, key, (void *)(uintptr_t)id);
	ctf_metadata_begin(metadata, id, probe->display, phase, probe->kind == PROBE_SYSTEM);
	ctf_values_declare(metadata, probe->prototype, ctf_values_of(probe->prototype, phase));
	ctf_metadata_end(metadata);
	return id;
}

void ctf_classes_forget(struct ctf_classes *classes, const struct probe_info *probe)
{
	for (unsigned phase = 0; phase < PHASES; phase++)
		map_remove(&classes->ids, key_of(probe, phase));
}

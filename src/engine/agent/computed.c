/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jumps to addresses that a function computes: into its own first instructions they are rare, but
 * a loop with labels as values (goto *table[n]) may begin there, and who comes there when our jump
 * stands in that place is lost.
 *
 * Such a jump gets its address from somewhere, and that is looked for. It is in a word of the
 * module's data (a relocation, as a rule), or the function itself names it (lea, mov), or an entry
 * of a table of distances: then the function names the table. So each place that it names is read
 * as if it were such a table, where it reads any. None of this is asked of functions that have no
 * jump by a register or by a word that is not at a fixed place, as most have not; and bytes that
 * look like one are taken for one.
 *
 * What is not found so is code that gets there by an address that another function gave it, other
 * than by a word of data: nobody but an assembler makes that.
 */
#include "engine/agent/private.h"

enum { TABLE_BYTES = 4096, REFERENCES_MAX = 4096 };

struct computing {
	const struct agent *agent;
	const struct space *space;
	const struct agent_function *function;
	uint64_t jump;	 /* where ours would stand */
	bool has_tables; /* perhaps */
	unsigned references;
	bool found;
};

static bool is_covered(const struct computing *computing, uint64_t address)
{
	return address - computing->jump - 1 < computing->function->covered - 1;
}

static bool table_leads_there(const struct computing *computing, uint64_t table)
{
	int32_t distances[TABLE_BYTES / sizeof(int32_t)];
	size_t count = memory_read(&computing->space->memory, table, distances, sizeof distances) /
		       sizeof *distances;

	for (size_t i = 0; i < count; i++)
		if (is_covered(computing, table + (uint64_t)(int64_t)distances[i]))
			return true;
	return false;
}

static void note_reference(void *context, uint64_t address)
{
	struct computing *computing = context;
	const struct agent_function *function = computing->function;

	if (computing->found)
		return;
	if (is_covered(computing, address) || ++computing->references > REFERENCES_MAX)
		computing->found = true;
	else if (computing->has_tables && address - function->address >= function->length)
		computing->found = table_leads_there(computing, address);
}

bool computed_may_lead_into(const struct agent *agent, const struct space *space,
			    const struct agent_function *function, uint64_t jump)
{
	const struct agent_arch *arch = space->arch->agent;
	struct computing computing = {
		.agent = agent, .space = space, .function = function, .jump = jump};

	if (!arch->jumps_by_pointer(function->bytes, function->length))
		return false;
	if (agent->points_into(space, jump + 1, jump + function->covered))
		return true;
	computing.has_tables = arch->reads_distances(function->bytes, function->length);
	arch->find_references(function, note_reference, &computing);
	return computing.found;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jumps to computed addresses. They rarely lead into a function's own first instructions. But a
 * loop with labels as values (goto *table[n]) may begin there, and a thread that jumped behind the
 * first byte of the agent's jump would be lost.
 *
 * The address of such a jump has to come from somewhere: from a word of the module's data, mostly a
 * relocation; from an instruction of the function (lea, mov); or from a table of distances, whose
 * address an instruction of the function has. So each address that the function refers to is read
 * as if it were such a table, if the function reads any. A function without a jump by a register,
 * or by a word that is not at a fixed place, needs none of this; most have none. Bytes that look
 * like such a jump count as one.
 *
 * Not found is code that gets the address from another function, other than in a word of data. Only
 * handwritten assembler does that.
 */
#include "engine/agent/computed.h"

#include "engine/agent/agent_state.h"

enum { TABLE_BYTES = 4096, REFERENCES_MAX = 4096 };

struct computing {
	const struct agent *agent;
	const struct space *space;
	const struct agent_function *function;
	uint64_t jump;	 /* where the agent's jump would be */
	bool has_tables; /* the function may read tables of distances */
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

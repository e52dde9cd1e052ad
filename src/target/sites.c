/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sites: what breakpoints refer to, one for each probe and word size. */
#include "target/sites.h"

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "object/debug_file.h"
#include "object/elf.h"
#include "probe/expression_compile.h"
#include "record/sampling.h"
#include "sink/otlp/db_functions.h"
#include "target/module.h"
#include "target/shown_names.h"
#include "target/site_prototypes.h"
#include "target/target_state.h"

#include <stdlib.h>

/* A probe as it is planted in processes of either word size. */
struct planted {
	struct probe_site sites[2]; /* for words of 4 and 8 bytes; plan NULL: not planted so far */
	struct capture_plan *plans[2];
	bool in_use;
};

static char *make_display(const struct target *target, enum probe_kind kind, const char *name,
			  const struct module *module)
{
	const char *soname = module ? module_library(module) : NULL;

	if (kind == PROBE_CALL && target->calls_named)
		return xasprintf("%s->%s", soname, name);
	if (kind == PROBE_ENTRY && !target->options->entries_only && module && !module->is_main)
		return xasprintf("%s@%s", name, soname);
	return xstrdup(name);
}

static struct planted *get_planted(struct target *target, const struct probe_info *info)
{
	struct planted *planted = map_get(&target->sites, info->id);

	if (!planted) {
		planted = xcalloc(1, sizeof *planted);
		map_put(&target->sites, info->id, planted);
	}
	return planted;
}

void sites_prepare(const struct target *target, const struct space *space, enum probe_kind kind,
		   uint64_t address, const char *symbol, const struct module *module)
{
	const char *library;

	site_prototype_find(target, space, &(struct function_query){kind, address, symbol, module},
			    &library);
}

/* A function as it is shown. */
struct shown {
	enum probe_kind kind;
	const char *name;
	const struct module *module;
	const struct prototype *prototype;
	const struct abi *abi;
	const char *symbol; /* as the module has it */
	/* the library it seems to be linked in from, which has its prototype; or NULL */
	const char *linked_in;
};

/*
 * A statement of a database is captured so far, whatever -s says, if it is part of a span. A call
 * with two texts of this length still is a record that the agent makes (AGENT_RECORD_MAX).
 */
enum { STATEMENT_MAX = 4 << 10 };

/* Returns how many bytes of a string are captured. */
static unsigned string_max(const struct target *target, const struct probe_info *info)
{
	const unsigned most = target->options->string_max;

	if (most >= STATEMENT_MAX || !target->options->output->takes_statements)
		return most;
	return db_functions_find(info) ? STATEMENT_MAX : most;
}

static const struct probe_site *get_site(struct target *target, const struct space *space,
					 const struct shown *shown)
{
	const struct module *module = shown->module;
	char safe[256];
	_cleanup_free_ char *display = make_display(target, shown->kind, shown->name, module);
	const bool is_recorded = target->options->output->recording != NULL;
	_cleanup_free_ char *build_id = is_recorded && module ? debug_file_build_id(module->file)
							      : NULL;
	const struct probe_origin origin = {.symbol = shown->symbol,
					    .path = module ? module->path : NULL,
					    .soname = module ? elf_soname(module->file) : NULL,
					    .build_id = build_id,
					    .is_main = module && module->is_main};
	const struct probe_info *info = probe_table_add_from(
		target->probes, shown->kind, shown->name, module ? module->base_name : "", display,
		shown->prototype, &origin);
	struct planted *planted = get_planted(target, info);
	int wide = space->arch->abi->word == 8;

	if (!planted->plans[wide]) {
		if (shown->linked_in && target->options->verbose)
			diag("%s: linked in, it seems; its prototype is that of %s",
			     diag_safe(safe, sizeof safe, display), shown->linked_in);
		const struct output_options *output = target->options->output;
		struct condition condition = {.count = 0};

		if (output->decides_early && !target->spans.spans.count)
			expression_compile(output->condition, shown->prototype, &condition);
		const struct plan_limits limits = {.string_max = string_max(target, info),
						   .array_max = target->options->array_max,
						   .condition = condition.ops,
						   .condition_count = condition.count};

		planted->plans[wide] = target_shows_values(target)
					       ? plan_create(shown->prototype, shown->abi, &limits)
					       : plan_create_empty();
		if (!target->spans.spans.count)
			planted->plans[wide]->chosen_below = sampling_limit(output->sample);
		planted->sites[wide] = (struct probe_site){info, planted->plans[wide]};
	}
	return &planted->sites[wide];
}

const struct probe_site *sites_get(struct target *target, const struct space *space,
				   enum probe_kind kind, uint64_t address, const char *symbol,
				   const struct module *module)
{
	const struct function_query question = {kind, address, symbol, module};
	_cleanup_free_ char *name = shown_names_function(target, module, symbol);
	const struct abi *go = site_prototype_is_go(&question) ? space->arch->go : NULL;
	struct shown shown = {.kind = kind, .name = name, .symbol = symbol, .module = module};

	shown.abi = go ? go : space->arch->abi;
	shown.prototype = site_prototype_resolve(
		target, space, &question,
		site_prototype_find(target, space, &question, &shown.linked_in));
	return get_site(target, space, &shown);
}

const struct probe_site *sites_get_resolver(struct target *target, const struct space *space,
					    const char *symbol, const struct module *module)
{
	_cleanup_free_ char *chosen = shown_names_function(target, module, symbol);
	_cleanup_free_ char *name = xasprintf("%s.IFUNC", chosen);
	const struct shown shown = {.kind = PROBE_ENTRY,
				    .name = name,
				    .symbol = symbol,
				    .module = module,
				    .prototype = prototype_resolver(),
				    .abi = space->arch->abi};

	return get_site(target, space, &shown);
}

static void free_planted(struct planted *planted)
{
	for (int wide = 0; wide < 2; wide++)
		plan_destroy(planted->plans[wide]);
	free(planted);
}

/* ------------------------------------------------------------------ unused sites */

void sites_mark(struct target *target, const struct probe_site *site)
{
	struct planted *planted = map_get(&target->sites, site->info->id);

	if (planted)
		planted->in_use = true;
}

static void drop_site(struct target *target, uint32_t id)
{
	target->notify.forgotten(target->notify.context, probe_table_get(target->probes, id));
	free_planted(map_remove(&target->sites, id));
	probe_table_remove(target->probes, id);
}

void sites_drop(struct target *target)
{
	struct vec unused = VEC_OF(uint32_t);
	size_t cursor = 0;
	uint64_t id;
	void *value;

	while (map_next(&target->sites, &cursor, &id, &value)) {
		struct planted *planted = value;

		if (!planted->in_use)
			vec_push(&unused, &(uint32_t){(uint32_t)id});
		planted->in_use = false;
	}
	for (size_t i = 0; i < unused.count; i++)
		drop_site(target, *(uint32_t *)vec_at(&unused, i));
	vec_deinit(&unused);
}

void sites_deinit(struct target *target)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&target->sites, &cursor, NULL, &value))
		free_planted(value);
	map_deinit(&target->sites);
}

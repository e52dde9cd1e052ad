/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which system calls are traced, and how: -S, and filters with the module SYS.
 *
 * The prototypes are in syscalls.conf, as NAME_ARCHITECTURE where the arguments of a call differ
 * between architectures, otherwise as NAME. Prototypes that apply to all libraries (-F FILE) are
 * about functions, and are not used. A call by another ABI than that of the program is shown with
 * it: `write@SYS/i386`. A number that is not in the table is shown in hexadecimal. Sites are kept.
 * A program can make calls with any number, so unnamed calls beyond UNKNOWN_MAX sites share one
 * site.
 */
#include "target/syscalls/syscalls.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "record/sampling.h"
#include "target/agent_policy.h"
#include "target/syscalls/syscall_variants.h"
#include "target/target_state.h"
#include "tracee/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { UNKNOWN_MAX = 1 << 14, PACKED_BITS = 6, KIND_BITS = 2 + PACKED_BITS + SYSTEM_VARIANT_BITS };
/*
 * The key of the shared site. In other keys a number has 32 bits, whatever sign the kernel reports,
 * and the rest KIND_BITS.
 */
static const uint64_t unknown_key = UINT64_C(1) << (32 + KIND_BITS);

/*
 * Names of calls whose number has no name: the prefix of each, and the name of the shared site,
 * whose prototype they all have.
 */
static const char unknown_prefix[] = "syscall_0x";
static const char unknown_name[] = "syscall_unknown";

static const char module_name[] = "SYS";

struct system_site {
	struct probe_site site;
	struct capture_plan *plan; /* NULL: not traced */
};

/*
 * The arguments are in the order of their numbers. One that does not fit into a register has two.
 */
static struct abi abi_of(const struct arch *arch)
{
	return (struct abi){.word = arch->abi->word,
			    .int_args = 6,
			    .int_arg = {0, 1, 2, 3, 4, 5},
			    .stack_first = arch->abi->word,
			    .wide_in_pairs = true};
}

/* ------------------------------------------------------------------ filters */

/*
 * Returns true if a rule is about system calls. A rule about any module is not: it asks for
 * functions. But such a rule also takes back what an earlier rule of the filter asked for
 * (`asked`).
 */
static bool is_for_calls(const struct filter_rule *rule, bool asked)
{
	if (rule->library != LIBRARY_NAME)
		return false;
	return rule->module.kind == PATTERN_ANY ? asked && rule->subtracts
						: pattern_matches(&rule->module, module_name);
}

/* Returns true if the pattern is the name of an unnamed number, such as syscall_0x1ff. */
static bool is_number(const struct pattern *pattern)
{
	const size_t length = sizeof unknown_prefix - 1;

	return pattern->kind == PATTERN_PLAIN && !strncmp(pattern->text, unknown_prefix, length) &&
	       pattern->text[length] &&
	       strspn(pattern->text + length, "0123456789abcdef") == strlen(pattern->text + length);
}

/* Returns true if any system call has a matching name. */
static bool names_any(const struct filter_rule *rule)
{
	const struct arch *arch;

	if (is_number(&rule->symbol) || system_request_names_packed(&rule->symbol))
		return true;
	for (unsigned i = 0; (arch = arch_at(i)); i++)
		for (unsigned number = 0; number < arch->syscall_count; number++)
			if (arch->syscall_names[number] &&
			    pattern_matches(&rule->symbol, arch->syscall_names[number]))
				return true;
	return false;
}

/* Visits the rules of all filters that are about system calls, from left to right. */
static void each_rule(struct target *target, void (*visit)(struct filter_rule *, void *),
		      void *context)
{
	const struct vec *all[] = {&target->filters.calls, &target->filters.libraries,
				   &target->filters.entries};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		for (size_t k = 0; k < all[i]->count; k++) {
			const struct filter *filter = vec_at(all[i], k);
			bool asked = false;

			for (size_t r = 0; r < filter->rules.count; r++) {
				struct filter_rule *rule = vec_at(&filter->rules, r);

				if (!is_for_calls(rule, asked))
					continue;
				asked |= !rule->subtracts;
				visit(rule, context);
			}
		}
}

static void look_up(struct filter_rule *rule, void *unused)
{
	(void)unused;
	rule->matched = names_any(rule);
	rule->miss = MISS_NAME;
}

void system_calls_set_up(struct target *target)
{
	each_rule(target, look_up, NULL);
}

static void note_adding(struct filter_rule *rule, void *any)
{
	*(bool *)any |= !rule->subtracts;
}

static bool has_adding_rules(struct target *target)
{
	bool any = false;

	each_rule(target, note_adding, &any);
	return any;
}

struct wanted {
	const char *name, *outer;
	bool asked;
};

static void apply(struct filter_rule *rule, void *context)
{
	struct wanted *wanted = context;

	if (!pattern_matches(&rule->symbol, wanted->name) &&
	    (!wanted->outer || !pattern_matches(&rule->symbol, wanted->outer)))
		return;
	wanted->asked = !rule->subtracts;
	rule->matched = true; /* for names of unnamed numbers, which look_up() does not find */
}

/* If all rules only exclude calls, all other calls are asked for, as -S means all. */
static bool is_asked_for(struct target *target, const char *name, const char *outer)
{
	struct wanted wanted = {name, outer, !has_adding_rules(target)};

	each_rule(target, apply, &wanted);
	return wanted.asked;
}

/* ------------------------------------------------------------------ sites */

static const struct prototype *find_prototype(const struct target *target, const struct arch *arch,
					      const char *name, const char *suffix)
{
	const struct protolib *lib = proto_search_library(target->prototypes, "syscalls");
	_cleanup_free_ char *described = xasprintf("%s%s", name, suffix);
	const struct prototype *found = NULL;

	if (lib)
		found = protolib_find_on(lib, described, arch->name);
	if (!found && lib)
		found = protolib_find_on(lib, name, arch->name);
	if (!found && lib && !strncmp(name, unknown_prefix, sizeof unknown_prefix - 1))
		found = protolib_find(lib, unknown_name);
	return found ? found : prototype_guess();
}

static const char *known_name(const struct arch *arch, uint64_t number)
{
	return number < arch->syscall_count ? arch->syscall_names[number] : NULL;
}

static struct system_site *make_site(struct target *target, const struct system_request *request,
				     const char *name, const char *suffix, bool foreign)
{
	const struct session_options *options = target->options;
	const struct arch *arch = request->arch;
	struct system_site *made = xcalloc(1, sizeof *made);
	const struct abi abi = abi_of(arch);
	const struct plan_limits limits = {.string_max = options->string_max,
					   .array_max = options->array_max};
	const struct prototype *prototype = find_prototype(target, arch, name, suffix);
	_cleanup_free_ char *display = foreign ? xasprintf("%s@%s/%s", name, module_name,
							   arch->name)
					       : xasprintf("%s@%s", name, module_name);

	if (!is_asked_for(target, name, request->outer))
		return made;
	made->plan = target_shows_values(target) ? plan_create(prototype, &abi, &limits)
						 : plan_create_empty();
	if (!target->spans.spans.count)
		made->plan->chosen_below = sampling_limit(options->output->sample);
	made->site = (struct probe_site){probe_table_add(target->probes, PROBE_SYSTEM, name,
							 module_name, display, prototype),
					 made->plan};
	return made;
}

static struct system_site *find_site(struct target *target, const struct system_request *request,
				     bool foreign)
{
	const uint64_t variant = system_request_variant(request);
	const uint64_t kind =
		((variant << PACKED_BITS | request->packed) << 1 | (request->arch->abi->word == 8))
			<< 1 |
		foreign;
	uint64_t key = (uint64_t)(uint32_t)request->number << KIND_BITS | kind;
	struct system_site *site = map_get(&target->system_sites, key);
	_cleanup_free_ char *made = NULL;

	if (!site && !request->name && target->system_sites.count >= UNKNOWN_MAX) {
		key = unknown_key | kind;
		site = map_get(&target->system_sites, key);
		made = xstrdup(unknown_name);
	}
	if (site)
		return site;
	if (!request->name && !made)
		made = xasprintf("%s%llx", unknown_prefix, (unsigned long long)request->number);
	_cleanup_free_ char *suffix = system_variant_suffix(variant);

	site = make_site(target, request, made ? made : request->name, suffix, foreign);
	map_put(&target->system_sites, key, site);
	return site;
}

const struct probe_site *system_calls_site(void *context, const struct space *space,
					   const struct arch *arch, uint64_t number,
					   uint64_t arguments[6], uint64_t *result_at)
{
	struct target *target = context;
	struct system_request request = {
		.arch = arch, .number = number, .name = known_name(arch, number)};

	memcpy(request.arguments, arguments, sizeof request.arguments);
	system_request_unpack(&request, &space->memory);
	memcpy(arguments, request.arguments, sizeof request.arguments);
	*result_at = request.result_at;
	const struct system_site *site = find_site(target, &request, arch != space->arch);

	return site->plan ? &site->site : NULL;
}

/* ------------------------------------------------------------------ stops */

static void refused(void *context, int error)
{
	struct target *target = context;

	untraced_thing(target->untraced, "system calls",
		       error == -EIO ? "the kernel is older than Linux 5.3" : strerror(-error));
}

static void passed(void *context, struct thread *thread)
{
	struct target *target = context;

	agent_policy_drain_rings(target);
	syscalls_at_stop(target->syscalls, thread, clock_of_event(target->tracees));
}

void system_calls_start(struct target *target)
{
	const struct syscall_events events = {system_calls_site, refused, target};

	if (!target->options->system_calls && !has_adding_rules(target))
		return;
	target->syscalls = syscalls_create(target->tracker, &events);
	target->tracees->passed_syscall = passed;
	target->tracees->passed_context = target;
}

void system_calls_stop(struct target *target, const struct stop *stop)
{
	struct thread *thread = stop->thread;

	if (!target->syscalls || !thread || thread->process->silent)
		return;
	if (stop->kind == STOP_EXEC)
		syscalls_exec(thread, tracees_thread(target->tracees, (pid_t)stop->message));
	if (stop->kind == STOP_SYSCALL && !thread->process->calls_pass)
		syscalls_at_stop(target->syscalls, thread, stop->time);
	else
		syscalls_before(target->syscalls, thread, stop->kind);
}

void system_calls_answered(void *context, struct thread *thread, const struct regs *regs,
			   uint64_t result)
{
	struct target *target = context;

	if (target->syscalls && !thread->process->silent)
		syscalls_answered(target->syscalls, thread, regs, (int64_t)result);
}

void system_calls_let_pass(struct thread *thread, void *context)
{
	(void)context;
	thread->process->calls_pass = true;
}

void system_calls_deinit(struct target *target)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&target->system_sites, &cursor, NULL, &value)) {
		struct system_site *site = value;

		plan_destroy(site->plan);
		free(site);
	}
	map_deinit(&target->system_sites);
	syscalls_destroy(target->syscalls);
}

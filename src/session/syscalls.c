/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which system calls are traced, and how: -S, and filters of which the module is SYS.
 *
 * The prototypes are in syscalls.conf, as NAME_ARCHITECTURE where a call has other arguments than
 * elsewhere, else by their name; what speaks for all libraries is about functions, and does not
 * count. A call of another ABI than that of its program is named with it: `write@SYS/i386`. A
 * number that the table does not have is a name of its own, in hexadecimal. Sites are kept; a
 * program may make calls of all numbers there are, so those beyond the first UNKNOWN_MAX without a
 * name share one.
 */
#include "session/private.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "session/variants.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { UNKNOWN_MAX = 1 << 14, PACKED_BITS = 6, KIND_BITS = 2 + PACKED_BITS + SYSTEM_VARIANT_BITS };
/*
 * The key of the rest: numbers have 32 bits, whatever the kernel tells as their sign, and the rest
 * of a key KIND_BITS.
 */
static const uint64_t unknown_key = UINT64_C(1) << (32 + KIND_BITS);

/*
 * Of numbers without a name: the beginning of what they are called, and whose prototype they have,
 * and the name of the rest.
 */
static const char unknown_prefix[] = "syscall_0x";
static const char unknown_name[] = "syscall_unknown";

static const char module_name[] = "SYS";

struct system_site {
	struct probe_site site;
	struct capture_plan *plan; /* NULL: not traced */
};

/* Arguments are where their number says; what does not fit in a register has two. */
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
 * Not one that is about any module: calls of functions and of the kernel are not asked for by the
 * same words. But what was asked for by an earlier rule of the filter (`asked`) is taken back by
 * one that says nothing of modules.
 */
static bool is_for_calls(const struct filter_rule *rule, bool asked)
{
	if (rule->library != LIBRARY_NAME)
		return false;
	return rule->module.kind == PATTERN_ANY ? asked && rule->subtracts
						: pattern_matches(&rule->module, module_name);
}

/* Whether that is the name of a number that has no other, or would have none. */
static bool is_number(const struct pattern *pattern)
{
	const size_t length = sizeof unknown_prefix - 1;

	return pattern->kind == PATTERN_PLAIN && !strncmp(pattern->text, unknown_prefix, length) &&
	       pattern->text[length] &&
	       strspn(pattern->text + length, "0123456789abcdef") == strlen(pattern->text + length);
}

/* Whether any system call has a name like that. */
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
static void each_rule(struct session *session, void (*visit)(struct filter_rule *, void *),
		      void *context)
{
	const struct vec *all[] = {&session->filters.calls, &session->filters.libraries,
				   &session->filters.entries};

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

void system_calls_set_up(struct session *session)
{
	each_rule(session, look_up, NULL);
}

static void note_adding(struct filter_rule *rule, void *any)
{
	*(bool *)any |= !rule->subtracts;
}

static bool has_adding_rules(struct session *session)
{
	bool any = false;

	each_rule(session, note_adding, &any);
	return any;
}

struct wish {
	const char *name, *outer;
	bool asked;
};

static void apply(struct filter_rule *rule, void *context)
{
	struct wish *wish = context;

	if (!pattern_matches(&rule->symbol, wish->name) &&
	    (!wish->outer || !pattern_matches(&rule->symbol, wish->outer)))
		return;
	wish->asked = !rule->subtracts;
	rule->matched = true; /* by the name of a number, which no table has */
}

/* Rules that only take some away leave the rest of those that -S means. */
static bool is_asked_for(struct session *session, const char *name, const char *outer)
{
	struct wish wish = {name, outer, !has_adding_rules(session)};

	each_rule(session, apply, &wish);
	return wish.asked;
}

/* ------------------------------------------------------------------ sites */

static const struct prototype *find_prototype(const struct session *session,
					      const struct arch *arch, const char *name,
					      const char *suffix)
{
	const struct protolib *lib = proto_search_library(session->prototypes, "syscalls");
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

static struct system_site *make_site(struct session *session, const struct system_request *request,
				     const char *name, const char *suffix, bool foreign)
{
	const struct session_options *options = session->options;
	const struct arch *arch = request->arch;
	struct system_site *made = xcalloc(1, sizeof *made);
	const struct abi abi = abi_of(arch);
	const struct plan_limits limits = {options->string_max, options->array_max};
	const struct prototype *prototype = find_prototype(session, arch, name, suffix);
	_cleanup_free_ char *display = foreign ? xasprintf("%s@%s/%s", name, module_name,
							   arch->name)
					       : xasprintf("%s@%s", name, module_name);

	if (!is_asked_for(session, name, request->outer))
		return made;
	made->plan = options->summary ? plan_create_empty() : plan_create(prototype, &abi, &limits);
	made->site = (struct probe_site){probe_table_add(session->probes, PROBE_SYSTEM, name,
							 module_name, display, prototype),
					 made->plan};
	return made;
}

static struct system_site *find_site(struct session *session, const struct system_request *request,
				     bool foreign)
{
	const uint64_t variant = system_request_variant(request);
	const uint64_t kind =
		((variant << PACKED_BITS | request->packed) << 1 | (request->arch->abi->word == 8))
			<< 1 |
		foreign;
	uint64_t key = (uint64_t)(uint32_t)request->number << KIND_BITS | kind;
	struct system_site *site = map_get(&session->system_sites, key);
	_cleanup_free_ char *made = NULL;

	if (!site && !request->name && session->system_sites.count >= UNKNOWN_MAX) {
		key = unknown_key | kind;
		site = map_get(&session->system_sites, key);
		made = xstrdup(unknown_name);
	}
	if (site)
		return site;
	if (!request->name && !made)
		made = xasprintf("%s%llx", unknown_prefix, (unsigned long long)request->number);
	_cleanup_free_ char *suffix = system_variant_suffix(variant);

	site = make_site(session, request, made ? made : request->name, suffix, foreign);
	map_put(&session->system_sites, key, site);
	return site;
}

static const struct probe_site *site_of(void *context, const struct space *space,
					const struct arch *arch, uint64_t number,
					uint64_t arguments[6], uint64_t *result_at)
{
	struct session *session = context;
	struct system_request request = {
		.arch = arch, .number = number, .name = known_name(arch, number)};

	memcpy(request.arguments, arguments, sizeof request.arguments);
	system_request_unpack(&request, &space->memory);
	memcpy(arguments, request.arguments, sizeof request.arguments);
	*result_at = request.result_at;
	const struct system_site *site = find_site(session, &request, arch != space->arch);

	return site->plan ? &site->site : NULL;
}

/* ------------------------------------------------------------------ stops */

static void refused(void *context, int error)
{
	struct session *session = context;

	untraced_thing(session->untraced, "system calls",
		       error == -EIO ? "the kernel is older than Linux 5.3" : strerror(-error));
}

static void passed(void *context, struct thread *thread)
{
	struct session *session = context;

	inprocess_fetch(session);
	syscalls_at_stop(session->syscalls, thread, inferior_event_clock(session->inferior));
}

void system_calls_start(struct session *session)
{
	const struct syscall_events events = {site_of, refused, session};

	if (!session->options->system_calls && !has_adding_rules(session))
		return;
	session->syscalls = syscalls_create(session->trap, &events);
	session->inferior->passed_syscall = passed;
	session->inferior->passed_context = session;
}

void system_calls_stop(struct session *session, const struct stop *stop)
{
	struct thread *thread = stop->thread;

	if (!session->syscalls || !thread || thread->process->silent)
		return;
	if (stop->kind == STOP_EXEC)
		syscalls_exec(thread, inferior_thread(session->inferior, (pid_t)stop->message));
	if (stop->kind == STOP_SYSCALL && !thread->process->calls_pass)
		syscalls_at_stop(session->syscalls, thread, stop->time);
	else
		syscalls_before(session->syscalls, thread, stop->kind);
}

void system_calls_answered(void *context, struct thread *thread, const struct regs *regs,
			   uint64_t result)
{
	struct session *session = context;

	if (session->syscalls && !thread->process->silent)
		syscalls_answered(session->syscalls, thread, regs, (int64_t)result);
}

void system_calls_let_pass(struct thread *thread, void *context)
{
	(void)context;
	thread->process->calls_pass = true;
}

void system_calls_deinit(struct session *session)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&session->system_sites, &cursor, NULL, &value)) {
		struct system_site *site = value;

		plan_destroy(site->plan);
		free(site);
	}
	map_deinit(&session->system_sites);
	syscalls_destroy(session->syscalls);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prototypes as .conf files give them, and the plans that are made of them. */
#include "fuzz.h"
#include "proto/plan.h"

static void note_error(void *context, const char *file, unsigned line, const char *message)
{
	size_t *errors = context;

	MUST(!strcmp(file, "f") && message[0]);
	(void)line;
	++*errors;
}

static void check_plan(const struct prototype *prototype, const struct abi *abi)
{
	static const struct plan_limits limits = {.string_max = 32, .array_max = 4};
	struct capture_plan *plan = plan_create(prototype, abi, &limits);

	MUST(plan->arg_count <= CAPTURE_ARGS_MAX);
	for (size_t i = 0; i < plan->entry_count; i++)
		MUST(plan->entry[i].place <= PLACE_PIECES && plan->entry[i].kind <= CAPTURE_INLINE);
	for (size_t i = 0; i < plan->exit_count; i++)
		MUST(plan->exit[i].place <= PLACE_PIECES && plan->exit[i].kind <= CAPTURE_INLINE);
	plan_destroy(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct protolib *lib = protolib_create();
	const struct prototype *prototype;
	char *text = malloc(size + 1);
	size_t cursor = 0;
	size_t errors = 0;

	MUST(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	int reported = protolib_parse(lib, "f", text, note_error, &errors);

	/* Some of what is said is no error. */
	MUST(reported >= 0 && (size_t)reported <= errors);
	while ((prototype = protolib_next(lib, &cursor))) {
		MUST(protolib_find(lib, prototype->name) == prototype);
		check_plan(prototype, arch_x86_64.abi);
		check_plan(prototype, arch_i386.abi);
	}
	protolib_destroy(lib);
	free(text);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Expressions of the command line, evaluated for a call whose values are taken from the input. */
#include "fuzz.h"
#include "probe/expression.h"
#include "probe/expression_compile.h"
#include "probe/expression_fit.h"
#include "probe/expression_run.h"

#include <string.h>

enum { TEXT_MAX = 400, STARS_MAX = 6 };

struct call_input {
	const uint8_t *data;
	size_t size;
};

/* See fuzz_filter.c. */
static bool is_costly(const char *text)
{
	size_t stars = 0;

	for (const char *at = text; *at; at++) {
		if (*at == '\\' || *at == '{' || *at == '+' || *at == '?')
			return true;
		stars += *at == '*';
	}
	return stars > STARS_MAX;
}

static struct expression_value value_of(void *context, const struct expression *node,
					struct expression_run *run)
{
	const struct call_input *input = context;
	const uint8_t choice = input->data[node->number % input->size];
	uint64_t number = 0;

	memcpy(&number, input->data, input->size < sizeof number ? input->size : sizeof number);
	switch (choice % 5) {
	case 0:
		return expression_signed((int64_t)number);
	case 1:
		return expression_unsigned(number);
	case 2:
		return expression_float((double)number / 3);
	case 3:
		return expression_text(expression_run_keep(run, input->data, input->size),
				       input->size);
	default:
		return expression_none();
	}
}

static struct expression_value fingerprint_of(void *context, const struct expression_value *text,
					      const struct expression_value *dialect,
					      struct expression_run *run)
{
	(void)context;
	(void)dialect;
	(void)run;
	return *text;
}

/* ------------------------------------------------------------------ conditions that are decided early */

/* A call f(unsigned long, const char *, int, short, unsigned char), whose arguments are `words`. */
static const struct type types[] = {
	{.kind = TYPE_INT, .width = WIDTH_LONG},
	{.kind = TYPE_STRING},
	{.kind = TYPE_INT, .width = WIDTH_INT, .is_signed = true},
	{.kind = TYPE_INT, .width = WIDTH_SHORT, .is_signed = true},
	{.kind = TYPE_INT, .width = WIDTH_CHAR},
};
static const struct parameter parameters[] = {{.type = &types[0], .name = "size"},
					      {.type = &types[1]},
					      {.type = &types[2]},
					      {.type = &types[3]},
					      {.type = &types[4]}};
static const struct prototype prototype = {
	.name = "f", .result = &types[0], .parameters = parameters, .parameter_count = 5};
static const uint8_t sizes[] = {8, 8, 4, 2, 1};

static struct expression_value argument_of(void *context, const struct expression *node,
					   struct expression_run *run)
{
	const uint64_t *words = context;
	struct expression_value value;

	(void)run;
	if (node->name != NAME_ARGUMENT || node->steps.count || node->number > 5 ||
	    (!node->number && strcmp(node->text, "size") != 0))
		return expression_none();
	const unsigned index = node->number ? node->number - 1 : 0;
	const unsigned unused = 64 - 8U * sizes[index];

	if (types[index].is_signed)
		return expression_signed((int64_t)(words[index] << unused) >> unused);
	value = expression_unsigned(words[index] << unused >> unused);
	value.unit = index == 1 ? UNIT_POINTER : UNIT_NONE;
	return value;
}

static size_t read_nothing(void *context, uint64_t address, void *buffer, size_t length)
{
	(void)context;
	(void)address;
	(void)buffer;
	(void)length;
	return 0;
}

/* A condition that does not hold has to be a part of an expression that does not. */
static void check_condition(const struct expression *expression, const uint8_t *data, size_t size)
{
	struct condition condition;
	struct capture_plan plan = {0};
	uint64_t words[16] = {0};
	const struct condition_frame frame = {words, 0, read_nothing, NULL};
	const struct expression_subject subject = {argument_of, fingerprint_of, words};
	struct expression_run run;

	expression_compile(expression, &prototype, &condition);
	memcpy(words, data, size < sizeof words ? size : sizeof words);
	for (unsigned i = 0; i < 5; i++)
		plan.args[i] = (struct capture_location){
			.place = PLACE_GPR, .index = (uint8_t)i, .size = sizes[i]};
	plan.condition = condition.ops;
	plan.condition_count = (uint16_t)condition.count;
	expression_run_begin(&run, &subject);
	const struct expression_value value = expression_evaluate(expression, &run);

	MUST(condition_holds(&plan, &frame) || !expression_is_true(&value));
	expression_run_end(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct call_input input = {data, size};
	const struct expression_subject subject = {value_of, fingerprint_of, &input};
	struct expression_error error = {0};
	struct expression_run run;
	struct vec list = VEC_OF(struct expression *);
	char text[TEXT_MAX + 1] = "";

	if (size < 1 || size > TEXT_MAX)
		return 0;
	memcpy(text, data, size);
	if (is_costly(text))
		return 0;
	if (!expression_parse_list(text, &list, &error)) {
		MUST(error.message && error.column >= 1 && error.column <= strlen(text) + 1);
		MUST(list.count == 0);
		free(error.message);
		return 0;
	}
	expression_run_begin(&run, &subject);
	for (size_t i = 0; i < list.count; i++) {
		const struct expression *expression = *(struct expression **)vec_at(&list, i);
		const struct expression_value value = expression_evaluate(expression, &run);

		MUST(value.type != EXPRESSION_TEXT || value.length <= TEXT_MAX);
		if (!expression_fits(expression, PROBE_ENTRY, &prototype, &error))
			MUST(error.message);
		free(error.message);
		error.message = NULL;
		check_condition(expression, data, size);
		MUST(expression_wants_text(expression, true) ||
		     !expression_wants_text(expression, false));
	}
	expression_run_end(&run);
	expression_list_free(&list);
	return 0;
}

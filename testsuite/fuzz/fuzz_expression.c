/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Expressions of the command line, evaluated for a call whose values are taken from the input. */
#include "fuzz.h"
#include "probe/expression.h"
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct type number = {.kind = TYPE_INT, .width = WIDTH_LONG},
				 text_type = {.kind = TYPE_STRING};
	static const struct parameter parameters[] = {{.type = &number, .name = "size"},
						      {.type = &text_type}};
	static const struct prototype prototype = {
		.name = "f", .result = &number, .parameters = parameters, .parameter_count = 2};
	struct call_input input = {data, size};
	const struct expression_subject subject = {value_of, &input};
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
		MUST(expression_wants_text(expression, true) ||
		     !expression_wants_text(expression, false));
	}
	expression_run_end(&run);
	expression_list_free(&list);
	return 0;
}

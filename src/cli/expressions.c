/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options that are expressions.
 *
 * What they use has to be captured with each call: the script line, the stack, and the whole of
 * texts, of which the trace shows the first bytes only. A text that is used is captured up to 64
 * KiB, and one that is recorded up to 4 KiB, unless -s says otherwise: whoever reads the file may
 * want to see more of it than is shown while it is recorded. What will be typed into the view of
 * --top is not known before, so texts are captured like that, too.
 */
#include "cli/expressions.h"

#include "base/diag.h"
#include "cli/formats.h"
#include "probe/expression.h"
#include "sink/forms/template.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 64 << 10, KEPT_MAX = 4 << 10, STACK_FRAMES = 128, SAFE_MAX = 512 };

static bool fail(const char *option, const char *text, struct expression_error *error)
{
	char safe[SAFE_MAX];

	diag("%s '%s', column %zu: %s", option, diag_safe(safe, sizeof safe, text), error->column,
	     error->message);
	free(error->message);
	return false;
}

/* Notes what an expression needs. `is_shown`: its value is shown, or is a key. */
static void note(struct output_options *output, const struct expression *expression, bool is_shown)
{
	output->decides_early &= !expression_has_name(expression, NAME_DEPTH);
	output->takes_lines |= expression_has_name(expression, NAME_LINE) ||
			       expression_has_name(expression, NAME_FILE);
	output->takes_texts |= expression_wants_text(expression, is_shown);
	if (expression_has_name(expression, NAME_STACK))
		output->takes_stack = STACK_FRAMES;
}

/* --if, --sum and --weight */
static bool parse_one(const char *option, const char *text, struct expression **expression)
{
	struct expression_error error;

	*expression = text ? expression_parse(text, &error) : NULL;
	return *expression || !text || fail(option, text, &error);
}

static bool parse_keys(const struct options *options, struct expressions *expressions,
		       struct output_options *output)
{
	struct expression_error error;

	vec_init(&expressions->keys, sizeof(struct expression *));
	if (options->keys && !expression_parse_list(options->keys, &expressions->keys, &error))
		return fail("--by", options->keys, &error);
	for (size_t i = 0; i < expressions->keys.count; i++)
		note(output, *(struct expression **)vec_at(&expressions->keys, i), true);
	output->keys = options->keys || options->sum ? &expressions->keys : NULL;
	output->keys_text = options->keys;
	return true;
}

static bool parse_weight(const struct options *options, struct expressions *expressions,
			 struct output_options *output)
{
	const char *text = options->weight;

	if (!text || !strcmp(text, "calls"))
		return true;
	if (!strcmp(text, "time")) {
		output->weighs = WEIGHS_TIME;
		return true;
	}
	if (!parse_one("--weight", text, &expressions->weight))
		return false;
	note(output, expressions->weight, false);
	output->weighs = WEIGHS_VALUE;
	output->weight_text = text;
	output->weight = expressions->weight;
	return true;
}

bool expressions_parse(const struct options *options, struct expressions *expressions,
		       struct output_options *output)
{
	struct expression_error error;

	/*
	 * Unless an expression uses the depth, too: see note(). Frames are those of all calls
	 * around a call.
	 */
	output->decides_early = options->condition && !output->indent && !options->depth_max &&
				!formats_have_frames(options);
	if (!parse_one("--if", options->condition, &expressions->condition) ||
	    !parse_one("--sum", options->sum, &expressions->sum) ||
	    !parse_keys(options, expressions, output) ||
	    !parse_weight(options, expressions, output))
		return false;
	if (expressions->condition)
		note(output, expressions->condition, false);
	if (expressions->sum)
		note(output, expressions->sum, false);
	output->sum = expressions->sum;
	if (options->template) {
		expressions->template = template_parse(options->template, &error);
		if (!expressions->template)
			return fail("--template", options->template, &error);
		for (size_t i = 0; i < expressions->template->pieces.count; i++) {
			const struct template_piece *piece = vec_at(&expressions->template->pieces,
								    i);

			if (piece->expression)
				note(output, piece->expression, true);
		}
	}
	output->condition = expressions->condition;
	output->condition_text = options->condition;
	output->reports_misfits = !options->quiet;
	output->template = expressions->template;
	return true;
}

void expressions_deinit(struct expressions *expressions)
{
	expression_free(expressions->condition);
	expression_free(expressions->sum);
	expression_free(expressions->weight);
	expression_list_free(&expressions->keys);
	template_free(expressions->template);
}

unsigned expressions_string_max(const struct options *options, const struct output_options *output)
{
	unsigned most = output->string_max;

	if ((options->record || options->top_ns) && !options->has_string_max && most < KEPT_MAX)
		most = KEPT_MAX;
	return output->takes_texts && most < TEXT_MAX ? TEXT_MAX : most;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the sinks and spans of a trace need of each call. */
#include "target/target_state.h"

bool target_shows_values(const struct target *target)
{
	const struct session_options *options = target->options;
	bool shows = target->spans.spans.count || sink_shows_values(options->sink, options->output);

	for (size_t i = 0; i < options->more->count && !shows; i++) {
		const struct session_output *more = vec_at(options->more, i);

		shows = sink_shows_values(more->kind, options->output);
	}
	return shows;
}

bool target_takes_place(const struct output_options *output)
{
	return output->script_line || output->takes_lines;
}

unsigned target_stack_depth(const struct output_options *output)
{
	return output->where > output->takes_stack ? output->where : output->takes_stack;
}

bool target_needs_each_call(const struct target *target)
{
	const struct session_options *options = target->options;

	bool needs = options->depth_max || target->spans.spans.count ||
		     sink_needs_each_call(options->sink, options->output);

	for (size_t i = 0; i < options->more->count && !needs; i++) {
		const struct session_output *more = vec_at(options->more, i);

		needs = sink_needs_each_call(more->kind, options->output);
	}
	return needs;
}

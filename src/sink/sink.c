/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of sinks, and their creation. A new sink is a file of its own with a function that
 * creates it, and a row here: the session asks the row what the sink needs, and split.c creates one
 * for each process, without knowing which it is.
 */
#include "sink/sink.h"

#include "sink/forms/chrome.h"
#include "sink/forms/csv.h"
#include "sink/forms/ctf.h"
#include "sink/forms/json.h"
#include "sink/forms/template.h"
#include "sink/forms/text.h"
#include "sink/nothing.h"
#include "sink/otlp/otlp.h"
#include "sink/recording/recording.h"
#include "sink/report/report.h"
#include "sink/split.h"
#include "sink/stacks/frame_sink.h"
#include "sink/tables/groups.h"
#include "sink/tables/summary.h"
#include "sink/tables/summary_csv.h"
#include "sink/tables/summary_json.h"
#include "sink/tables/summary_table.h"
#include "sink/tables/top.h"
#include "sink/whole_calls.h"

#include <string.h>

static const struct sink_kind kinds[] = {
	/* Lines in ltrace's format. */
	{.name = "text", .shows_values = true, .create = text_sink_create},
	/* Lines of --format=json. */
	{.name = "json", .shows_values = true, .wants_calls = true, .create = json_sink_create},
	/* Lines of --format=csv. */
	{.name = "csv", .shows_values = true, .wants_calls = true, .create = csv_sink_create},
	/* The array of --format=chrome. */
	{.name = "chrome", .shows_values = true, .wants_calls = true, .create = chrome_sink_create},
	/* Requests of --format=otlp and --otlp. */
	{.name = "otlp", .shows_values = true, .wants_calls = true, .create = otlp_sink_create},
	/* The directory of --format=ctf. */
	{.name = "ctf", .shows_values = true, .writes_directory = true, .create = ctf_sink_create},
	/* Lines of --format=folded, and the picture of --flame. */
	{.name = "folded",
	 .only_at_end = true,
	 .wants_calls = true,
	 .create = frame_sink_create_folded},
	/* What these are made of, for whoever compares it. */
	{.name = "frames",
	 .only_at_end = true,
	 .wants_calls = true,
	 .create = frame_sink_create_taken},
	{.name = "flame",
	 .only_at_end = true,
	 .wants_calls = true,
	 .create = frame_sink_create_flame},
	/* The page of --report. */
	{.name = "report",
	 .shows_values = true,
	 .only_at_end = true,
	 .wants_calls = true,
	 .create = report_sink_create},
	/* Lines of --template. */
	{.name = "template",
	 .shows_values = true,
	 .wants_calls = true,
	 .create = template_sink_create},
	/* The file of --record. */
	{.name = "record", .shows_values = true, .create = recording_sink_create},
	/* Nothing, where a form with a file of its own is all that was asked for. */
	{.name = "nothing", .only_at_end = true, .create = nothing_sink_create},
	/* The table of -c --by. */
	{.name = "groups",
	 .shows_values = true,
	 .only_at_end = true,
	 .wants_calls = true,
	 .create = groups_sink_create},
	/* What the view of --top shows. */
	{.name = "top",
	 .shows_values = true,
	 .only_at_end = true,
	 .wants_calls = true,
	 .create = top_sink_create},
	/* The table of -c. */
	{.name = "summary",
	 .only_at_end = true,
	 .needs_each_call = summary_needs_each_call,
	 .needs_buckets = summary_needs_buckets,
	 .create = summary_sink_create},
};

const struct sink_kind *sink_find(const char *name)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

const struct table_form *sink_find_table(const char *name)
{
	if (!strcmp(name, "json"))
		return summary_json_form();
	return !strcmp(name, "csv") ? summary_csv_form() : NULL;
}

bool sink_shows_values(const struct sink_kind *kind, const struct output_options *options)
{
	return kind->shows_values || options->condition || options->only_failed || options->weight;
}

bool sink_needs_each_call(const struct sink_kind *kind, const struct output_options *options)
{
	return !kind->needs_each_call || kind->needs_each_call(options) || options->sample ||
	       whole_calls_are_chosen(options);
}

bool sink_needs_buckets(const struct sink_kind *kind, const struct output_options *options)
{
	return kind->needs_buckets && kind->needs_buckets(options);
}

struct sink *sink_create(const struct sink_kind *kind, const struct sink_target *target)
{
	if (target->per_process || target->path)
		return split_sink_create(kind, target);
	return whole_calls_create(kind, target);
}

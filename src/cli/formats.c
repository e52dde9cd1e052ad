/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --format=FORM[:FILE]. Without a file, the form takes the place of the lines: it goes where -o
 * says. With one, it is made beside them, and so are the picture of --flame and the page of
 * --report. What --otlp=URL sends takes their place, too, unless something else says where they go,
 * or what is shown.
 */
#include "cli/formats.h"

#include "base/diag.h"
#include "base/xalloc.h"
#include "cli/usage_error.h"
#include "session/session.h"
#include "sink/otlp_sender.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Returns the form of that name, or NULL. The other kinds of sinks have options of their own. */
static const struct sink_kind *find_form(const char *name)
{
	static const char *const forms[] = {"text", "json", "chrome", "folded", "otlp"};

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		if (!strcmp(name, forms[i]))
			return sink_find(name);
	return NULL;
}

/* Has a form made in a file beside the lines. */
static int add_file(struct formats *formats, const struct sink_kind *kind, const char *path)
{
	struct outfile file = {.fd = -1, .done = -1};
	const int error = outfile_open(&file, path);

	if (error)
		return error == -EINVAL ? -EIO : error;
	vec_push(&formats->files, &file);
	vec_push(&formats->more, &(struct session_output){.kind = kind, .fd = file.fd});
	return 0;
}

static int open_one(const struct options *options, const char *text, struct formats *formats)
{
	const char *colon = strchr(text, ':');
	char *name = colon ? xstrndup(text, (size_t)(colon - text)) : xstrdup(text);
	const struct sink_kind *kind = find_form(name);

	free(name);
	if (!kind)
		return usage_error(
			"--format: there is no such form (text, json, chrome, folded, otlp)");
	formats->has_spans |= kind == sink_find("otlp");
	if (!colon) {
		if (formats->main)
			return usage_error("--format: two forms would take the place of the lines; "
					   "give one of them a file: FORM:FILE");
		if (options->template)
			return usage_error("--format: --template says what the lines are; give the "
					   "form a file: FORM:FILE");
		if (options->summary || options->top_ns)
			return usage_error("--format: %s shows a table; give the form a file: "
					   "FORM:FILE",
					   options->top_ns ? "--top" : "-c");
		formats->main = kind;
		return 0;
	}
	if (!colon[1])
		return usage_error("--format: there is no file behind the ':'");
	return add_file(formats, kind, colon + 1);
}

static int open_sender(const struct options *options, struct formats *formats)
{
	const int error = otlp_sender_create(options->otlp, &formats->sender);
	const struct session_output output = {
		.kind = sink_find("otlp"), .fd = -1, .sender = formats->sender};

	if (error)
		return error;
	formats->has_spans = true;
	vec_push(&formats->more, &output);
	if (!formats->main && !options->output_file && !options->summary && !options->template)
		formats->main = sink_find("nothing");
	return 0;
}

int formats_open(const struct options *options, struct formats *formats)
{
	int error = 0;

	*formats = (struct formats){.more = VEC_OF(struct session_output),
				    .files = VEC_OF(struct outfile)};
	for (size_t i = 0; i < options->formats.count && !error; i++)
		error = open_one(options, *(const char **)vec_at(&options->formats, i), formats);
	if (options->flame && !error)
		error = add_file(formats, sink_find("flame"), options->flame);
	if (options->report && !error)
		error = add_file(formats, sink_find("report"), options->report);
	if (!error && options->otlp)
		error = open_sender(options, formats);
	return error;
}

bool formats_have_frames(const struct options *options)
{
	static const char folded[] = "folded";

	for (size_t i = 0; i < options->formats.count; i++) {
		const char *text = *(const char **)vec_at(&options->formats, i);

		if (!strncmp(text, folded, sizeof folded - 1) &&
		    strchr(":", text[sizeof folded - 1]))
			return true;
	}
	return options->flame != NULL;
}

void formats_close(struct formats *formats)
{
	for (size_t i = 0; i < formats->files.count; i++)
		outfile_close(vec_at(&formats->files, i));
	otlp_sender_destroy(formats->sender);
	vec_deinit(&formats->files);
	vec_deinit(&formats->more);
}

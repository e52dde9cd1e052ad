/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --format=FORM[:FILE]. Without a file, the form takes the place of the lines: it goes where -o
 * says. With one, it is made beside them, and so are the picture of --flame and the page of
 * --report. What --otlp=URL sends takes their place, too, unless something else says where they go,
 * or what is shown.
 *
 * With -c, there are no lines: JSON and CSV are forms of the table. The other forms have no table;
 * they are made of the calls, beside it.
 */
#include "cli/formats.h"

#include "base/diag.h"
#include "base/xalloc.h"
#include "cli/usage_error.h"
#include "session/session.h"
#include "sink/otlp/otlp_sender.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Returns the form of that name, or NULL. The other kinds of sinks have options of their own. */
static const struct sink_kind *find_form(const char *name)
{
	static const char *const forms[] = {"text",   "json", "csv", "chrome",
					    "folded", "otlp", "ctf"};

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		if (!strcmp(name, forms[i]))
			return sink_find(name);
	return NULL;
}

const struct sink_kind *formats_usual(const struct options *options)
{
	/* Rows by functions are what -c has without --by, and counts inside. */
	const bool by_others = options->keys && strcmp(options->keys, "function") != 0;

	if (options->top_ns)
		return sink_find("top");
	if (options->summary)
		return sink_find(by_others || options->sum ? "groups" : "summary");
	return sink_find(options->template ? "template" : "text");
}

/* The form takes the place of the lines, or of the table. */
static int set_main(const struct options *options, const struct session_output *form,
		    struct formats *formats)
{
	if (formats->main)
		return usage_error("--format: two forms would take the place of the lines; "
				   "give one of them a file: FORM:FILE");
	if (form->kind->writes_directory)
		return usage_error("--format: %s writes a directory; name it: %s:DIRECTORY",
				   form->kind->name, form->kind->name);
	if (options->template)
		return usage_error("--format: --template says what the lines are; give the "
				   "form a file: FORM:FILE");
	if ((options->summary && !form->table) || options->top_ns)
		return usage_error("--format: %s shows a table; give the form a file: FORM:FILE",
				   options->top_ns ? "--top" : "-c");
	formats->main = form->kind;
	formats->table = form->table;
	return 0;
}

/* Has a form made in a file, or a directory, beside the lines. */
static int add_file(struct formats *formats, const struct session_output *form, const char *path)
{
	struct session_output opened = *form;
	struct outfile file;
	const int error = form->kind->writes_directory ? outfile_open_directory(&file, path)
						       : outfile_open(&file, path);

	if (error)
		return error == -EINVAL ? -EIO : error;
	opened.fd = file.fd;
	vec_push(&formats->files, &file);
	vec_push(&formats->more, &opened);
	return 0;
}

static int open_one(const struct options *options, const char *text, struct formats *formats)
{
	const char *colon = strchr(text, ':');
	char *name = colon ? xstrndup(text, (size_t)(colon - text)) : xstrdup(text);
	struct session_output form = {.kind = find_form(name), .fd = -1};

	if (form.kind && options->summary)
		form.table = sink_find_table(name);
	if (form.table)
		form.kind = formats_usual(options);
	free(name);
	if (!form.kind)
		return usage_error("--format: there is no such form (text, json, csv, chrome, "
				   "folded, otlp, ctf)");
	formats->has_spans |= form.kind == sink_find("otlp");
	if (!colon)
		return set_main(options, &form, formats);
	if (!colon[1])
		return usage_error("--format: there is no file behind the ':'");
	return add_file(formats, &form, colon + 1);
}

static int open_sender(const struct options *options, struct formats *formats)
{
	const int error = otlp_sender_create(options->otlp, &formats->sender);
	const struct session_output output = {
		.kind = sink_find("otlp"), .fd = -1, .sender = formats->sender};

	if (error)
		return error;
	if (options->replay)
		otlp_sender_wait(formats->sender);
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
		error = add_file(formats, &(struct session_output){.kind = sink_find("flame")},
				 options->flame);
	if (options->report && !error)
		error = add_file(formats, &(struct session_output){.kind = sink_find("report")},
				 options->report);
	if (!error && options->otlp)
		error = open_sender(options, formats);
	return error;
}

bool formats_have_lines(const struct options *options)
{
	for (size_t i = 0; i < options->formats.count; i++)
		if (!strchr(*(const char **)vec_at(&options->formats, i), ':'))
			return false;
	return !options->summary && !options->top_ns;
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

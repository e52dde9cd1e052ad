/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folded stacks, as tools for flame graphs read them: one line for each different stack, with its
 * thread, its frames from the outermost to the innermost between semicolons, and how often it was
 * seen. Different addresses in one function make no difference here, but lines of a script do. A
 * semicolon in a name would be taken for the end of a frame: it becomes a colon. A frame that was
 * guessed ends with a question mark.
 */
#include "sink/stacks/folded.h"

#include "base/strbuf.h"
#include "base/xalloc.h"
#include "proto/names.h"
#include "sink/render/escape.h"
#include "sink/stacks/stack_lines.h"
#include "sink/stacks/stack_table.h"

#include <stdlib.h>
#include <string.h>

struct folded {
	const struct stack_table *stacks;
	const struct output_options *options;
	struct names lines; /* text of a line → struct folded_line, which owns the text */
	uint64_t count;
};

struct folded_line {
	uint64_t count;
	char text[];
};

struct folded *folded_create(const struct stack_table *stacks, const struct output_options *options)
{
	struct folded *folded = xcalloc(1, sizeof *folded);

	folded->stacks = stacks;
	folded->options = options;
	return folded;
}

void folded_destroy(struct folded *folded)
{
	if (!folded)
		return;
	for (size_t i = 0; i < folded->lines.count; i++)
		free((void *)(uintptr_t)folded->lines.entries[i].value);
	names_deinit(&folded->lines);
	free(folded);
}

void folded_add_text(struct strbuf *line, const char *text)
{
	for (; *text; text++)
		strbuf_add_char(line, *text == ';' ? ':' : *text);
}

void folded_add_name(struct strbuf *text, const struct stack_frame *frame,
		     const struct output_options *options)
{
	if (frame->kind == STACK_SCRIPT) {
		strbuf_add(text, frame->function ? frame->function : "-");
		strbuf_printf(text, " (%s:%u)",
			      frame->file ? stack_lines_file(frame, options) : "-", frame->line);
	} else if (frame->function) {
		strbuf_add(text, frame->function);
	} else {
		strbuf_printf(text, "%s+0x%llx", frame->module ? frame->module : "-",
			      (unsigned long long)frame->address);
	}
	if (frame->is_guessed)
		strbuf_add_char(text, '?');
}

static void add_frame(struct strbuf *line, const struct stack_frame *frame,
		      const struct output_options *options)
{
	struct strbuf name = {0};

	if (frame->is_place)
		return;
	folded_add_name(&name, frame, options);
	strbuf_add_char(line, ';');
	folded_add_text(line, name.text);
	strbuf_deinit(&name);
}

/*
 * Adds frames from the outermost in. Where script frames and native ones have no common order, a
 * note stands between them: the native ones come last then, since what the thread does is there.
 */
void folded_add_frames(struct strbuf *line, const struct stack_table *stacks, uint32_t stack,
		       const struct output_options *options)
{
	size_t note = 0, count;
	const struct stack_frame *frames = stack_table_get(stacks, stack, &count);

	while (note < count && frames[note].kind != STACK_NOTE)
		note++;
	for (size_t i = note; i-- > 0;)
		add_frame(line, &frames[i], options);
	if (note < count)
		strbuf_add(line, ";[native]");
	for (size_t i = count; i-- > note + 1;)
		add_frame(line, &frames[i], options);
}

void folded_add(struct folded *folded, const char *thread, uint32_t stack)
{
	struct strbuf line = {0};

	folded_add_text(&line, thread);
	folded_add_frames(&line, folded->stacks, stack, folded->options);
	struct folded_line *known =
		(struct folded_line *)(uintptr_t)names_get(&folded->lines, line.text, line.length);

	if (!known) {
		known = xcalloc(1, sizeof *known + line.length + 1);
		memcpy(known->text, line.text, line.length);
		names_put(&folded->lines, known->text, line.length, known);
	}
	known->count++;
	folded->count++;
	strbuf_deinit(&line);
}

static int compare(const void *left, const void *right)
{
	const struct folded_line *const *one = left, *const *other = right;

	return strcmp((*one)->text, (*other)->text);
}

void folded_put(const struct folded *folded, struct outbuf *out)
{
	const size_t count = folded->lines.count;
	const struct folded_line **lines = xcalloc(count + 1, sizeof(void *));

	for (size_t i = 0; i < count; i++)
		lines[i] = folded->lines.entries[i].value;
	qsort(lines, count, sizeof(void *), compare);
	for (size_t i = 0; i < count; i++) {
		escape_source_name(out, lines[i]->text, folded->options->utf8);
		outbuf_char(out, ' ');
		outbuf_unsigned(out, lines[i]->count, 1, ' ');
		outbuf_newline(out);
	}
	free(lines);
}

uint64_t folded_count(const struct folded *folded)
{
	return folded->count;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The source lines of a module's code: questions for the helper process, which reads the debug
 * information (debuginfo.c), its answers, and what is known so far.
 *
 * A question has the addresses of a stack that are in the module and not known yet. So a new stack
 * costs one round trip for each of its modules, and a stack of known addresses none.
 */
#include "target/debuginfo/source_lines.h"

#include "base/xalloc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CODES_MAX = 1 << 16, PLACES_MAX = 256 };

/* ------------------------------------------------------------------ questions */

size_t source_lines_unknown(const struct source_lines *lines, const uint64_t *addresses,
			    size_t count, size_t *next, uint64_t *unknown)
{
	size_t found = 0;

	for (; *next < count && found < DWARF_ADDRESSES_MAX; ++*next)
		if (!map_get(&lines->codes, addresses[*next]))
			unknown[found++] = addresses[*next];
	return found;
}

char *source_lines_question(const uint64_t *addresses, size_t count, enum source_lines_kind kind)
{
	struct strbuf question = {0};

	strbuf_add_char(&question, (char)kind);
	for (size_t i = 0; i < count; i++)
		strbuf_printf(&question, " %" PRIx64, addresses[i]);
	return question.text;
}

int source_lines_answer(struct dwarf_reader *reader, const char *question, struct strbuf *text)
{
	uint64_t addresses[DWARF_ADDRESSES_MAX];
	size_t count = 0;
	char *next;

	for (const char *at = question + 1; *at && count < DWARF_ADDRESSES_MAX; at = next) {
		addresses[count++] = strtoull(at, &next, 16);
		if (next == at)
			break;
	}
	return dwarf_reader_lines(reader, addresses, count, *question == SOURCE_LINES_AND_INLINES,
				  text);
}

/* ------------------------------------------------------------------ answers */

/* The rest of an answer. */
struct answer {
	const char *at;
	size_t left;
};

/* Takes a text. Returns NULL at the end, and where the text has no NUL. */
static const char *take_text(struct answer *answer)
{
	const char *text = answer->at;
	const size_t length = answer->left ? strnlen(text, answer->left) : 0;

	if (length >= answer->left)
		return NULL;
	answer->at += length + 1;
	answer->left -= length + 1;
	return text;
}

/* Takes a number of up to `most`. Returns false if there is none. */
static bool take_number(struct answer *answer, unsigned long most, unsigned *number)
{
	const char *text = take_text(answer);
	char *end;

	if (!text)
		return false;
	const unsigned long value = strtoul(text, &end, 10);

	*number = (unsigned)value;
	return end != text && !*end && value <= most;
}

/* Takes a text that may be empty: then the result is NULL. Returns false if there is none. */
static bool take_own_text(struct answer *answer, const char **own)
{
	const char *text = take_text(answer);

	*own = text && *text ? xstrdup(text) : NULL;
	return text != NULL;
}

static void free_code(struct source_code *code)
{
	for (size_t i = 0; code && i < code->count; i++) {
		free((char *)(uintptr_t)code->places[i].file);
		free((char *)(uintptr_t)code->places[i].function);
	}
	free(code);
}

/* Takes what is said of one address. Returns NULL if that makes no sense. */
static struct source_code *take_code(struct answer *answer)
{
	unsigned count;

	if (!take_number(answer, PLACES_MAX, &count))
		return NULL;
	struct source_code *code = xcalloc(1, sizeof *code + count * sizeof *code->places);

	for (unsigned i = 0; i < count; i++) {
		struct source_place *place = &code->places[code->count++];

		if (!take_number(answer, UINT32_MAX, &place->line) ||
		    !take_own_text(answer, &place->file) ||
		    !take_own_text(answer, &place->function)) {
			free_code(code);
			return NULL;
		}
	}
	return code;
}

void source_lines_take(struct source_lines *lines, const uint64_t *addresses, size_t count,
		       const struct strbuf *answer)
{
	struct answer rest = {answer->text, answer->length};

	for (size_t i = 0; i < count; i++) {
		struct source_code *code = take_code(&rest);

		if (!code)
			return;
		/* An address may have been asked about twice. */
		free_code(map_remove(&lines->codes, addresses[i]));
		map_put(&lines->codes, addresses[i], code);
	}
}

/* ------------------------------------------------------------------ what is known */

const struct source_code *source_lines_find(const struct source_lines *lines, uint64_t address)
{
	return map_get(&lines->codes, address);
}

void source_lines_make_room(struct source_lines *lines, size_t count)
{
	if (lines->codes.count + count > CODES_MAX)
		source_lines_deinit(lines);
}

void source_lines_deinit(struct source_lines *lines)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&lines->codes, &cursor, NULL, &value))
		free_code(value);
	map_deinit(&lines->codes);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shapes of SQL text. The first byte of an input is the dialect and whether the text was cut; the text
 * is what follows.
 *
 * The shape of a shape must be that shape: each pair of tokens that is read as another one without
 * a blank between them breaks this rule.
 */
#include "fuzz.h"
#include "probe/fingerprint.h"

#include <string.h>

enum { DIALECTS = 3, CUT = 4 };

/* Counts the lists of a shape, each of which may make it longer by one byte. */
static size_t count_lists(const char *shape, size_t length)
{
	size_t count = 0;

	for (size_t i = 0; i + 1 < length; i++)
		count += shape[i] == '+' && (shape[i + 1] == ')' || shape[i + 1] == ']');
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum sql_dialect dialect = size ? (enum sql_dialect)(data[0] % CUT % DIALECTS) : SQL_MYSQL;
	bool cut = size && data[0] & CUT;
	size_t length = size ? size - 1 : 0;
	/* Storage of exactly its size, so that a sanitizer sees what is read or written behind it. */
	char *text = malloc(length + !length);
	char *shape = malloc(fingerprint_room(length));
	char *again;
	size_t shape_length;
	size_t again_length;

	MUST(text && shape);
	if (length)
		memcpy(text, data + 1, length);
	shape_length = fingerprint(dialect, text, length, cut, shape);
	MUST(shape_length < fingerprint_room(length));
	MUST(!shape[shape_length]);
	MUST(shape_length <= length + (cut ? 3 : 0) + count_lists(shape, shape_length));
	MUST(!cut || (shape_length >= 3 && !memcmp(shape + shape_length - 3, "...", 3)));

	again = malloc(fingerprint_room(shape_length));
	MUST(again);
	again_length = fingerprint(dialect, shape, shape_length, false, again);
	/* In MySQL "--" is a comment only in front of white space and at the end, where it may get to. */
	MUST(cut || (dialect == SQL_MYSQL && memmem(shape, shape_length, "--", 2)) ||
	     (again_length == shape_length && !memcmp(again, shape, shape_length)));
	free(again);
	free(shape);
	free(text);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/lists.h"

#include <string.h>

/* The index of a word of `length` bytes among `count` names, or `count`. */
static unsigned find_word(const char *const *names, unsigned count, const char *word, size_t length)
{
	unsigned index = 0;

	while (index < count &&
	       (strlen(names[index]) != length || strncmp(names[index], word, length) != 0))
		index++;
	return index;
}

const char *lists_add_columns(struct output_options *output, const char *argument)
{
	static const char *const names[SUMMARY_COLUMNS] = {
		[COLUMN_SHARE] = "time",   [COLUMN_TOTAL] = "total", [COLUMN_CALLS] = "calls",
		[COLUMN_SHORTEST] = "min", [COLUMN_LONGEST] = "max", [COLUMN_AVERAGE] = "avg",
		[COLUMN_NAME] = "name",
	};

	for (const char *word = argument;;) {
		size_t length = strcspn(word, ",");
		unsigned column = find_word(names, SUMMARY_COLUMNS, word, length);

		if (column == SUMMARY_COLUMNS)
			return "a list of time, total, calls, min, max, avg, name";
		if (memchr(output->columns, (int)column, output->column_count))
			return "a list that has each column once";
		output->columns[output->column_count++] = (uint8_t)column;
		if (!word[length])
			return NULL;
		word += length + 1;
	}
}

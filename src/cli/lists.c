/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parsers of option arguments that are lists of words, such as those of -U and -D, and of plain
 * numbers. They are separate from options.c, which has the table of options.
 */
#include "cli/lists.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "record/sampling.h"
#include "session/session.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Returns the index of a word of `length` bytes among `count` names, or `count`. */
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
		[COLUMN_SHARE] = "time",
		[COLUMN_TOTAL] = "total",
		[COLUMN_CALLS] = "calls",
		[COLUMN_SHORTEST] = "min",
		[COLUMN_LONGEST] = "max",
		[COLUMN_AVERAGE] = "avg",
		[COLUMN_NAME] = "name",
		[COLUMN_P50] = "p50",
		[COLUMN_P90] = "p90",
		[COLUMN_P95] = "p95",
		[COLUMN_P99] = "p99",
		[COLUMN_P999] = "p999",
		[COLUMN_FIRST] = "first",
		[COLUMN_LAST] = "last",
		[COLUMN_HISTOGRAM] = "histogram",
		[COLUMN_SUM] = "sum",
	};

	for (const char *word = argument;;) {
		size_t length = strcspn(word, ",");
		unsigned column = find_word(names, SUMMARY_COLUMNS, word, length);

		if (column == SUMMARY_COLUMNS)
			return "a list of time, total, calls, min, max, avg, name, p50, p90, p95, p99, "
			       "p999, histogram, first, last, sum";
		if (memchr(output->columns, (int)column, output->column_count))
			return "a list that has each column once";
		output->columns[output->column_count++] = (uint8_t)column;
		if (!word[length])
			return NULL;
		word += length + 1;
	}
}

const char *lists_set_where(struct output_options *output, const char *argument)
{
	const bool is_script = !strcmp(argument, "script");

	if (!is_script && strcmp(argument, "native") != 0)
		return lists_parse_number(argument, strlen(argument), 1, FRAMES_MAX, &output->where)
			       ? NULL
			       : "a number from 1 to 1000, script or native";
	output->where_script = is_script;
	output->where_native = !is_script;
	if (!output->where)
		output->where = FRAMES_MAX;
	return NULL;
}

static bool parse_octal(const char *text, unsigned *number)
{
	*number = 0;
	for (; *text >= '0' && *text <= '7' && *number <= DEBUG_ALL; text++)
		*number = *number * 8 + (unsigned)(*text - '0');
	return !*text;
}

const char *lists_add_domains(unsigned *mask, const char *argument)
{
	static const char *const names[] = {"modules", "events", "processes", "functions", "all"};
	static const unsigned masks[] = {DEBUG_MODULES, DEBUG_EVENTS, DEBUG_PROCESSES,
					 DEBUG_FUNCTIONS, DEBUG_ALL};
	enum { COUNT = sizeof names / sizeof *names };
	unsigned number;

	if (*argument && parse_octal(argument, &number)) {
		*mask |= number & DEBUG_ALL;
		return NULL;
	}
	for (const char *word = argument;;) {
		size_t length = strcspn(word, ",");
		unsigned index = find_word(names, COUNT, word, length);

		if (index == COUNT)
			return "help, an octal number, or a list of modules, events, processes, functions, "
			       "all";
		*mask |= masks[index];
		if (!word[length])
			return NULL;
		word += length + 1;
	}
}

bool lists_parse_number(const char *text, size_t length, unsigned minimum, unsigned maximum,
			unsigned *number)
{
	unsigned long value = 0;

	if (!length)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		value = value * 10 + (unsigned long)(text[i] - '0');
		if (value > maximum)
			return false;
	}
	*number = (unsigned)value;
	return value >= minimum;
}

/* Returns how many ns the unit has, or 0 if there is no such unit. */
static uint64_t unit_of(const char *text)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"", 1000000000},
		     {"s", 1000000000},
		     {"us", 1000},
		     {"ms", 1000000},
		     {"m", UINT64_C(60000000000)},
		     {"h", UINT64_C(3600000000000)}};

	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (!strcmp(text, units[i].name))
			return units[i].ns;
	return 0;
}

bool lists_parse_time(const char *text, uint64_t *ns)
{
	enum { DECIMALS_MAX = 9 };
	const uint64_t year = UINT64_C(366) * 24 * 3600 * 1000000000;
	const size_t digits = strspn(text, "0123456789");
	const char *rest = text + digits;
	unsigned whole, part = 0;
	uint64_t scale = 1;

	if (!lists_parse_number(text, digits, 0, UINT32_MAX, &whole))
		return false;
	if (*rest == '.') {
		const size_t decimals = strspn(++rest, "0123456789");

		if (decimals > DECIMALS_MAX ||
		    !lists_parse_number(rest, decimals, 0, UINT32_MAX, &part))
			return false;
		for (size_t i = 0; i < decimals; i++)
			scale *= 10;
		rest += decimals;
	}
	const uint64_t unit = unit_of(rest);

	if (!unit || whole > year / unit)
		return false;
	*ns = whole * unit + (uint64_t)((double)part / (double)scale * (double)unit);
	return *ns > 0;
}

bool lists_parse_size(const char *text, uint64_t *size)
{
	static const char units[] = "kMG";
	const size_t digits = strspn(text, "0123456789");
	const char *unit = text[digits] ? strchr(units, text[digits]) : NULL;
	unsigned number;

	if (!lists_parse_number(text, digits, 0, UINT32_MAX, &number) ||
	    (text[digits] && (!unit || text[digits + 1])))
		return false;
	*size = (uint64_t)number << (unit ? 10 * (unit - units + 1) : 0);
	return true;
}

const char *lists_set_sample(uint64_t *n, const char *argument)
{
	const char *number = argument + 2;
	unsigned parsed;

	if (strncmp(argument, "1/", 2) != 0 ||
	    !lists_parse_number(number, strlen(number), 1, SAMPLING_MOST, &parsed))
		return "1/N with a number N from 1 to 1000000000, such as 1/100";
	*n = parsed;
	return NULL;
}

const char *lists_set_top(uint64_t *ns, const char *argument)
{
	const uint64_t least = 50000000, most = UINT64_C(3600000000000);

	return lists_parse_time(argument, ns) && *ns >= least && *ns <= most
		       ? NULL
		       : "seconds, from 0.05 to 3600";
}

const char *lists_set_interval(uint64_t *ns, unsigned *count, const char *argument)
{
	enum { LEAST_NS = 1000000, COUNT_MAX = 1000000000 };
	const size_t length = strcspn(argument, ",");
	const char *number = argument + length + 1;
	_cleanup_free_ char *time = xstrndup(argument, length);

	*count = 0;
	if (!lists_parse_time(time, ns) || *ns < LEAST_NS ||
	    (argument[length] && !lists_parse_number(number, strlen(number), 1, COUNT_MAX, count)))
		return "a time of at least 1ms such as 500ms or 10s, and perhaps a number: 10s,6";
	return NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The columns of a table of -c in forms for programs. The text has units that are easy to read; a
 * program gets nanoseconds as they were counted, and names that say so.
 */
#include "sink/tables/summary_members.h"

#include <string.h>

struct summary_members summary_members_of(const struct output_options *options)
{
	const struct summary_columns shown = summary_columns_shown(options);
	struct summary_members members = {.count = shown.count};

	memcpy(members.column, shown.column, shown.count);
	if (options->histogram && !memchr(shown.column, COLUMN_HISTOGRAM, shown.count))
		members.column[members.count++] = COLUMN_HISTOGRAM;
	return members;
}

const char *summary_member(unsigned column)
{
	static const char *const names[SUMMARY_COLUMNS] = {
		[COLUMN_SHARE] = "share",    [COLUMN_TOTAL] = "total_ns",
		[COLUMN_CALLS] = "calls",    [COLUMN_SHORTEST] = "min_ns",
		[COLUMN_LONGEST] = "max_ns", [COLUMN_AVERAGE] = "average_ns",
		[COLUMN_SUM] = "sum",	     [COLUMN_NAME] = "name",
		[COLUMN_P50] = "p50_ns",     [COLUMN_P90] = "p90_ns",
		[COLUMN_P95] = "p95_ns",     [COLUMN_P99] = "p99_ns",
		[COLUMN_P999] = "p999_ns",   [COLUMN_HISTOGRAM] = "histogram",
		[COLUMN_FIRST] = "first",    [COLUMN_LAST] = "last",
	};

	return names[column];
}

uint64_t summary_octave_from(unsigned octave)
{
	return octave ? UINT64_C(1) << octave : 0;
}

uint64_t summary_octave_to(unsigned octave)
{
	return (UINT64_C(1) << octave) * 2 - 1;
}

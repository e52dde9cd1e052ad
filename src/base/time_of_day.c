/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The time of day of a time in ns: for lines of the trace, tables, messages and the live view. */
#include "base/time_of_day.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { NS_PER_S = 1000000000, NS_PER_US = 1000 };

void time_of_day(char text[TIME_OF_DAY_BYTES], uint64_t ns)
{
	const time_t second = (time_t)(ns / NS_PER_S);
	struct tm parts;

	if (!localtime_r(&second, &parts) || !strftime(text, TIME_OF_DAY_BYTES, "%H:%M:%S", &parts))
		memcpy(text, "??:??:??", TIME_OF_DAY_BYTES);
}

void time_of_day_us(char text[TIME_OF_DAY_US_BYTES], uint64_t ns)
{
	char clock[TIME_OF_DAY_BYTES];

	time_of_day(clock, ns);
	snprintf(text, TIME_OF_DAY_US_BYTES, "%s.%06u", clock,
		 (unsigned)(ns % NS_PER_S / NS_PER_US));
}

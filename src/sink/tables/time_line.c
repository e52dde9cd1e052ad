/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The line above a table of a part of the trace (--interval, SIGUSR1): the time of day when it was
 * made, and how many seconds it covers: `--- 14:03:05.250071, 0.500012 s ---`.
 */
#include "sink/tables/time_line.h"

#include "base/time_of_day.h"

enum { NS_PER_US = 1000, NS_PER_S = 1000000000 };

static void put_fraction(struct outbuf *out, uint64_t ns)
{
	outbuf_char(out, '.');
	outbuf_unsigned(out, ns % NS_PER_S / NS_PER_US, 6, '0');
}

void time_line_put(struct outbuf *out, uint64_t time, uint64_t elapsed)
{
	char clock[TIME_OF_DAY_US_BYTES];

	time_of_day_us(clock, time);
	outbuf_text(out, "--- ");
	outbuf_text(out, clock);
	outbuf_text(out, ", ");
	outbuf_unsigned(out, elapsed / NS_PER_S, 0, ' ');
	put_fraction(out, elapsed);
	outbuf_text(out, " s ---");
	outbuf_newline(out);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The time of day in the zone of the tracer, of a time in ns since 1970. */
#ifndef TRACER_BASE_TIME_OF_DAY_H
#define TRACER_BASE_TIME_OF_DAY_H

#include <stdint.h>

enum { TIME_OF_DAY_BYTES = sizeof "HH:MM:SS", TIME_OF_DAY_US_BYTES = sizeof "HH:MM:SS.UUUUUU" };

/* Stores HH:MM:SS, or ??:??:?? if the C library cannot tell. */
void time_of_day(char text[TIME_OF_DAY_BYTES], uint64_t ns);
/* The same with microseconds. */
void time_of_day_us(char text[TIME_OF_DAY_US_BYTES], uint64_t ns);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The yardstick: what one would write by hand to learn how often tiny() is called and how long it takes. To be preloaded
 * in front of libtiny.so. It stamps, counts and fills a histogram, for one function that it knows by name; no tracer can
 * do with much less, and how many nanoseconds that takes is the machine's.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <x86intrin.h>

long tiny(long x);

static long (*traced)(long);
static __thread uint64_t calls, total, histogram[64] __attribute__((tls_model("initial-exec")));

__attribute__((constructor)) static void find_traced(void)
{
	traced = (long (*)(long))dlsym(RTLD_NEXT, "tiny");
}

long tiny(long x)
{
	uint64_t start = __rdtsc();
	long result = traced(x);
	uint64_t time = __rdtsc() - start;

	calls++;
	total += time;
	histogram[63 - __builtin_clzll(time | 1)]++;
	return result;
}

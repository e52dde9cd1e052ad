// SPDX-License-Identifier: GPL-2.0-or-later
// usage: catches COUNT FILE; throws so many exceptions and writes "nanoseconds 0" to FILE, as loop does.
#include <cstdio>
#include <cstdlib>
#include <ctime>

long passes(long x);

static long long now()
{
	timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static long caught(long x)
{
	try {
		return passes(x);
	} catch (long value) {
		return value;
	}
}

int main(int argc, char **argv)
{
	long x = caught(0), count = argc > 2 ? std::atol(argv[1]) : 0;

	if (x != 1 || !count)
		return 2;
	long long start = now();

	for (long i = 0; i < count; i++)
		x = caught(x);
	long long time = now() - start;
	FILE *file = std::fopen(argv[2], "w");

	if (!file)
		return 1;
	std::fprintf(file, "%lld 0\n", time);
	return std::fclose(file) || x != count + 1;
}

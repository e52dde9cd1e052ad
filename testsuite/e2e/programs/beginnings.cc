/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that begin with a call, of which exceptions come and in which somebody looks who called whom. Says what came of it.
 */
#include <cstdio>
#include <dlfcn.h>
#include <execinfo.h>
#include <unistd.h>

#define FUNCTION extern "C" __attribute__((noinline, noclone, noipa))

static int frames;

FUNCTION int b_inner(int number)
{
	void *found[16];
	Dl_info info;

	if (number == 3)
		throw number;
	if (number == 5)
		for (int i = 0, count = backtrace(found, 16); i < count; i++)
			if (dladdr(found[i], &info) && info.dli_sname && info.dli_sname[0] == 'b')
				std::printf("frame %d %s\n", frames++, info.dli_sname);
	return number + 1;
}

FUNCTION int b_outer(int number)
{
	return b_inner(number) + 1;
}

FUNCTION int b_kept(int number)
{
	return b_outer(number) + number;
}

/* By a slot, with -fno-plt. */
FUNCTION int b_slot()
{
	return getpid() + 1;
}

int main()
{
	int sum = 0, thrown = 0;

	for (int i = 0; i < 1000; i++) {
		try {
			sum += b_kept(i % 10);
		} catch (int number) {
			thrown += number;
		}
		sum += b_slot() - getpid();
		frames = 0;
	}
	std::printf("%d %d\n", sum, thrown);
	return 0;
}

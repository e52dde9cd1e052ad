// SPDX-License-Identifier: GPL-2.0-or-later
// C++ exceptions through calls into libwork, destructors on the way, and a rethrow.
#include "work.h"

#include <pthread.h>

#include <cstdio>
#include <cstdlib>

static thread_local int destroyed;

struct guard {
	~guard()
	{
		destroyed++;
		work_square(destroyed);
	}
};

static void thrower(void *argument)
{
	guard here;

	work_add(1, 2);
	throw *static_cast<int *>(argument);
}

static void rethrower(void *argument)
{
	guard here;

	try {
		work_call(thrower, argument);
	} catch (int value) {
		throw value + 1000;
	}
}

static void *rounds(void *argument)
{
	int n = *static_cast<int *>(argument);
	long sum = 0;

	for (int i = 0; i < n; i++) {
		try {
			guard here;

			work_call(rethrower, &i);
		} catch (int value) {
			sum += value - 1000 - i + 1;
		}
	}
	return reinterpret_cast<void *>(sum * 10 + destroyed / n);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10;
	int threads = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t thread[16];
	void *result;

	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], nullptr, rounds, &n);
	for (int i = 0; i < threads; i++) {
		pthread_join(thread[i], &result);
		printf("caught %ld\n", reinterpret_cast<long>(result));
	}
	work_add(7, 8);
	return 0;
}

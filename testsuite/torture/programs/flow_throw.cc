// SPDX-License-Identifier: GPL-2.0-or-later
// C++ exceptions: through traced calls, from constructors, thrown again on the way, in threads.
#include "flow.h"

#include <pthread.h>

#include <stdexcept>
#include <string>

static unsigned long total;

struct work {
	int round;
	unsigned long sum;
};

// Says at the end of its life how many traced calls are around it.
struct guard {
	explicit guard(int calls) : around(calls) {}
	~guard() { mark(around); }
	int around;
};

static void thrower(void *argument)
{
	guard here(1);

	throw static_cast<work *>(argument)->round;
}

// Goes on right behind the call that was left.
static void caught_behind(work &work)
{
	try {
		COUNT(call)(thrower, &work);
	} catch (int round) {
		work.sum = flow_mix(work.sum, round);
	}
	mark(0);
	LEFT(call, 1);
}

struct part {
	explicit part(work &its) : mine(its) { mine.sum = flow_mix(mine.sum, COUNT(add)(mine.round, 1)); }
	~part() { mine.sum = flow_mix(mine.sum, COUNT(add)(mine.round, 2)); }
	work &mine;
};

struct whole {
	explicit whole(work &its) : first(its), text(its.round % 50, 'x')
	{
		mark(2);
		throw std::runtime_error(text);
	}
	part first;
	std::string text;
};

static void construct(void *argument)
{
	whole object(*static_cast<work *>(argument));

	mark(99); // never gets here
}

static void pass_through(void *argument)
{
	guard here(1);

	COUNT(call)(construct, argument);
}

static void from_constructor(work &work)
{
	try {
		COUNT(call)(pass_through, &work);
		mark(99);
	} catch (const std::exception &error) {
		work.sum = flow_mix(work.sum, static_cast<unsigned long>(error.what()[0]));
		mark(0);
	}
	LEFT(call, 2);
}

struct level {
	work *mine;
	int left;
	int around;
};

static void deeper(void *argument)
{
	level here = *static_cast<level *>(argument);
	level next = {here.mine, here.left - 1, here.around + 1};

	mark(here.around);
	if (!here.left)
		throw here;
	try {
		COUNT(call)(deeper, &next);
	} catch (level &) {
		LEFT(call, 1);
		mark(here.around);
		throw; // to the next one
	}
}

static void again_and_again(work &work)
{
	level first = {&work, 5, 1};

	try {
		COUNT(call)(deeper, &first);
	} catch (const level &last) {
		work.sum = flow_mix(work.sum, last.around);
	}
	LEFT(call, 1);
	mark(0);
}

// Out of six calls at once.
static void plain_deeper(void *argument)
{
	int *left = static_cast<int *>(argument);

	if (!*left)
		throw std::string("deep");
	--*left;
	COUNT(call)(plain_deeper, left);
}

static void out_of_many(work &work)
{
	int left = 5;

	try {
		COUNT(call)(plain_deeper, &left);
	} catch (const std::string &text) {
		work.sum = flow_mix(work.sum, text.size());
	}
	LEFT(call, 6);
	mark(0);
}

static void from_library(work &work)
{
	for (int i = 0; i < 3; i++) {
		try {
			COUNT(throw)(i);
		} catch (int number) {
			work.sum = flow_mix(work.sum, number);
		}
		mark(0);
		LEFT(throw, 1);
	}
}

static int rounds;

static void *all(void *number)
{
	work mine = {0, static_cast<unsigned long>(reinterpret_cast<long>(number))};

	for (mine.round = 1; mine.round <= rounds; mine.round++) {
		caught_behind(mine);
		from_constructor(mine);
		again_and_again(mine);
		out_of_many(mine);
		from_library(mine);
	}
	__atomic_add_fetch(&total, mine.sum, __ATOMIC_RELAXED);
	return nullptr;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];

	rounds = argc > 1 ? atoi(argv[1]) : 10;
	flow_ready();
	all(nullptr);
	for (long i = 0; i < 3; i++)
		pthread_create(&threads[i], nullptr, all, reinterpret_cast<void *>(i));
	for (pthread_t thread : threads)
		pthread_join(thread, nullptr);
	flow_alone();
	flow_report(total);
	return 5;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that are inlined in each other, also in a block, in a lambda, and in a method. */
#include <unistd.h>

namespace shop
{
static inline __attribute__((always_inline)) long parent(long number)
{
	return getppid() +
	       number;
}

struct cart {
	long items;
	inline __attribute__((always_inline)) long total(long each)
	{
		long sum = 0;

		for (long i = 0; i < items; i++) {
			long price = parent(each);

			sum += price;
		}
		return sum;
	}
};

__attribute__((noinline)) long bill(cart &cart)
{
	long sum = cart.total(2);

	if (sum > 0)
		sum += cart.total(3);
	return sum;
}
} // namespace shop

int main()
{
	shop::cart cart = {1};
	auto twice = [&](long number) __attribute__((always_inline)) {
		return shop::bill(cart) + shop::parent(number);
	};

	return twice(1) + twice(2) == 0;
}

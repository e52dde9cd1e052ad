/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Throws and catches all the time. */
#include <cstdio>

__attribute__((noinline)) int often_thrown(int n)
{
	if (n % 2)
		throw n;
	return n;
}

int main()
{
	int caught = 0;

	for (int i = 0; i < 1000; i++) {
		try {
			often_thrown(i);
		} catch (int n) {
			caught++;
		}
	}
	printf("caught %d\n", caught);
	return 0;
}

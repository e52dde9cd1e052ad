/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An IFUNC of its own: calls it five times, and once by its address, which lld has be that of the PLT stub. */
static int chosen(int number)
{
	return number + 1;
}

static void *choose(void)
{
	return chosen;
}

int taken(int number) __attribute__((ifunc("choose")));
int (*volatile by_address)(int) = taken;

int main(void)
{
	volatile int sum = 0;

	for (int i = 0; i < 5; i++)
		sum += taken(i);
	sum += by_address(5);
	return sum != 21;
}

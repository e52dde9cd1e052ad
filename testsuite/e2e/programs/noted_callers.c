/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that are called by different others, for a profile (-pg). */
#define KEPT __attribute__((noinline, noclone))

volatile int called_times;

KEPT void called_leaf(void)
{
	called_times++;
}

KEPT void called_often(void)
{
	for (int i = 0; i < 10; i++)
		called_leaf();
	called_times++;
}

KEPT void called_once(void)
{
	called_leaf();
	called_times++;
}

int main(void)
{
	for (int i = 0; i < 100; i++) {
		called_often();
		called_once();
	}
	return 0;
}

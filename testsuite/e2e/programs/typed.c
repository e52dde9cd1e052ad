/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls one of two versions of a function that have different types: the older one with OLD=1. */
int work_typed_old(int n);
double work_typed(double x, const char *text);
__asm__(".symver work_typed_old, work_typed@OLD");

int main(void)
{
#if OLD
	return work_typed_old(4) != 4004;
#else
	return work_typed(2.5, "a") != 99.5;
#endif
}

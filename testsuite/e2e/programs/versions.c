/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

int work_version_old(int n);
int work_version(int n);
int work_twin(int n);
int work_typed_old(int n);
double work_typed(double x, const char *text);
__asm__(".symver work_version_old, work_version@OLD");
__asm__(".symver work_typed_old, work_typed@OLD");

int main(void)
{
	printf("%d %d %d\n", work_version_old(1), work_version(2), work_twin(3));
	printf("%d %.1f\n", work_typed_old(4), work_typed(2.5, "a"));
	return 0;
}

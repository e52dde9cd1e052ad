/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

int work_version_old(int n);
int work_version(int n);
int work_twin(int n);
__asm__(".symver work_version_old, work_version@OLD");

int main(void)
{
	printf("%d %d %d\n", work_version_old(1), work_version(2), work_twin(3));
	return 0;
}

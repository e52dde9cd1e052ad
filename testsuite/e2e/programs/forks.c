/* SPDX-License-Identifier: GPL-2.0-or-later */
/* usage: forks CHILDREN ROUNDS CALLS: each child, or itself if there are none, calls work_add() so often, with a pause after each round. */
#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int child(int rounds, int calls)
{
	int sum = 0;

	for (int i = 0; i < rounds; i++) {
		for (int k = 0; k < calls; k++)
			sum = work_add(sum, 1);
		usleep(30000);
	}
	return sum != rounds * calls;
}

int main(int argc, char **argv)
{
	int children = argc > 3 ? atoi(argv[1]) : 0, failed = 0, status;

	for (int i = 0; i < children; i++)
		if (fork() == 0)
			_exit(child(atoi(argv[2]), atoi(argv[3])));
	while (wait(&status) > 0)
		failed += status != 0;
	if (argc > 3 && !children)
		failed = child(atoi(argv[2]), atoi(argv[3]));
	printf("failed %d\n", failed);
	return 0;
}

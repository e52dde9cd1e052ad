/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One thread that is inside fork(2) most of the time, as it has much memory: each child calls a function and ends.
 * Lines on stdin, each answered with "done": "progress", "stop", which says how often something went wrong.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MEGABYTES = 96, MEGABYTE = 1 << 20, PAGE = 4096 };

static unsigned char memory[(size_t)MEGABYTES * MEGABYTE];

static int child_goes_wrong(void)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0)
		_exit(strtol("23", NULL, 10) == 23 ? 7 : 1);
	return child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
	       WEXITSTATUS(status) != 7 || strtol("1000", NULL, 16) != 4096;
}

static int is_asked(void)
{
	struct pollfd place = {.fd = STDIN_FILENO, .events = POLLIN};

	return poll(&place, 1, 0) > 0;
}

int main(void)
{
	char line[64] = "";
	long wrong = 0;

	for (size_t i = 0; i < sizeof memory; i += PAGE)
		memory[i] = 1;
	setvbuf(stdin, NULL, _IONBF, 0);
	puts("ready");
	fflush(stdout);
	while (strncmp(line, "stop", 4) != 0) {
		wrong += child_goes_wrong();
		if (!is_asked())
			continue;
		if (!fgets(line, sizeof line, stdin))
			return 1;
		wrong += child_goes_wrong();
		puts("done");
		fflush(stdout);
	}
	printf("wrong %ld\n", wrong);
	return wrong != 0;
}

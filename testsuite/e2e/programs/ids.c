/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints as whom it runs; with arguments, runs them first: by fork and exec, or by vfork and exec. */
#define _GNU_SOURCE
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void run(int shared, const char *path)
{
	pid_t child = shared ? vfork() : fork();

	if (!child) {
		execl(path, path, (char *)NULL);
		_exit(127);
	}
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	gid_t groups[64];
	int count = getgroups(64, groups);

	for (int i = 1; i + 1 < argc; i += 2)
		run(!strcmp(argv[i], "vfork"), argv[i + 1]);
	printf("uid %d euid %d gid %d egid %d groups", (int)getuid(), (int)geteuid(), (int)getgid(),
	       (int)getegid());
	for (int i = 0; i < count; i++)
		printf(" %d", (int)groups[i]);
	puts("");
	return 0;
}

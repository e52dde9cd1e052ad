/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inferior/proc.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

long proc_status_number(pid_t tid, const char *name)
{
	char path[64];
	char line[256];
	long value = -1;
	size_t length = strlen(name);

	snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
	FILE *file = fopen(path, "re");

	if (!file)
		return -1;
	while (value < 0 && fgets(line, sizeof line, file))
		if (!strncmp(line, name, length) && line[length] == ':')
			value = strtol(line + length + 1, NULL, 10);
	fclose(file);
	return value;
}

char proc_state(pid_t tid)
{
	char path[96];
	char text[512];

	snprintf(path, sizeof path, "/proc/%d/stat", (int)tid);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (n <= 0)
		return '?';
	text[n] = '\0';
	const char *end = strrchr(text, ')'); /* the name may hold anything */

	return end && end[1] == ' ' ? end[2] : '?';
}

bool proc_signals(pid_t tid, uint64_t *ignored, uint64_t *caught)
{
	char path[64];
	char line[256];
	int found = 0;

	snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
	FILE *file = fopen(path, "re");

	if (!file)
		return false;
	while (found < 2 && fgets(line, sizeof line, file)) {
		found += sscanf(line, "SigIgn: %" SCNx64, ignored) == 1;
		found += sscanf(line, "SigCgt: %" SCNx64, caught) == 1;
	}
	fclose(file);
	return found == 2;
}

void proc_children(pid_t pid, pid_t tid, struct vec *children)
{
	char path[96];
	int child;

	snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)tid);
	FILE *file = fopen(path, "re");

	if (!file)
		return;
	while (fscanf(file, "%d", &child) == 1)
		vec_push(children, &(pid_t){child});
	fclose(file);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* done/size, records per second, time left. */
#include "replay/progress.h"

#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { QUIET_MS = 1000, STEP_MS = 200, MS_PER_S = 1000 };

static uint64_t now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * MS_PER_S + (uint64_t)time.tv_nsec / 1000000;
}

void progress_begin(struct progress *progress, int fd, bool is_wanted)
{
	struct stat file;

	*progress = (struct progress){.is_wanted = is_wanted, .begun = now_ms()};
	if (fstat(fd, &file) == 0 && S_ISREG(file.st_mode))
		progress->size = (uint64_t)file.st_size;
}

void progress_show(struct progress *progress, uint64_t position, uint64_t records)
{
	const uint64_t now = progress->is_wanted ? now_ms() : 0;
	const uint64_t passed = now - progress->begun;

	if (!progress->is_wanted || passed < QUIET_MS || now - progress->shown < STEP_MS)
		return;
	progress->shown = now;
	progress->is_shown = true;
	fprintf(stderr, "\r\033[K%.1f", (double)position / (1 << 20));
	if (progress->size)
		fprintf(stderr, "/%.1f", (double)progress->size / (1 << 20));
	fprintf(stderr, " MiB, %.0f records/s", (double)records * MS_PER_S / (double)passed);
	if (position && progress->size > position)
		fprintf(stderr, ", %.0f s left",
			(double)passed / MS_PER_S * (double)(progress->size - position) /
				(double)position);
	fflush(stderr);
}

void progress_end(struct progress *progress)
{
	if (progress->is_shown)
		fputs("\r\033[K", stderr);
	progress->is_shown = false;
}

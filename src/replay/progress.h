/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The progress of a replay, as a line on a terminal. */
#ifndef TRACER_REPLAY_PROGRESS_H
#define TRACER_REPLAY_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool is_wanted, is_shown;
	uint64_t size;	       /* of the file; 0: not known */
	uint64_t begun, shown; /* when, in ms */
};

/* `fd`: the file that is read. Nothing is shown before a second has passed. */
void progress_begin(struct progress *progress, int fd, bool is_wanted);
/* Shows, a few times a second, how far the replay is. */
void progress_show(struct progress *progress, uint64_t position, uint64_t records);
/* Clears the line. */
void progress_end(struct progress *progress);

#endif

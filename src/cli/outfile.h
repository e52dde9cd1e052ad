/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the trace goes: standard error, a file, or a command that reads it. */
#ifndef TRACER_CLI_OUTFILE_H
#define TRACER_CLI_OUTFILE_H

#include "base/vec.h"

#include <stdbool.h>

enum { OUTFILE_INPUTS = 2 }; /* traces that one run reads: --replay and --flame-diff */

struct outfile {
	bool is_kept; /* a file: what was in it is still there, until outfile_empty() */
	int fd;	      /* to write to; above the fds that traced programs use; owned */
	int done;     /* reports EOF when the command has ended; -1: there is no command */
};

/*
 * `name`: a file; "|COMMAND" for a shell; NULL: standard error. Returns 0, or
 * -errno after a message. To be called while signal dispositions are as the user set them, because
 * a command inherits them.
 */
int outfile_open(struct outfile *outfile, const char *name);

/*
 * The same for a directory, which is made if there is none. One that has files in it is refused:
 * what is there is not overwritten, nor mixed with what comes.
 */
int outfile_open_directory(struct outfile *outfile, const char *name);

/*
 * Returns 0, or -EINVAL after a message if two of `files` (struct outfile) and `lines` are one
 * file, or one of them is read (`inputs`: names; NULL: none).
 */
int outfile_check(const struct vec *files, const struct outfile *lines,
		  const char *const inputs[OUTFILE_INPUTS]);

/*
 * Removes what was in all of these files, but not what has been written to them since. To be called
 * once it is clear that they will be written: there is something to trace. Returns 0, or -errno
 * after a message.
 */
int outfile_empty(const struct vec *files, const struct outfile *lines);

/* Closes the fd, and waits until a command has read everything and has ended. */
void outfile_close(struct outfile *outfile);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the trace goes: standard error, a file, or a command that reads it. */
#ifndef TRACER_CLI_OUTFILE_H
#define TRACER_CLI_OUTFILE_H

struct outfile {
	int fd;	  /* to write to, out of the way of what traced programs may use; owned */
	int done; /* of a command: at its end when the command has ended; -1: there is none */
};

/*
 * `name`: of a file, which is emptied; "|COMMAND" for a shell; NULL: standard error. 0, or -errno,
 * which has been said. To be called while the signals are as the user has them, because a command
 * gets them so.
 */
int outfile_open(struct outfile *outfile, const char *name);

/* Closes it; waits until a command has read all of it and has ended. */
void outfile_close(struct outfile *outfile);

#endif

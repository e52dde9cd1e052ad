/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The terminal for --top: see view_terminal.c. */
#ifndef TRACER_CLI_VIEW_TERMINAL_H
#define TRACER_CLI_VIEW_TERMINAL_H

#include "cli/options.h"

/*
 * Stores a descriptor of the terminal for the view in *fd, which the caller closes; -1 if there is
 * to be no view. Returns 0, or -EINVAL after a usage error: there is no terminal, or it is in use.
 */
int view_terminal_open(const struct options *options, int *fd);

#endif

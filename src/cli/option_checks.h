/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which options may be given together: see option_checks.c. */
#ifndef TRACER_CLI_OPTION_CHECKS_H
#define TRACER_CLI_OPTION_CHECKS_H

#include "cli/options.h"

/*
 * Checks options that were parsed. `sorted`: --sort was given. Returns 0, or -EINVAL after a
 * message.
 */
int option_checks(const struct options *options, bool sorted);

#endif

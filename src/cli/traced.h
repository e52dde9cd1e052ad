/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is traced, in words: see traced.c. */
#ifndef TRACER_CLI_TRACED_H
#define TRACER_CLI_TRACED_H

#include "cli/options.h"

/* Returns the command line of the command, or "process 1, 2"; the caller frees it. */
char *traced_text(const struct options *options);
/* Returns the recipes of the command line: " @sql-calls @http", or ""; the caller frees it. */
char *traced_recipes(const struct options *options);

#endif

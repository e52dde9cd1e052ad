/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which functions send statements to which databases: see db_functions.c. */
#ifndef TRACER_SINK_OTLP_DB_FUNCTIONS_H
#define TRACER_SINK_OTLP_DB_FUNCTIONS_H

#include "probe/probe.h"

enum { DB_ARGUMENTS = 3 }; /* statements are in one of the first so many */

struct db_function {
	const char *name;   /* of the function, or of a span */
	const char *module; /* how the name of its module begins; NULL: any */
	const char *system; /* db.system.name */
	unsigned statement; /* the number of the argument with the statement, from 1; 0: none */
};

/* Returns what is known of a function, or NULL if it is not one of a database. */
const struct db_function *db_functions_find(const struct probe_info *probe);

#endif

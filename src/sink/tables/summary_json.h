/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of -c as JSON, a line for each row: see summary_json.c. */
#ifndef TRACER_SINK_TABLES_SUMMARY_JSON_H
#define TRACER_SINK_TABLES_SUMMARY_JSON_H

#include "sink/tables/summary_table.h"

const struct table_form *summary_json_form(void);

#endif

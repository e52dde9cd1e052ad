/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of -c as comma-separated values: see summary_csv.c. */
#ifndef TRACER_SINK_TABLES_SUMMARY_CSV_H
#define TRACER_SINK_TABLES_SUMMARY_CSV_H

#include "sink/tables/summary_table.h"

const struct table_form *summary_csv_form(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of -c as text: see summary_text.c. */
#ifndef TRACER_SINK_TABLES_SUMMARY_TEXT_H
#define TRACER_SINK_TABLES_SUMMARY_TEXT_H

#include "sink/tables/summary_table.h"

const struct table_form *summary_text_form(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of --report around its data: see report_page.c. */
#ifndef TRACER_SINK_REPORT_REPORT_PAGE_H
#define TRACER_SINK_REPORT_REPORT_PAGE_H

#include "sink/render/outbuf.h"

/* Writes what comes before the data, and what comes behind it. */
void report_page_put_head(struct outbuf *out);
void report_page_put_tail(struct outbuf *out);

#endif

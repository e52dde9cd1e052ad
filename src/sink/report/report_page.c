/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page of --report around its data. It is made from the files in report/ by report/page.sh when
 * the tracer is built.
 */
#include "sink/report/report_page.h"

#include <stddef.h>

/* Defines `head` and `tail`: arrays of lines. */
#include "sink/report/page.inc"

void report_page_put_head(struct outbuf *out)
{
	outbuf_lines(out, head, sizeof head / sizeof *head);
}

void report_page_put_tail(struct outbuf *out)
{
	outbuf_newline(out);
	outbuf_lines(out, tail, sizeof tail / sizeof *tail);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lays out what --top shows, for a screen of a certain size. */
#ifndef TRACER_VIEW_TOP_LAYOUT_H
#define TRACER_VIEW_TOP_LAYOUT_H

#include "view/frame.h"
#include "view/top_state.h"

/* Makes a frame, and scrolls so that what is selected is in it. */
struct frame *top_layout(struct top_view *view, unsigned lines, unsigned columns);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The view of --top: what it shows, and what keys do. It knows nothing of terminals. */
#ifndef TRACER_VIEW_TOP_VIEW_H
#define TRACER_VIEW_TOP_VIEW_H

#include "view/frame.h"
#include "view/key.h"

#include <stdbool.h>
#include <stdint.h>

struct top;
struct top_view;

/* `what`: what is traced, as it is shown first; copied. `top` must outlive the view. */
struct top_view *top_view_create(struct top *top, const char *what);
void top_view_destroy(struct top_view *view);

/* Obeys a key. Returns false if the view is to be left. */
bool top_view_key(struct top_view *view, const struct view_key *key);

/*
 * Brings the view up to date, unless it is paused. `now`: ns since the Epoch; `lost`: calls
 * that were lost; `message`: the last message of the tracer, which belongs to the view then, or
 * NULL.
 */
void top_view_tick(struct top_view *view, uint64_t now, uint64_t lost, char *message);

/* Makes a frame for a screen of that size, which the caller destroys. */
struct frame *top_view_draw(struct top_view *view, unsigned lines, unsigned columns);

#endif

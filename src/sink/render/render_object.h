/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Renders structs, arrays and pointers to any type, from a VALUE_OBJECT and the values behind it:
 * see render_object.c.
 */
#ifndef TRACER_SINK_RENDER_RENDER_OBJECT_H
#define TRACER_SINK_RENDER_RENDER_OBJECT_H

#include "sink/render/render.h"

/* Renders a VALUE_OBJECT for render_typed() (render_object.c). */
void render_object(struct rendering *rendering, const struct type *type,
		   const struct record_value *value);

/*
 * Renders an object of this type that begins at `bytes`, of which `length` are there, and whose
 * pointers have `word` bytes; its parts that are stored elsewhere are the next values of the
 * cursor.
 */
void render_inside(struct rendering *rendering, const struct type *type, const unsigned char *bytes,
		   size_t length, unsigned word);

#endif

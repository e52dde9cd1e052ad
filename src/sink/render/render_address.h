/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Renders socket addresses: see render_address.c. */
#ifndef TRACER_SINK_RENDER_RENDER_ADDRESS_H
#define TRACER_SINK_RENDER_RENDER_ADDRESS_H

#include "sink/render/render_number.h"

/*
 * Renders a socket address of `length` bytes (render_address.c). A name in it is limited to the
 * options' `string_max`.
 */
void render_address(struct outbuf *out, const unsigned char *bytes, size_t length,
		    const struct render_options *options);

#endif

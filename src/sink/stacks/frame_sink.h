/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls counted by their frames: --format=folded and --flame. See frame_sink.c. */
#ifndef TRACER_SINK_STACKS_FRAME_SINK_H
#define TRACER_SINK_STACKS_FRAME_SINK_H

#include "sink/sink.h"

/* --format=folded: a line for each different stack. */
struct sink *frame_sink_create_folded(const struct sink_target *target);
/* --flame: a picture of them. */
struct sink *frame_sink_create_flame(const struct sink_target *target);
/* Writes nothing: the tree of frames goes to *options->frames_taken, which frees it. */
struct sink *frame_sink_create_taken(const struct sink_target *target);

#endif

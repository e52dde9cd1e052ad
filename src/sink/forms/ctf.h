/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The directory of --format=ctf: see ctf.c. */
#ifndef TRACER_SINK_FORMS_CTF_H
#define TRACER_SINK_FORMS_CTF_H

#include "sink/sink.h"

struct sink *ctf_sink_create(const struct sink_target *target);

#endif

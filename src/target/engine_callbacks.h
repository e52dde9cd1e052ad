/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This folder's answers to the engines: see engine_callbacks.c. */
#ifndef TRACER_TARGET_ENGINE_CALLBACKS_H
#define TRACER_TARGET_ENGINE_CALLBACKS_H

#include "target/target_state.h"

/* Fills target->events and the hooks that serve the engines. Before any engine is created. */
void engine_callbacks_init(struct target *target);

#endif

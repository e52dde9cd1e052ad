/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls by pointers that were loaded from a GOT slot: see slot_calls.h: see slot_pointers.c. */
#ifndef TRACER_CODE_SLOT_POINTERS_H
#define TRACER_CODE_SLOT_POINTERS_H

#include "code/slot_search.h"

/*
 * Finds the calls by pointers in all functions that contain a reference. `references` has to be
 * sorted by address.
 */
void slot_pointers_visit(struct call_search *search);

#endif

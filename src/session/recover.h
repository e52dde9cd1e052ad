/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a session whose tracer was killed. */
#ifndef TRACER_SESSION_RECOVER_H
#define TRACER_SESSION_RECOVER_H

#include <stddef.h>

/*
 * Puts the processes right that these journals are about: a guardian_duty. Takes the descriptors.
 * Runs in a process that ends afterwards, and frees nothing.
 */
void session_recover(const int *journals, size_t count);

#endif

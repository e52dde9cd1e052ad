/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scope-based cleanup. A variable declared with `_cleanup_(f)` has f(&variable) called at the end
 * of its scope. take_ptr() and take_fd() transfer ownership, so that nothing is cleaned up.
 */
#ifndef TRACER_BASE_CLEANUP_H
#define TRACER_BASE_CLEANUP_H

#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(function) __attribute__((cleanup(function)))
#define _cleanup_free_ _cleanup_(cleanup_free)
#define _cleanup_close_ _cleanup_(cleanup_close)

static inline void cleanup_free(void *place)
{
	free(*(void **)place);
}

static inline void cleanup_close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* Returns the pointer and sets the variable to NULL. */
#define take_ptr(pointer)                                                                          \
	__extension__({                                                                            \
		__auto_type taken_ = (pointer);                                                    \
		(pointer) = NULL;                                                                  \
		taken_;                                                                            \
	})

/* Returns the descriptor and sets the variable to -1. */
static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

#endif

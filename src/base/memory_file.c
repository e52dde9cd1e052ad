/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resizes memory files in spite of RLIMIT_FSIZE. */
#include "base/memory_file.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

/*
 * Raises the soft limit and, if necessary, the hard one. A process that may not raise the hard
 * limit gains nothing, and ftruncate(2) fails.
 */
static void lift(struct rlimit limit, uint64_t bytes)
{
	limit.rlim_cur = bytes;
	if (limit.rlim_max < bytes)
		limit.rlim_max = bytes;
	setrlimit(RLIMIT_FSIZE, &limit);
}

int memory_file_resize(int fd, uint64_t bytes)
{
	struct rlimit limit;
	const bool is_limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes;

	if (is_limited)
		lift(limit, bytes);
	const int error = ftruncate(fd, (off_t)bytes) == 0 ? 0 : -errno;

	if (is_limited)
		setrlimit(RLIMIT_FSIZE, &limit);
	return error;
}

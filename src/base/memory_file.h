/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TRACER_BASE_MEMORY_FILE_H
#define TRACER_BASE_MEMORY_FILE_H

#include <stdint.h>

/*
 * Makes a memory file (memfd_create(2)) as large as that: 0 or -errno. The limit on the size of
 * files (RLIMIT_FSIZE), which is about disks, holds for these, too: it is lifted for the moment, as
 * far as that is allowed; -EFBIG when it is not.
 */
int memory_file_resize(int fd, uint64_t bytes);

#endif

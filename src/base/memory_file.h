/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TRACER_BASE_MEMORY_FILE_H
#define TRACER_BASE_MEMORY_FILE_H

#include <stdint.h>

/*
 * Resizes a memory file (memfd_create(2)): 0 or -errno. RLIMIT_FSIZE, which is meant for disks,
 * also holds for memory files. It is raised for the call if that is permitted; -EFBIG if not.
 */
int memory_file_resize(int fd, uint64_t bytes);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * To be preloaded into a tracer: counts what its heap holds, block by block, in a file shared with who
 * asks (environment HEAP_COUNT), as the size of a process says too little too late. glibc's allocator
 * can be replaced by name, and has names of its own for what it was.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

/* As testsuite/torture/soak.test reads it. Who asks sets the peaks back to 0. */
struct count {
	int64_t blocks, bytes;
	int64_t peak_blocks, peak_bytes;
};

static struct count before_open;
static struct count *count = &before_open;

/* Another process may set a peak back meanwhile: that is the one race, and it only costs a peak. */
static void raise_peak(int64_t *peak, int64_t value)
{
	int64_t old = __atomic_load_n(peak, __ATOMIC_RELAXED);

	while (value > old && !__atomic_compare_exchange_n(peak, &old, value, 0, __ATOMIC_RELAXED,
							   __ATOMIC_RELAXED))
		;
}

static void add(int64_t blocks, int64_t bytes)
{
	raise_peak(&count->peak_blocks,
		   __atomic_add_fetch(&count->blocks, blocks, __ATOMIC_RELAXED));
	raise_peak(&count->peak_bytes, __atomic_add_fetch(&count->bytes, bytes, __ATOMIC_RELAXED));
}

static void *taken(void *block)
{
	if (block)
		add(1, (int64_t)malloc_usable_size(block));
	return block;
}

__attribute__((constructor)) static void share(void)
{
	const char *path = getenv("HEAP_COUNT");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *shared = fd < 0 ? MAP_FAILED
			      : mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
				     0);

	if (fd >= 0)
		close(fd);
	if (shared == MAP_FAILED)
		return;
	memcpy(shared, &before_open, sizeof before_open);
	count = shared;
}

void *malloc(size_t size)
{
	return taken(__libc_malloc(size));
}

void *calloc(size_t number, size_t size)
{
	return taken(__libc_calloc(number, size));
}

void *realloc(void *block, size_t size)
{
	int64_t old = block ? (int64_t)malloc_usable_size(block) : 0;
	void *result = __libc_realloc(block, size);

	if (result)
		add(block ? 0 : 1, (int64_t)malloc_usable_size(result) - old);
	return result;
}

void *memalign(size_t alignment, size_t size)
{
	return taken(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size)
{
	*result = memalign(alignment, size);
	return *result ? 0 : ENOMEM;
}

void free(void *block)
{
	if (block)
		add(-1, -(int64_t)malloc_usable_size(block));
	__libc_free(block);
}

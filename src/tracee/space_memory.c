/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads and writes a tracee's memory.
 *
 * Reads go through process_vm_readv(2), one system call for a whole batch. It stops at the first
 * page that is not mapped, so each range is cut at page boundaries, and after a fault the batch
 * continues with the next range. If process_vm_readv(2) is refused (a seccomp filter around the
 * tracer, an exotic kernel), /proc/PID/mem is used.
 *
 * A page that is never provided would block a read for ever. So only pages known to be resident are
 * read (resident.h); a range ends in front of a page that does not come.
 *
 * A single word is read by ptrace from the thread that stopped last, which is the cheapest way. But
 * only from private anonymous memory, as stacks are: if a file's page is gone, ptrace blocks in a
 * way that no SIGKILL ends, while process_vm_readv(2) can be killed; the guardian watches for that
 * (watchdog.h). And not for memory that arguments point to: ptrace also reads what the program
 * itself may not.
 *
 * Writes go through /proc/PID/mem, which also writes pages that the tracee itself may only execute.
 * The kernel gives the tracee a private copy of such a page, so no other process sees the change.
 * The descriptor is opened once: it refers to the memory, not to the pid, so it stays valid when
 * the process it was opened for execs while a CLONE_VM child lives on. Many words at once are
 * written by process_vm_writev(2), if the tracee itself may write there.
 */
#include "tracee/space_memory.h"

#include "tracee/ptrace.h"
#include "tracee/resident.h"
#include "tracee/watchdog.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096, BATCH = 64 };

/* The pieces of a batch: local and remote vectors, and the range of each piece. */
struct batch {
	struct iovec local[BATCH];
	struct iovec remote[BATCH];
	struct memory_range *range[BATCH];
	size_t count;
};

/* Appends the readable rest of `range` in pieces of a page. Returns false if the batch is full. */
static bool batch_add(const struct space *space, struct batch *batch, struct memory_range *range)
{
	size_t offset = range->done;
	size_t end = offset + resident_bytes(space->resident, space->reader,
					     range->address + offset, range->length - offset, NULL);

	while (offset < end) {
		uint64_t address = range->address + offset;
		size_t piece = PAGE - (address & (PAGE - 1));

		if (batch->count == BATCH)
			return false;
		if (piece > end - offset)
			piece = end - offset;
		batch->local[batch->count].iov_base = (char *)range->buffer + offset;
		batch->local[batch->count].iov_len = piece;
		batch->remote[batch->count].iov_base = (void *)(uintptr_t)address;
		batch->remote[batch->count].iov_len = piece;
		batch->range[batch->count++] = range;
		offset += piece;
	}
	return true;
}

static ssize_t read_batch(const struct space *space, const struct batch *batch)
{
	watchdog_enter(space->watchdog, space->reader);
	ssize_t got = process_vm_readv(space->reader, batch->local, batch->count, batch->remote,
				       batch->count, 0);

	watchdog_leave(space->watchdog);
	if (got >= 0 || errno == EFAULT)
		return got < 0 ? 0 : got;
	ssize_t total = 0;

	for (size_t i = 0; i < batch->count; i++) {
		watchdog_enter(space->watchdog, space->reader);
		ssize_t n = pread(space->memory_fd, batch->local[i].iov_base,
				  batch->local[i].iov_len,
				  (off_t)(uintptr_t)batch->remote[i].iov_base);

		watchdog_leave(space->watchdog);
		if (n <= 0)
			break;
		total += n;
		if ((size_t)n < batch->local[i].iov_len)
			break;
	}
	return total;
}

/*
 * Reads one word of a stopped thread, which every traced call needs, by one ptrace request. Returns
 * false if the word cannot be read in this way.
 */
static bool read_word(const struct space *space, struct memory_range *range)
{
	uint64_t word;

	if (sizeof(long) != sizeof word || range->length > sizeof word)
		return false;
	size_t ready = resident_bytes(space->resident, space->reader, range->address, range->length,
				      NULL);

	range->done = 0;
	if (ready < range->length)
		return ready == 0; /* no byte of it can be read */
	if (!resident_is_anonymous(space->resident, range->address) ||
	    !resident_is_anonymous(space->resident, range->address + range->length - 1))
		return false;
	watchdog_enter(space->watchdog, space->reader);
	int error = pt_peek(space->reader, range->address, &word);

	watchdog_leave(space->watchdog);
	if (error)
		return false;
	memcpy(range->buffer, &word, range->length);
	range->done = range->length;
	return true;
}

static void read_batches(void *context, struct memory_range *ranges, size_t count)
{
	struct space *space = context;
	size_t i = 0;

	for (size_t k = 0; k < count; k++)
		ranges[k].done = 0;
	while (i < count) {
		struct batch batch = {.count = 0};
		size_t next = i;

		while (next < count && batch_add(space, &batch, &ranges[next]))
			next++;
		size_t got = (size_t)read_batch(space, &batch);
		size_t piece = 0;

		for (; piece < batch.count && got >= batch.local[piece].iov_len; piece++) {
			batch.range[piece]->done += batch.local[piece].iov_len;
			got -= batch.local[piece].iov_len;
		}
		if (piece < batch.count) {
			/* The range ends at the fault. Continue with the next range. */
			batch.range[piece]->done += got;
			i = (size_t)(batch.range[piece] - ranges) + 1;
		} else {
			i = next;
		}
	}
}

static void read_ranges(void *context, struct memory_range *ranges, size_t count)
{
	if (count != 1 || !read_word(context, ranges))
		read_batches(context, ranges, count);
}

void space_memory_begin(struct space *space)
{
	space->memory = (struct memory_source){.readv = read_ranges, .context = space};
	space->readable = (struct memory_source){.readv = read_batches, .context = space};
}

int space_write_through(struct space *space, uint64_t address, const void *bytes, size_t length)
{
	const char *from = bytes;
	bool blocked = false;

	/*
	 * A page must be resident before it is written. A page that is not mapped may be a stack's,
	 * still to grow.
	 */
	resident_bytes(space->resident, space->reader, address, length, &blocked);
	if (blocked)
		return -EFAULT;
	while (length) {
		watchdog_enter(space->watchdog, space->reader);
		ssize_t n = pwrite(space->memory_fd, from, length, (off_t)address);

		watchdog_leave(space->watchdog);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		from += n;
		address += (uint64_t)n;
		length -= (size_t)n;
	}
	return 0;
}

static void write_batch(struct space *space, const struct batch *batch)
{
	watchdog_enter(space->watchdog, space->reader);
	ssize_t done = process_vm_writev(space->reader, batch->local, batch->count, batch->remote,
					 batch->count, 0);

	watchdog_leave(space->watchdog);
	if (done >= 0 || errno == EFAULT)
		return;
	for (size_t i = 0; i < batch->count; i++)
		space_write_through(space, (uintptr_t)batch->remote[i].iov_base,
				    batch->local[i].iov_base, batch->local[i].iov_len);
}

void space_write_words_through(struct space *space, struct memory_range *ranges, size_t count)
{
	for (size_t i = 0; i < count;) {
		struct batch batch = {.count = 0};

		for (; i < count && batch_add(space, &batch, &ranges[i]); i++)
			;
		write_batch(space, &batch);
	}
}

bool space_is_stuck(const struct space *space, uint64_t address)
{
	bool blocked = false;

	resident_bytes(space->resident, space->reader, address, 1, &blocked);
	return blocked;
}

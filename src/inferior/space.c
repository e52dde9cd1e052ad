/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address spaces: reading and writing a tracee's memory.
 *
 * Reads go through process_vm_readv(2), one system call for a whole batch. It stops at the
 * first page that is not there, so every range is cut at page boundaries before it is handed
 * over, and after a fault the rest is tried again from the next range on. Where it is refused
 * (a seccomp filter around the tracer, an exotic kernel), /proc/PID/mem serves.
 *
 * A page that nobody provides would make a read wait for ever, so no page is read that is not known
 * to be there (resident.h); a range ends in front of one that does not come.
 *
 * A single word is read by ptrace from the thread that stopped last; that is the cheapest. But only
 * from private anonymous memory, as stacks are: should a file's page be gone, ptrace would wait for
 * it in a way that no SIGKILL ends, and process_vm_readv(2) does in one that it does. The guardian
 * watches over us there (pulse.h). And not what arguments point to: ptrace also reads what the
 * program itself may not.
 *
 * Writes go through /proc/PID/mem, which also writes pages that the tracee itself may only
 * execute; the kernel gives the tracee a private copy of such a page, so no other process sees
 * the change. The descriptor is opened once: it holds on to the memory, not to the pid, and so
 * stays right when the process that opened it execs while a vfork sibling lives on. Many words at
 * once are written as batches are read, as far as the tracee may write them.
 */
#include "inferior/inferior.h"

#include "base/xalloc.h"
#include "inferior/arena.h"
#include "inferior/gather.h"
#include "inferior/guardian.h"
#include "inferior/journal.h"
#include "inferior/kept_maps.h"
#include "inferior/maps.h"
#include "inferior/proc.h"
#include "inferior/ptrace.h"
#include "inferior/pulse.h"
#include "inferior/rescue.h"
#include "inferior/resident.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096, BATCH = 64 };

/* The pieces of one batch: local and remote vectors and which range each belongs to. */
struct batch {
	struct iovec local[BATCH];
	struct iovec remote[BATCH];
	struct memory_range *range[BATCH];
	size_t count;
};

/*
 * Appends the page-wise pieces of what is left of `range`, as far as it can be read; false when the
 * batch is full.
 */
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
	pulse_enter(space->pulse, space->reader);
	ssize_t got = process_vm_readv(space->reader, batch->local, batch->count, batch->remote,
				       batch->count, 0);

	pulse_leave(space->pulse);
	if (got >= 0 || errno == EFAULT)
		return got < 0 ? 0 : got;
	ssize_t total = 0;

	for (size_t i = 0; i < batch->count; i++) {
		pulse_enter(space->pulse, space->reader);
		ssize_t n = pread(space->memory_fd, batch->local[i].iov_base,
				  batch->local[i].iov_len,
				  (off_t)(uintptr_t)batch->remote[i].iov_base);

		pulse_leave(space->pulse);
		if (n <= 0)
			break;
		total += n;
		if ((size_t)n < batch->local[i].iov_len)
			break;
	}
	return total;
}

/*
 * One word, from a thread that is stopped, as on the way of each traced call: one ptrace
 * request. False when this cannot be told in this way.
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
		return ready == 0; /* nothing of it can be read */
	if (!resident_is_anonymous(space->resident, range->address) ||
	    !resident_is_anonymous(space->resident, range->address + range->length - 1))
		return false;
	pulse_enter(space->pulse, space->reader);
	int error = pt_peek(space->reader, range->address, &word);

	pulse_leave(space->pulse);
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
			/* This range ends here; go on behind it. */
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

struct space *space_create(pid_t pid, const struct arch *arch, int *error)
{
	struct space *space = xcalloc(1, sizeof *space);
	pid_t task = proc_living_task(pid);
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/mem", (int)task);
	space->memory_fd = open(path, O_RDWR | O_CLOEXEC);
	if (space->memory_fd < 0) {
		*error = -errno;
		free(space);
		return NULL;
	}
	space->references = 1;
	space->arch = arch;
	space->reader = task;
	space->memory = (struct memory_source){.readv = read_ranges, .context = space};
	space->readable = (struct memory_source){.readv = read_batches, .context = space};
	space->resident = resident_create(task, space->memory_fd);
	space->journal = journal_create((pid_t)proc_status_number(pid, "Tgid"));
	space->arena = arena_create();
	return space;
}

void space_bind(struct space *space, const struct inferior *inferior)
{
	resident_set_prefault(space->resident, inferior->prefault);
	space->pulse = inferior->pulse;
}

void space_guard(struct space *space, struct guardian *guardian, pid_t pid)
{
	struct journal_subject *subject = journal_subject(space->journal);

	subject->pid = pid;
	subject->tracer = getpid();
	subject->start_time = proc_start_time(pid);
	subject->elf_machine = space->arch->elf_machine;
	subject->elf_class = space->arch->elf_class;
	space->guardian = guardian;
	guardian_hold(guardian, journal_fd(space->journal), &space->guardian_number);
}

void space_forget_reader(struct space *space, pid_t tid)
{
	if (space && space->reader == tid)
		space->reader = 0; /* reads go through memory_fd until the next stop */
}

struct space *space_ref(struct space *space)
{
	space->references++;
	return space;
}

void space_unref(struct space *space)
{
	if (!space || --space->references)
		return;
	guardian_forget(space->guardian, space->guardian_number);
	journal_destroy(space->journal);
	arena_destroy(space->arena);
	resident_destroy(space->resident);
	rescue_destroy(space->rescue);
	kept_maps_end(space);
	close(space->memory_fd);
	free(space);
}

bool space_find_kernel_code(struct space *space, pid_t tid)
{
	struct maps maps;

	if (space->kernel_code.high)
		return true;
	if (kept_maps_read(space, tid, &maps) != 0)
		return false;
	const struct mapping *vdso = maps_find_path(&maps, "[vdso]");

	if (vdso) {
		space->kernel_code.low = vdso->start;
		space->kernel_code.high = vdso->end;
	}
	maps_deinit(&maps);
	return vdso != NULL;
}

int space_write(struct space *space, uint64_t address, const void *bytes, size_t length)
{
	return gather_is_on(space) ? gather_write(space, address, bytes, length)
				   : space_write_through(space, address, bytes, length);
}

int space_write_through(struct space *space, uint64_t address, const void *bytes, size_t length)
{
	const char *from = bytes;
	bool blocked = false;

	/*
	 * A page is read before it is written; memory that is merely absent may be stack still to
	 * grow.
	 */
	resident_bytes(space->resident, space->reader, address, length, &blocked);
	if (blocked)
		return -EFAULT;
	while (length) {
		pulse_enter(space->pulse, space->reader);
		ssize_t n = pwrite(space->memory_fd, from, length, (off_t)address);

		pulse_leave(space->pulse);
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
	pulse_enter(space->pulse, space->reader);
	ssize_t done = process_vm_writev(space->reader, batch->local, batch->count, batch->remote,
					 batch->count, 0);

	pulse_leave(space->pulse);
	if (done >= 0 || errno == EFAULT)
		return;
	for (size_t i = 0; i < batch->count; i++)
		space_write(space, (uintptr_t)batch->remote[i].iov_base, batch->local[i].iov_base,
			    batch->local[i].iov_len);
}

void space_write_words(struct space *space, struct memory_range *ranges, size_t count)
{
	for (size_t i = 0; gather_is_on(space) && i < count; i++)
		space_write(space, ranges[i].address, ranges[i].buffer, ranges[i].length);
	if (gather_is_on(space))
		return;
	for (size_t i = 0; i < count;) {
		struct batch batch = {.count = 0};

		for (; i < count && batch_add(space, &batch, &ranges[i]); i++)
			;
		write_batch(space, &batch);
	}
}

bool space_has_only(const struct thread *thread)
{
	return thread->state == THREAD_STOPPED && thread->process->threads == 1 &&
	       thread->process->space->references == 1;
}

bool space_is_stuck(const struct space *space, uint64_t address)
{
	bool blocked = false;

	resident_bytes(space->resident, space->reader, address, 1, &blocked);
	return blocked;
}

void space_forget_missing(struct space *space)
{
	uint8_t byte;

	arena_forget_missing(space->arena, &space->memory);
	rescue_forget_missing(space);
	for (size_t i = 0; i < journal_count(space->journal); i++) {
		const struct journal_entry *entry = journal_entry(space->journal, i);

		if (entry && (entry->kind == JOURNAL_MAPPING || entry->kind == JOURNAL_AGENT) &&
		    !memory_read_exact(&space->memory, entry->address, &byte, 1))
			journal_forget(space->journal, i);
	}
}

bool same_space(pid_t one, pid_t other, bool guess)
{
	long result = syscall(SYS_kcmp, one, other, KCMP_VM, 0, 0);

	return result < 0 ? guess : result == 0;
}

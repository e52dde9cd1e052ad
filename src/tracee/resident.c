/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which pages can be read without blocking.
 *
 * The common case must cost nothing: each traced call reads a word of the stack and a string or
 * two, mostly from the pages of the call before. A read of pagemap takes half a microsecond, so its
 * answer is reused until the kernel's coarse clock ticks, a few milliseconds at most. A page can go
 * away meanwhile, as it can between any check and the read. If a program does that on purpose, the
 * read blocks, and no earlier check could help; the guardian watches for that (watchdog.h).
 *
 * An absent page is mostly harmless: memory never touched, or a page of a file not mapped yet. The
 * expendable process (prefault.h) faults it in, and it stays. If it does not come in time, the
 * whole mapping counts as bad as long as the space exists, as its other pages would not come
 * either; pages of it that are present can still be read. With BAD_MAX bad mappings, absent pages
 * of the space are not waited for any more.
 *
 * The expendable process may lack permissions that the tracer has: with Yama's ptrace_scope 1 only
 * the tracer itself may access a process that is not its descendant, and no process may access one
 * that has made itself not dumpable. Then /proc/PID/mem is used, which is held open like maps. It
 * never waits for userfaultfd (the kernel fails such a read), and anonymous memory is fast. But a
 * read of a file's page waits uninterruptibly, with the lock of the tracee's memory map held. So
 * this is done only for files on local file systems, according to the device in /proc/PID/maps and
 * /proc/PID/mountinfo.
 */
#include "tracee/resident.h"

#include "base/vec.h"
#include "base/xalloc.h"
#include "tracee/maps.h"
#include "tracee/prefault.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

enum {
	PAGE = 4096,
	SEEN = 64, /* pages remembered, a power of 2 */
	AT_ONCE = PREFAULT_PAGES_MAX,
	BAD_MAX = 64 /* with so many bad mappings, stop waiting for pages */
};

/* Bits of a pagemap entry: Documentation/admin-guide/mm/pagemap.rst. */
static const uint64_t PRESENT = UINT64_C(1) << 63;
static const uint64_t SWAPPED = UINT64_C(1) << 62;
static const uint64_t SHARED = UINT64_C(1) << 61; /* a file's, or shared anonymous memory */

struct bad_range {
	uint64_t start, end;
};

struct resident {
	int pagemap_fd; /* -1: the kernel has none */
	int memory_fd;
	int maps_fd;
	struct prefault *prefault;
	struct timespec tick; /* time of the coarse clock for which `seen` is valid */
	uint64_t seen[SEEN];  /* see entry_of() */
	struct vec bad;	      /* struct bad_range */
};

struct resident *resident_create(pid_t pid, int memory_fd)
{
	struct resident *resident = xcalloc(1, sizeof *resident);
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/pagemap", (int)pid);
	resident->pagemap_fd = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
	resident->maps_fd = open(path, O_RDONLY | O_CLOEXEC);
	resident->memory_fd = memory_fd;
	vec_init(&resident->bad, sizeof(struct bad_range));
	return resident;
}

void resident_destroy(struct resident *resident)
{
	if (resident->pagemap_fd >= 0)
		close(resident->pagemap_fd);
	if (resident->maps_fd >= 0)
		close(resident->maps_fd);
	vec_deinit(&resident->bad);
	free(resident);
}

void resident_set_prefault(struct resident *resident, struct prefault *prefault)
{
	resident->prefault = prefault;
}

/* ------------------------------------------------------------------ what was seen */

static void follow_clock(struct resident *resident)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	if (now.tv_nsec == resident->tick.tv_nsec && now.tv_sec == resident->tick.tv_sec)
		return;
	resident->tick = now;
	memset(resident->seen, 0, sizeof resident->seen);
}

/* A page and whether it is private anonymous memory, in one number that is not 0. */
static uint64_t entry_of(uint64_t page, bool anonymous)
{
	return (page + 1) << 1 | anonymous;
}

static uint64_t *seen_place(struct resident *resident, uint64_t page)
{
	return &resident->seen[page % SEEN];
}

static bool was_seen(struct resident *resident, uint64_t page)
{
	return *seen_place(resident, page) >> 1 == page + 1;
}

/* ------------------------------------------------------------------ bad mappings */

static bool is_bad(const struct resident *resident, uint64_t address)
{
	const struct bad_range *ranges = resident->bad.items;

	for (size_t i = 0; i < resident->bad.count; i++)
		if (address >= ranges[i].start && address < ranges[i].end)
			return true;
	return resident->bad.count >= BAD_MAX;
}

static void add_bad(struct resident *resident, uint64_t address)
{
	struct bad_range range = {address, address + PAGE};
	struct maps maps;

	if (maps_read_from(resident->maps_fd, &maps) == 0) {
		const struct mapping *mapping = maps_find(&maps, address);

		if (mapping)
			range = (struct bad_range){mapping->start, mapping->end};
		maps_deinit(&maps);
	}
	vec_push(&resident->bad, &range);
}

/*
 * ------------------------------------------------------------------ reading by the tracer itself
 */

/* File systems that depend on nothing but the machine itself. */
static bool is_local(const char *type)
{
	static const char *const local[] = {"ext2",  "ext3",  "ext4",	  "xfs",     "btrfs",
					    "f2fs",  "tmpfs", "ramfs",	  "vfat",    "exfat",
					    "zfs",   "jfs",   "squashfs", "erofs",   "iso9660",
					    "ntfs3", "udf",   "reiserfs", "bcachefs"};

	for (size_t i = 0; i < sizeof local / sizeof *local; i++)
		if (!strcmp(type, local[i]))
			return true;
	return false;
}

/* The type follows the " - " that ends the optional fields of a line: proc(5). */
static bool line_is_local(const char *line, dev_t device)
{
	unsigned major_number;
	unsigned minor_number;
	char type[64];
	const char *end = strstr(line, " - ");

	return end && sscanf(line, "%*d %*d %u:%u", &major_number, &minor_number) == 2 &&
	       makedev(major_number, minor_number) == device &&
	       sscanf(end + 3, "%63s", type) == 1 && is_local(type);
}

static bool device_is_local(pid_t tid, dev_t device)
{
	char path[64];
	char *line = NULL;
	size_t size = 0;
	bool found = false;

	if (major(device)) /* a disk; other devices have major number 0 */
		return true;
	snprintf(path, sizeof path, "/proc/%d/mountinfo", (int)tid);
	FILE *file = fopen(path, "re");

	if (!file)
		return false;
	while (!found && getline(&line, &size, file) > 0)
		found = line_is_local(line, device);
	free(line);
	fclose(file);
	return found;
}

/* Like prefault_pages(), by the tracer itself, if that cannot block (see above). Else returns 0. */
static size_t read_by_ourselves(const struct resident *resident, pid_t tid, uint64_t address,
				size_t count)
{
	struct maps maps;
	size_t done = 0;
	char byte;

	if (maps_read_from(resident->maps_fd, &maps) != 0)
		return 0;
	for (; done < count; done++) {
		uint64_t at = address + done * PAGE;
		const struct mapping *mapping = maps_find(&maps, at);

		if (!mapping || (mapping->inode && !device_is_local(tid, mapping->device)) ||
		    pread(resident->memory_fd, &byte, 1, (off_t)at) != 1)
			break;
	}
	maps_deinit(&maps);
	return done;
}

/* ------------------------------------------------------------------ asking */

/* Faults in absent pages. Returns how many of them at the beginning are present then. */
static size_t bring_in(struct resident *resident, pid_t tid, uint64_t address, size_t count,
		       bool *blocked)
{
	if (!resident->prefault)
		return count;
	if (!tid)
		return 0;
	if (is_bad(resident, address)) {
		*blocked = true;
		return 0;
	}
	int got = prefault_pages(resident->prefault, tid, address, count);

	if (got >= 0 || got == -ESRCH)
		return got > 0 ? (size_t)got : 0;
	size_t mine = 0;

	if (got == -ETIMEDOUT)
		add_bad(resident, address);
	else if (got != -EBUSY)
		mine = read_by_ourselves(resident, tid, address, count);
	*blocked = mine < count;
	return mine;
}

/* Returns how many of `count` pages (at most AT_ONCE) from `page` on can be read. */
static size_t ask(struct resident *resident, pid_t tid, uint64_t page, size_t count, bool *blocked)
{
	uint64_t entries[AT_ONCE];
	ssize_t got = pread(resident->pagemap_fd, entries, count * sizeof *entries,
			    (off_t)(page * sizeof *entries));
	size_t known = got > 0 ? (size_t)got / sizeof *entries : 0; /* 0: not in user space */
	size_t ready = 0;

	while (ready < known) {
		size_t missing = ready;

		if (entries[ready] & (PRESENT | SWAPPED)) {
			*seen_place(resident, page + ready) = entry_of(page + ready,
								       !(entries[ready] & SHARED));
			ready++;
			continue;
		}
		while (missing < known && !(entries[missing] & (PRESENT | SWAPPED)))
			missing++;
		size_t came = bring_in(resident, tid, (page + ready) * PAGE, missing - ready,
				       blocked);

		ready += came;
		if (ready < missing)
			break;
	}
	return ready;
}

size_t resident_bytes(struct resident *resident, pid_t tid, uint64_t address, size_t length,
		      bool *blocked)
{
	uint64_t first = address / PAGE;
	size_t before = address % PAGE; /* bytes of the first page in front of `address` */
	bool ignored;

	if (resident->pagemap_fd < 0 || !length)
		return length;
	if (length > UINT64_MAX - address)
		length = (size_t)(UINT64_MAX - address);
	size_t count = (before + length + PAGE - 1) / PAGE;
	size_t ready = 0;

	if (blocked)
		*blocked = false;
	follow_clock(resident);
	while (ready < count) {
		if (was_seen(resident, first + ready)) {
			ready++;
			continue;
		}
		size_t some = count - ready < AT_ONCE ? count - ready : AT_ONCE;
		size_t got = ask(resident, tid, first + ready, some, blocked ? blocked : &ignored);

		ready += got;
		if (got < some)
			break;
	}
	if (ready * PAGE <= before)
		return 0;
	return ready * PAGE - before < length ? ready * PAGE - before : length;
}

bool resident_is_anonymous(struct resident *resident, uint64_t address)
{
	uint64_t page = address / PAGE;

	return resident->pagemap_fd < 0 || *seen_place(resident, page) == entry_of(page, true);
}

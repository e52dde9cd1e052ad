/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the native stacks of all threads of a process, once:
 *
 *     print_stacks [-b ROUNDS] PID
 *
 * A line "thread TID", then for each frame its pc, the function, and what is known of it ("signal",
 * "guessed"), then "end WHY". The thread is stopped meanwhile. -b: walks each stack so many times
 * and prints what a walk and a frame cost, and what the tables of rows take.
 */
#include "live.h"
#include "object/elf_private.h"
#include "unwind/extent.h"
#include "unwind/unwind_table.h"

#include <dirent.h>
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

enum { FRAMES = 1024 };

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void print_frames(const struct unwind_frame *frames, size_t count, enum unwind_end end)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t offset;
		const char *name = live_name(&frames[i], &offset);

		printf("%#llx %s+%#llx%s%s\n", (unsigned long long)frames[i].pc, name,
		       (unsigned long long)offset, frames[i].is_signal_frame ? " signal" : "",
		       frames[i].is_guessed ? " guessed" : "");
	}
	printf("end %s\n", unwind_end_text(end));
}

/* A copy of the top of a stack, so that what is measured is the walk and not the reads. */
struct copy {
	uint64_t start;
	size_t length;
	uint8_t bytes[256 << 10];
};

static void copy_readv(void *context, struct memory_range *ranges, size_t count)
{
	const struct copy *copy = context;

	for (size_t i = 0; i < count; i++) {
		uint64_t into = ranges[i].address - copy->start;
		size_t there = into < copy->length ? copy->length - into : 0;

		ranges[i].done = ranges[i].length < there ? ranges[i].length : there;
		memcpy(ranges[i].buffer, copy->bytes + into, ranges[i].done);
	}
}

static double best_walk(struct unwinder *unwinder, const struct regs *regs, unsigned rounds)
{
	static struct unwind_frame frames[FRAMES];
	enum unwind_end end;
	uint64_t best = UINT64_MAX;
	size_t count = 1;

	for (unsigned i = 0; i < rounds; i++) {
		uint64_t before = now_ns();

		count = unwinder_walk(unwinder, regs, false, frames, FRAMES, &end);
		uint64_t took = now_ns() - before;

		best = took < best ? took : best;
	}
	return (double)best / (double)count;
}

static void measure(struct live *live, const struct regs *regs, unsigned rounds)
{
	static struct unwind_frame frames[FRAMES];
	static struct copy copy;
	struct memory_source copied = {.readv = copy_readv, .context = &copy};
	struct unwind_process process = live->process;
	enum unwind_end end;

	/* Files that are open: what is measured is reading their tables. */
	for (size_t i = 0; i < live->maps.count; i++)
		if (live->maps.mappings[i].executable)
			live_file(live, &live->maps.mappings[i]);
	uint64_t before = now_ns();
	size_t count = unwinder_walk(live->unwinder, regs, false, frames, FRAMES, &end);
	uint64_t cold = now_ns() - before;

	copy.start = regs->r[REG_SP];
	copy.length = memory_read(&live->memory, copy.start, copy.bytes, sizeof copy.bytes);
	live->reads = 0;
	double frame = best_walk(live->unwinder, regs, rounds);
	double reads = (double)live->reads / rounds;

	process.memory = &copied;
	struct unwinder *unwinder = unwinder_create(&process);
	double walked = best_walk(unwinder, regs, rounds);

	unwinder_destroy(unwinder);
	printf("frames %zu: cold %.1f us, warm %.2f us, with %.1f reads; a frame %.0f ns, "
	       "besides reading %.0f ns\n",
	       count, (double)cold / 1e3, frame * (double)count / 1e3, reads, frame, walked);
}

static void measure_tables(const struct live *live)
{
	for (unsigned i = 0; i < live->file_count; i++) {
		struct elf_file *file = live->files[i].file;

		if (!file)
			continue;
		const size_t lazy = unwind_table_bytes(unwind_table(file));
		const uint64_t before = now_ns();
		size_t count;
		const struct extent *extents = extent_list(file, &count);

		for (size_t j = 0; j < count; j++)
			unwind_table_rule(unwind_table(file), extents[j].start);
		const uint64_t took = now_ns() - before;

		printf("rules of %s: functions %zu ms %.1f KiB %zu lazy_KiB %zu\n",
		       elf_soname(file) ? elf_soname(file) : "program", count, (double)took / 1e6,
		       unwind_table_bytes(unwind_table(file)) / 1024, lazy / 1024);
	}
}

static int print_thread(struct live *live, pid_t tid, unsigned rounds)
{
	static struct unwind_frame frames[FRAMES];
	struct regs regs;
	enum unwind_end end;
	int status;

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) || ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) ||
	    waitpid(tid, &status, __WALL) != tid || regs_load(tid, &regs))
		return -errno;
	if (!live->pid && live_open(live, tid, regs_is_32bit(&regs) ? &arch_i386 : arch_at(0)))
		return -errno;
	printf("thread %d\n", (int)tid);
	if (rounds)
		measure(live, &regs, rounds);
	size_t count = unwinder_walk(live->unwinder, &regs, false, frames, FRAMES, &end);

	print_frames(frames, count, end);
	ptrace(PTRACE_DETACH, tid, NULL, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	static struct live live;
	unsigned rounds = argc == 4 ? (unsigned)atoi(argv[2]) : 0;
	char path[64];
	int failed = argc != 2 && argc != 4;

	snprintf(path, sizeof path, "/proc/%s/task", argv[argc - 1]);
	DIR *tasks = failed ? NULL : opendir(path);

	if (!tasks) {
		fprintf(stderr, "usage: print_stacks [-b ROUNDS] PID\n");
		return 2;
	}
	for (struct dirent *entry; (entry = readdir(tasks));)
		if (entry->d_name[0] != '.' && print_thread(&live, atoi(entry->d_name), rounds))
			failed = 1;
	closedir(tasks);
	if (rounds)
		measure_tables(&live);
	if (live.pid)
		live_close(&live);
	return failed;
}

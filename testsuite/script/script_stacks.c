/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the script frames of all threads of a process, for script_frames.test:
 *
 *     script_stacks PID           vm LANGUAGE VERSION
 *                                 thread TID
 *                                 frame LINE ENTRY APPLICATION FILE FUNCTION      (tabs between)
 *                                 .
 *     script_stacks -i PID        once more for each line on standard input
 *     script_stacks -b N PID      what N walks of the main thread cost
 *
 * The threads are stopped one after the other, each for its own walk.
 */
#include "base/vec.h"
#include "object/elf.h"
#include "target/stacks/script_symbols.h"
#include "tracee/files.h"
#include "tracee/maps.h"
#include "unwind/script/vm.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FRAMES_MAX = 4096 };

struct target {
	pid_t pid;
	struct memory_source memory;
	struct vec vms; /* struct script_vm * */
	struct script_library *descriptions;
	struct raw_frame frames[FRAMES_MAX];
};

static void readv_process(void *context, struct memory_range *ranges, size_t count)
{
	const struct target *target = context;

	for (size_t i = 0; i < count; i++) {
		struct iovec to = {ranges[i].buffer, ranges[i].length};
		struct iovec from = {(void *)(uintptr_t)ranges[i].address, ranges[i].length};
		const ssize_t got = process_vm_readv(target->pid, &to, 1, &from, 1, 0);

		ranges[i].done = got > 0 ? (size_t)got : 0;
	}
}

static void complain(void *context, const char *file, unsigned line, const char *message)
{
	(void)context;
	fprintf(stderr, "%s:%u: %s\n", file, line, message);
}

/* Binds the VM in a mapped file, if there is one. */
static void try_module(struct target *target, const struct mapping *mapping)
{
	struct file_view view;
	struct script_module module = {.memory = &target->memory};
	const struct script_symbols symbols = script_symbols_of(&module);
	struct strbuf version = {0};
	struct script_vm *vm;

	file_view_init(&view, target->pid);
	const int fd = file_view_open(&view, mapping);

	file_view_deinit(&view);
	if (fd < 0)
		return;
	if (elf_open(fd, &module.file) == 0) {
		size_t count;
		const struct elf_segment *first = elf_segments(module.file, &count);

		module.bias = count ? mapping->start - (first->address & ~UINT64_C(4095)) : 0;
		const int status = script_vm_bind(target->descriptions, &symbols, &target->memory,
						  &vm, &version);

		if (status == 0)
			vec_push(&target->vms, &vm);
		else if (status == -ENOTSUP)
			printf("unknown\t%s\n", version.text);
		elf_unref(module.file);
	}
	strbuf_deinit(&version);
	close(fd);
}

static void find_vms(struct target *target)
{
	struct maps maps;

	if (maps_read(target->pid, &maps) < 0)
		exit(3);
	for (size_t i = 0; i < maps.count; i++)
		if (maps.mappings[i].path[0] == '/' && maps.mappings[i].offset == 0)
			try_module(target, &maps.mappings[i]);
	maps_deinit(&maps);
}

static const char *or_dash(const char *text)
{
	return text ? text : "-";
}

static void print_stack(struct target *target, pid_t tid, uint64_t thread_pointer)
{
	const struct script_thread thread = {thread_pointer, (uint64_t)tid};

	printf("thread\t%d\n", (int)tid);
	for (size_t i = 0; i < target->vms.count; i++) {
		struct script_vm *vm = *(struct script_vm **)vec_at(&target->vms, i);
		size_t count;
		const enum script_end end = script_vm_walk(vm, &thread, target->frames, FRAMES_MAX,
							   &count);

		for (size_t j = 0; j < count; j++) {
			const struct script_frame frame = script_vm_name(vm, &target->frames[j]);

			printf("frame\t%u\t%d\t%s\t%s\t%s\n", frame.line, frame.is_entry,
			       frame.language, or_dash(frame.file), or_dash(frame.function));
		}
		if (end != SCRIPT_DONE)
			printf("end\t%d\n", (int)end);
	}
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Walks and names the stack again and again. */
static void measure(struct target *target, pid_t tid, uint64_t thread_pointer, long times)
{
	const struct script_thread thread = {thread_pointer, (uint64_t)tid};
	struct script_vm *vm = *(struct script_vm **)vec_at(&target->vms, 0);
	int64_t first = 0, walks = 0, names = 0;
	uint64_t pages = script_vm_pages_read(vm);
	size_t count = 0;

	for (long i = 0; i <= times; i++) {
		const int64_t start = now_ns();

		script_vm_walk(vm, &thread, target->frames, FRAMES_MAX, &count);
		const int64_t walked = now_ns();

		for (size_t j = 0; j < count; j++)
			script_vm_name(vm, &target->frames[j]);
		const int64_t named = now_ns();

		if (i == 0) {
			first = named - start;
			pages = script_vm_pages_read(vm);
			continue;
		}
		walks += walked - start;
		names += named - walked;
	}
	printf("%s %s: %zu frames, first %.1f us, then walk %.2f us, names %.2f us, %.1f pages\n",
	       script_vm_description(vm)->language, script_vm_description(vm)->version, count,
	       (double)first / 1e3, (double)walks / 1e3 / (double)times,
	       (double)names / 1e3 / (double)times,
	       (double)(script_vm_pages_read(vm) - pages) / (double)times);
}

static void visit_thread(struct target *target, pid_t tid, long times)
{
	struct user_regs_struct regs;
	int status;

	if (ptrace(PTRACE_SEIZE, tid, 0, 0) < 0)
		return;
	ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	if (waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status) &&
	    ptrace(PTRACE_GETREGS, tid, 0, &regs) == 0) {
		if (times && target->vms.count)
			measure(target, tid, regs.fs_base, times);
		else
			print_stack(target, tid, regs.fs_base);
	}
	ptrace(PTRACE_DETACH, tid, 0, 0);
}

static void visit_all(struct target *target, long times)
{
	char path[64];
	const struct dirent *entry;

	snprintf(path, sizeof path, "/proc/%d/task", (int)target->pid);
	DIR *tasks = opendir(path);

	while (tasks && (entry = readdir(tasks)))
		if (entry->d_name[0] != '.' && (!times || atoi(entry->d_name) == target->pid))
			visit_thread(target, atoi(entry->d_name), times);
	if (tasks)
		closedir(tasks);
	puts(".");
	fflush(stdout);
}

static void print_vms(const struct target *target)
{
	for (size_t i = 0; i < target->vms.count; i++) {
		const struct script_description *description =
			script_vm_description(*(struct script_vm **)vec_at(&target->vms, i));

		printf("vm\t%s\t%s\n", description->language, description->version);
	}
}

int main(int argc, char **argv)
{
	static struct target target;
	char line[16];
	const bool again = argc == 3 && !strcmp(argv[1], "-i");
	const long times = argc == 4 && !strcmp(argv[1], "-b") ? atol(argv[2]) : 0;

	if (argc != 2 && !again && !times)
		return 2;
	target.pid = atoi(argv[argc - 1]);
	target.memory = (struct memory_source){.readv = readv_process, .context = &target};
	vec_init(&target.vms, sizeof(struct script_vm *));
	target.descriptions = script_library_create(getenv("TRACER_DATADIR"), complain, NULL);
	do {
		if (!target.vms.count)
			find_vms(&target);
		print_vms(&target);
		visit_all(&target, times);
	} while (again && fgets(line, sizeof line, stdin));
	for (size_t i = 0; i < target.vms.count; i++)
		script_vm_destroy(*(struct script_vm **)vec_at(&target.vms, i));
	vec_deinit(&target.vms);
	script_library_destroy(target.descriptions);
	return 0;
}

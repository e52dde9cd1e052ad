/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a thread sleeps, without stopping it.
 *
 * A stop ends some system calls (syscall_restart.h) and takes time. The kernel tells the stack
 * pointer, the pc and the system call of a thread that is not on a processor in /proc/TID/syscall
 * (proc(5)), and in /proc/TID/schedstat how often it was given a processor. If that number is the
 * same before and behind a walk of its stack, the thread has not run in between.
 *
 * The thread pointer, by which virtual machines find their thread, is in none of these files. But
 * C libraries keep the list of the robust mutexes that a thread holds (get_robust_list(2)) in the
 * thread's own structure, which the thread pointer points to. glibc begins it with its own address
 * (tcbhead_t: `tcb`, and `self` two words on), and keeps the thread's number in it (struct pthread:
 * `tid`). So the structure is looked for in front of the list, and only one with all of these marks
 * is taken.
 */
#include "tracee/sleeper.h"

#include "base/cleanup.h"
#include "tracee/proc.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* STRUCTURE_MAX: glibc's robust list is 736 bytes into struct pthread on x86-64. */
enum { STRUCTURE_MAX = 2048, ALIGNMENT = 16 };

/* "NUMBER ARGUMENT… SP PC", or "-1 SP PC" outside of system calls, or "running". */
static bool read_place(pid_t tid, struct sleeper *sleeper)
{
	char path[64], text[256], *rest = text;
	uint64_t numbers[SLEEPER_ARGUMENTS + 2];
	unsigned count = 0;

	snprintf(path, sizeof path, "/proc/%d/syscall", (int)tid);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (length <= 0)
		return false;
	text[length] = '\0';
	sleeper->call = strtoll(text, &rest, 10);
	for (; count < sizeof numbers / sizeof *numbers && *rest == ' '; count++)
		numbers[count] = strtoull(rest, &rest, 16);
	if (count < 2)
		return false;
	memset(sleeper->arguments, 0, sizeof sleeper->arguments);
	memcpy(sleeper->arguments, numbers, (count - 2) * sizeof *numbers);
	sleeper->sp = numbers[count - 2];
	sleeper->pc = numbers[count - 1];
	return sleeper->pc && sleeper->sp;
}

bool sleeper_read(pid_t tid, struct sleeper *sleeper)
{
	return proc_turns(tid, &sleeper->turns) && read_place(tid, sleeper);
}

bool sleeper_sleeps_on(pid_t tid, const struct sleeper *sleeper)
{
	struct sleeper now;
	uint64_t turns;

	return read_place(tid, &now) && now.pc == sleeper->pc && now.sp == sleeper->sp &&
	       proc_turns(tid, &turns) && turns == sleeper->turns;
}

void sleeper_registers(const struct sleeper *sleeper, const struct arch *arch,
		       uint64_t thread_pointer, struct regs *regs)
{
	*regs = (struct regs){.pc = sleeper->pc,
			      .fs_base = thread_pointer,
			      .syscall = (uint64_t)sleeper->call,
			      .is_partial = true};
	for (unsigned i = 0; i < SLEEPER_ARGUMENTS && sleeper->call >= 0; i++)
		regs->r[arch->syscall_arg[i]] = sleeper->arguments[i];
	regs->r[REG_SP] = sleeper->sp;
}

/* Looks for glibc's structure of the thread with that number in the bytes in front of `end`. */
static bool find_structure(const uint8_t *bytes, size_t length, uint64_t end, pid_t number,
			   uint64_t *found)
{
	uint64_t words[3];

	for (size_t back = 2 * ALIGNMENT; back <= length; back += ALIGNMENT) {
		const uint8_t *structure = bytes + length - back;
		const uint64_t address = end - back;

		memcpy(words, structure, sizeof words);
		if (words[0] != address || words[2] != address)
			continue;
		*found = address;
		for (size_t at = sizeof words; at + sizeof number <= back; at += sizeof number)
			if (!memcmp(structure + at, &number, sizeof number))
				return true;
	}
	return false;
}

bool sleeper_thread_pointer(pid_t tid, const struct arch *arch, const struct memory_source *memory,
			    uint64_t *thread_pointer)
{
	uint8_t bytes[STRUCTURE_MAX];
	void *list = NULL;
	size_t size;

	/* The kernel tells each program of the lists of its own word size only. */
	if (arch->abi->word != sizeof list ||
	    syscall(SYS_get_robust_list, tid, &list, &size) != 0 || !list)
		return false;
	/* glibc aligns its structure, but not the list in it. */
	const uint64_t end = (uint64_t)(uintptr_t)list & ~(uint64_t)(ALIGNMENT - 1);
	size_t length = sizeof bytes;

	/* It may begin behind a page that is not mapped. */
	if (memory_read(memory, end - length, bytes, length) != length) {
		length = sizeof bytes / 2;
		if (memory_read(memory, end - length, bytes, length) != length)
			return false;
	}
	return find_structure(bytes, length, end, tid, thread_pointer) ||
	       find_structure(bytes, length, end, proc_own_pid(tid), thread_pointer);
}

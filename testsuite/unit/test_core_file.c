/* SPDX-License-Identifier: GPL-2.0-or-later */
/* object/core_file.c, with the small core dumps that the fuzzer begins with. */
#include "object/core_file.h"

#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const words[] = {"64", "32"};

static struct core_file *open_core(const char *name, const char *word)
{
	const char *top = getenv("top_srcdir");
	struct core_file *core = NULL;
	char path[4096];

	snprintf(path, sizeof path, "%s/testsuite/fuzz/corpus/core/%s-%s", top ? top : ".", name,
		 word);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(core_file_open(fd, &core), 0);
	close(fd);
	return core;
}

/* What is at an address, as text: the readable part of `length` bytes. */
static const char *memory_at(const struct core_file *core, uint64_t address, size_t length)
{
	static char text[64];

	assert_true(length < sizeof text);
	memset(text, 0, sizeof text);
	memory_read(&core->memory, address, text, length);
	return text;
}

static void check_process(const struct core_file *core)
{
	assert_string_equal(core->notes.name, "program");
	assert_int_equal(core->notes.pid, 100);
	assert_int_equal(core->notes.entry, 0x11000);
	assert_int_equal(core->notes.vdso, 0x7f000);
	assert_int_equal(core->notes.threads.count, 2);
	const struct core_thread *first = vec_at(&core->notes.threads, 0);
	const struct core_thread *second = vec_at(&core->notes.threads, 1);

	assert_int_equal(first->tid, 100);
	assert_int_equal(first->signal, SIGSEGV);
	assert_true(first->has_fault);
	assert_int_equal(first->fault, 8);
	assert_int_equal(first->regs.r[REG_SP], 0x50010);
	assert_int_equal(first->regs.pc, 0x11010);
	assert_int_equal(second->tid, 101);
	assert_false(second->has_fault);
	assert_int_equal(second->regs.r[REG_SP], 0x50020);
	assert_int_equal(second->regs.pc, 0x22000);
}

static void threads_of_the_kernel(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct core_file *core = open_core("kernel", words[i]);
		const struct core_thread *first = vec_at(&core->notes.threads, 0);

		check_process(core);
		assert_int_equal((int16_t)first->regs.r[REG_AX], -512);
		assert_int_equal(first->regs.syscall, i ? 3 : 202);
		assert_int_equal(first->regs.fs_base, i ? 0 : 0x50010);
		assert_false(core->is_cut);
		core_file_close(core);
	}
}

/* gdb stores why a debugger has stopped each thread; and the process last. */
static void threads_of_gdb(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct core_file *core = open_core("gdb", words[i]);

		check_process(core);
		core_file_close(core);
	}
}

/* Memory is in the core dump, or in a file that was mapped, or nowhere. */
static void memory(void **state)
{
	static const char *const names[] = {"kernel", "gdb"};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct core_file *core = open_core(names[i % 2], words[i / 2]);
		const struct core_region *code;

		assert_string_equal(memory_at(core, 0x10000, 4), "\x7f"
								 "ELF");
		assert_string_equal(memory_at(core, 0x50000, 10), "stackstack");
		assert_string_equal(memory_at(core, 0x50000 + 95, 10), "stack");
		assert_string_equal(memory_at(core, 0x7f004, 10), "vdso");
		assert_string_equal(memory_at(core, 0x41fe, 4), "");
		/* The file has not been looked for. */
		assert_string_equal(memory_at(core, 0x11000, 4), "");
		code = core_file_region(core, 0x12fff);
		assert_non_null(code);
		assert_int_equal(code->start, 0x11000);
		assert_int_equal(code->offset, 0x1000);
		assert_int_equal(code->flags, i % 2 ? 0 : PF_R | PF_X);
		assert_string_equal(
			((struct core_mapped_file *)vec_at(&core->files, code->file))->path,
			"/bin/p");
		assert_null(core_file_region(core, 0x13000));
		/* Any ELF file: the core dump itself is mapped from its first page on. */
		assert_string_equal(memory_at(core, 0x20000, 4), "");
		core_file_attach(core, core_file_region(core, 0x20000)->file, elf_ref(core->dump));
		assert_string_equal(memory_at(core, 0x20000, 4), "\x7f"
								 "ELF");
		assert_string_equal(memory_at(core, 0x23000, 4), "");
		core_file_close(core);
	}
}

static void one_that_ends_early(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct core_file *core = open_core("cut", words[i]);

		assert_true(core->is_cut);
		check_process(core);
		/* The process may have written there: no file can stand in. */
		for (size_t j = 0; j < core->files.count; j++)
			core_file_attach(core, j, elf_ref(core->dump));
		assert_string_equal(memory_at(core, 0x50000, 4), "");
		assert_int_equal(memory_at(core, 0x40041, 1)[0], 0x41);
		core_file_close(core);
	}
}

/* What comes first in memory is kept. */
static void overlapping_segments(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct core_file *core = open_core("overlapping", words[i]);
		uint64_t end = 0;

		for (size_t j = 0; j < core->regions.count; j++) {
			const struct core_region *region = vec_at(&core->regions, j);

			assert_true(region->start >= end && region->end > region->start);
			end = region->end;
		}
		assert_string_equal(memory_at(core, 0x4ffff, 2), "dd");
		/* 600 bytes from 0x4ff00 on, and then the stack, whose first bytes are covered. */
		assert_string_equal(memory_at(core, 0x4ff00 + 598, 3), "dd");
		core_file_close(core);
	}
}

static void wrong_notes(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct core_file *core = open_core("notes", words[i]);

		assert_int_equal(core->notes.threads.count, 1); /* there is no thread 0 */
		assert_string_equal(core->notes.name, "");
		assert_int_equal(core->notes.mappings.count, 0);
		core_file_close(core);
		core = open_core("files", words[i]);
		for (size_t j = 0; j < core->notes.mappings.count; j++) {
			const struct core_mapping *mapping = vec_at(&core->notes.mappings, j);

			assert_true(mapping->start < mapping->end);
		}
		core_file_close(core);
	}
}

/* More program headers than e_phnum can tell. */
static void many_headers(void **state)
{
	(void)state;
	struct core_file *core = open_core("many", "64");

	assert_int_equal(core->notes.threads.count, 1);
	assert_string_equal(memory_at(core, 0x10000, 3), "xxx");
	core_file_close(core);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_of_the_kernel),
		cmocka_unit_test(threads_of_gdb),
		cmocka_unit_test(memory),
		cmocka_unit_test(one_that_ends_early),
		cmocka_unit_test(overlapping_segments),
		cmocka_unit_test(wrong_notes),
		cmocka_unit_test(many_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mappings of this process, with unusual file names; and whether a file is still the mapped
 * one.
 */
#include "tracee/files.h"

#include "elf_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>

#include <cmocka.h>

enum { PAGE = 4096 };

static struct fixture directory;

static int set_up(void **state)
{
	(void)state;
	return fixture_create(&directory);
}

static int tear_down(void **state)
{
	(void)state;
	fixture_destroy(&directory);
	return 0;
}

/* Makes a file of two pages and maps the second one. */
static void *map_file(const char *name)
{
	static const char contents[2 * PAGE] = "contents";
	char path[5000];

	assert_int_equal(fixture_write(&directory, name, contents, sizeof contents), 0);
	int fd = open(fixture_path(&directory, path, sizeof path, name), O_RDONLY | O_CLOEXEC);
	void *memory = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, PAGE);

	assert_true(memory != MAP_FAILED);
	close(fd);
	return memory;
}

static const struct mapping *find(const struct maps *maps, const void *memory)
{
	return maps_find(maps, (uint64_t)(uintptr_t)memory);
}

/* Returns true if `fd`, which is closed, is the file of that name. */
static bool is_file(int fd, const char *name)
{
	char path[5000];
	struct stat one;
	struct stat other;
	bool same = fd >= 0 && !fstat(fd, &one) &&
		    !stat(fixture_path(&directory, path, sizeof path, name), &other) &&
		    one.st_ino == other.st_ino && one.st_dev == other.st_dev;

	if (fd >= 0)
		close(fd);
	return same;
}

static int open_mapped(const struct mapping *mapping)
{
	struct file_view view;

	file_view_init(&view, getpid());
	int fd = file_view_open(&view, mapping);

	file_view_deinit(&view);
	return fd;
}

static void test_own(void **state)
{
	struct maps maps;
	int on_stack = 0;

	(void)state;
	assert_int_equal(maps_read(getpid(), &maps), 0);
	assert_true(maps.count > 3);
	for (size_t i = 0; i < maps.count; i++) {
		const struct mapping *mapping = &maps.mappings[i];

		assert_true(mapping->start < mapping->end);
		assert_true(i == 0 || maps.mappings[i - 1].end <= mapping->start);
		assert_ptr_equal(maps_find(&maps, mapping->start), mapping);
		assert_ptr_equal(maps_find(&maps, mapping->end - 1), mapping);
		if (i + 1 == maps.count || maps.mappings[i + 1].start != mapping->end)
			assert_null(maps_find(&maps, mapping->end));
		assert_true(strchr("/[", mapping->path[0]) || !*mapping->path);
	}
	assert_null(maps_find(&maps, 0));
	const struct mapping *stack = find(&maps, &on_stack);

	assert_non_null(stack);
	assert_true(stack->readable && stack->writable && !stack->executable && !stack->shared);
	const struct mapping *text = find(&maps, (void *)(uintptr_t)test_own);

	assert_true(text->readable && !text->writable && text->executable);
	assert_true(text->inode != 0);
	assert_int_equal(text->path[0], '/');
	const struct mapping *vdso = maps_find_path(&maps, "[vdso]");

	if (vdso) {
		assert_int_equal(vdso->inode, 0);
		assert_string_equal(vdso->path, "[vdso]");
	}
	assert_null(maps_find_path(&maps, "/no/such/file"));
	maps_deinit(&maps);
	assert_null(maps_find(&maps, stack ? 4096 : 0));
}

static void test_no_process(void **state)
{
	struct maps maps;

	(void)state;
	assert_int_equal(maps_read(0x7fffffff, &maps), -ENOENT);
	assert_int_equal(maps.count, 0);
	maps_deinit(&maps);
}

static void test_names(void **state)
{
	static const char *const names[] = {
		"plain.so",	   " two  spaces .so",		 "tab\there",
		"looks (deleted)", "7f00-7f01 r-xp 0 08:01 7 x", "back\\slash",
		"\xc3\xa9%s\033[m"};
	enum { COUNT = sizeof names / sizeof *names };
	void *memory[COUNT];
	struct maps maps;
	char path[5000];

	(void)state;
	for (size_t i = 0; i < COUNT; i++)
		memory[i] = map_file(names[i]);
	assert_int_equal(maps_read(getpid(), &maps), 0);
	for (size_t i = 0; i < COUNT; i++) {
		const struct mapping *mapping = find(&maps, memory[i]);

		assert_non_null(mapping);
		assert_string_equal(mapping->path,
				    fixture_path(&directory, path, sizeof path, names[i]));
		assert_int_equal(mapping->start, (uint64_t)(uintptr_t)memory[i]);
		assert_int_equal(mapping->end - mapping->start, PAGE);
		assert_int_equal(mapping->offset, PAGE);
		assert_true(mapping->readable && !mapping->writable && mapping->executable);
		assert_false(mapping->shared);
		assert_ptr_equal(maps_find_path(&maps, path), mapping);
		assert_true(is_file(open_mapped(mapping), names[i]));
		munmap(memory[i], PAGE);
	}
	maps_deinit(&maps);
}

static void test_shared(void **state)
{
	void *memory = mmap(NULL, PAGE, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct maps maps;

	(void)state;
	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_int_equal(maps_read(getpid(), &maps), 0);
	assert_true(find(&maps, memory)->shared);
	maps_deinit(&maps);
	munmap(memory, PAGE);
}

/* A line break in a name must not begin a line. */
static void test_line_break(void **state)
{
	static const char name[] = "x\n0-ffffffffffffffff rwxp 0 0:0 0 [heap]";
	void *memory = map_file(name);
	struct maps maps;

	(void)state;
	assert_int_equal(maps_read(getpid(), &maps), 0);
	assert_non_null(find(&maps, memory));
	assert_non_null(strstr(find(&maps, memory)->path, "/x\\012"));
	for (size_t i = 0; i < maps.count; i++)
		assert_true(maps.mappings[i].start != 0);
	maps_deinit(&maps);
	munmap(memory, PAGE);
}

/* A path nearly as long as possible. */
static void test_long_path(void **state)
{
	char name[4096] = "";
	char path[5000];
	struct maps maps;
	size_t length = 0;

	(void)state;
	while (length + strlen(directory.directory) < 3700) {
		memset(name + length, 'd', 200);
		length += 200;
		name[length] = '\0';
		fixture_path(&directory, path, sizeof path, name);
		assert_int_equal(mkdir(path, 0700), 0);
		name[length++] = '/';
	}
	memset(name + length, 'f', 120);
	name[length + 120] = '\0';

	int base = open(directory.directory, O_PATH | O_CLOEXEC);
	int fd = openat(base, name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, PAGE), 0);
	void *memory = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);

	assert_true(memory != MAP_FAILED);
	close(fd);
	close(base);
	fixture_path(&directory, path, sizeof path, name);
	assert_int_equal(maps_read(getpid(), &maps), 0);
	assert_string_equal(find(&maps, memory)->path, path);
	assert_true(is_file(open_mapped(find(&maps, memory)), name));
	maps_deinit(&maps);
	munmap(memory, PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own),	  cmocka_unit_test(test_no_process),
		cmocka_unit_test(test_names),	  cmocka_unit_test(test_line_break),
		cmocka_unit_test(test_long_path), cmocka_unit_test(test_shared),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which files are opened for a mapping, and which are not: the rules of doc/SECURITY.md, tested
 * with this process.
 */
#include "tracee/files.h"

#include "elf_fixture.h"
#include "valgrind.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include <cmocka.h>

enum { PAGE = 4096 };

static int open_mapping(const struct mapping *mapping)
{
	struct file_view view;

	file_view_init(&view, getpid());
	int fd = file_view_open(&view, mapping);

	file_view_deinit(&view);
	return fd;
}

/*
 * The mapping that a file with that path would have, at addresses where nothing is mapped, so that
 * the file is found by name.
 */
static struct mapping by_name(const char *path)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	return (struct mapping){.start = 0x1000,
				.end = 0x2000,
				.inode = status.st_ino,
				.device = status.st_dev,
				.path = path};
}

static const char *make_file(const struct fixture *fixture, char *path, const char *name)
{
	static const char contents[PAGE] = "contents";

	assert_int_equal(fixture_write(fixture, name, contents, sizeof contents), 0);
	return fixture_path(fixture, path, 512, name);
}

/* Returns true if `fd` is open, for reading only, and non-blocking. Closes it. */
static bool is_open(int fd)
{
	int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);

	if (fd >= 0)
		close(fd);
	return fd >= 0 && (flags & O_ACCMODE) == O_RDONLY && flags & O_NONBLOCK;
}

static void plain_file(void **state)
{
	char path[512];
	struct mapping mapping = by_name(make_file(*state, path, "plain.so"));

	assert_true(is_open(open_mapping(&mapping)));
	mapping.inode++;
	assert_int_equal(open_mapping(&mapping), -ESTALE);
}

/* The same inode number on another device is another file. */
static void other_device(void **state)
{
	char path[512];
	struct mapping mapping = by_name(make_file(*state, path, "plain.so"));

	mapping.device++;
	int fd = open_mapping(&mapping);

	if (is_open(fd)) /* on btrfs or overlayfs, where the device tells nothing */
		skip();
	assert_int_equal(fd, -ESTALE);
}

/* The file was removed, or another one has its name: the mapped file is opened, or none. */
static void replaced(void **state)
{
	char path[512], other[512];
	struct maps maps;
	struct stat before, status;

	make_file(*state, path, "library.so");
	make_file(*state, other, "new.so");
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *memory = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);

	assert_true(memory != MAP_FAILED);
	assert_int_equal(fstat(fd, &before), 0);
	close(fd);
	assert_int_equal(rename(other, path), 0);
	assert_int_equal(maps_read(getpid(), &maps), 0);
	struct mapping mapping = *maps_find(&maps, (uint64_t)(uintptr_t)memory);

	assert_non_null(strstr(mapping.path, "library.so (deleted)"));
	fd = open_mapping(&mapping);
	if (fd >= 0) {
		assert_int_equal(fstat(fd, &status), 0);
		assert_int_equal(status.st_ino, before.st_ino);
		close(fd);
	} else {
		assert_int_equal(fd, -ENOENT);
	}
	mapping.start = 0x1000; /* by name only */
	mapping.end = 0x2000;
	mapping.path = path;
	assert_int_equal(open_mapping(&mapping), -ESTALE);
	maps_deinit(&maps);
	munmap(memory, PAGE);
}

/* The path of a mapping has no symbolic links: one that appears is not followed. */
static void symbolic_links(void **state)
{
	const struct fixture *fixture = *state;
	char path[512], link[512], through[600];
	struct mapping mapping = by_name(make_file(fixture, path, "plain.so"));

	assert_int_equal(symlink(path, fixture_path(fixture, link, sizeof link, "link.so")), 0);
	mapping.path = link;
	assert_int_equal(open_mapping(&mapping), -ESTALE);
	assert_int_equal(symlink(".", fixture_path(fixture, link, sizeof link, "here")), 0);
	snprintf(through, sizeof through, "%s/plain.so", link);
	mapping.path = through;
	assert_int_equal(open_mapping(&mapping), -ENOTDIR);
	snprintf(through, sizeof through, "%s/../%s/plain.so", fixture->directory,
		 strrchr(fixture->directory, '/') + 1);
	assert_int_equal(open_mapping(&mapping), -ENOENT);
	snprintf(through, sizeof through, "/proc/self/root%s", path);
	assert_int_equal(open_mapping(&mapping), -ENOTDIR);
}

/*
 * FIFOs, devices and other special files: the tracer neither blocks on them nor takes them for
 * libraries.
 */
static void no_regular_files(void **state)
{
	const struct fixture *fixture = *state;
	char path[512];
	struct mapping mapping;

	assert_int_equal(mkfifo(fixture_path(fixture, path, sizeof path, "fifo"), 0600), 0);
	mapping = by_name(path);
	assert_int_equal(open_mapping(&mapping), -ESTALE);
	mapping = by_name(fixture->directory);
	assert_int_equal(open_mapping(&mapping), -ESTALE);
	mapping = by_name("/dev/null");
	assert_int_equal(open_mapping(&mapping), -ESTALE);
}

static void no_names(void **state)
{
	static const char *const names[] = {"[heap]", "", "relative", "/no/such/file", "//", "/."};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct mapping mapping = {.inode = 1, .path = names[i]};

		assert_true(open_mapping(&mapping) < 0);
	}
	assert_int_equal(open_mapping(&(struct mapping){.path = "/proc/self/exe"}), -ENOENT);
}

/* Returns the device of the file system mounted at `where`, from the mount table; 0: none. */
static dev_t mounted_device(const char *where)
{
	char line[1024], place[1024];
	unsigned high, low;
	dev_t device = 0;
	FILE *mounts = fopen("/proc/self/mountinfo", "re");

	while (mounts && fgets(line, sizeof line, mounts))
		if (sscanf(line, "%*d %*d %u:%u %*s %1023s", &high, &low, place) == 3 &&
		    !strcmp(place, where))
			device = makedev(high, low);
	if (mounts)
		fclose(mounts);
	return device;
}

/*
 * Opens a file on a FUSE file system without a server, where access never returns. Runs in a
 * process of its own, which an alarm ends; it exits with 77 if the file system cannot be mounted
 * here.
 */
static int open_on_fuse(const char *where)
{
	char options[128];
	char path[600];
	int server = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	struct mapping mapping = {.start = 0x1000, .end = 0x2000, .inode = 1, .path = path};

	alarm(20);
	snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", server);
	snprintf(path, sizeof path, "%s/library.so", where);
	if (server < 0 || unshare(CLONE_NEWNS) != 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", where, "fuse", 0, options) != 0)
		return 77;
	mapping.device = mounted_device(where);
	if (!mapping.device)
		return 77;
	if (open_mapping(&mapping) != -EREMOTE)
		return 1;
	/* A file of another device that is said to be below that directory. */
	mapping.device = makedev(8, 1);
	return open_mapping(&mapping) == -EREMOTE ? 0 : 2;
}

static void server_that_never_answers(void **state)
{
	const struct fixture *fixture = *state;
	int status;

	if (under_valgrind())
		skip(); /* valgrind turns leaks of the child into its exit status */
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child)
		_exit(open_on_fuse(fixture->directory));
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* The program of a process is opened without its name. */
static void program(void **state)
{
	struct file_view view;
	struct maps maps;
	char *path = NULL;
	struct stat one, other;

	(void)state;
	if (under_valgrind())
		skip(); /* the program is valgrind, whatever readlink() returns */
	assert_int_equal(maps_read(getpid(), &maps), 0);
	file_view_init(&view, getpid());
	int fd = file_view_open_program(&view, &maps, &path);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &one), 0);
	assert_int_equal(stat("/proc/self/exe", &other), 0);
	assert_int_equal(one.st_ino, other.st_ino);
	assert_int_equal(path[0], '/');
	close(fd);
	free(path);
	file_view_deinit(&view);
	maps_deinit(&maps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FIXTURE(plain_file),
		WITH_FIXTURE(other_device),
		WITH_FIXTURE(replaced),
		WITH_FIXTURE(symbolic_links),
		WITH_FIXTURE(no_regular_files),
		cmocka_unit_test(no_names),
		WITH_FIXTURE(server_that_never_answers),
		cmocka_unit_test(program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

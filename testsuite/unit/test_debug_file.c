/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How debug information is found, which files are rejected as belonging to another object; and its
 * sections, unpacked.
 */
#include "object/debug_file.h"
#include "object/debug_sections.h"

#include "base/cleanup.h"
#include "elf_fixture.h"
#include "session/print.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* A library with its debug information in a file of its own. */
#define MAKE_LIBRARY                                                                                \
	"echo 'int f(int a) { return a; }' >f.c && ${CC:-cc} -g -shared -fPIC "                     \
	"-Wl,--build-id=0xabcdef f.c -o whole.so && objcopy --only-keep-debug whole.so f.debug && " \
	"objcopy --strip-debug whole.so f.so && "

/* Files that were asked for. All paths are below the fixture's directory, also "/usr/lib/debug". */
struct opener {
	const struct fixture *fixture;
	char opened[PATH_MAX]; /* the last one that existed, below the fixture */
	unsigned asked;
};

static int open_below(void *context, const char *path)
{
	struct opener *opener = context;
	size_t length = strlen(opener->fixture->directory);
	char below[2 * PATH_MAX];

	assert_int_equal(path[0], '/');
	assert_null(strstr(path, "/../"));
	assert_null(strstr(path, "//"));
	opener->asked++;
	if (!strncmp(path, opener->fixture->directory, length))
		path += length;
	snprintf(below, sizeof below, "%s%s", opener->fixture->directory, path);
	int fd = open(below, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		snprintf(opener->opened, sizeof opener->opened, "%s", path);
	return fd < 0 ? -errno : fd;
}

static bool run_in(const struct fixture *fixture, const char *command)
{
	_cleanup_free_ char *whole = NULL;

	assert_true(asprintf(&whole, "cd '%s' && { %s; } >log 2>&1", fixture->directory, command) >
		    0);
	return system(whole) == 0;
}

/* Makes files by a shell command and looks for the debug information of NAME. */
static void find(const struct fixture *fixture, const char *command, const char *name,
		 struct opener *opener, struct debug_files *found)
{
	char path[512];
	struct elf_file *file;

	*opener = (struct opener){.fixture = fixture};
	if (!run_in(fixture, command))
		skip();
	int fd = open(fixture_path(fixture, path, sizeof path, name), O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(elf_open(fd, &file), 0);
	close(fd);
	debug_files_find(file, path, open_below, opener, found);
	elf_unref(file);
}

static void assert_found(void **state, const char *command, const char *expected)
{
	struct opener opener;
	struct debug_files found;

	find(*state, command, "f.so", &opener, &found);
	if (expected) {
		assert_non_null(found.information);
		assert_string_equal(opener.opened, expected);
	} else {
		assert_null(found.information);
	}
	assert_null(found.stranger);
	debug_files_deinit(&found);
}

/* Asserts that the file is rejected, as it belongs to another object. */
static void assert_stranger(void **state, const char *command, const char *expected,
			    const char *why)
{
	struct opener opener;
	struct debug_files found;

	find(*state, command, "f.so", &opener, &found);
	assert_null(found.information);
	assert_non_null(found.stranger);
	assert_non_null(strstr(found.stranger, expected));
	assert_string_equal(found.why_stranger, why);
	debug_files_deinit(&found);
	assert_null(found.stranger);
}

static void in_the_object(void **state)
{
	struct opener opener;
	struct debug_files found;

	find(*state, MAKE_LIBRARY "true", "whole.so", &opener, &found);
	assert_non_null(found.information);
	assert_int_equal(opener.asked, 0);
	debug_files_deinit(&found);
}

static void by_build_id(void **state)
{
	assert_found(state,
		     MAKE_LIBRARY "mkdir -p usr/lib/debug/.build-id/ab && "
				  "cp f.debug usr/lib/debug/.build-id/ab/cdef.debug",
		     "/usr/lib/debug/.build-id/ab/cdef.debug");
}

static void another_build_id(void **state)
{
#define OTHER(flags)                                                                               \
	MAKE_LIBRARY "mkdir -p usr/lib/debug/.build-id/ab && ${CC:-cc} -g -shared -fPIC " flags    \
		     " f.c -o usr/lib/debug/.build-id/ab/cdef.debug"
	static const char place[] = "/usr/lib/debug/.build-id/ab/cdef.debug";

	assert_stranger(state, OTHER("-Wl,--build-id=0xabcdee"), place, "its build ID differs");
	assert_stranger(state, OTHER("-Wl,--build-id=none"), place, "it has no build ID");
	/* A later file that does belong to the object is used. */
	assert_found(state,
		     OTHER("-Wl,--build-id=none") " && objcopy --add-gnu-debuglink=f.debug f.so",
		     "/f.debug");
}

static void by_name(void **state)
{
	assert_found(state, MAKE_LIBRARY "objcopy --add-gnu-debuglink=f.debug f.so", "/f.debug");
}

static void by_name_in_other_places(void **state)
{
	const struct fixture *fixture = *state;
	_cleanup_free_ char *command = NULL;
	_cleanup_free_ char *place = NULL;

	assert_found(state,
		     MAKE_LIBRARY "objcopy --add-gnu-debuglink=f.debug f.so && mkdir .debug && "
				  "mv f.debug .debug",
		     "/.debug/f.debug");
	assert_true(asprintf(&place, "/usr/lib/debug%s/f.debug", fixture->directory) > 0);
	assert_true(asprintf(&command, "mkdir -p ./usr/lib/debug%s && mv .debug/f.debug .%s",
			     fixture->directory, place) > 0);
	assert_found(state, command, place);
}

/* Without a build ID the contents decide. */
#define WITHOUT_ID                                                                                 \
	MAKE_LIBRARY "objcopy --add-gnu-debuglink=f.debug f.so && "                                \
		     "objcopy --remove-section=.note.gnu.build-id f.so && "

static void by_checksum(void **state)
{
	assert_found(state, WITHOUT_ID "true", "/f.debug");
}

static void another_checksum(void **state)
{
	assert_stranger(state, WITHOUT_ID "echo >>f.debug", "/f.debug", "its CRC differs");
}

static void names_with_slashes(void **state)
{
	assert_found(state,
		     MAKE_LIBRARY
		     "mkdir sub && mv f.debug sub && printf '../sub/f.debug\\0\\0\\0\\0' >link && "
		     "objcopy --add-section .gnu_debuglink=link f.so",
		     NULL);
}

static void damaged_links(void **state)
{
	assert_found(state,
		     MAKE_LIBRARY "printf 'f.debug' >link && "
				  "objcopy --add-section .gnu_debuglink=link f.so",
		     NULL);
	assert_found(state,
		     MAKE_LIBRARY "printf '\\0\\0\\0\\0\\0\\0\\0\\0' >link && "
				  "objcopy --add-section .gnu_debuglink=link f.so",
		     NULL);
}

/* A debug file that refers to a shared one. The link is relative to its directory. */
static void assert_shared(void **state, const char *link, bool expected)
{
	_cleanup_free_ char *command = NULL;
	struct opener opener;
	struct debug_files found;

	assert_true(
		asprintf(&command,
			 MAKE_LIBRARY
			 "mkdir -p a/b && ${CC:-cc} -g -shared -fPIC -Wl,--build-id=0x123456 f.c "
			 "-o common && printf '%s\\0\\022\\064\\126' >link && "
			 "objcopy --add-section .gnu_debugaltlink=link whole.so a/b/with.so",
			 link) > 0);
	find(*state, command, "a/b/with.so", &opener, &found);
	assert_non_null(found.information);
	assert_int_equal(found.shared != NULL, expected);
	debug_files_deinit(&found);
}

static void shared_file(void **state)
{
	assert_shared(state, "../../common", true);
	assert_shared(state, ".././../common", true);
	assert_shared(state, "/common", true);
	assert_shared(state, "common", false);
	assert_shared(state, "../../whole.so", false); /* another build ID */
}

/* ------------------------------------------------------------------ sections */

/* Makes a file by `command`. Returns the size of its .debug_info; 0 if it cannot be unpacked. */
static uint64_t information_size(const struct fixture *fixture, const char *command)
{
	char path[512];
	struct elf_file *file;
	struct debug_sections sections;
	uint64_t size = 0;

	if (!run_in(fixture, command))
		skip();
	int fd = open(fixture_path(fixture, path, sizeof path, "f.so"), O_RDONLY | O_CLOEXEC);

	assert_int_equal(elf_open_debug(fd, &file), 0);
	close(fd);
	debug_sections_init(&sections, file);
	const struct debug_section *section = debug_section_find(&sections, ".debug_info");

	if (section && debug_section_bytes(&sections, (size_t)(section - sections.items)))
		size = section->size;
	debug_sections_deinit(&sections);
	elf_unref(file);
	return size;
}

static void compressed(void **state)
{
	static const char *const make[] = {
		"${CC:-cc} -g -gdwarf-4 -gz=none -shared -fPIC f.c -o f.so",
		"${CC:-cc} -g -gdwarf-4 -gz=zlib -shared -fPIC f.c -o f.so",
		"${CC:-cc} -g -gdwarf-4 -gz=zlib-gnu -shared -fPIC f.c -o f.so",
	};

	/* Large enough for the compiler to compress the section. */
	if (!run_in(*state,
		    "for i in 0 1 2 3 4 5 6 7 8 9; do "
		    "echo \"struct s$i { int a, b, c; } f$i(struct s$i s) { return s; }\"; done >f.c"))
		skip();
	uint64_t plain = information_size(*state, make[0]);

	assert_true(plain > 0);
	assert_int_equal(information_size(*state, make[1]), plain);
	assert_int_equal(information_size(*state, make[2]), plain);
}

/* Wrong sizes: larger than a stream can become, or than it does become. */
static void compressed_and_damaged(void **state)
{
	static const char plain[] = "echo 'int f;' >f.c && ${CC:-cc} -shared -fPIC f.c -o f.so";

	if (!run_in(*state, plain))
		skip();
	assert_int_equal(information_size(*state,
					  "printf 'ZLIB\\0\\0\\377\\0\\0\\0\\0\\0abcdef' >bad && "
					  "objcopy --add-section .zdebug_info=bad f.so"),
			 0);
	assert_true(run_in(*state, plain));
	assert_int_equal(
		information_size(*state,
				 "printf 'ZLIB\\0\\0\\0\\0\\0\\0\\0\\020abcdefghijk' >bad && "
				 "objcopy --add-section .zdebug_info=bad f.so"),
		0);
	assert_true(run_in(*state, plain));
	assert_int_equal(information_size(*state, "printf 'ZLI' >bad && "
						  "objcopy --add-section .zdebug_info=bad f.so"),
			 0);
}

/* ------------------------------------------------------------------ how much of it is read */

/* Stores in `out` what print_prototypes() writes. Returns its result. */
static int print_to(const struct fixture *fixture, unsigned steps, char out[4096])
{
	char path[512];
	const int kept[] = {dup(STDOUT_FILENO), dup(STDERR_FILENO)};
	int fd = open(fixture_path(fixture, path, sizeof path, "out"),
		      O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);

	assert_true(fd >= 0 && kept[0] >= 0 && kept[1] >= 0);
	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	const int error = print_prototypes(fixture_path(fixture, path, sizeof path, "many.so"),
					   steps, 4);

	fflush(stdout);
	dup2(kept[0], STDOUT_FILENO);
	dup2(kept[1], STDERR_FILENO);
	close(kept[0]);
	close(kept[1]);
	const ssize_t length = pread(fd, out, 4095, 0);

	close(fd);
	assert_true(length >= 0);
	out[length] = '\0';
	return error;
}

static unsigned occurrences(const char *text, const char *what)
{
	unsigned count = 0;

	while ((text = strstr(text, what))) {
		text++;
		count++;
	}
	return count;
}

/* Functions that are not read any more cause a message. */
static void more_than_is_read(void **state)
{
	char out[4096], left[64];

	if (!run_in(*state,
		    "for i in 1 2 3 4 5 6 7 8 9; do "
		    "echo \"struct s$i { int a, b, c; }; int f$i(struct s$i *s) { return s->a; }\"; "
		    "done >many.c && ${CC:-cc} -g -shared -fPIC -nostdlib many.c -o many.so"))
		skip();
	assert_int_equal(print_to(*state, 4096, out), 0);
	assert_int_equal(occurrences(out, "int f"), 9);
	assert_null(strstr(out, "tracer:"));
	assert_int_equal(print_to(*state, 150, out), -EBADMSG);
	const unsigned printed = occurrences(out, "int f");

	assert_in_range(printed, 1, 8);
	assert_int_equal(occurrences(out, "takes too long to read"), 1);
	snprintf(left, sizeof left, "functions that were left out: %u\n", 9 - printed);
	assert_non_null(strstr(out, left));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FIXTURE(in_the_object),
		WITH_FIXTURE(by_build_id),
		WITH_FIXTURE(another_build_id),
		WITH_FIXTURE(by_name),
		WITH_FIXTURE(by_name_in_other_places),
		WITH_FIXTURE(by_checksum),
		WITH_FIXTURE(another_checksum),
		WITH_FIXTURE(names_with_slashes),
		WITH_FIXTURE(damaged_links),
		WITH_FIXTURE(shared_file),
		WITH_FIXTURE(compressed),
		WITH_FIXTURE(compressed_and_damaged),
		WITH_FIXTURE(more_than_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

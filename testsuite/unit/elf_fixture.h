/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ELF files for tests, made by the compiler ($CC or cc) when the test runs. The caller skips what
 * the machine cannot make (a missing linker, no 32-bit libraries).
 */
#ifndef TRACER_TESTSUITE_UNIT_ELF_FIXTURE_H
#define TRACER_TESTSUITE_UNIT_ELF_FIXTURE_H

#include "object/elf.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct fixture {
	char directory[256];
};

static inline int fixture_create(struct fixture *fixture)
{
	const char *temporary = getenv("TMPDIR");

	snprintf(fixture->directory, sizeof fixture->directory, "%s/elf.XXXXXX",
		 temporary ? temporary : "/tmp");
	return mkdtemp(fixture->directory) ? 0 : -1;
}

static inline void fixture_destroy(struct fixture *fixture)
{
	char command[512];

	snprintf(command, sizeof command, "rm -rf '%s'", fixture->directory);
	if (system(command))
		perror(command);
}

/* For cmocka: a test with this setup has a struct fixture * as its state. */
static inline int fixture_setup(void **state)
{
	*state = calloc(1, sizeof(struct fixture));
	return fixture_create(*state);
}

static inline int fixture_teardown(void **state)
{
	fixture_destroy(*state);
	free(*state);
	return 0;
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)

static inline const char *fixture_path(const struct fixture *fixture, char *buffer, size_t size,
				       const char *name)
{
	snprintf(buffer, size, "%s/%s", fixture->directory, name);
	return buffer;
}

static inline int fixture_write(const struct fixture *fixture, const char *name, const void *bytes,
				size_t length)
{
	char path[512];
	FILE *file = fopen(fixture_path(fixture, path, sizeof path, name), "w");

	if (!file)
		return -1;
	size_t written = fwrite(bytes, 1, length, file);

	return fclose(file) || written != length ? -1 : 0;
}

/* Runs the compiler in the fixture's directory. Returns 0 if it succeeds. */
static inline int fixture_compile(const struct fixture *fixture, const char *arguments)
{
	const char *compiler = getenv("CC");
	char command[2048];

	snprintf(command, sizeof command, "cd '%s' && %s %s >/dev/null 2>&1", fixture->directory,
		 compiler && *compiler ? compiler : "cc", arguments);
	return system(command) ? -1 : 0;
}

/* Opens the file with that name in the directory. Returns NULL if that fails. */
static inline struct elf_file *fixture_open(const struct fixture *fixture, const char *name)
{
	char path[512];
	int fd = open(fixture_path(fixture, path, sizeof path, name), O_RDONLY | O_CLOEXEC);
	struct elf_file *file = NULL;

	if (fd < 0)
		return NULL;
	if (elf_open(fd, &file))
		file = NULL;
	close(fd);
	return file;
}

/* Reads the whole file into memory, which the caller frees. Returns NULL if that fails. */
static inline unsigned char *fixture_load(const struct fixture *fixture, const char *name,
					  size_t *length)
{
	char path[512];
	struct stat status;
	int fd = open(fixture_path(fixture, path, sizeof path, name), O_RDONLY | O_CLOEXEC);
	unsigned char *bytes = NULL;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &status) && (bytes = malloc((size_t)status.st_size)) &&
	    read(fd, bytes, (size_t)status.st_size) != status.st_size) {
		free(bytes);
		bytes = NULL;
	}
	*length = bytes ? (size_t)status.st_size : 0;
	close(fd);
	return bytes;
}

#endif

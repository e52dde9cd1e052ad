/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the source lines of addresses in a file, as addr2line(1) does:
 *
 *     print_lines FILE <ADDRESSES
 *
 * ADDRESSES are hexadecimal numbers, one a line. For each of them a line is printed, FILE:LINE, or
 * "??:0" if nothing is known. FILE's debug information may be in a file of its own.
 */
#include "dwarf/dwarf_source.h"
#include "object/debug_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int open_any(void *context, const char *path)
{
	(void)context;
	return open(path, O_RDONLY | O_CLOEXEC);
}

static struct dwarf_reader *open_reader(const char *path, struct debug_files *files)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct dwarf_reader *reader = NULL;
	struct elf_file *file;

	if (fd < 0 || elf_open_debug(fd, &file) != 0)
		return NULL;
	close(fd);
	debug_files_find(file, path, open_any, NULL, files);
	if (files->information)
		dwarf_reader_create(files, DWARF_STEPS_FOR_ALL, 1, &reader);
	elf_unref(file);
	return reader;
}

static void print_answers(struct dwarf_reader *reader, const uint64_t *addresses, size_t count)
{
	struct strbuf text = {0};

	if (dwarf_reader_lines(reader, addresses, count, &text) != 0) {
		fprintf(stderr, "print_lines: too much\n");
		exit(1);
	}
	const char *at = text.text;

	for (size_t i = 0; i < count; i++) {
		const bool is_known = strcmp(at, "0") != 0;

		at += strlen(at) + 1;
		if (!is_known) {
			printf("??:0\n");
			continue;
		}
		const char *line = at, *file = at + strlen(at) + 1;

		at = file + strlen(file) + 1;
		printf("%s:%s\n", file, strcmp(line, "0") != 0 ? line : "?");
	}
	strbuf_deinit(&text);
}

int main(int argc, char **argv)
{
	uint64_t addresses[DWARF_ADDRESSES_MAX];
	struct debug_files files = {0};
	size_t count = 0;
	char line[64];
	struct dwarf_reader *reader = argc == 2 ? open_reader(argv[1], &files) : NULL;

	if (!reader) {
		fprintf(stderr, "print_lines: no debug information\n");
		return 1;
	}
	while (fgets(line, sizeof line, stdin)) {
		addresses[count++] = strtoull(line, NULL, 16);
		if (count == DWARF_ADDRESSES_MAX) {
			print_answers(reader, addresses, count);
			count = 0;
		}
	}
	if (count)
		print_answers(reader, addresses, count);
	dwarf_reader_destroy(reader);
	debug_files_deinit(&files);
	return 0;
}

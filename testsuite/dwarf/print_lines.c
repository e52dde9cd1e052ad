/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the source lines of addresses in a file, as addr2line(1) does:
 *
 *     print_lines [-i] FILE <ADDRESSES
 *
 * ADDRESSES are hexadecimal numbers, one a line. For each of them a line is printed, FILE:LINE, or
 * "??:0" if nothing is known. FILE's debug information may be in a file of its own. -i: in front
 * are the functions that were inlined there, the innermost one first: FUNCTION FILE:LINE < .
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

static const char *next_text(const char **at)
{
	const char *text = *at;

	*at += strlen(text) + 1;
	return text;
}

static void print_place(const char *line, const char *file, const char *function)
{
	if (*function)
		printf("%s ", function);
	printf("%s:%s", *file ? file : "??", strcmp(line, "0") != 0 ? line : *file ? "?" : "0");
}

static void print_answers(struct dwarf_reader *reader, const uint64_t *addresses, size_t count,
			  bool inlines)
{
	struct strbuf text = {0};

	if (dwarf_reader_lines(reader, addresses, count, inlines, &text) != 0) {
		fprintf(stderr, "print_lines: too much\n");
		exit(1);
	}
	const char *at = text.text;

	for (size_t i = 0; i < count; i++) {
		const unsigned long places = strtoul(next_text(&at), NULL, 10);

		for (unsigned long j = 0; j < places; j++) {
			const char *line = next_text(&at), *file = next_text(&at);

			print_place(line, file, next_text(&at));
			printf("%s", j + 1 < places ? " < " : "");
		}
		printf("%s\n", places ? "" : "??:0");
	}
	strbuf_deinit(&text);
}

int main(int argc, char **argv)
{
	const bool inlines = argc == 3 && !strcmp(argv[1], "-i");
	uint64_t addresses[DWARF_ADDRESSES_MAX];
	struct debug_files files = {0};
	size_t count = 0;
	char line[64];
	struct dwarf_reader *reader = argc == 2 + inlines ? open_reader(argv[1 + inlines], &files)
							  : NULL;

	if (!reader) {
		fprintf(stderr, "print_lines: no debug information\n");
		return 1;
	}
	while (fgets(line, sizeof line, stdin)) {
		addresses[count++] = strtoull(line, NULL, 16);
		if (count == DWARF_ADDRESSES_MAX) {
			print_answers(reader, addresses, count, inlines);
			count = 0;
		}
	}
	if (count)
		print_answers(reader, addresses, count, inlines);
	dwarf_reader_destroy(reader);
	debug_files_deinit(&files);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints prototypes from debug information as a .conf file.
 *
 * Each prototype is preceded by the types that it needs (dwarf/dwarf.h). What was printed before is
 * not printed again. Two structs may have the same name, and one struct may be described in two
 * ways, as the description depends on how many pointers lead to it. A name has one meaning in a
 * .conf file, so in these cases all types of a prototype are renamed.
 */
#include "session/print.h"

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/vec.h"
#include "base/xalloc.h"
#include "object/elf_symbols.h"
#include "proto/names.h"
#include "target/debuginfo/debuginfo.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static int compare_symbols(const void *left, const void *right)
{
	const struct elf_symbol *a = *(const struct elf_symbol *const *)left;
	const struct elf_symbol *b = *(const struct elf_symbol *const *)right;

	int names = strcmp(a->name, b->name);

	/* The first of equal names is used: the current version, not one for old programs. */
	return names ? names : a->old - b->old;
}

/* Adds the functions that other modules can call, sorted by name. */
static void list_functions(struct elf_file *file, struct vec *functions)
{
	size_t count;
	const struct elf_symbol *symbols = elf_symbols(file, &count);

	for (size_t i = 0; i < count; i++) {
		const struct elf_symbol *symbol = &symbols[i];

		if ((symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC) &&
		    symbol->bind != STB_LOCAL && symbol->value)
			vec_push(functions, &symbol);
	}
	if (functions->count)
		qsort(functions->items, functions->count, functions->item_size, compare_symbols);
}

#define TYPEDEF "typedef "

/* Returns the name that a line defines, and its length; NULL if the line is a prototype. */
static const char *named_type(const char *line, size_t *length)
{
	if (strncmp(line, TYPEDEF, strlen(TYPEDEF)) != 0)
		return NULL;
	line += strlen(TYPEDEF);
	*length = strcspn(line, " ");
	return line;
}

/* Adds the names of all types of a text. */
static void find_names(const char *text, struct names *names)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		size_t length;

		line += *line == '\n';
		const char *name = named_type(line, &length);

		if (name)
			names_put(names, name, length, name);
	}
}

/*
 * Adds the text with a number after each name of a type, which is recognized by what is around it.
 */
static void rename_types(const char *text, const struct names *names, unsigned number,
			 struct strbuf *out)
{
	static const char others[] = " \n*(),;=:[]-";
	bool is_named = false; /* the word follows a typedef */

	while (*text) {
		const size_t length = strcspn(text, others);
		const bool is_type = length && (is_named || text[length] == '*') &&
				     names_get(names, text, length);

		strbuf_add_bytes(out, text, length ? length : 1);
		if (is_type)
			strbuf_printf(out, "_%u", number);
		if (length)
			is_named = length + 1 == strlen(TYPEDEF) &&
				   !strncmp(text, TYPEDEF, strlen(TYPEDEF));
		text += length ? length : 1;
	}
}

/* Returns true if no type of the text was printed with another definition. */
static bool agrees(const struct names *printed, char *text)
{
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		size_t length;
		const char *name = named_type(line, &length);
		const char *before = name ? names_get(printed, name, length) : NULL;

		/*
		 * A type may be declared several times; its last line is the definition, which ends
		 * with ')'.
		 */
		if (before && end[-2] == ')' && strncmp(before, line, (size_t)(end - line)) != 0)
			return false;
	}
	return true;
}

/* Prints the lines that were not printed before, and remembers the definitions among them. */
static void print_lines(struct names *printed, char *text)
{
	char *line = text;

	for (char *end; (end = strchr(line, '\n')); line = end + 1) {
		size_t length;
		const char *name = named_type(line, &length);
		const char *before = name ? names_get(printed, name, length) : NULL;
		const bool is_whole = end[-2] == ')';

		if (before && strchr(before, '('))
			continue;
		fwrite(line, 1, (size_t)(end + 1 - line), stdout);
		if (name && is_whole) {
			char *kept = xstrndup(line, (size_t)(end - line));

			names_put(printed, kept + (name - line), length, kept);
		}
	}
	puts(line);
}

/* Prints a prototype, and the types in front of it. */
static void print_text(struct names *printed, const char *text)
{
	struct strbuf renamed = {0};
	struct names names = {0};

	find_names(text, &names);
	strbuf_add(&renamed, text);
	for (unsigned number = 2; !agrees(printed, renamed.text); number++) {
		strbuf_clear(&renamed);
		rename_types(text, &names, number, &renamed);
	}
	print_lines(printed, renamed.text);
	names_deinit(&names);
	strbuf_deinit(&renamed);
}

/* Returns true if there was something to print. */
static bool print_function(struct debug_source *source, const struct elf_symbol *function,
			   struct names *printed)
{
	struct strbuf text = {0};

	debug_source_text(source, getpid(), function->value, function->name,
			  function->type == STT_GNU_IFUNC ? DEBUG_RESOLVER : DEBUG_FUNCTION, &text);
	const bool is_known = text.length != 0;

	if (is_known)
		print_text(printed, text.text);
	strbuf_deinit(&text);
	return is_known;
}

static void free_lines(struct names *printed)
{
	for (size_t i = 0; i < printed->count; i++)
		free((char *)(uintptr_t)printed->entries[i].value);
	names_deinit(printed);
}

/* The outcome for all functions. */
struct printed {
	bool any;
	size_t left_out; /* functions that could not be read any more */
};

static struct printed print_functions(struct debug_source *source, struct elf_file *file)
{
	struct vec functions = VEC_OF(const struct elf_symbol *);
	struct names types = {0}; /* owned lines, by the type that each defines */
	const char *last = "";
	struct printed printed = {0};

	list_functions(file, &functions);
	for (size_t i = 0; i < functions.count; i++) {
		const struct elf_symbol *function = *(const struct elf_symbol **)vec_at(&functions,
											i);

		/*
		 * The list has all versions of a name, and symbols of both tables; each name is
		 * printed once.
		 */
		if (strcmp(last, function->name)) {
			if (print_function(source, function, &types))
				printed.any = true;
			else if (!debug_source_is_there(source, getpid()))
				printed.left_out++;
		}
		last = function->name;
	}
	free_lines(&types);
	vec_deinit(&functions);
	return printed;
}

static int print_all(struct elf_file *file, const char *path, unsigned steps, unsigned levels)
{
	struct debuginfo *info = debuginfo_create(true, steps, levels);
	struct debug_source *source = debug_source_get(info, file, path);
	int error = 0;

	if (!debug_source_is_there(source, getpid())) {
		error = -ENOENT;
		diag("%s: it has no debug information, and none for it is installed", path);
	} else {
		const struct printed printed = print_functions(source, file);

		if (printed.left_out)
			diag("%s: functions that were left out: %zu", path, printed.left_out);
		if (printed.left_out || (!printed.any && debug_source_is_elsewhere(source)))
			error = -EBADMSG;
	}
	debug_source_unref(source);
	debuginfo_destroy(info);
	return error;
}

int print_prototypes(const char *path, unsigned steps, unsigned levels)
{
	_cleanup_free_ char *whole = realpath(path, NULL);
	_cleanup_close_ int fd = whole ? open(whole, O_RDONLY | O_CLOEXEC | O_NOCTTY) : -1;
	struct elf_file *file = NULL;
	int error = fd < 0 ? -errno : elf_open(fd, &file);

	if (error) {
		diag("%s: %s", path, error == -ENOEXEC ? "not an ELF file" : strerror(-error));
		return error;
	}
	error = print_all(file, whole, steps, levels);
	elf_unref(file);
	if (!error && (fflush(stdout) || ferror(stdout))) {
		error = -errno;
		diag("standard output cannot be written: %s", strerror(errno));
	}
	return error;
}

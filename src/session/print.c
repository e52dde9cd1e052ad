/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/print.h"

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/vec.h"
#include "session/debuginfo.h"

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

	/* The first one counts: not what is there for old programs. */
	return names ? names : a->old - b->old;
}

/* Functions that others can call, by name. */
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

/* Whether there was something to print. */
static bool print_function(struct debug_source *source, const struct elf_symbol *function)
{
	struct strbuf text = {0};

	debug_source_text(source, getpid(), function->value, function->name,
			  function->type == STT_GNU_IFUNC ? DEBUG_RESOLVER : DEBUG_FUNCTION, &text);
	const bool is_known = text.length != 0;

	if (is_known)
		puts(text.text);
	strbuf_deinit(&text);
	return is_known;
}

/* What became of all of them. */
struct printed {
	bool any;
	size_t left_out; /* as debug information could not be read any more */
};

static struct printed print_functions(struct debug_source *source, struct elf_file *file)
{
	struct vec functions = VEC_OF(const struct elf_symbol *);
	const char *last = "";
	struct printed printed = {0};

	list_functions(file, &functions);
	for (size_t i = 0; i < functions.count; i++) {
		const struct elf_symbol *function = *(const struct elf_symbol **)vec_at(&functions,
											i);

		/* Versions of one name, and what is in both symbol tables. */
		if (strcmp(last, function->name)) {
			if (print_function(source, function))
				printed.any = true;
			else if (!debug_source_is_there(source, getpid()))
				printed.left_out++;
		}
		last = function->name;
	}
	vec_deinit(&functions);
	return printed;
}

static int print_all(struct elf_file *file, const char *path, unsigned steps)
{
	struct debuginfo *info = debuginfo_create(true, steps);
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

int print_prototypes(const char *path, unsigned steps)
{
	_cleanup_free_ char *whole = realpath(path, NULL);
	_cleanup_close_ int fd = whole ? open(whole, O_RDONLY | O_CLOEXEC | O_NOCTTY) : -1;
	struct elf_file *file = NULL;
	int error = fd < 0 ? -errno : elf_open(fd, &file);

	if (error) {
		diag("%s: %s", path, error == -ENOEXEC ? "not an ELF file" : strerror(-error));
		return error;
	}
	error = print_all(file, whole, steps);
	elf_unref(file);
	if (!error && (fflush(stdout) || ferror(stdout))) {
		error = -errno;
		diag("standard output cannot be written: %s", strerror(errno));
	}
	return error;
}

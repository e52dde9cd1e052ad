/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tracee chooses the names. A few dozen bytes of mangled C++ can describe gigabytes of readable
 * name (each substitution may double the text of the last one). So the text is taken piece by piece
 * through libiberty's callbacks, and the work is abandoned when it gets too long. The callback
 * interface exists for callers that cannot allocate: the C++ demangler keeps all its data on the
 * stack, so a longjmp() out of it leaks nothing.
 *
 * The trace shows the arguments themselves, so parameters are left out, except where functions of
 * one name have to be told apart. D has no form without parameters.
 */
#include "object/demangle.h"

#include "base/strbuf.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MANGLED_MAX = 16384, READABLE_MAX = 65536 };

struct demangling {
	struct strbuf text;
	jmp_buf too_long;
};

static void take_piece(const char *piece, size_t length, void *context)
{
	struct demangling *demangling = context;

	if (length > READABLE_MAX - demangling->text.length)
		longjmp(demangling->too_long, 1);
	strbuf_add_bytes(&demangling->text, piece, length);
}

typedef int callback_demangler(const char *name, int options, demangle_callbackref callback,
			       void *context);

/* Returns the readable name, or NULL. */
static char *run(callback_demangler *demangler, const char *name, int options,
		 struct demangling *demangling)
{
	if (!setjmp(demangling->too_long) && demangler(name, options, take_piece, demangling) &&
	    demangling->text.length)
		return demangling->text.text;
	strbuf_deinit(&demangling->text);
	return NULL;
}

/* `options`: DMGL_…, for C++ names only. */
static char *demangle_as(const char *name, int options)
{
	struct demangling demangling = {.text = {0}};
	char *readable = NULL;

	if (strnlen(name, MANGLED_MAX) == MANGLED_MAX)
		return NULL;
	/*
	 * The legacy form of Rust names is also valid C++, with a hash that only the Rust demangler
	 * removes.
	 */
	if (!strncmp(name, "_R", 2) || !strncmp(name, "_ZN", 3))
		readable = run(rust_demangle_callback, name, DMGL_NO_OPTS, &demangling);
	if (!readable && !strncmp(name, "_Z", 2))
		readable = run(cplus_demangle_v3_callback, name, options, &demangling);
	if (!readable && !strncmp(name, "_D", 2))
		readable = dlang_demangle(name, DMGL_NO_OPTS);
	return readable;
}

char *demangle(const char *name)
{
	return demangle_as(name, DMGL_NO_OPTS);
}

char *demangle_with_parameters(const char *name)
{
	/*
	 * DMGL_ANSI: with a trailing "const". The return type is left out, as it is no part of the
	 * name.
	 */
	return demangle_as(name, DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP);
}

/* ------------------------------------------------------------------ parameters */

typedef const struct demangle_component component;

/* Returns the component of the function type if the name is that of a function, or NULL. */
static component *find_function(component *tree)
{
	while (tree && tree->type == DEMANGLE_COMPONENT_CLONE)
		tree = tree->u.s_binary.left;
	if (!tree || tree->type != DEMANGLE_COMPONENT_TYPED_NAME)
		return NULL;
	tree = tree->u.s_binary.right;
	return tree && tree->type == DEMANGLE_COMPONENT_FUNCTION_TYPE ? tree : NULL;
}

/* Counts the parameters. An empty list has one entry without a type. */
static int count(component *list)
{
	int found = 0;

	for (; list && list->type == DEMANGLE_COMPONENT_ARGLIST && list->u.s_binary.left;
	     list = list->u.s_binary.right) {
		/* A pack expansion stands for any number of parameters. */
		if (list->u.s_binary.left->type == DEMANGLE_COMPONENT_PACK_EXPANSION)
			return -1;
		found++;
	}
	return found;
}

int demangle_parameters(const char *name)
{
	const size_t length = strnlen(name, MANGLED_MAX);
	void *memory = NULL;

	/*
	 * "..." is mangled as a z at the end. A class name may end like that, too; the result is -1
	 * for both.
	 */
	if (strncmp(name, "_Z", 2) != 0 || length == MANGLED_MAX || name[length - 1] == 'z')
		return -1;
	component *function =
		find_function(cplus_demangle_v3_components(name, DMGL_PARAMS, &memory));
	const int found = function ? count(function->u.s_binary.right) : -1;

	free(memory);
	return found;
}

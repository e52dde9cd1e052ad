/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * list_prototypes FILE...: what the parser makes of .conf files, for testsuite/conf/headers.py, which compares it
 * with headers. A line for each prototype, with tabs between
 *
 *	NAME  SLOT  RESULT  PARAMETER...
 *
 * SLOT is "slot" for a function without a symbol of its own, else "-". A type is KIND:BYTES32:BYTES64:SIGN:LENS,
 * where SIGN is s or u. What was wrong in a file is on stderr, and an exit status of 1.
 */
#include "proto/prototype.h"

#include <stdio.h>
#include <stdlib.h>

static const char *kind_name(const struct type *type)
{
	switch (type->kind) {
	case TYPE_VOID:
		return "void";
	case TYPE_INT:
		return "int";
	case TYPE_FLOAT:
		return "float";
	case TYPE_POINTER:
		return "pointer";
	case TYPE_STRING:
		return "string";
	case TYPE_FORMAT:
		return type->is_wide ? "wformat" : "format";
	default:
		return "object"; /* structures and the like: only that it is one is compared */
	}
}

static const char *lens_name(const struct type *type)
{
	switch (type->lens) {
	case LENS_DEFAULT:
		return "plain";
	case LENS_CHAR:
		return "char";
	case LENS_FUNCTION:
		return "function";
	case LENS_ENUM:
		return type->kind == TYPE_POINTER ? "function" : "other";
	default:
		return "other";
	}
}

static void print_type(const struct type *type)
{
	printf("\t%s:%u:%u:%c:%s", kind_name(type), type_size(type, 4), type_size(type, 8),
	       type->is_signed ? 's' : 'u', lens_name(type));
}

static void complain(void *context, const char *file, unsigned line, const char *message)
{
	(void)context;
	fprintf(stderr, "%s:%u: %s\n", file, line, message);
}

static int list_file(const char *path)
{
	struct protolib *lib = protolib_create();
	int errors = protolib_read(lib, path, complain, NULL);
	const struct prototype *prototype;
	size_t cursor = 0;

	while ((prototype = protolib_next(lib, &cursor))) {
		printf("%s\t%s", prototype->name, prototype->slot_symbol ? "slot" : "-");
		print_type(prototype->result);
		for (unsigned i = 0; i < prototype->parameter_count; i++)
			print_type(prototype->parameters[i].type);
		putchar('\n');
	}
	protolib_destroy(lib);
	if (errors < 0)
		fprintf(stderr, "%s: cannot be read\n", path);
	return errors;
}

int main(int argc, char **argv)
{
	int errors = 0;

	for (int i = 1; i < argc; i++)
		errors |= list_file(argv[i]);
	return errors ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * list_prototypes [--names] FILE...: what the parser makes of .conf files, for the tests beside it, which compare
 * it with headers. A line for each prototype, with tabs between
 *
 *	NAME  SLOT  RESULT  PARAMETER...
 *
 * SLOT is "slot" for a function without a symbol of its own, else "-". A type is KIND:BYTES32:BYTES64:SIGN:LENS,
 * where SIGN is s or u. A parameter is a type, or several with "|" between them, of which another one chooses.
 * With --names, a line for each name of a number, in typedefs and in prototypes, with tabs between
 *
 *	KIND  NAME  VALUE  BYTES32  BYTES64
 *
 * where KIND is "enum" or "bitset". What was wrong in a file is on stderr, and an exit status of 1.
 */
#include "base/vec.h"
#include "proto/protolib.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void print_type(char before, const struct type *type)
{
	printf("%c%s:%u:%u:%c:%s", before, kind_name(type), type_size(type, 4), type_size(type, 8),
	       type->is_signed ? 's' : 'u', lens_name(type));
}

/* Of a text that an argument leads to nothing is declared but that. */
static void print_parameter(const struct parameter *parameter)
{
	static const struct type object = {.kind = TYPE_POINTER};

	print_type('\t', parameter->path ? &object : parameter->type);
	for (unsigned k = 1; k < parameter->choice_count; k++)
		print_type('|', parameter->choices[k].type);
}

static void print_prototype(const struct prototype *prototype)
{
	printf("%s\t%s", prototype->name, prototype->slot_symbol ? "slot" : "-");
	print_type('\t', prototype->result);
	for (unsigned i = 0; i < prototype->parameter_count; i++)
		print_parameter(&prototype->parameters[i]);
	putchar('\n');
}

/* Names that have been printed, or are not to be. */
static bool was_seen(struct vec *seen, const void *thing)
{
	for (size_t i = seen->count; i-- > 0;)
		if (*(const void **)vec_at(seen, i) == thing)
			return true;
	vec_push(seen, &thing);
	return false;
}

static void print_names(struct vec *seen, const struct type *type)
{
	const bool is_named = type->lens == LENS_ENUM || type->lens == LENS_BITSET;

	if (was_seen(seen, type))
		return;
	for (uint32_t i = 0; type->members && i < type->count; i++)
		print_names(seen, type->members[i].type);
	if (type->target)
		print_names(seen, type->target);
	if (!is_named || !type->names || was_seen(seen, type->names))
		return;
	for (uint32_t i = 0; i < type->count; i++)
		printf("%s\t%s\t%lld\t%u\t%u\n", type->lens == LENS_ENUM ? "enum" : "bitset",
		       type->names[i].name, (long long)type->names[i].value, type_size(type, 4),
		       type_size(type, 8));
}

static void print_all_names(const struct protolib *lib)
{
	/* The language's own, which are from the kernel's headers. */
	const struct type *requests = protolib_type(lib, "ioctl_request", strlen("ioctl_request"));
	struct vec seen = VEC_OF(const void *);
	const struct prototype *prototype;
	const struct type *type;
	size_t cursor = 0;

	was_seen(&seen, requests->names);
	while ((type = protolib_next_type(lib, &cursor)))
		print_names(&seen, type);
	cursor = 0;
	while ((prototype = protolib_next(lib, &cursor))) {
		print_names(&seen, prototype->result);
		for (unsigned i = 0; i < prototype->parameter_count; i++) {
			const struct parameter *parameter = &prototype->parameters[i];

			print_names(&seen, parameter->type);
			for (unsigned k = 1; k < parameter->choice_count; k++)
				print_names(&seen, parameter->choices[k].type);
		}
	}
	vec_deinit(&seen);
}

static void complain(void *context, const char *file, unsigned line, const char *message)
{
	(void)context;
	fprintf(stderr, "%s:%u: %s\n", file, line, message);
}

static int list_file(const char *path, bool names)
{
	struct protolib *lib = protolib_create();
	int errors = protolib_read(lib, path, complain, NULL);
	const struct prototype *prototype;
	size_t cursor = 0;

	if (names)
		print_all_names(lib);
	while (!names && (prototype = protolib_next(lib, &cursor)))
		print_prototype(prototype);
	protolib_destroy(lib);
	if (errors < 0)
		fprintf(stderr, "%s: cannot be read\n", path);
	return errors;
}

int main(int argc, char **argv)
{
	const bool names = argc > 1 && !strcmp(argv[1], "--names");
	int errors = 0;

	for (int i = 1 + names; i < argc; i++)
		errors |= list_file(argv[i], names);
	return errors ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The place where a library keeps the text of an object is private to the library, and changes from
 * one version to the next. The library's accessor function knows it, and its code shows it
 * (code/accessor.h). Two libraries of one name, in two processes, may differ in that. So a separate
 * prototype is made for each way in which texts are found, with a probe and a plan of its own: no
 * plan reads an object of a version that it was not made for.
 */
#include "target/accessors.h"

#include "base/xalloc.h"
#include "code/accessor.h"
#include "object/elf_symbols.h"

#include <assert.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum {
	PARAMETERS_MAX = 32,
	MADE_MAX = 1024 /* limits a process that keeps loading libraries made for this */
};

/* A prototype, and what it was made from. */
struct resolved {
	const struct prototype *from;
	struct prototype prototype;
	struct parameter parameters[PARAMETERS_MAX];
	struct text_path paths[PARAMETERS_MAX];
};

void accessors_init(struct accessors *accessors)
{
	vec_init(&accessors->made, sizeof(struct resolved *));
}

void accessors_deinit(struct accessors *accessors)
{
	for (size_t i = 0; i < accessors->made.count; i++)
		free(*(struct resolved **)vec_at(&accessors->made, i));
	vec_deinit(&accessors->made);
}

bool accessors_are_named(const struct prototype *prototype)
{
	for (unsigned i = 0; i < prototype->parameter_count; i++)
		if (prototype->parameters[i].path && prototype->parameters[i].path->accessor)
			return true;
	return false;
}

/* Reads the file as memory, at addresses of its own address space. */
static void read_file(void *context, struct memory_range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t length = ranges[i].length;

		/* A function may end where the file ends. */
		while (length && !elf_read(context, ranges[i].address, ranges[i].buffer, length))
			length--;
		ranges[i].done = length;
	}
}

static bool find_path(struct decoder *decoder, struct elf_file *file, const struct text_path *named,
		      struct text_path *path)
{
	const struct elf_symbol *symbol = elf_find_symbol(file, named->accessor);
	const struct memory_source memory = {.readv = read_file, .context = file};
	struct accessor found;

	static_assert((int)TEXT_LOADS_MAX == (int)ACCESSOR_LOADS_MAX, "it is the same path");
	if (!symbol || !symbol->value || symbol->type != STT_FUNC ||
	    accessor_find(decoder, elf_arch(file), &memory, symbol->value, &found) ||
	    !found.of_argument || found.loads + named->loads > TEXT_LOADS_MAX)
		return false;
	struct text_path made = {.is_certain = true, .loads = found.loads + named->loads};

	for (unsigned i = 0; i <= found.loads; i++) {
		const int64_t offset = elf_arch(file)->abi->word == 4 ? (int32_t)found.offset[i]
								      : (int64_t)found.offset[i];

		made.offset[i] = (int32_t)offset;
		if (made.offset[i] != offset)
			return false;
	}
	*path = made;
	return true;
}

static void fill(struct resolved *resolved, struct decoder *decoder, struct elf_file *file,
		 const struct prototype *from)
{
	*resolved = (struct resolved){.from = from, .prototype = *from};
	for (unsigned i = 0; i < from->parameter_count && i < PARAMETERS_MAX; i++) {
		struct parameter *parameter = &resolved->parameters[i];

		*parameter = from->parameters[i];
		if (parameter->path && parameter->path->accessor &&
		    find_path(decoder, file, parameter->path, &resolved->paths[i]))
			parameter->path = &resolved->paths[i];
	}
}

static bool are_alike(const struct resolved *one, const struct resolved *other)
{
	bool are = one->from == other->from;

	for (unsigned i = 0; are && i < PARAMETERS_MAX; i++)
		are = one->paths[i].is_certain == other->paths[i].is_certain &&
		      one->paths[i].loads == other->paths[i].loads &&
		      !memcmp(one->paths[i].offset, other->paths[i].offset,
			      sizeof one->paths[i].offset);
	return are;
}

const struct prototype *accessors_resolve(struct accessors *accessors, struct decoder *decoder,
					  struct elf_file *file, const struct prototype *prototype)
{
	struct resolved *made;

	if (!file || prototype->parameter_count > PARAMETERS_MAX)
		return prototype;
	made = xmalloc(sizeof *made);
	fill(made, decoder, file, prototype);
	for (size_t i = 0; i < accessors->made.count; i++) {
		struct resolved *known = *(struct resolved **)vec_at(&accessors->made, i);

		if (are_alike(known, made)) {
			free(made);
			return &known->prototype;
		}
	}
	if (accessors->made.count == MADE_MAX) {
		free(made);
		return prototype;
	}
	made->prototype.parameters = made->parameters;
	vec_push(&accessors->made, &made);
	return &made->prototype;
}

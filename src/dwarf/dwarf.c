/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the prototype of a function from its entry (DIE).
 *
 * A function may have several entries. If it was also inlined somewhere, the entry with the code
 * refers to the abstract instance (DW_AT_abstract_origin). The abstract instance has all
 * parameters, also those that the code does without. A member function of C++, or any function that
 * was declared first, refers to its declaration (DW_AT_specification). The declaration has the type
 * of the result, but not the names of the parameters.
 */
#include "dwarf/dwarf_private.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "dwarf/dwarf_call.h"
#include "dwarf/dwarf_copy.h"
#include "dwarf/dwarf_detail.h"
#include "dwarf/dwarf_die.h"
#include "dwarf/dwarf_file.h"
#include "dwarf/dwarf_go.h"
#include "dwarf/dwarf_index.h"
#include "dwarf/dwarf_link.h"
#include "dwarf/dwarf_type.h"
#include "object/demangle.h"
#include "object/elf.h"
#include "object/elf_symbols.h"

#include <errno.h>
#include <string.h>

int dwarf_reader_create(const struct debug_files *files, unsigned steps, unsigned levels,
			struct dwarf_reader **out)
{
	struct dwarf_reader *reader = xcalloc(1, sizeof *reader);
	int error = 0;

	vec_init(&reader->ranges, sizeof(struct unit_range));
	reader->steps_max = steps;
	reader->levels = levels;
	reader->word = elf_arch(files->information)->abi->word;
	if (files->shared)
		error = dwarf_file_open(&reader->shared, reader, files->shared);
	/* The main file alone still describes something, so only -ENOTSUP is an error here. */
	if (error != -ENOTSUP)
		error = dwarf_file_open(&reader->main, reader, files->information);
	if (error) {
		dwarf_reader_destroy(reader);
		reader = NULL;
	}
	*out = reader;
	return error;
}

void dwarf_reader_destroy(struct dwarf_reader *reader)
{
	if (!reader)
		return;
	index_deinit(reader);
	links_deinit(reader);
	dwarf_file_close(&reader->main);
	dwarf_file_close(&reader->shared);
	free(reader);
}

/* ------------------------------------------------------------------ parameters */

/* The parameter list while it is written. */
struct list {
	struct strbuf *text;
	struct call_places *places;
	unsigned word;
	unsigned count;
	bool is_old;   /* see is_old_definition() */
	bool variable; /* the function has "..." */
	/*
	 * the .conf type that the last parameter gets if "..." follows: format or wformat; or NULL
	 */
	const char *format;
	size_t last; /* where the type of the last parameter begins in the text */
	int written; /* parameters that the source has */
};

/* Returns the origin of a parameter if the parameter itself lacks the attribute, else none. */
static struct die with_attribute(const struct die *die, unsigned attribute)
{
	const struct die none = {.handle = NULL};

	return die_has(die, attribute) ? none : die_reference(die, DW_AT_abstract_origin);
}

static const char *parameter_name(const struct die *die)
{
	_cleanup_die_ struct die origin = with_attribute(die, DW_AT_name);

	return die_text(die_is(&origin) ? &origin : die, DW_AT_name);
}

/*
 * Returns "format" for a parameter with a common name of printf(3)'s format, "wformat" for one of
 * wprintf(3), else NULL. wchar_t is an int, or a long on i386.
 */
static const char *format_type(const char *name, const char *type)
{
	if (!name)
		return NULL;
	name += strspn(name, "_");
	if (strcmp(name, "format") != 0 && strcmp(name, "fmt") != 0)
		return NULL;
	if (!strcmp(type, "string"))
		return "format";
	return !strcmp(type, "string(array(int, zero)*)") ||
			       !strcmp(type, "string(array(long, zero)*)")
		       ? "wformat"
		       : NULL;
}

static int add_parameter(struct list *list, const struct die *parameter)
{
	_cleanup_die_ struct die origin = with_attribute(parameter, DW_AT_type);
	const char *name = parameter_name(parameter);
	bool by_reference;

	if (list->count++)
		strbuf_add(list->text, ", ");
	list->last = list->text->length;
	const struct die *owner = die_is(&origin) ? &origin : parameter;
	int error = type_add(list->text, owner, list->word, &by_reference);

	list->written += !die_flag(owner, DW_AT_artificial);
	if (error)
		return error;
	if (!call_add_parameter(list->places, parameter, owner, by_reference))
		return -EPROTOTYPE;
	if (!strcmp(list->text->text + list->last, "void") || list->count > PARAMETERS_MAX ||
	    list->text->length > DWARF_TEXT_MAX)
		return -ENOTSUP;
	if (list->is_old && !strcmp(list->text->text + list->last, "float")) {
		list->text->length = list->last;
		strbuf_add(list->text, "double");
	}
	list->format = format_type(name, list->text->text + list->last);
	if (type_is_name(name))
		strbuf_printf(list->text, " %s", name);
	return 0;
}

/*
 * Handles the parameters that gcc adds to constructors and destructors of C++. `__in_chrg` says
 * whether to delete the object, and is never passed: returns 1, there is nothing to write.
 * `__vtt_parm` is a table that only some variants get: returns -ENOTSUP. Returns 0 for any other
 * parameter.
 */
static int check_artificial(const struct die *parameter)
{
	const char *name = die_flag(parameter, DW_AT_artificial) ? parameter_name(parameter) : NULL;

	if (name && !strcmp(name, "__in_chrg"))
		return 1;
	return name && !strcmp(name, "__vtt_parm") ? -ENOTSUP : 0;
}

/*
 * Writes the parameters of a parameter pack (`T... rest`), which g++ makes children of one entry.
 */
static int add_pack(struct list *list, const struct die *pack)
{
	_cleanup_die_ struct die child = die_first_child(pack);
	int error = 0;

	while (die_is(&child) && !error) {
		error = die_tag(&child) == DW_TAG_formal_parameter ? add_parameter(list, &child)
								   : -ENOTSUP;
		if (!die_advance(&child))
			break;
	}
	return error;
}

/* Writes a child of a function if it is a parameter. */
static int add_child(struct list *list, const struct die *child)
{
	int error = 0;

	switch (die_tag(child)) {
	case DW_TAG_formal_parameter:
		error = check_artificial(child);
		return error ? error : add_parameter(list, child);
	case DW_TAG_GNU_formal_parameter_pack:
		return add_pack(list, child);
	case DW_TAG_unspecified_parameters:
		list->variable = true;
		return 0;
	default:
		return 0;
	}
}

/* Writes those children of `function` that are parameters. */
static int add_parameters(struct list *list, const struct die *function)
{
	_cleanup_die_ struct die child = die_first_child(function);
	int error = 0;

	while (die_is(&child) && error >= 0) {
		error = add_child(list, &child);
		if (!die_advance(&child))
			break;
	}
	return error < 0 ? error : 0;
}

/*
 * Returns true if the debug information has as many parameters as the mangled name. clang omits a
 * C++ parameter that is passed by reference and not used. Then those behind it are in other places
 * than they seem to be.
 */
static bool all_are_told(const struct list *list, const char *function)
{
	const int named = demangle_parameters(function);

	return named < 0 || named == list->written;
}

/* A format says which arguments follow. For scanf(3) these are pointers, so its type stays. */
static void end_parameters(struct list *list, const char *function)
{
	if (list->variable && list->format && !strstr(function, "scan")) {
		list->text->length = list->last;
		strbuf_add(list->text, list->format);
	}
	strbuf_add(list->text, ");");
}

/* ------------------------------------------------------------------ functions */

/*
 * Returns true for a definition in the style of C before 1989, `f(a) float a; { }`. Its arguments
 * are promoted: float is passed as double. Promoted integers are in the same place as unpromoted
 * ones.
 */
static bool is_old_definition(const struct die *function)
{
	return function->object->file->reader->marks_prototypes &&
	       die_tag(function) == DW_TAG_subprogram && !die_flag(function, DW_AT_prototyped);
}

/*
 * Writes the prototype of `function`. `places` has the locations of parameters that are known. On
 * failure the text may have grown.
 */
static int describe(const struct die *function, struct call_places *places, const char *name,
		    struct strbuf *text)
{
	struct list list = {.text = text,
			    .places = places,
			    .word = places->word,
			    .is_old = is_old_definition(function)};
	_cleanup_die_ struct die declared = die_reference(function, DW_AT_specification);
	const bool from_declared = die_is(&declared) && !die_has_parameters(function, false);
	const struct die *typed = die_has(function, DW_AT_type) || !die_is(&declared) ? function
										      : &declared;
	bool by_reference;

	if (!call_is_of_c(function, list.word) ||
	    (die_is(&declared) && !call_is_of_c(&declared, list.word)))
		return -EPROTOTYPE;
	const size_t before = text->length;
	int error = type_add(text, typed, list.word, &by_reference);

	if (error)
		return error;
	/*
	 * An empty object is not returned, but on i386 its address is passed as a hidden parameter.
	 */
	if (!strcmp(text->text + before, TYPE_EMPTY)) {
		text->length = before;
		strbuf_add(text, "void");
		by_reference = list.word == sizeof(uint32_t);
	}
	call_add_result(places, typed, by_reference);
	strbuf_printf(text, " %s(", name);
	if (by_reference) {
		/* The address of the result, which is no parameter of the source. */
		strbuf_add(text, "hide(addr)");
		list.count = 1;
	}
	list.is_old &= !die_is(&declared) || !die_flag(&declared, DW_AT_prototyped);
	places->promotes = list.is_old;
	error = add_parameters(&list, from_declared ? &declared : function);
	if (!error && (!call_is_known(places) || !all_are_told(&list, name)))
		error = -EPROTOTYPE;
	/* `int f();` of C says nothing of parameters. */
	if (!error && list.variable && !list.count)
		error = -ENOTSUP;
	if (!error)
		end_parameters(&list, name);
	return error;
}

/* Returns true for a clone made by gcc, whose parameters gcc may have changed. */
static bool is_variant(const char *name)
{
	return strstr(name, ".isra.") || strstr(name, ".constprop.") || strstr(name, ".part.") ||
	       elf_is_part_of_function(name);
}

/* Returns true if the unit's compiler sets DW_AT_prototyped: gcc and clang do, in C only. */
static bool marks_prototypes(const struct die *unit)
{
	const char *producer = die_text(unit, DW_AT_producer);

	return producer && (!strncmp(producer, "GNU C", 5) || strstr(producer, "clang")) &&
	       die_is_of_c_itself(unit);
}

/*
 * Returns true if empty objects are not passed. clang never passes them, and g++ does not since
 * version 8 (its ABI 12). In C++ an empty object has a byte, for which the psABI has no class.
 */
static bool drops_empty(const struct die *unit)
{
	const char *producer = die_text(unit, DW_AT_producer);

	return producer && !die_is_of_c_itself(unit) && !strstr(producer, "-fabi-version=") &&
	       (copy_is_marked(unit) || strstr(producer, "clang"));
}

/* Stores in the reader what can be relied on in the function's unit. */
static void learn_unit(struct dwarf_reader *reader, const struct die *function)
{
	_cleanup_die_ struct die unit = die_unit(function);

	reader->marks_defaulted = die_is(&unit) && copy_is_marked(&unit);
	reader->marks_prototypes = die_is(&unit) && marks_prototypes(&unit);
	reader->drops_empty = die_is(&unit) && drops_empty(&unit);
}

/* Where the code of a function begins. */
struct code {
	uint64_t address; /* 0: the entry has no code */
	bool is_local;	  /* see dwarf_reader_function() */
};

static int answer(struct dwarf_reader *reader, struct die found, struct code code, const char *name,
		  struct strbuf *text)
{
	const size_t before = text->length;
	struct call_places places = {.word = reader->word};
	int error = -ENOENT;

	if (die_is(&found) && code.address)
		call_find_places(&found, code.address, code.is_local, &places);
	const bool is_usual = die_is(&found) && call_is_of_c(&found, reader->word);
	_cleanup_die_ struct die unit = die_is(&found) ? die_unit(&found) : found;
	_cleanup_die_ struct die function = die_last_origin(found);

	if (die_is(&function) && die_is(&unit) && !die_is_of_go(&unit) &&
	    detail_is_told(&function, &unit)) {
		learn_unit(reader, &function);
		error = is_variant(name) || !is_usual ? -EPROTOTYPE
			: !type_is_name(name)	      ? -ENOTSUP
						      : describe(&function, &places, name, text);
	}
	if (reader->steps >= reader->steps_max)
		error = -E2BIG;
	if (error && text->text) {
		text->length = before;
		text->text[before] = '\0';
	}
	if (!error)
		links_resolve(reader, text, before);
	return error;
}

int dwarf_reader_function(struct dwarf_reader *reader, uint64_t address, const char *name,
			  bool is_local, struct strbuf *text)
{
	const struct code code = {address, is_local};

	dwarf_file_trim(&reader->main);
	return answer(reader, index_find_function(reader, address, name), code, name, text);
}

int dwarf_reader_go(struct dwarf_reader *reader, uint64_t address, const char *name,
		    struct strbuf *text)
{
	dwarf_file_trim(&reader->main);
	_cleanup_die_ struct die found = index_find_function(reader, address, name);
	_cleanup_die_ struct die unit = die_is(&found) ? die_unit(&found)
						       : (struct die){.handle = NULL};

	if (!die_is(&unit) || !die_is_of_go(&unit))
		return -ENOENT;
	int error = go_describe(&found, &unit, address, text);

	if (reader->steps >= reader->steps_max)
		error = -E2BIG;
	if (error)
		strbuf_clear(text);
	return error;
}

/*
 * Returns the type of the functions that a resolver returns pointers to. Returns none if the
 * resolver's type does not say so; most resolvers return `void *`.
 */
static struct die chosen_type(struct die resolver)
{
	_cleanup_die_ struct die function = die_last_origin(resolver);
	struct die none = {.handle = NULL};
	bool is_const = false;

	if (!die_is(&function))
		return none;
	_cleanup_die_ struct die result = type_peel(die_reference(&function, DW_AT_type),
						    &is_const);

	if (!die_is(&result) || die_tag(&result) != DW_TAG_pointer_type)
		return none;
	struct die type = type_peel(die_reference(&result, DW_AT_type), &is_const);

	if (die_is(&type) && die_tag(&type) == DW_TAG_subroutine_type)
		return type;
	die_drop(&type);
	return none;
}

int dwarf_reader_indirect(struct dwarf_reader *reader, uint64_t address, const char *name,
			  struct strbuf *text)
{
	dwarf_file_trim(&reader->main);
	return answer(reader, chosen_type(index_find_function(reader, address, name)),
		      (struct code){0}, name, text);
}

bool dwarf_reader_met_split(const struct dwarf_reader *reader)
{
	return reader->split;
}

int dwarf_reader_declaration(struct dwarf_reader *reader, const char *name, struct strbuf *text)
{
	dwarf_file_trim(&reader->main);
	return answer(reader, index_find_declaration(reader, name), (struct code){0}, name, text);
}

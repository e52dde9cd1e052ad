/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the entry of a function to its prototype.
 *
 * A function may have several entries. The one with the code refers to that of which it is an
 * instance (DW_AT_abstract_origin), when the function was inlined somewhere as well; there all
 * parameters are, also those that the code does without. A member function of C++, and whatever
 * else was declared before, refers to its declaration (DW_AT_specification), which has the type of
 * its result, but not the names of its parameters.
 */
#include "proto/dwarf_private.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "image/demangle.h"
#include "image/elf.h"

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
	/* Without what was shared something is still known. */
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

/* The list on its way. */
struct list {
	struct strbuf *text;
	struct call_places *places;
	unsigned word;
	unsigned count;
	bool is_old;	    /* see is_old_definition() */
	bool variable;	    /* "..." was there */
	const char *format; /* what the last one is, if it is called so; or NULL */
	size_t last;	    /* where that begins */
	int written;	    /* parameters that the source has */
};

/* A parameter says of itself only what its origin does not. */
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
 * The type of what people call the format of printf(3), and of what comes behind it, or of
 * wprintf(3), where wchar_t is an int or (i386) a long; else NULL.
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
 * What gcc gives constructors and destructors of C++ besides: whether to delete the object, which
 * is never passed, and a table that is passed to some of their variants. 1: there is nothing to
 * add; -ENOTSUP: nobody knows.
 */
static int check_artificial(const struct die *parameter)
{
	const char *name = die_flag(parameter, DW_AT_artificial) ? parameter_name(parameter) : NULL;

	if (name && !strcmp(name, "__in_chrg"))
		return 1;
	return name && !strcmp(name, "__vtt_parm") ? -ENOTSUP : 0;
}

/* g++ has the parameters that a parameter pack (`T... rest`) came to be as children of one. */
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

/* A child of a function, which need not be a parameter. */
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

/* The children of `function` that are parameters. */
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
 * clang does not tell of a parameter of C++ that is passed by reference and not used. Then those
 * behind it are not where they seem to be.
 */
static bool all_are_told(const struct list *list, const char *function)
{
	const int named = demangle_parameters(function);

	return named < 0 || named == list->written;
}

/* A format says itself which arguments follow; scanf(3) has pointers there. */
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
 * Whether it is a definition in the way of C before 1989, `f(a) float a; { }`. Arguments are
 * promoted for these: float comes as double, while shorter integers are in the same place anyway.
 */
static bool is_old_definition(const struct die *function)
{
	return function->object->file->reader->marks_prototypes &&
	       die_tag(function) == DW_TAG_subprogram && !die_flag(function, DW_AT_prototyped);
}

/*
 * Writes the prototype of an entry, of which it is known where some parameters are. On failure
 * anything may have been added.
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
	/* Such an object is not returned either; but i386 has a place for it. */
	if (!strcmp(text->text + before, TYPE_EMPTY)) {
		text->length = before;
		strbuf_add(text, "void");
		by_reference = list.word == sizeof(uint32_t);
	}
	call_add_result(places, typed, by_reference);
	strbuf_printf(text, " %s(", name);
	if (by_reference) {
		/* Where the result shall go, which is no parameter of the function's. */
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

/* The compiler may have changed the parameters of what it made a variant of. */
static bool is_variant(const char *name)
{
	return strstr(name, ".isra.") || strstr(name, ".constprop.") || strstr(name, ".part.") ||
	       elf_is_part_of_function(name);
}

/* gcc and clang do in C; it makes no sense in other languages. */
static bool marks_prototypes(const struct die *unit)
{
	const char *producer = die_text(unit, DW_AT_producer);

	return producer && (!strncmp(producer, "GNU C", 5) || strstr(producer, "clang")) &&
	       die_is_of_c_itself(unit);
}

/*
 * clang never did, g++ does not any more since version 8 (its ABI 12); C++ has such an object take
 * a byte, which the psABI has no class for.
 */
static bool drops_empty(const struct die *unit)
{
	const char *producer = die_text(unit, DW_AT_producer);

	return producer && !die_is_of_c_itself(unit) && !strstr(producer, "-fabi-version=") &&
	       (copy_is_marked(unit) || strstr(producer, "clang"));
}

/* What can be believed in the function's unit. */
static void learn_unit(struct dwarf_reader *reader, const struct die *function)
{
	_cleanup_die_ struct die unit = die_unit(function);

	reader->marks_defaulted = die_is(&unit) && copy_is_marked(&unit);
	reader->marks_prototypes = die_is(&unit) && marks_prototypes(&unit);
	reader->drops_empty = die_is(&unit) && drops_empty(&unit);
}

/* Where the code of what was found begins. */
struct code {
	uint64_t address; /* 0: it has none */
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
 * The type of the functions that a resolver returns pointers to. None: it does not say, as most
 * that return `void *`.
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

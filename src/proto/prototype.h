/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prototypes, and the library of them that .conf files make. */
#ifndef TRACER_PROTO_PROTOTYPE_H
#define TRACER_PROTO_PROTOTYPE_H

#include "proto/type.h"

#include <stddef.h>

/* Values of a parameter, cut to 32 bits: the first and the last. */
struct value_range {
	uint32_t first, last;
};

/* One of the types that a parameter may have. */
struct choice {
	const struct type *type;
	/*
	 * The values of the selector that choose this type: ascending; no two choices share a
	 * value.
	 */
	const struct value_range *values;
	unsigned value_count;
};

enum { CHOICES_MAX = 7 };

enum { TEXT_LOADS_MAX = 2 };

/*
 * The path to the text of a string parameter whose argument is the address of an object, not of the
 * text: `string @ *(arg1 + 0xf8)`. offset[0] is added to the argument. Then, `loads` times, the
 * word at that address is loaded and the next offset is added.
 */
struct text_path {
	/*
	 * `string @ NAME(arg1)`, `string @ *NAME(arg1)`: the library's function that returns the
	 * address of the text, or of words that lead to it; `loads` counts the '*', and `offset` is
	 * unused. Such a path cannot be followed. target/accessors.c makes another one, with NULL
	 * here, from that function's code.
	 */
	const char *accessor;
	/* a function of the library confirms the path; else what is no text is not shown */
	bool is_certain;
	unsigned loads;
	int32_t offset[TEXT_LOADS_MAX + 1];
};

struct parameter {
	const struct type *type;
	const struct text_path *path; /* NULL: the string begins where the argument points to */
	/* fetched and shown when the call returns: this or an earlier parameter has a '+' */
	bool on_return;
	/* filled by the call: has a '+' of its own, or the result as its length */
	bool is_filled;
	const char *name; /* NULL: it has none */
	/*
	 * 0: always passed. Else the parameter is passed, and shown, only if its selector has one
	 * of these bits. The selector is the last parameter before it that is always passed, an
	 * integer.
	 */
	uint32_t only_with;
	/*
	 * NULL: the parameter is of `type`. Else one of these gives its type; `type` is that of the
	 * first. If no choice applies, the parameter is not passed. All choices are integers,
	 * pointers or strings. `selector`: the index of the earlier integer parameter that they
	 * depend on.
	 */
	const struct choice *choices;
	unsigned choice_count; /* at most CHOICES_MAX */
	unsigned selector;
};

/* The distance of a word from the beginning of a table: the sum of both. */
struct table_place {
	uint64_t offset; /* in bytes */
	uint64_t index;	 /* in pointers */
};

static inline uint64_t table_place_bytes(const struct table_place *place, unsigned word)
{
	return place->offset + place->index * word;
}

struct span; /* span.h */

struct prototype {
	const char *name; /* NULL for the guessed one */
	const struct type *result;
	const struct parameter *parameters;
	unsigned parameter_count;
	/*
	 * `NAME(…) @ *SYMBOL+OFFSET;` or `@ *SYMBOL[INDEX];`: the function has no symbol. Its
	 * address is stored at `slot` behind the data symbol `slot_symbol`. NULL for ordinary
	 * functions.
	 */
	const char *slot_symbol;
	struct table_place slot;
	/*
	 * `@ *SYMBOL[INDEX]()[INDEX];`: the function whose address is stored there returns the
	 * address of another table, where this function's address is stored at `table`.
	 */
	bool slot_is_getter;
	struct table_place table;
	/* `fails(…)`: an expression that holds if the call has failed; NULL: the type of the result
	 * tells. See probe/expression.h. */
	const char *fails;
	bool is_unknown; /* see prototype_unknown() */
};

/* The prototypes of one .conf file, or of several files read one after the other. */
struct protolib;

struct protolib *protolib_create(void);
/* NULL is ignored; frees every prototype of the library */
void protolib_destroy(struct protolib *lib);

/*
 * Returns the path of an imported file that is not beside the one that imports it; the caller frees
 * it. NULL: not found. Called only while files are parsed into the library.
 */
typedef char *conf_finder(void *context, const char *name);
void protolib_set_finder(struct protolib *lib, conf_finder *finder, void *context);

/*
 * Sets a function that reads the library's files when a prototype is first asked for. `load` parses
 * them into the library and is called once; it gets `files`, which must outlive the library.
 * `has_places`: the files may have functions that are found through a data word. Without such
 * functions a walk through the library is not worth reading the files.
 */
typedef void protolib_load(void *context, struct protolib *lib, const char *files);
void protolib_set_loader(struct protolib *lib, protolib_load *load, void *context,
			 const char *files, bool has_places);
/* Returns true if the library may have prototypes with a `slot_symbol`. */
bool protolib_has_places(const struct protolib *lib);

/*
 * Called once per error in a .conf file, with a message for the user: `FILE:LINE: expected …, found
 * …`. Parsing continues behind the next ';'.
 */
typedef void conf_error(void *context, const char *file, unsigned line, const char *message);

/*
 * Parses `text` (NUL-terminated) into `lib`. A later prototype of the same name replaces the
 * earlier one. Returns the number of errors reported.
 */
int protolib_parse(struct protolib *lib, const char *file_name, const char *text, conf_error *error,
		   void *context);

/* Reads and parses a file. Returns the number of errors, or -errno if it cannot be read. */
int protolib_read(struct protolib *lib, const char *path, conf_error *error, void *context);

/* Returns the prototype of `name`, owned by the library, or NULL. */
const struct prototype *protolib_find(const struct protolib *lib, const char *name);
/* Returns the prototype of NAME_ARCHITECTURE, else that of NAME, or NULL. */
const struct prototype *protolib_find_on(const struct protolib *lib, const char *name,
					 const char *architecture);

/* Returns the span of that name, owned by the library, or NULL. */
const struct span *protolib_find_span(const struct protolib *lib, const char *name);

/* Walks all prototypes. Begin with *cursor = 0. Returns NULL at the end. */
const struct prototype *protolib_next(const struct protolib *lib, size_t *cursor);

/*
 * The prototype for functions whose calling convention is not known: no arguments are read, and the
 * trace shows `...` and `?`.
 */
const struct prototype *prototype_unknown(void);
/* The prototype for unknown functions: four guessed longs and a guessed result. */
const struct prototype *prototype_guess(void);

/* The prototype of all resolvers of IFUNCs: void *resolver(void). */
const struct prototype *prototype_resolver(void);

/*
 * Returns true if `written`, from a file, may describe the same function as `declared`, from debug
 * information: as many parameters are passed in the same way, as far as C tells. `written` may have
 * more parameters if these are passed only in some calls.
 */
bool prototype_may_be(const struct prototype *written, const struct prototype *declared);

#endif

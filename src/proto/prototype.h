/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prototypes and the library of them that one .conf file makes.
 */
#ifndef TRACER_PROTO_PROTOTYPE_H
#define TRACER_PROTO_PROTOTYPE_H

#include "proto/type.h"

#include <stddef.h>

/* Values of a parameter, cut to 32 bits: the first and the last. */
struct value_range {
	uint32_t first, last;
};

/* One of the types that a parameter may be of. */
struct choice {
	const struct type *type;
	/* With which values of the parameter it depends on: ascending; no two choices have one in
	   common. */
	const struct value_range *values;
	unsigned value_count;
};

enum { CHOICES_MAX = 7 };

enum { TEXT_LOADS_MAX = 2 };

/*
 * Where the text of a string parameter is, if the argument is not its address but that of an object
 * which leads to it: `string @ *(arg1 + 0xf8)`. offset[0] is added to the argument; then, `loads`
 * times, the word there is loaded and the next offset added.
 */
struct text_path {
	/*
	 * `string @ NAME(arg1)`, `string @ *NAME(arg1)`: not NULL, until it is known where that
	 * function of the library finds it. What it returns is loaded from `loads` times then, and
	 * the offsets do not count.
	 */
	const char *accessor;
	bool is_certain; /* a function of the library says so; else what is no text is not shown */
	unsigned loads;
	int32_t offset[TEXT_LOADS_MAX + 1];
};

struct parameter {
	const struct type *type;
	const struct text_path *path; /* NULL: a string begins where the argument points to */
	bool on_return;	  /* '+', here or before: fetched and shown when the call returns */
	bool is_filled;	  /* by the call: it has a '+' of its own, or the result is its length */
	const char *name; /* NULL: it has none */
	/*
	 * 0: always; else it is passed, and shown, only where the integer parameter before it, and
	 * before others of this kind, has one of these bits.
	 */
	uint32_t only_with;
	/*
	 * NULL: it is of `type`. Else it is what one of these says, of which `type` is the first,
	 * and is not passed where none does. All are integers, pointers or strings. `selector`: the
	 * index of the parameter, an integer before it, that they depend on.
	 */
	const struct choice *choices;
	unsigned choice_count; /* at most CHOICES_MAX */
	unsigned selector;
};

/* How far behind the beginning of a table a word is: both added. */
struct table_place {
	uint64_t offset; /* bytes */
	uint64_t index;	 /* pointers */
};

static inline uint64_t table_place_bytes(const struct table_place *place, unsigned word)
{
	return place->offset + place->index * word;
}

struct prototype {
	const char *name; /* NULL for the guessed one */
	const struct type *result;
	const struct parameter *parameters;
	unsigned parameter_count;
	/*
	 * `NAME(…) @ *SYMBOL+OFFSET;` or `@ *SYMBOL[INDEX];`: the function has no symbol; its
	 * address is stored at `slot` behind the data symbol `slot_symbol`. NULL for ordinary
	 * functions.
	 */
	const char *slot_symbol;
	struct table_place slot;
	/*
	 * `@ *SYMBOL[INDEX]()[INDEX];`: the function that is stored there returns the address of
	 * another table, where the one that is meant is stored at `table`.
	 */
	bool slot_is_getter;
	struct table_place table;
	bool is_unknown; /* prototype_unknown() */
};

/* The prototypes of one .conf file, or of several read one after the other. */
struct protolib;

struct protolib *protolib_create(void);
void protolib_destroy(struct protolib *lib); /* NULL is fine; frees every prototype it gave out */

/*
 * Where a file that is imported may be, besides beside the one that imports it: its path, to be
 * freed, or NULL. It is asked as long as the library is parsed into.
 */
typedef char *conf_finder(void *context, const char *name);
void protolib_set_finder(struct protolib *lib, conf_finder *finder, void *context);

/*
 * The library's files are read when it is first asked for what is in them: `load` parses them into
 * it, once. `has_places`: they may have functions that are known by a data word; a walk through a
 * library that has none is not worth reading it. `files`, which `load` gets, outlives the library.
 */
typedef void protolib_load(void *context, struct protolib *lib, const char *files);
void protolib_set_loader(struct protolib *lib, protolib_load *load, void *context,
			 const char *files, bool has_places);
/* Whether there may be prototypes with a `slot_symbol`. */
bool protolib_has_places(const struct protolib *lib);

/*
 * What went wrong in a .conf file, for the user: `FILE:LINE: expected …, found …`. Called once per
 * error; parsing goes on behind the next ';'.
 */
typedef void conf_error(void *context, const char *file, unsigned line, const char *message);

/*
 * Parses `text` (NUL-terminated) into `lib`; a later prototype of the same name replaces the
 * earlier one. Returns the number of errors reported.
 */
int protolib_parse(struct protolib *lib, const char *file_name, const char *text, conf_error *error,
		   void *context);

/* Reads and parses a file: number of errors, or -errno when it cannot be read. */
int protolib_read(struct protolib *lib, const char *path, conf_error *error, void *context);

/* The prototype of `name`, owned by the library, or NULL. */
const struct prototype *protolib_find(const struct protolib *lib, const char *name);
/* The same of NAME_ARCHITECTURE, or else of NAME. */
const struct prototype *protolib_find_on(const struct protolib *lib, const char *name,
					 const char *architecture);

/* Walks all prototypes: start with *cursor = 0; NULL at the end. */
const struct prototype *protolib_next(const struct protolib *lib, size_t *cursor);

/*
 * The prototype of functions of which it is not known either how they are called: no arguments are
 * read, `...` and `?` are shown.
 */
const struct prototype *prototype_unknown(void);
/* The prototype of functions nothing is known about: four guessed longs and a guessed result. */
const struct prototype *prototype_guess(void);

/* That of all resolvers of IFUNCs: void *resolver(void). */
const struct prototype *prototype_resolver(void);

/*
 * Whether `written`, from a file, may be about the function that `declared`, from debug
 * information, is about: as many parameters are passed in the same way, as far as C tells. A file
 * may say more of arguments that vary.
 */
bool prototype_may_be(const struct prototype *written, const struct prototype *declared);

#endif

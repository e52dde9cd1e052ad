/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Filter expressions of -e, -x and -l. A filter is a chain of rules
 *
 *	{[+-][SYMBOL][@LIB]}
 *
 * that is read from left to right: names that match a rule with + (or the first, without a sign)
 * are selected; names that match a later rule with - are deselected. A chain that begins with -
 * starts from all names. Both halves are globs, or regular expressions between slashes (/REGEX/); a
 * half that is missing or empty matches everything. A LIB without wildcards may be a library's
 * short name: libssl.so.3 is also libssl and ssl. The version behind a name, NAME@@VERSION, is
 * dropped. With FILTER_ENTRIES, a filter may also be one of
 *
 *	*SYMBOL+OFFSET=NAME[@LIB], *SYMBOL[INDEX]=NAME[@LIB]
 *
 * which selects the function whose address is stored at a data symbol plus that many bytes or
 * pointers (decimal, 0x hexadecimal, or left out for 0), and calls it NAME.
 */
#ifndef TRACER_PROBE_FILTER_H
#define TRACER_PROBE_FILTER_H

#include "base/vec.h"
#include "probe/pattern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why a rule matched nothing. Of several reasons the one that comes last here is kept. */
enum filter_miss {
	MISS_MODULE,	 /* no such module was loaded */
	MISS_TAKEN_BACK, /* the module was loaded, but later rules deselect all of it */
	MISS_UNCALLED,	 /* -l: the library was loaded, but no module calls it by name */
	MISS_NAME,	 /* the module has no such name, or no call of it */
	/* not all names of a module are known, because its file could not be opened */
	MISS_UNKNOWN,
	MISS_SYMBOLS, /* the module has no symbols at all */
	/* the module uses the function's address, but has no call of it by name */
	MISS_NO_STUB,
	MISS_NO_FUNCTION, /* the name is that of data */
	MISS_EMPTY	  /* the function is known by a data word, which never held an address */
};

/* What the LIB of a rule is compared with. */
enum filter_library { LIBRARY_NAME, LIBRARY_PATH, LIBRARY_MAIN };

struct filter_rule {
	char *text; /* as given, without its sign, for messages; NULL: implied by a leading '-' */
	bool subtracts;
	struct pattern symbol;
	struct pattern module;
	enum filter_library library;
	bool applies;	       /* to the module of filter_enter() */
	bool matched;	       /* a probe was planted for it: see filter_found() */
	enum filter_miss miss; /* valid while not matched */
};

struct filter {
	struct vec rules; /* struct filter_rule */
	/*
	 * For *SYM+OFF=NAME or *SYM[INDEX]=NAME: SYM; the only rule has NAME and LIB. Otherwise
	 * NULL.
	 */
	char *slot_symbol;
	uint64_t slot_offset; /* in bytes */
	uint64_t slot_index;  /* in pointers */
};

enum filter_syntax {
	FILTER_CALLS,	 /* -e */
	FILTER_ENTRIES,	 /* -x */
	FILTER_LIBRARIES /* -l: a rule without '@' is a LIB */
};

/* The names of a module that rules are compared with. */
struct filter_module {
	const char *soname; /* or NULL */
	const char *path;
	bool is_main;
	/*
	 * Further names of the module's file, or NULL: the mapped file, if `path` is a symbolic
	 * link to it, and the name as the program asked for it, which may be relative.
	 */
	const char *mapped, *listed;
	/*
	 * The path of the process's main program, or NULL: a LIB that is its file's name is not
	 * taken as the short name of a library.
	 */
	const char *program;
};

/*
 * Parses one filter. Returns 0, or -EINVAL on a syntax error; then *error gets a message that names
 * the position, which the caller frees. filter_deinit() frees what a valid filter owns.
 */
int filter_parse(struct filter *filter, const char *text, enum filter_syntax syntax, char **error);
void filter_deinit(struct filter *filter);

/*
 * Makes `module` the one that the following calls are about. Returns false if no name in it can be
 * selected.
 */
bool filter_enter(struct filter *filter, const struct filter_module *module);

/*
 * Returns the rule that selects a name of the module entered, or NULL. `name` may have a version,
 * which is ignored.
 */
struct filter_rule *filter_asks(const struct filter *filter, const char *name);

/* Returns true if any rule deselects the name, whatever other rules say. */
bool filter_excludes(const struct filter *filter, const char *name);

/* Returns true if all adding rules that apply to the module entered are plain symbol names. */
bool filter_is_plain(const struct filter *filter);

/* Returns true if functions of the module entered may be selected whose names are unknown. */
bool filter_asks_all(const struct filter *filter);
/* Returns true if a function with this name may be selected in some module. */
bool filter_may_ask(const struct filter *filter, const char *name);

/* Marks all rules that match `name` of the module entered as matched. */
void filter_found(struct filter *filter, const char *name);
/*
 * Notes why `name` was not found in the module entered, with the rules that match it. `name` NULL:
 * for all rules that apply.
 */
void filter_missed(struct filter *filter, const char *name, enum filter_miss miss);

/* Returns true if a filter's text is the name of a function, and nothing else. */
bool filter_is_name(const char *text);

#endif

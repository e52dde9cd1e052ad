/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Filter expressions of -e, -x and -l, and matching names against them. A filter is a chain of
 * rules
 *
 *	{[+-][SYMBOL][@LIB]}
 *
 * read from left to right: what a rule with + (or the first, without a sign) matches is asked for,
 * what a later one with - matches is not any more. A chain that begins with - starts from
 * everything. Both halves are globs, or regular expressions when between slashes (/REGEX/); a half
 * that is missing or empty matches everything. The version behind a name, NAME@@VERSION, is
 * dropped. With FILTER_ENTRIES there is also, alone,
 *
 *	*SYMBOL+OFFSET=NAME[@LIB], *SYMBOL[INDEX]=NAME[@LIB]
 *
 * the function whose address is stored at a data symbol plus so many bytes or pointers (decimal, 0x
 * hexadecimal, or left out for 0), to be called NAME.
 */
#ifndef TRACER_PROBE_FILTER_H
#define TRACER_PROBE_FILTER_H

#include "base/vec.h"
#include "probe/pattern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How near a rule that matched nothing came to it: the last of these that happened. */
enum filter_miss {
	MISS_MODULE,	  /* no such module was loaded */
	MISS_TAKEN_BACK,  /* it was, and later rules have taken all of it back */
	MISS_UNCALLED,	  /* -l: it was, and nobody calls it by name */
	MISS_NAME,	  /* nothing in it has such a name, or nothing there calls it */
	MISS_UNKNOWN,	  /* not all names of a module are known, its file was not to be had */
	MISS_SYMBOLS,	  /* it has no symbols at all */
	MISS_NO_STUB,	  /* its address is taken, but nothing there calls it by its name */
	MISS_NO_FUNCTION, /* what has the name is data */
	MISS_EMPTY	  /* it is known by a data word, which no address was ever found in */
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
	bool matched;	       /* something was ever planted for it: filter_found() */
	enum filter_miss miss; /* while not matched */
};

struct filter {
	struct vec rules; /* struct filter_rule */
	/* *SYM+OFF=NAME or *SYM[INDEX]=NAME: SYM, else NULL; the only rule has NAME and LIB */
	char *slot_symbol;
	uint64_t slot_offset; /* bytes */
	uint64_t slot_index;  /* pointers */
};

enum filter_syntax {
	FILTER_CALLS,	 /* -e */
	FILTER_ENTRIES,	 /* -x */
	FILTER_LIBRARIES /* -l: a rule without '@' is a LIB */
};

/* A module as rules see it. */
struct filter_module {
	const char *soname; /* or NULL */
	const char *path;
	bool is_main;
	/* Further names of its file, or NULL: of what is mapped, as a link has another one; and as
	   the program has asked for it, which may be relative. */
	const char *mapped, *listed;
};

/*
 * Parses one filter. On a syntax error returns -EINVAL and stores a message naming the position in
 * *error (free it). filter_deinit() frees what a good one owns.
 */
int filter_parse(struct filter *filter, const char *text, enum filter_syntax syntax, char **error);
void filter_deinit(struct filter *filter);

/*
 * What is asked from here on is asked about names of `module`. False: whatever they are, none is
 * asked for.
 */
bool filter_enter(struct filter *filter, const struct filter_module *module);

/*
 * The rule by which a name of the module entered is asked for, NULL when it is not. `name` may have
 * a version, which is not compared.
 */
struct filter_rule *filter_asks(const struct filter *filter, const char *name);

/* Whether a rule takes it away, of whatever the chain had before. */
bool filter_excludes(const struct filter *filter, const char *name);

/* Whether only plain names can be asked for in the module entered: those of rules that add. */
bool filter_is_plain(const struct filter *filter);

/* Whether functions of the module entered may be asked for that nobody knows the names of. */
bool filter_asks_all(const struct filter *filter);
/* Whether a function of that name may be asked for in some module. */
bool filter_may_ask(const struct filter *filter, const char *name);

/* `name` of the module entered was found: notes it with all rules that ask for it. */
void filter_found(struct filter *filter, const char *name);
/* It was not, for that reason; `name` NULL: nothing was, of any name. */
void filter_missed(struct filter *filter, const char *name, enum filter_miss miss);

#endif

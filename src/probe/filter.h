/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Filter expressions of -e and -x, and matching names against them. A pattern is NAME[@MODULE], both
 * halves with the globs * ? [] of fnmatch(3); MAIN as MODULE is the main program; or, for -x,
 * *SYMBOL+OFFSET=NAME[@MODULE]: the function whose address is stored at a data symbol plus an offset
 * (decimal, 0x hexadecimal, or left out for 0). A version behind a name, NAME@@VERSION, is dropped.
 */
#ifndef TRACER_PROBE_FILTER_H
#define TRACER_PROBE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How near a filter that matched nothing came to it: the last of these that happened. */
enum filter_miss {
	MISS_MODULE,	  /* no such module was loaded */
	MISS_NAME,	  /* nothing in it has such a name, or nothing there calls it */
	MISS_UNKNOWN,	  /* not all names of a module are known, its file was not to be had */
	MISS_SYMBOLS,	  /* it has no symbols at all */
	MISS_NO_STUB,	  /* its address is taken, but nothing there calls it by its name */
	MISS_NO_FUNCTION, /* what has the name is data */
	MISS_EMPTY	  /* it is known by a data word, which no address was ever found in */
};

struct filter {
	char *text;	   /* as given, for messages */
	char *name;	   /* glob on the symbol; of a slot: what to call the function */
	char *module;	   /* glob on the module, or NULL for any; "MAIN" is kept as it is */
	bool name_is_glob; /* false: a plain name, which may be looked up by hash */
	char *slot_symbol; /* *SYM+OFF=NAME: SYM, else NULL */
	uint64_t slot_offset;
	bool matched;	       /* something was ever planted for it: kept by the caller */
	enum filter_miss miss; /* while not matched; kept by the caller, too */
};

/*
 * Parses one pattern. On a syntax error returns -EINVAL and stores a message naming the position in
 * *error (free it). filter_deinit() frees what a good one owns.
 */
int filter_parse(struct filter *filter, const char *text, bool allow_slot, char **error);
void filter_deinit(struct filter *filter);

/* `name` without a version (anything from the first '@' on is not compared). */
bool filter_matches_name(const struct filter *filter, const char *name);

/*
 * A module is matched by its SONAME, its path, or its file name; a pattern that begins with '/'
 * only by its path. `soname` may be NULL.
 */
bool filter_matches_module(const struct filter *filter, const char *soname, const char *path,
			   bool is_main);

#endif

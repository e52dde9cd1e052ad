/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which places of one module the filters ask for.
 */
#ifndef TRACER_PROBE_MATCH_H
#define TRACER_PROBE_MATCH_H

#include "base/vec.h"
#include "image/elf.h"
#include "probe/filter.h"
#include "proto/prototype.h"

enum match_kind {
	MATCH_CALL,    /* a PLT stub */
	MATCH_ENTRY,   /* a function's entry */
	MATCH_IFUNC,   /* the resolver of an IFUNC: the implementation is to be found */
	MATCH_POINTER, /* a call by a pointer: of the function, if that is what the slot holds */
	MATCH_NO_STUB, /* a slot of a PLT whose stub was not found: cannot be planted */
	MATCH_SLOT,    /* a data word that holds, or will hold, a function's address */
	MATCH_GETTER   /* one whose function returns the address of a table of such words */
};

struct match {
	enum match_kind kind;
	uint64_t address; /* in the file's own address space */
	const char *name; /* what the function is called; owned by file, filter or prototype */
	struct filter_rule *rule; /* that asks for it; lives as long as its filter */
	bool by_name;		  /* it names the function, and not by a pattern */
	uint64_t slot;		  /* of a MATCH_POINTER, in the file's own address space */
	uint64_t resolver;	  /* of an IFUNC's, the same; 0: it is none, or not by IRELATIVE */
	uint64_t table_offset;	  /* of a MATCH_GETTER: bytes from the beginning of that table */
	bool in_code;		  /* which is the call itself (SLOT_CODE): it leads nowhere else */
};

/* A module, as far as filters care. */
struct match_module {
	struct elf_file *file;
	struct decoder *decoder;
	const char *path;
	bool is_main;
	const char *mapped, *listed; /* as in struct filter_module */
	/*
	 * Its .conf file and what holds for every module, each or NULL: they may know functions
	 * that have no symbol, see prototype.slot_symbol.
	 */
	const struct protolib *prototypes[2];
	/*
	 * The file that its debug information is in, if that is another one: what has been stripped
	 * off it may have a name there. NULL: there is none. May itself be NULL.
	 */
	struct elf_file *(*debug_file)(void *context);
	/* The library that a call through a slot goes to, as far as that is known: false if not. */
	bool (*find_library)(void *context, const struct elf_slot *slot, struct filter_module *out);
	void *context;
};

/* Filters of -e (`calls`), -l (`libraries`) and -x (`entries`), vecs of struct filter. */
struct match_filters {
	struct vec calls;
	struct vec libraries;
	struct vec entries;
};

/*
 * Appends a struct match for every place in `module` to `found`, at most one per kind, address
 * and slot. Where several symbols name one address, the plainest is taken: without leading
 * underscores, then the shortest. Rules that found something have `matched` set, in the others
 * `miss` says how near they came; a MATCH_SLOT becomes a find when the word holds an address.
 */
void match_module(const struct match_module *module, const struct match_filters *filters,
		  struct vec *found);

/* The same for -l alone: libraries have come that calls of the module may go to. */
void match_libraries(const struct match_module *module, const struct match_filters *filters,
		     struct vec *found);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the places in one module that the filters select. */
#ifndef TRACER_PROBE_MATCH_H
#define TRACER_PROBE_MATCH_H

#include "base/vec.h"
#include "object/elf.h"
#include "probe/filter.h"
#include "proto/prototype.h"

enum match_kind {
	MATCH_CALL,  /* a PLT stub */
	MATCH_ENTRY, /* a function's entry */
	MATCH_IFUNC, /* the resolver of an IFUNC: the implementation is not known yet */
	/* an indirect call: of the function, if its target equals the GOT slot's contents */
	MATCH_POINTER,
	MATCH_NO_STUB, /* a GOT slot whose calls were not all found: they cannot be planted */
	MATCH_SLOT,    /* a data word that holds, or will hold, a function's address */
	/* a data word that holds the address of a function that returns a table of such words */
	MATCH_GETTER
};

struct match {
	enum match_kind kind;
	uint64_t address;	  /* in the file's own address space */
	const char *name;	  /* the function's name; owned by file, filter or prototype */
	struct filter_rule *rule; /* the rule that selects it; lives as long as its filter */
	bool by_name;		  /* the rule names the function, and not by a pattern */
	uint64_t slot;		  /* MATCH_POINTER: the GOT slot, in the file's own address space */
	/* MATCH_POINTER by an IRELATIVE slot: address of the resolver; otherwise 0 */
	uint64_t resolver;
	uint64_t table_offset; /* MATCH_GETTER: bytes from the beginning of the table */
	/* MATCH_POINTER: the call itself is relocated (SLOT_CODE), so it has no other target */
	bool in_code;
};

/* A module, as far as filters need it. */
struct match_module {
	struct elf_file *file;
	struct decoder *decoder;
	const char *path;
	bool is_main;
	const char *mapped, *listed, *program; /* as in struct filter_module */
	/*
	 * Its .conf file, and the one that applies to every module; each may be NULL. They may
	 * describe functions without a symbol, see prototype.slot_symbol.
	 */
	const struct protolib *prototypes[2];
	/*
	 * Returns the separate file with the module's debug information, which may have the names
	 * of stripped functions, or NULL if there is none. May itself be NULL.
	 */
	struct elf_file *(*debug_file)(void *context);
	/*
	 * Stores the library that a call through a GOT slot goes to. Returns false if it is not
	 * known.
	 */
	bool (*find_library)(void *context, const struct got_slot *slot, struct filter_module *out);
	void *context;
};

/* Filters of -e (`calls`), -l (`libraries`) and -x (`entries`): vecs of struct filter. */
struct match_filters {
	struct vec calls;
	struct vec libraries;
	struct vec entries;
};

/*
 * Appends a struct match for every selected place in `module` to `found`, at most one per kind,
 * address and GOT slot. Of several symbols with one address, the plainest is taken: without leading
 * underscores, then the shortest. Rules that matched get `matched` set, others get `miss` set. A
 * rule with a MATCH_SLOT is marked as matched later, when the word holds an address.
 */
void match_module(const struct match_module *module, const struct match_filters *filters,
		  struct vec *found);

/* Like match_module(), for -l only, after loading libraries that the module may call. */
void match_libraries(const struct match_module *module, const struct match_filters *filters,
		     struct vec *found);

#endif

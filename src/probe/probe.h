/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of probe descriptions, to which records refer by id. A description outlives the module
 * in which the probe was found, so that later records can still be rendered. Equal descriptions
 * share one id, so dlopen and dlclose do not make the table grow. Libraries with ever new names do:
 * when no record will refer to a description any more, its user removes it, and the id is used
 * again.
 */
#ifndef TRACER_PROBE_PROBE_H
#define TRACER_PROBE_PROBE_H

#include "proto/prototype.h"

#include <stdbool.h>
#include <stdint.h>

enum probe_kind {
	PROBE_CALL,  /* a call made from a module through its PLT: -e and the default */
	PROBE_ENTRY, /* the function's own entry: -x */
	PROBE_SYSTEM /* a system call: -S; `module` is SYS */
};

/*
 * Where a function comes from, for those who look for it by another name than that which is shown.
 */
struct probe_origin {
	const char *symbol;   /* as the object file has it, without version; NULL: as it is shown */
	const char *path;     /* of the module; NULL: not known, as for all that follows */
	const char *soname;   /* of the module */
	const char *build_id; /* of the module, in hexadecimal digits */
	bool is_main;	      /* the module is the main program */
};

struct probe_info {
	uint32_t id;	  /* index in its table */
	uint8_t kind;	  /* enum probe_kind */
	const char *name; /* symbol without version, demangled when -C asks for it */
	/* file name of the calling (PROBE_CALL) or defining (PROBE_ENTRY) module */
	const char *module;
	const char *display; /* the beginning of a line: `name`, `caller->name` or `name@lib` */
	const struct prototype *prototype; /* never NULL */
	struct probe_origin origin;	   /* of the first place where it was found */
};

struct probe_table;

struct probe_table *probe_table_create(void);
void probe_table_destroy(struct probe_table *table);

/*
 * Returns the description with these properties, which is created if it is new. All text is copied;
 * `prototype` must outlive the table. The pointer stays valid until the description is removed.
 */
const struct probe_info *probe_table_add(struct probe_table *table, enum probe_kind kind,
					 const char *name, const char *module, const char *display,
					 const struct prototype *prototype);

/* The same with what is known of its origin, which does not tell descriptions apart; or NULL. */
const struct probe_info *probe_table_add_from(struct probe_table *table, enum probe_kind kind,
					      const char *name, const char *module,
					      const char *display,
					      const struct prototype *prototype,
					      const struct probe_origin *origin);

/* Returns the description with the id of a record, or NULL if there is none. */
const struct probe_info *probe_table_get(const struct probe_table *table, uint32_t id);

/*
 * Walks all descriptions. Begin with *cursor = 0. Returns NULL at the end.
 */
const struct probe_info *probe_table_next(const struct probe_table *table, uint32_t *cursor);

/* Frees a description; does nothing if there is none with this id. */
void probe_table_remove(struct probe_table *table, uint32_t id);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is traced: the description of a probe that records refer to by id. It outlives the module it
 * was found in, so that late records can still be rendered; equal descriptions share one id, so
 * that dlopen and dlclose do not make it grow. Libraries of ever new names do: who knows that no
 * record will refer to a description any more removes it, and its id goes to another.
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

struct probe_info {
	uint32_t id;	  /* index in its table */
	uint8_t kind;	  /* enum probe_kind */
	const char *name; /* symbol without version, demangled when -C asks for it */
	const char *
		module; /* file name of the calling (PROBE_CALL) or defining (PROBE_ENTRY) module */
	const char *display; /* what a line begins with: `name`, `caller->name` or `name@lib` */
	const struct prototype *prototype; /* never NULL */
};

struct probe_table;

struct probe_table *probe_table_create(void);
void probe_table_destroy(struct probe_table *table);

/*
 * The description with these properties, made when it is new; all text is copied. `prototype` must
 * outlive the table. The pointer stays good until it is removed.
 */
const struct probe_info *probe_table_add(struct probe_table *table, enum probe_kind kind,
					 const char *name, const char *module, const char *display,
					 const struct prototype *prototype);

/* The description of an id from a record, or NULL when there is none. */
const struct probe_info *probe_table_get(const struct probe_table *table, uint32_t id);

/* Frees a description; no id of one that is there: nothing. */
void probe_table_remove(struct probe_table *table, uint32_t id);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the dwarf*.c files share. Nothing else includes it. */
#ifndef TRACER_PROTO_DWARF_PRIVATE_H
#define TRACER_PROTO_DWARF_PRIVATE_H

#include "base/map.h"
#include "base/vec.h"
#include "image/debug_sections.h"
#include "proto/dwarf.h"
#include "proto/names.h"

#include <dwarf.h>
#include <libdwarf.h>

/* One file as libdwarf sees it. */
struct dwarf_object {
	struct dwarf_reader *reader;
	struct debug_sections sections;
	Dwarf_Obj_Access_Interface access;
	Dwarf_Debug debug; /* NULL: the file could not be read */
};

/* Code of one unit. */
struct unit_range {
	uint64_t start, end;
	uint64_t unit; /* offset of its header in .debug_info */
};

struct dwarf_reader {
	struct dwarf_object main, shared;
	unsigned word; /* bytes of a pointer */
	unsigned steps;

	bool ranges_read, units_read;
	struct vec ranges; /* of struct unit_range, ascending */
	struct map units;  /* offset of its header → struct unit (dwarf_index.c) */
	bool declarations_read;
	struct names declarations; /* name → offset in .debug_info */
};

/* An entry of debug information ("DIE"), or none. Owned: die_drop(). */
struct die {
	struct dwarf_object *object;
	Dwarf_Die handle; /* NULL: none */
};

#define _cleanup_die_ _cleanup_(die_drop)

/* dwarf_die.c: entries. Each step to another one counts; when there have been too many, there are none. */

int dwarf_object_open(struct dwarf_object *object, struct dwarf_reader *reader,
		      struct elf_file *file);
void dwarf_object_close(struct dwarf_object *object);

static inline bool die_is(const struct die *die)
{
	return die->handle != NULL;
}
void die_drop(struct die *die);
/* The entry at an offset in .debug_info. */
struct die die_at(struct dwarf_object *object, uint64_t offset);
struct die die_first_child(const struct die *die);
/* Goes to the next one beside it; false (and none) at the end. */
bool die_advance(struct die *die);
unsigned die_tag(const struct die *die);
uint64_t die_offset(const struct die *die); /* in .debug_info */
bool die_has(const struct die *die, unsigned attribute);
bool die_flag(const struct die *die, unsigned attribute);
/* Good as long as the object is; NULL when it has none. */
const char *die_text(const struct die *die, unsigned attribute);
/* A constant, signed ones as their two's complement. */
bool die_number(const struct die *die, unsigned attribute, uint64_t *value);
/* Where a member is in its struct; false when that depends on the object. */
bool die_member_offset(const struct die *member, uint64_t *offset);
bool die_address(const struct die *die, unsigned attribute, uint64_t *value);
/* The entry that the attribute refers to, or none. */
struct die die_reference(const struct die *die, unsigned attribute);

/* False when there have been too many steps. */
bool may_step(const struct dwarf_object *object);
/* What the first entry of a unit says: whether its functions are called as those of C are. */
bool die_is_of_c(const struct die *first);
unsigned die_version(const struct die *die); /* of its unit */
/* NULL when there is none; to be freed by dwarf_dealloc_attribute(). */
Dwarf_Attribute die_attribute(const struct die *die, unsigned attribute);
/* An offset in a section, or an index of such; false when the attribute is something else. */
bool die_section_offset(const struct die *die, Dwarf_Attribute attribute, unsigned *form,
			uint64_t *value);

/* dwarf_ranges.c */

/*
 * Where the first entry of the unit at `header` is in .debug_info, and where the next unit begins; false at the
 * end, which is also where damage begins.
 */
bool units_next(struct dwarf_reader *reader, uint64_t header, uint64_t *first, uint64_t *next);
/* Called for parts of the code of something: addresses from `start` to before `end`. */
typedef void code_visitor(void *context, uint64_t start, uint64_t end);
/* Visits what an entry says of its code, in its order. `base`: where the code of its unit begins (DW_AT_low_pc). */
void ranges_visit(const struct die *die, uint64_t base, code_visitor *visit, void *context);
/* The unit that has the code at `address`. */
bool ranges_find_unit(struct dwarf_reader *reader, uint64_t address, uint64_t *header);

/* dwarf_index.c */

/* The entry of the function that begins at `address`, or none. */
struct die index_find_function(struct dwarf_reader *reader, uint64_t address);
/* The entry of a declaration, or none. */
struct die index_find_declaration(struct dwarf_reader *reader, const char *name);
void index_deinit(struct dwarf_reader *reader);

/* dwarf_type.c */

/* Whether it can stand for a name in a .conf file. Those of C can, others may be anything. NULL cannot. */
bool type_is_name(const char *text);

/*
 * Adds the type that the attribute DW_AT_type of an entry refers to, `void` if it has none. *by_reference: the
 * object is of a class of C++ whose objects are passed as pointers to them; the type added is that of the pointer. 0,
 * or -ENOTSUP with anything added.
 */
int type_add(struct strbuf *text, const struct die *owner, unsigned word, bool *by_reference);

#endif

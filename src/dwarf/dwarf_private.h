/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the dwarf*.c files share. No other file includes this header. */
#ifndef TRACER_DWARF_DWARF_PRIVATE_H
#define TRACER_DWARF_DWARF_PRIVATE_H

#include "base/map.h"
#include "base/vec.h"
#include "dwarf/dwarf.h"
#include "object/debug_sections.h"
#include "proto/names.h"

#include <dwarf.h>
#include <libdwarf.h>
#include <string.h>

/* One file with debug information. */
struct dwarf_file {
	struct dwarf_reader *reader;
	struct debug_sections sections;
	const uint8_t *information; /* .debug_info; NULL: the file could not be read */
	uint64_t size;		    /* of .debug_info, in bytes */
	struct map slices;	    /* offset of a unit's header plus 1 → struct dwarf_object */
	bool units_listed;
	struct vec units; /* of uint64_t: the offsets of all unit headers, ascending */
};

/*
 * A file as libdwarf sees it: without the part of .debug_info before `base`. libdwarf then need not
 * read the beginnings of all units before this one.
 */
struct dwarf_object {
	struct dwarf_file *file;
	uint64_t base;
	Dwarf_Obj_Access_Interface access;
	Dwarf_Debug debug;
};

/* A range of code of one unit. */
struct unit_range {
	uint64_t start, end;
	uint64_t unit; /* offset of its header in .debug_info */
};

struct dwarf_reader {
	struct dwarf_file main, shared;
	unsigned word;		     /* bytes of a pointer */
	unsigned steps, inner_steps; /* taken so far: in all, and for functions inside of others */
	unsigned steps_max;

	bool ranges_read, units_read;
	bool split; /* a unit was met whose entries are in a .dwo file */
	unsigned scans;
	struct vec ranges; /* of struct unit_range, ascending */
	/* offset of a unit's header plus 1 → not NULL: .debug_aranges has the unit */
	struct map covered;
	struct map units; /* offset of its header → struct unit (dwarf_index.c) */
	bool declarations_read;
	struct names declarations; /* name → place of the declaration (dwarf_index.c) */
	unsigned imports;	   /* imported units that were read */
	/* What is known of the unit of the function that is asked about. */
	bool marks_defaulted;	/* see copy_is_marked() */
	bool marks_prototypes;	/* in C: a function without DW_AT_prototyped has no prototype */
	bool drops_empty;	/* in C++ on x86_64: objects of empty classes are not passed */
	unsigned levels;	/* of pointers that are followed, counted from a parameter */
	struct map definitions; /* place of a struct → its text (dwarf_link.c) */
	struct map manners;	/* class → how its objects are copied (dwarf_copy.c) */
	struct names bodiless;	/* name → definition without code (dwarf_index.c) */
	struct map details;	/* unit → which details it has (dwarf_detail.c) */
};

/* An entry of debug information (DIE), or none. The owner calls die_drop(). */
struct die {
	struct dwarf_object *object;
	Dwarf_Die handle; /* NULL: no entry */
};

#define _cleanup_die_ _cleanup_(die_drop)

/* The unread rest of a section. */
struct bytes {
	const uint8_t *at;
	size_t left;
};

/*
 * Reads a little-endian number of `size` bytes, 8 at most. Returns 0 and empties *bytes if there
 * are not so many left. This is a hot path: a section may have millions of numbers.
 */
static inline uint64_t take(struct bytes *bytes, unsigned size)
{
	uint64_t value = 0;

	if (size > bytes->left) {
		bytes->left = 0;
		return 0;
	}
	if (size == sizeof value)
		memcpy(&value, bytes->at, sizeof value);
	else
		for (unsigned i = size; i--;)
			value = value << 8 | bytes->at[i];
	bytes->at += size;
	bytes->left -= size;
	return value;
}

/* Reads an unsigned LEB128 number. */
static inline uint64_t take_leb(struct bytes *bytes)
{
	uint64_t value = 0;

	for (unsigned shift = 0; bytes->left && shift < 64; shift += 7) {
		uint64_t byte = take(bytes, 1);

		value |= (byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return value;
}

/*
 * dwarf_die.c: entries. Each move to another entry counts as a step. When the steps are used up,
 * these functions return no entry.
 */

static inline bool die_is(const struct die *die)
{
	return die->handle != NULL;
}
void die_drop(struct die *die);
/*
 * The number of references that are followed to find an attribute that an entry lacks. References
 * may form circles.
 */
enum { ORIGINS_MAX = 4 };

/* Called for each range of code: addresses from `start` to before `end`. */
typedef void code_visitor(void *context, uint64_t start, uint64_t end);
/* What a unit contributes to reading its lists of ranges and of locations. */
struct unit_code {
	uint64_t base;	 /* base address: where the unit's code begins */
	uint64_t lists;	 /* offset of the unit's table in .debug_rnglists */
	uint64_t places; /* offset of the unit's table in .debug_loclists */
	unsigned offset_size;
};
void ranges_learn(const struct die *first, struct unit_code *code);
/* Units that may have the same code: linkers merge identical functions. */
enum { UNITS_AT_ONCE_MAX = 8 };

/* The layout of an object in memory. */
struct type_layout {
	uint64_t size;
	unsigned align;
	/* by value, an object with the members that the text shows is passed like this one */
	bool exact;
	bool is_aligned; /* aligned further than the text can express */
	bool is_vain;	 /* holds no data, like an object of an empty class */
};

/* State while one type is written. */
struct type_writer {
	struct strbuf *text;
	unsigned word;
	unsigned depth; /* structs and pointers around what is written now */
	bool is_closed; /* pointers to structs are written as addresses */
};

/* The type of an object that takes up no place among the arguments. */
#define TYPE_EMPTY "struct()"

enum type_passing {
	PASSED_BY_VALUE,     /* like in C */
	PASSED_BY_REFERENCE, /* by a pointer to the object; a result by a pointer to its place */
	PASSED_SOMEHOW	     /* not known */
};

/* Returns how an object of a record is passed by value. */
enum type_passing type_find_passing(const struct die *type);

/* Bytes of the largest object that is passed in registers (x86_64). */
enum { PASSED_IN_REGISTERS = 16 };

/* The registers that hold an object on x86_64; none of them: the object is in memory. */
struct type_registers {
	unsigned integers, floats;
	bool begins_with_float;
};

/* What place_find() has to know of a function. */
struct beginning {
	struct unit_code code;
	uint64_t address;
	bool is_of_clang;
	bool drops;		 /* a parameter without a location is not passed */
	bool counts_from_caller; /* gcc: frame offsets count from the call-frame address */
	/* a location for the whole function holds at its first instruction, too */
	bool follows_variables;
	unsigned word;			  /* bytes of a pointer */
	int stack_pointer, frame_pointer; /* DWARF numbers of registers, or NO_REGISTER */
};

/* Values in place of a register number. */
enum {
	NO_REGISTER = -1,
	NOT_PASSED = -2, /* the debug information has no place for it */
	CALLERS_FRAME = -3,
	OWN_FRAME = -4,
	/*
	 * what gcc's frame offsets count from: the last word that the caller has pushed before the
	 * call
	 */
	CALLERS_END = -5
};

/* A parameter, and where it is at the first instruction of its function. */
struct call_place {
	/* offset in .debug_info of the parameter, or of the one it is an instance of */
	uint64_t parameter;
	int number;	/* DWARF number of a register; negative: NO_REGISTER to OWN_FRAME */
	uint16_t bytes; /* bit n: there is a location for byte n of the object */
	int base;	/* what `offset` counts from: a register, or CALLERS_END */
	int64_t offset; /* signed */
	bool is_listed; /* found in a location list, so it is no copy that the function made */
};

enum { ALL_BYTES = UINT16_MAX };

/* Parameters of a function that are examined. */
enum { PARAMETERS_MAX = 32 };

/*
 * The locations of all parameters, and what the result and the parameters so far need by the ABI.
 */
struct call_places {
	struct call_place items[PARAMETERS_MAX];
	unsigned count;
	unsigned word;
	bool is_complete;	   /* a parameter without an item is not passed */
	unsigned integers, floats; /* registers used up, of each kind */
	bool is_over;		   /* it is not known where the ABI passes the next parameters */
	bool promotes;		   /* float is passed as double */
	/* the function is local: its compiler was free to change the calling convention */
	bool is_own;
	/* On i386: the parameters on the stack. */
	int64_t stack; /* bytes used up; negative: not known */
	int64_t shift; /* what to add to `stack` to get an offset from the stack pointer */
	bool is_shifted, is_doubtful, has_hidden;
};

#endif

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
#include <string.h>

/* One file. */
struct dwarf_file {
	struct dwarf_reader *reader;
	struct debug_sections sections;
	const uint8_t *information; /* .debug_info; NULL: the file could not be read */
	uint64_t size;		    /* of that */
	struct map slices;	    /* offset of a unit's header plus 1 → struct dwarf_object */
	bool units_listed;
	struct vec units; /* of uint64_t: the offsets of all headers, ascending; see units_next() */
};

/*
 * A file as libdwarf sees it: without the part of .debug_info before `base`, so that it need not
 * read the beginnings of all units there to get at this one.
 */
struct dwarf_object {
	struct dwarf_file *file;
	uint64_t base;
	Dwarf_Obj_Access_Interface access;
	Dwarf_Debug debug;
};

/* Code of one unit. */
struct unit_range {
	uint64_t start, end;
	uint64_t unit; /* offset of its header in .debug_info */
};

struct dwarf_reader {
	struct dwarf_file main, shared;
	unsigned word;		     /* bytes of a pointer */
	unsigned steps, inner_steps; /* all of them, and those for functions inside of others */
	unsigned steps_max;

	bool ranges_read, units_read;
	bool split; /* a unit was met whose entries are in a file of its own */
	unsigned scans;
	struct vec ranges; /* of struct unit_range, ascending */
	struct map
		covered; /* offset of a unit's header plus 1 → the same: it is in .debug_aranges */
	struct map units; /* offset of its header → struct unit (dwarf_index.c) */
	bool declarations_read;
	struct names declarations; /* name → place (dwarf_index.c) */
	unsigned imports;	   /* units that were looked at for others */
	/* Of the unit that is asked about. */
	bool marks_defaulted;	/* copy_is_marked() */
	bool marks_prototypes;	/* in C: functions without a mark have none */
	bool drops_empty;	/* in C++: on x86_64 objects of empty classes are not passed */
	unsigned levels;	/* of pointers that are followed from a parameter on */
	struct map definitions; /* place of a struct → how it is written (dwarf_link.c) */
	struct map manners;	/* class → how its objects are copied (dwarf_copy.c) */
	struct names bodiless;	/* name → definition without code (dwarf_index.c) */
	struct map details;	/* unit → what it tells of (dwarf_detail.c) */
};

/* An entry of debug information ("DIE"), or none. Owned: die_drop(). */
struct die {
	struct dwarf_object *object;
	Dwarf_Die handle; /* NULL: none */
};

#define _cleanup_die_ _cleanup_(die_drop)

/* dwarf_file.c: files and their units */

/*
 * 0, or -ENOENT: there is no debug information, or it cannot be unpacked; -ENOTSUP: there is some
 * that nobody here knows how to unpack.
 */
int dwarf_file_open(struct dwarf_file *file, struct dwarf_reader *reader, struct elf_file *elf);
void dwarf_file_close(struct dwarf_file *file);
/* Gives back memory. There must be no entries of the file. */
void dwarf_file_trim(struct dwarf_file *file);
/* The view that begins with the unit whose header is there; NULL when libdwarf does not take it. */
struct dwarf_object *dwarf_file_slice(struct dwarf_file *file, uint64_t header);
/* Where the header of the unit is that has the entry at `offset` of .debug_info. */
bool dwarf_file_unit_of(struct dwarf_file *file, uint64_t offset, uint64_t *header);
/*
 * Where the first entry of the unit at `header` is in .debug_info, and where the next unit begins;
 * false at the end, which is also where damage begins.
 */
bool units_next(struct dwarf_file *file, uint64_t header, uint64_t *first, uint64_t *next);
/* Whether one more step may be done. */
bool may_step(const struct dwarf_file *file);

/* What is left of a section. */
struct bytes {
	const uint8_t *at;
	size_t left;
};

/* The contents of a section from `offset` on; none when it is not there. */
struct bytes section_bytes(struct dwarf_file *file, const char *name, uint64_t offset);

/*
 * A number of up to 8 bytes; 0, and nothing left, when it is not there. There may be millions of
 * them.
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

/* A number of 7 bits in each byte. */
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
 * dwarf_die.c: entries. Each step to another one counts; when there have been too many, there are
 * none.
 */

static inline bool die_is(const struct die *die)
{
	return die->handle != NULL;
}
void die_drop(struct die *die);
/* The entry at an offset in .debug_info. */
struct die die_at(struct dwarf_file *file, uint64_t offset);
struct die die_first_child(const struct die *die);
/* Goes to the next one beside it; false (and none) at the end. */
bool die_advance(struct die *die);
unsigned die_tag(const struct die *die);
uint64_t die_offset(const struct die *die); /* in .debug_info */
/* Something else for each entry in .debug_info of the main file; 0 for those that are elsewhere. */
uint64_t die_key(const struct die *die);
bool die_is_same(const struct die *a, const struct die *b);
/* Where any entry is, so that it can be had again; 0: that is not known. */
uint64_t die_place(const struct die *die);
struct die die_of_place(struct dwarf_reader *reader, uint64_t place);
bool die_has(const struct die *die, unsigned attribute);
bool die_flag(const struct die *die, unsigned attribute);
/* Whether a function, or a base class, is virtual: found by a table only. */
bool die_is_virtual(const struct die *die);
/* Good as long as the object is; NULL when it has none. */
const char *die_text(const struct die *die, unsigned attribute);
/* A constant, signed ones as their two's complement. */
bool die_number(const struct die *die, unsigned attribute, uint64_t *value);
/* Where a member is in its struct; false when that depends on the object. */
bool die_member_offset(const struct die *member, uint64_t *offset);
/* The first bit of a bit-field in its struct. `bits` are its own, `size` the bytes of its type. */
bool die_bit_offset(const struct die *member, uint64_t bits, uint64_t size, uint64_t *offset);
bool die_address(const struct die *die, unsigned attribute, uint64_t *value);
/* The entry that the attribute refers to, or none. */
struct die die_reference(const struct die *die, unsigned attribute);
/*
 * How many references are followed from one entry to the next that says what it does not: they may
 * go in circles.
 */
enum { ORIGINS_MAX = 4 };
/* That of which an entry is an instance, or else its declaration; or none. */
struct die die_told_by(const struct die *die);
/*
 * What an entry is an instance of in the end, or itself; takes it over. None, if there is no end.
 */
struct die die_last_origin(struct die die);
/* Whether a function has any; or_variable: `...` is one. */
bool die_has_parameters(const struct die *function, bool or_variable);

/* The first entry of its unit. */
struct die die_unit(const struct die *die);
/* What the first entry of a unit says: whether its functions are called as those of C are. */
bool die_is_of_c(const struct die *first);
/* The same as those of Go's compiler. */
bool die_is_of_go(const struct die *first);
/* And that it is C; false also when it says nothing. */
bool die_is_of_c_itself(const struct die *first);
unsigned die_version(const struct die *die);	 /* of its unit */
unsigned die_offset_size(const struct die *die); /* 4 or 8, of its unit */
/* NULL when there is none; to be freed by dwarf_dealloc_attribute(). */
Dwarf_Attribute die_attribute(const struct die *die, unsigned attribute);
/* An offset in a section, or an index of such; false when the attribute is something else. */
bool die_section_offset(const struct die *die, Dwarf_Attribute attribute, unsigned *form,
			uint64_t *value);
/* The bytes that an attribute is; false when it is something else. */
bool die_block(const struct die *die, Dwarf_Attribute attribute, struct bytes *block);
/* An address from .debug_addr, which libdwarf knows how to find; 0 when there is none. */
uint64_t die_indexed_address(const struct die *die, uint64_t index);

/* dwarf_ranges.c */

/* Called for parts of the code of something: addresses from `start` to before `end`. */
typedef void code_visitor(void *context, uint64_t start, uint64_t end);
/* What has to be known of a unit to read lists of ranges and of places. */
struct unit_code {
	uint64_t base;	 /* where its code begins */
	uint64_t lists;	 /* its table in .debug_rnglists */
	uint64_t places; /* and in .debug_loclists */
	unsigned offset_size;
};
void ranges_learn(const struct die *first, struct unit_code *code);
/* Visits what an entry says of its code, in its order. */
void ranges_visit(const struct die *die, const struct unit_code *code, code_visitor *visit,
		  void *context);
/* Units that may have the same code, which linkers put into one place. */
enum { UNITS_AT_ONCE_MAX = 8 };

/* The units that have the code at `address`, their number as result; not all of them if many do. */
unsigned ranges_find_units(struct dwarf_reader *reader, uint64_t address,
			   uint64_t headers[UNITS_AT_ONCE_MAX]);

/* dwarf_index.c */

/*
 * The entry of the function that begins at `address` and is called `name`, or of which that is an
 * alias; none where that is not known for sure.
 */
struct die index_find_function(struct dwarf_reader *reader, uint64_t address, const char *name);
/* The entry of a declaration, or none. */
struct die index_find_declaration(struct dwarf_reader *reader, const char *name);
void index_deinit(struct dwarf_reader *reader);

/* dwarf_detail.c */

/*
 * Whether a function is described. Else nothing is known but its name, and an entry without result
 * and parameters does not mean that it has none. `unit` begins the unit of an instance of it, or
 * its own.
 */
bool detail_is_told(const struct die *function, const struct die *unit);

/* dwarf_type.c */

/*
 * Whether it can stand for a name in a .conf file. Those of C can, others may be anything. NULL
 * cannot.
 */
bool type_is_name(const char *text);

/* An object as it lies in memory. */
struct type_layout {
	uint64_t size;
	unsigned align;
	bool exact;	 /* by what the text says of it, it would be passed by value as it is */
	bool is_aligned; /* further than the text can say */
	bool is_vain;	 /* there is no data in it, as in objects of empty classes */
};

/* On the way through one type. */
struct type_writer {
	struct strbuf *text;
	unsigned word;
	unsigned depth; /* structs around, and pointers */
	bool is_closed; /* pointers to structs are addresses */
};

bool type_is_full(const struct type_writer *writer);
/* Takes back what was added since the text was so long. */
void type_cut_back(struct type_writer *writer, size_t length);
/*
 * What is behind typedefs and qualifiers; *is_const is set if one of these was there. Takes `type`
 * over.
 */
struct die type_peel(struct die type, bool *is_const);
/* The same; *is_text: it is a character of 1, 2 or 4 bytes, by its name or one on the way to it. */
struct die type_peel_text(struct die type, bool *is_const, bool *is_text);
/*
 * The language's name for a wide character, as which `owner` (a parameter, a member) has the type,
 * or NULL. `type` and `is_text` are what type_peel_text() found of the owner's type.
 */
const char *type_wide_character(const struct die *owner, const struct die *type, bool is_text);
/* A type without typedefs and qualifiers. 0, or -ENOTSUP, when something may have been added. */
int type_add_object(struct type_writer *writer, const struct die *type, struct type_layout *layout);

/*
 * Adds the type that the attribute DW_AT_type of an entry refers to, `void` if it has none.
 * *by_reference: the object is of a class of C++ whose objects are passed as pointers to them; the
 * type added is that of the pointer. 0, or -ENOTSUP with anything added.
 */
int type_add(struct strbuf *text, const struct die *owner, unsigned word, bool *by_reference);

/* An object that nothing is passed of. */
#define TYPE_EMPTY "struct()"

/*
 * dwarf_link.c: pointers to structs. Adds a mark that stands for one, in an object, or where a
 * parameter or the result points to it; the text must be resolved in the end. False, with nothing
 * added: it is to be an address.
 */
bool link_add(struct type_writer *writer, const struct die *target);
bool link_add_root(struct type_writer *writer, const struct die *target);
/* Puts what they stand for in the place of the marks from `start` on, and typedefs in front. */
void links_resolve(struct dwarf_reader *reader, struct strbuf *text, size_t start);
void links_deinit(struct dwarf_reader *reader);

/* dwarf_struct.c: structs, unions, classes, and arrays */

bool type_is_record(unsigned tag);
/* One that is shown where something points to it: what C could have, too, and small classes. */
bool type_is_shown(const struct die *type);
/* Whether a child of a record is a part of its objects. */
bool type_has_part(const struct die *child);
/* As type_add_object(). */
int type_add_struct(struct type_writer *writer, const struct die *type, struct type_layout *layout);
int type_add_array(struct type_writer *writer, const struct die *type, struct type_layout *layout);
/* How many elements an array has in all; false when that is not known, or too much. */
bool type_array_length(const struct die *type, uint64_t *length);

/* dwarf_copy.c: what C++ does with objects */

enum type_passing {
	PASSED_BY_VALUE,     /* as in C */
	PASSED_BY_REFERENCE, /* a pointer to it takes its place, also where the result shall go */
	PASSED_SOMEHOW	     /* that is not known */
};

/* How an object of a record is passed by value. */
enum type_passing type_find_passing(const struct die *type);
/*
 * Whether the unit with this first entry has what is needed to find that out, which is then in
 * marks_defaulted.
 */
bool copy_is_marked(const struct die *first);

/* dwarf_passing.c */

/* Bytes of the largest object that is passed in registers. */
enum { PASSED_IN_REGISTERS = 16 };

/*
 * Whether an object that was given this alignment is passed on the stack, so that what it is made
 * of does not matter.
 */
bool type_is_in_memory(const struct type_writer *writer, const struct die *type, unsigned align);

/* The registers that an object is in on x86_64; none: it is in memory. */
struct type_registers {
	unsigned integers, floats;
	bool begins_with_float;
};

/* How a record is passed if there are enough of them left. False: that is not known. */
bool type_find_registers(const struct die *type, struct type_registers *out);

/*
 * Adds a struct of words that is passed by value as an object of this type, of which nothing else
 * can be said. -ENOTSUP: it is not known how that is passed, or no struct is passed so.
 */
int type_add_passed(struct type_writer *writer, const struct die *type);

/* dwarf_place.c: where parameters are when their function begins */

/* What has to be known of a function to find its parameters. */
struct beginning {
	struct unit_code code;
	uint64_t address;
	bool is_of_clang;
	bool drops;		 /* what has no place is not passed */
	bool counts_from_caller; /* gcc: offsets in the frame are from what the caller has in it */
	bool follows_variables; /* what is said of the whole function holds at its beginning, too */
	unsigned word;		/* bytes of a pointer */
	int stack_pointer, frame_pointer; /* registers, in DWARF; or NO_REGISTER */
};

/* What else than the number of a register there is. */
enum {
	NO_REGISTER = -1,
	NOT_PASSED = -2, /* as far as is told */
	CALLERS_FRAME = -3,
	OWN_FRAME = -4,
	CALLERS_END = -5 /* what gcc counts from: what the caller has put on the stack last */
};

/* A parameter, and what is known of where it is when the function begins. */
struct call_place {
	uint64_t parameter; /* offset in .debug_info: of that of which it is an instance, if any */
	int number;	    /* of the register, in DWARF; negative: one of these */
	uint16_t bytes;	    /* a bit for each of the first 16 that there is something of */
	int base;	/* what the place in a frame is counted from: a register, or CALLERS_END */
	int64_t offset; /* signed */
	bool is_listed; /* in a list of places, so it is no copy that the function has made */
};

enum { ALL_BYTES = UINT16_MAX };

/* All of *place but which parameter it is of. */
void place_find(const struct die *parameter, const struct beginning *beginning,
		struct call_place *place);

/* dwarf_go.c: the prototype of a function of Go with code at `address`; as dwarf_reader_go(). */
int go_describe(const struct die *function, const struct die *unit, uint64_t address,
		struct strbuf *text);

/* dwarf_call.c: functions that are not called as the ABI says */

/* Parameters of a function that are looked at. */
enum { PARAMETERS_MAX = 32 };

/* All of them, and what the ABI has used up for the result and the parameters so far. */
struct call_places {
	struct call_place items[PARAMETERS_MAX];
	unsigned count;
	unsigned word;
	bool is_complete;	   /* parameters that are not among them are not passed */
	unsigned integers, floats; /* registers of each kind */
	bool is_over;		   /* it is not known where the ABI has those that come */
	bool promotes;		   /* float is passed as double */
	bool is_own;		   /* how it is called is the compiler's own affair */
	/* On i386: what was found on the stack. */
	int64_t stack; /* bytes of it; negative: they are not known */
	int64_t shift; /* from there to the offsets from the stack pointer */
	bool is_shifted, is_doubtful, has_hidden;
};

/*
 * The places in the entry with the code that begins at `address`, which may be an instance of
 * another entry. is_local: nobody outside of the object can call it.
 */
void call_find_places(const struct die *function, uint64_t address, bool is_local,
		      struct call_places *places);
/* False: an entry of a function says that it is not called as the ABI says. */
bool call_is_of_c(const struct die *function, unsigned word);
/* Takes what the result needs; `owner` has its type, by_reference is that of type_add(). */
void call_add_result(struct call_places *places, const struct die *owner, bool by_reference);
/*
 * Takes what the next parameter needs; `owner` has its type. False: it is in a register when the
 * function begins, and the ABI has it elsewhere, or it is not passed.
 */
bool call_add_parameter(struct call_places *places, const struct die *parameter,
			const struct die *owner, bool by_reference);
/* After all of them. False: there is nothing by which it could be known where they are. */
bool call_is_known(const struct call_places *places);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How C++ passes objects of a class by value: in registers or on the stack, like C; or by a pointer
 * to an object that the caller has made, and a result by a pointer to its place. The Itanium C++
 * ABI (3.1.1, "non-trivial for the purposes of calls"; the psABIs refer to it) uses pointers if the
 * class has a non-trivial copy constructor, move constructor or destructor, or if all its copy and
 * move constructors are deleted.
 *
 * clang records the result (DW_AT_calling_convention). gcc does not; it records which of these
 * functions were declared, deleted and defaulted. From that, and by the rules of C++ for functions
 * that are not declared ([class.copy.ctor], [class.dtor]), this file derives what each operation
 * (destroying, copying, moving) is:
 *
 *  - a call, if the user declared the function and defined its body;
 *  - deleted, if it is marked so, if other declarations suppress it, or if a part has none;
 *  - else what the parts (members and bases) have: a call if one of them has a call;
 *  - unknown, if access is restricted and so depends on the caller; if conditions choose one of
 *    several functions; or if a second parameter may have a default.
 *
 * An unknown operation makes the result unknown, unless another operation decides. The function
 * then gets no prototype from debug information: guessed arguments are better than wrong ones.
 *
 * Only gcc from version 8 on is relied on: it marks what is defaulted, except with -gstrict-dwarf
 * and DWARF 4, and it follows the ABI for deleted functions. For other compilers only those classes
 * are known that C could have, too.
 */
#include "dwarf/dwarf_copy.h"

#include "base/cleanup.h"
#include "dwarf/dwarf_die.h"
#include "dwarf/dwarf_private.h"
#include "dwarf/dwarf_struct.h"
#include "dwarf/dwarf_type.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 16, GCC_THAT_MARKS = 8 };

/* What an operation on an object does, ordered by precedence: the highest one of the parts wins. */
enum how {
	BITS, /* bits are copied; destroying does nothing */
	CALLS,
	DELETED,
	UNKNOWN,
	ABSENT /* there is no move constructor: moving copies */
};

enum operation { DESTROY, COPY, MOVE, OPERATIONS };

/* What a class does for each operation: enum how. */
struct manner {
	uint8_t how[OPERATIONS];
	uint8_t is_restricted; /* a bit for each operation that is not public */
};

/* The declarations of one operation. */
struct declared {
	unsigned count;
	bool provided, is_deleted, maybe;
};

/* What a class declares. */
struct class_facts {
	const struct die *type;
	const char *name;   /* NULL: it has none */
	bool has_functions; /* the user declared functions */
	bool is_plain;	    /* C could have the class, too, apart from its parts */
	bool is_virtual;
	bool copy_assigned, move_assigned; /* assignment operators are declared */
	struct declared declared[OPERATIONS];
	/* The parts together: with the access of any user, and with access to all operations. */
	struct manner parts, open_parts;
	uint8_t restricted;
	unsigned depth;
};

static struct manner judge(const struct die *type, unsigned depth);

/* ------------------------------------------------------------------ parts */

static void add_how(uint8_t *all, uint8_t how)
{
	if (how > *all)
		*all = how;
}

static void add_part(struct class_facts *facts, const struct manner *part)
{
	const bool is_union = die_tag(facts->type) == DW_TAG_union_type;

	for (unsigned i = 0; i < OPERATIONS; i++) {
		uint8_t how = part->how[i], by = (uint8_t)(1U << i);

		if (how == ABSENT) {
			how = part->how[COPY];
			by = 1U << COPY;
		}
		/* The active member of a union is not known. */
		if (is_union && how == CALLS)
			how = DELETED;
		/* An object that cannot be destroyed is not made. */
		if (i != DESTROY && part->how[DESTROY] == DELETED)
			how = UNKNOWN;
		add_how(&facts->open_parts.how[i], how);
		add_how(&facts->parts.how[i], part->is_restricted & by ? UNKNOWN : how);
	}
}

static void look_at_part(struct class_facts *facts, const struct die *child)
{
	static const struct manner unknown = {.how = {UNKNOWN, UNKNOWN, UNKNOWN}};
	static const struct manner moved = {.how = {BITS, DELETED, BITS}};
	bool is_const = false;
	_cleanup_die_ struct die type = type_peel(die_reference(child, DW_AT_type), &is_const);

	for (unsigned i = 0; die_is(&type) && die_tag(&type) == DW_TAG_array_type; i++) {
		struct die element = i < DEPTH_MAX ? die_reference(&type, DW_AT_type)
						   : (struct die){0};

		die_drop(&type);
		type = type_peel(element, &is_const);
	}
	if (!die_is(&type)) {
		add_part(facts, &unknown);
	} else if (die_tag(&type) == DW_TAG_rvalue_reference_type) {
		add_part(facts, &moved);
	} else if (type_is_record(die_tag(&type))) {
		const struct manner part = judge(&type, facts->depth + 1);

		add_part(facts, &part);
	}
}

/* ------------------------------------------------------------------ functions */

/* An instance of a template is never a copy or move constructor, assignment or destructor. */
static bool is_template_child(unsigned tag)
{
	return tag == DW_TAG_template_type_parameter || tag == DW_TAG_template_value_parameter ||
	       tag == DW_TAG_GNU_template_template_param ||
	       tag == DW_TAG_GNU_template_parameter_pack;
}

/* The parameters of a function. */
struct taken {
	unsigned count;	     /* of parameters, without `this` and those that the compiler adds */
	bool is_of_template; /* the function is an instance of a template */
	bool is_own;	     /* the first is a reference to an object of the class */
	bool is_moved;	     /* the first is an rvalue reference */
	bool is_like_own;    /* the first may be a reference to an object of the class */
};

static void look_at_first(const struct class_facts *facts, const struct die *parameter,
			  struct taken *taken)
{
	bool is_const = false;
	_cleanup_die_ struct die type = type_peel(die_reference(parameter, DW_AT_type), &is_const);
	const unsigned tag = die_is(&type) ? die_tag(&type) : 0;

	taken->is_like_own = !tag;
	if (tag != DW_TAG_reference_type && tag != DW_TAG_rvalue_reference_type)
		return;
	_cleanup_die_ struct die target = type_peel(die_reference(&type, DW_AT_type), &is_const);
	const char *name = die_is(&target) ? die_text(&target, DW_AT_name) : NULL;

	taken->is_moved = tag == DW_TAG_rvalue_reference_type;
	taken->is_own = die_is(&target) && die_is_same(&target, facts->type);
	taken->is_like_own = !die_is(&target) || (type_is_record(die_tag(&target)) &&
						  (!name || !strcmp(name, facts->name)));
}

static void look_at_parameters(const struct class_facts *facts, const struct die *function,
			       struct taken *taken)
{
	_cleanup_die_ struct die child = die_first_child(function);

	while (die_is(&child)) {
		const unsigned tag = die_tag(&child);

		taken->is_of_template |= is_template_child(tag);
		if (tag == DW_TAG_formal_parameter && !die_flag(&child, DW_AT_artificial) &&
		    !taken->count++)
			look_at_first(facts, &child, taken);
		if (!die_advance(&child))
			break;
	}
}

static void note(struct class_facts *facts, enum operation operation, const struct die *function)
{
	const bool is_class = die_tag(facts->type) == DW_TAG_class_type;
	struct declared *declared = &facts->declared[operation];
	uint64_t access = is_class ? DW_ACCESS_private : DW_ACCESS_public;
	uint64_t defaulted = 0;

	die_number(function, DW_AT_accessibility, &access);
	if (access != DW_ACCESS_public)
		facts->restricted |= (uint8_t)(1U << operation);
	die_number(function, DW_AT_defaulted, &defaulted);
	declared->count++;
	if (die_flag(function, DW_AT_deleted))
		declared->is_deleted = true;
	else if (defaulted != DW_DEFAULTED_in_class)
		declared->provided = true;
}

/* Compares the names without template arguments. */
static bool is_constructor(const char *name, const char *class_name)
{
	const size_t length = strcspn(class_name, "<");

	return strcspn(name, "<") == length && !strncmp(name, class_name, length);
}

static void look_at_function(struct class_facts *facts, const struct die *function)
{
	const char *name = die_text(function, DW_AT_name);
	struct taken taken = {0};

	facts->is_plain = false;
	facts->is_virtual |= die_is_virtual(function);
	if (die_flag(function, DW_AT_artificial) || !name)
		return;
	facts->has_functions = true;
	if (*name == '~') {
		note(facts, DESTROY, function);
		return;
	}
	const bool is_assignment = !strcmp(name, "operator=");

	if (!facts->name || (!is_assignment && !is_constructor(name, facts->name)))
		return;
	look_at_parameters(facts, function, &taken);
	if (taken.is_of_template || !(taken.is_own || taken.is_like_own))
		return;
	if (is_assignment) {
		*(taken.is_moved ? &facts->move_assigned : &facts->copy_assigned) = true;
	} else if (!taken.is_own) {
		facts->declared[COPY].maybe = facts->declared[MOVE].maybe = true;
	} else if (taken.count > 1) {
		/* It is a copy or move constructor if the other parameters have defaults. */
		facts->declared[taken.is_moved ? MOVE : COPY].maybe |=
			!facts->declared[taken.is_moved ? MOVE : COPY].count;
	} else {
		note(facts, taken.is_moved ? MOVE : COPY, function);
	}
}

/* ------------------------------------------------------------------ conclusions */

/*
 * Decides by the declarations of an operation. Without any, the result is `nothing`, or that of the
 * parts if `nothing` is BITS.
 */
static enum how conclude(const struct class_facts *facts, enum operation operation,
			 enum how nothing)
{
	const struct declared *declared = &facts->declared[operation];

	if (declared->count > 1 || declared->maybe)
		return UNKNOWN;
	if (declared->provided)
		return CALLS;
	if (declared->is_deleted)
		return DELETED;
	if (!declared->count && nothing != BITS)
		return nothing;
	/*
	 * The destructor of an object that is passed is accessible, as the object is destroyed. A
	 * defaulted function would be marked as deleted if it could not use the parts.
	 */
	const bool may = declared->count || operation == DESTROY;
	const enum how parts = (may ? &facts->open_parts : &facts->parts)->how[operation];

	if (declared->count && parts == DELETED)
		return UNKNOWN;
	return parts == BITS && facts->is_virtual && operation != DESTROY ? CALLS : parts;
}

static struct manner conclude_all(const struct class_facts *facts)
{
	const bool moves = facts->declared[MOVE].count || facts->move_assigned;
	const bool others = facts->declared[COPY].count || facts->declared[DESTROY].count ||
			    facts->copy_assigned || facts->move_assigned;
	enum how move = conclude(facts, MOVE, others ? ABSENT : BITS);

	/*
	 * A move constructor that is implicit or defaulted, and would be deleted, does not exist.
	 */
	if (move == DELETED && !facts->declared[MOVE].is_deleted)
		move = ABSENT;
	return (struct manner){.how = {conclude(facts, DESTROY, BITS),
				       conclude(facts, COPY, moves ? DELETED : BITS), move},
			       .is_restricted = facts->restricted};
}

/* Reads the children of the class. Returns false if they are not enough to decide. */
static bool gather(struct class_facts *facts)
{
	const bool marks = facts->type->object->file->reader->marks_defaulted;
	_cleanup_die_ struct die child = die_first_child(facts->type);

	while (die_is(&child)) {
		const unsigned tag = die_tag(&child);

		if (tag == DW_TAG_subprogram)
			look_at_function(facts, &child);
		else if (type_has_part(&child))
			look_at_part(facts, &child);
		if (tag == DW_TAG_inheritance) {
			facts->is_plain = false;
			facts->is_virtual |= die_is_virtual(&child);
		}
		if (!die_advance(&child))
			break;
	}
	/* Without a name constructors are not recognised. */
	return facts->is_plain || (marks && (facts->name || !facts->has_functions));
}

static struct manner judge_by_parts(const struct die *type, unsigned depth)
{
	static const struct manner unknown = {.how = {UNKNOWN, UNKNOWN, UNKNOWN}};
	_cleanup_die_ struct die declared = die_reference(type, DW_AT_specification);
	struct class_facts facts = {
		.type = type, .name = die_text(type, DW_AT_name), .is_plain = true, .depth = depth};

	if (!facts.name && die_is(&declared))
		facts.name = die_text(&declared, DW_AT_name);
	if (depth >= DEPTH_MAX || die_flag(type, DW_AT_declaration) || !gather(&facts))
		return unknown;
	return conclude_all(&facts);
}

/*
 * Results for entries of the main file are cached: classes of the C++ library have hundreds of
 * functions.
 */
static struct manner judge(const struct die *type, unsigned depth)
{
	static const struct manner by_value = {.how = {BITS, BITS, BITS}};
	static const struct manner by_reference = {.how = {CALLS, CALLS, CALLS}};
	struct dwarf_reader *reader = type->object->file->reader;
	const uint64_t key = reader->marks_defaulted ? die_key(type) : 0;
	uint64_t convention;

	if (die_number(type, DW_AT_calling_convention, &convention))
		return convention == DW_CC_pass_by_value ? by_value : by_reference;
	uintptr_t known = key ? (uintptr_t)map_get(&reader->manners, key) : 0;

	if (!known) {
		const struct manner found = judge_by_parts(type, depth);

		known = 1U | (unsigned)found.how[DESTROY] << 4 | (unsigned)found.how[COPY] << 8 |
			(unsigned)found.how[MOVE] << 12 | (unsigned)found.is_restricted << 16;
		if (key)
			map_put(&reader->manners, key, (void *)known);
	}
	return (struct manner){.how = {known >> 4 & 15, known >> 8 & 15, known >> 12 & 15},
			       .is_restricted = (uint8_t)(known >> 16)};
}

enum type_passing type_find_passing(const struct die *type)
{
	const struct manner manner = judge(type, 0);
	const uint8_t *how = manner.how;

	if (how[DESTROY] == CALLS || how[COPY] == CALLS || how[MOVE] == CALLS)
		return PASSED_BY_REFERENCE;
	if (how[DESTROY] != BITS || how[COPY] == UNKNOWN || how[MOVE] == UNKNOWN)
		return PASSED_SOMEHOW;
	return how[COPY] == DELETED && how[MOVE] != BITS ? PASSED_BY_REFERENCE : PASSED_BY_VALUE;
}

bool copy_is_marked(const struct die *first)
{
	const char *producer = die_text(first, DW_AT_producer);
	const char *version = NULL;

	if (producer && !strncmp(producer, "GNU C++", 7))
		version = strchr(producer, ' ') ? strchr(strchr(producer, ' ') + 1, ' ') : NULL;
	return version && strtoul(version, NULL, 10) >= GCC_THAT_MARKS &&
	       (die_version(first) >= 5 || !strstr(producer, "-gstrict-dwarf"));
}

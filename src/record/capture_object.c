/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Structs, arrays and pointers in capture plans.
 *
 * An object is captured as its bytes; the renderer finds the numbers in it by the type. Only what
 * the bytes do not tell has values of its own, which follow in the order of the type: strings,
 * objects that pointers lead to, arrays whose length is only known at run time. These are the
 * *parts* of the object. A plan has one list of parts, which refer to one another by index. So the
 * element of a linked list refers to itself, and the length of a plan depends on the types only,
 * not on the tracee's lists.
 *
 * So it is this code that must find an end, by four limits. Nested objects are followed to
 * array_max and CAPTURE_DEPTH_MAX; beyond that, a value without bytes says that there is more. An
 * object that is one of those around it is not entered again. What pointers in objects lead to is
 * limited to followed_max bytes, so that a tree leaves room for the parameters behind it, and the
 * rings for the record. And the record has a maximum size. Before the bytes of an object are
 * stored, room is reserved for the headers of all its parts: elements without room for their parts
 * are not captured. The renderer relies on that: if an object has bytes, all its parts have values.
 *
 * The recursion takes some 200 bytes of stack a level, in the agent on the tracee's stack.
 *
 * Objects in registers (CAPTURE_INLINE) are assembled in the record's buffer. Parts that lie within
 * an object are taken from its captured bytes as far as possible, so they show the same moment.
 */
#include "record/capture_object.h"

#include "record/capture_fetch.h"
#include "record/capture_run.h"

/* User-space addresses on both ABIs: x86_64 uses 47 bits. */
enum { NULL_PAGE = 4096, USER_BITS = 47 };

/* An object that is being captured, and those around it. */
struct object {
	const struct object *around;
	const struct capture_part *part;
	uint64_t address;
	const unsigned char *bytes; /* the bytes that were read, of all elements */
	size_t length;
	const unsigned char *element; /* the element whose parts are being captured */
	size_t element_length;	      /* how much of the element was read */
	unsigned depth;
	uint8_t argument;
};

static bool put_part(struct capture *c, const struct object *around,
		     const struct capture_part *part);

static struct extent any_extent(struct capture *c, const struct capture_part *part,
				const struct object *around)
{
	struct extent extent;

	if (part->length_from != LENGTH_MEMBER) {
		extent = capture_extent(c, (enum capture_length)part->length_from, part->length,
					part->zero_ends);
		/*
		 * A constant number of elements may contain zeros; a constant number of characters
		 * ends at one.
		 */
		if (part->length_from == LENGTH_CONSTANT && part->kind == CAPTURE_OBJECT)
			extent.nul_ends = part->zero_ends;
		return extent;
	}
	if (around && part->length + (size_t)part->member_size <= around->element_length)
		return capture_extent_of(
			capture_extend(capture_load_word(around->element + part->length,
							 part->member_size),
				       part->member_size, part->member_signed),
			part->member_signed, part->zero_ends);
	extent = capture_extent_of(0, false, false);
	extent.fault = true;
	return extent;
}

static struct extent part_extent(struct capture *c, const struct capture_part *part,
				 const struct object *around)
{
	struct extent extent = any_extent(c, part, around);

	if (part->if_success)
		capture_end_at_failure(c, &extent);
	else if (part->result_ends)
		capture_end_at_result(c, &extent);
	/*
	 * A negative number of characters means that it is not known; of other elements, that there
	 * are none.
	 */
	if (part->kind == CAPTURE_OBJECT && !part->is_text && part->length_from != LENGTH_NUL &&
	    extent.bytes == UINT64_MAX && !extent.fault)
		extent.bytes = 0;
	if (part->in_bits) {
		extent.spare_bits = (uint8_t)(-extent.bytes % 8);
		extent.bytes = extent.bytes / 8 + (extent.bytes % 8 != 0);
	}
	return extent;
}

/* Returns how many levels up the object at `address` is being captured already; 0: it is not. */
static unsigned find_around(const struct object *around, const struct capture_part *part,
			    uint64_t address)
{
	/* An object without parts leads to no other. */
	for (unsigned up = 1; around && part->count; around = around->around) {
		if (around->address == address && around->part->first == part->first &&
		    around->part->count == part->count && around->part->size == part->size)
			return up;
		up += !around->part->is_inline;
	}
	return 0;
}

/* Returns the number of bytes of an element that are captured. */
static size_t element_bytes(const struct capture_part *part)
{
	return min_size(part->size, CAPTURE_OBJECT_MAX);
}

/* Returns how many elements are captured at most. */
static size_t elements_max(const struct capture *c, const struct capture_part *part,
			   const struct extent *extent, size_t room)
{
	size_t most = part->elements_max ? part->elements_max
		      : part->is_text	 ? c->plan->string_max
					 : c->plan->array_max;
	size_t each = element_bytes(part) + part->count * sizeof(struct record_value);

	/* A single object is not an array. */
	if (part->length_from == LENGTH_CONSTANT && part->length == 1)
		most = 1;
	/* A large element is not captured whole, so none can follow it. */
	if (part->size > CAPTURE_OBJECT_MAX)
		most = min_size(most, 1);
	most = min_size(most, extent->bytes);
	return each ? min_size(most, room / each) : 0;
}

size_t capture_object_ahead(struct capture *c, const struct capture_op *op)
{
	const struct capture_part *part = &c->plan->parts[op->part];
	struct extent extent = part_extent(c, part, NULL);

	return elements_max(c, part, &extent, SIZE_MAX) * element_bytes(part);
}

static bool is_zero(const unsigned char *bytes, size_t length)
{
	unsigned char any = 0;

	for (size_t i = 0; i < length; i++) {
		any |= bytes[i];
		__asm__("" : "+r"(any));
	}
	return !any;
}

/*
 * Copies from the bytes of the enclosing object as far as they go, and reads the rest from memory.
 */
static size_t load(const struct capture *c, const struct object *around, uint64_t address,
		   unsigned char *to, size_t want)
{
	size_t done = 0;
	bool ended = false;

	if (around && address - around->address < around->length) {
		size_t skip = (size_t)(address - around->address);

		done = min_size(want, around->length - skip);
		capture_copy(to, around->bytes + skip, done);
	}
	if (done < want)
		done += capture_load(c, address + done, to + done, want - done, false, &ended);
	return done;
}

/* Reads the bytes of the elements into the value. */
static void load_extent(struct capture *c, struct record_value *value, const struct object *object,
			const struct object *within, struct extent extent)
{
	const struct capture_part *part = object->part;
	size_t size = element_bytes(part);
	size_t room = capture_room(c) & ~(size_t)7;
	size_t most = elements_max(c, part, &extent, room);
	/* One element more, to see if it is the end. */
	size_t next = extent.nul_ends && most < extent.bytes && (most + 1) * size <= room;
	size_t want = (most + next) * size;
	size_t got = load(c, within, object->address, capture_bytes(value), want);
	size_t count = size ? got / size : 0;
	bool ended = false;

	for (size_t i = 0; extent.nul_ends && i < count; i++)
		if (is_zero(capture_bytes(value) + i * size, size)) {
			count = i;
			ended = true;
		}
	if (extent.fault || (!ended && got < want))
		value->flags |= VALUE_FAULT;
	else if (!ended && most < extent.bytes)
		value->flags |= VALUE_TRUNCATED;
	value->length = (uint32_t)(min_size(count, most) * size);
	if (extent.spare_bits && value->length == extent.bytes)
		capture_bytes(value)[value->length - 1] &= (1U << (8 - extent.spare_bits)) - 1;
}

static void load_elements(struct capture *c, struct record_value *value,
			  const struct object *object, const struct object *within)
{
	load_extent(c, value, object, within, part_extent(c, object->part, object->around));
}

void capture_load_wide(struct capture *c, struct record_value *value, const struct extent *extent)
{
	struct capture_part part;
	struct object object;

	part.length_from = LENGTH_NUL;
	part.result_ends = false;
	part.in_bits = false;
	part.is_text = true;
	part.elements_max = 0;
	part.size = WIDE_BYTES;
	part.count = 0;
	object.part = &part;
	object.address = value->word;
	if (value->word)
		load_extent(c, value, &object, NULL, *extent);
}

/* Makes the values of the parts of all elements. Their headers have room, see elements_max(). */
static bool put_parts(struct capture *c, struct object *object)
{
	const struct capture_part *part = object->part;
	const struct capture_part *parts = &c->plan->parts[part->first];
	size_t size = element_bytes(part);
	bool fine = true;

	if (!part->count || !size)
		return true;
	c->reserve += object->length / size * part->count * sizeof(struct record_value);
	for (size_t at = 0; at + size <= object->length; at += size)
		for (unsigned i = 0; i < part->count; i++) {
			c->reserve -= sizeof(struct record_value);
			object->element = object->bytes + at;
			object->element_length = size;
			fine = fine && put_part(c, object, &parts[i]);
		}
	return fine;
}

/*
 * Returns true if no process can have memory at `address`: a failed read costs a stop in the agent.
 * Such pointers are common in objects that are not initialised yet.
 */
static bool is_nowhere(const struct capture *c, uint64_t address)
{
	return address < NULL_PAGE || (c->plan->word == sizeof address && address >> USER_BITS);
}

/* Reads the bytes that a pointer leads to, or notes why there are none. */
static void enter_object(struct capture *c, struct record_value *value, const struct object *object)
{
	unsigned depth_max = c->plan->array_max ? c->plan->array_max : 1;
	unsigned up;

	if (object->depth > depth_max || object->depth > CAPTURE_DEPTH_MAX) {
		value->flags = VALUE_TRUNCATED;
		return;
	}
	if (object->depth > 1 && is_nowhere(c, object->address)) {
		value->flags = VALUE_FAULT;
		return;
	}
	up = find_around(object->around, object->part, object->address);
	if (!up) {
		load_elements(c, value, object, NULL);
		return;
	}
	value->flags = VALUE_RECURSION;
	value->conversion = (char)up;
}

/*
 * Makes the value of `object`, whose fields except its bytes are set, and the values of its parts.
 */
static bool put_object(struct capture *c, struct object *object, const struct object *within)
{
	struct record_value *value = capture_begin_value(c, VALUE_OBJECT, object->argument);

	if (!value)
		return false;
	value->size = c->plan->word;
	value->word = object->address;
	if (within)
		load_elements(c, value, object, within);
	else if (object->address)
		enter_object(c, value, object);
	object->bytes = capture_bytes(value);
	object->length = value->length;
	capture_end_value(c, value);
	return put_parts(c, object);
}

static bool put_string(struct capture *c, const struct object *around,
		       const struct capture_part *part, uint64_t word)
{
	struct record_value *value = capture_begin_value(c, VALUE_STRING, around->argument);
	struct extent extent = part_extent(c, part, around);

	if (!value)
		return false;
	value->size = c->plan->word;
	value->word = word;
	capture_load_string(c, value, word, &extent);
	capture_end_value(c, value);
	/* The strings are filled one after the other, as by readv(2). */
	if (part->result_ends)
		c->shared_out += extent.bytes;
	return true;
}

static bool put_pointer(struct capture *c, const struct object *around, uint64_t word)
{
	struct record_value *value = capture_begin_value(c, VALUE_WORD, around->argument);

	if (!value)
		return false;
	value->size = c->plan->word;
	value->word = word;
	capture_end_value(c, value);
	return true;
}

/* Captures what a pointer in an outermost object leads to, within followed_max. */
static bool put_followed(struct capture *c, struct object *object)
{
	const size_t start = c->record->size;
	const size_t end = c->room_end;

	c->room_end = start + c->reserve + c->followed_left;
	const bool fine = put_object(c, object, NULL);

	c->room_end = end;
	c->followed_left -= min_size(c->record->size - start, c->followed_left);
	return fine;
}

static bool put_part(struct capture *c, const struct object *around,
		     const struct capture_part *part)
{
	struct object object;
	size_t in_object = (size_t)(around->element - around->bytes) + part->offset;
	uint64_t word = around->address + in_object;

	/* The end of a large object was not captured. The renderer makes the same test. */
	if (part->offset + (part->is_inline ? 0U : c->plan->word) > around->element_length)
		return true;
	if (!part->is_inline)
		word = capture_load_word(around->element + part->offset, c->plan->word);
	if (part->kind == CAPTURE_STRING)
		return put_string(c, around, part, word);
	if (part->kind != CAPTURE_OBJECT)
		return put_pointer(c, around, word);
	object.around = around;
	object.part = part;
	object.address = word;
	object.depth = around->depth + !part->is_inline;
	object.argument = around->argument;
	if (!part->is_inline && around->depth == 1)
		return put_followed(c, &object);
	return put_object(c, &object, part->is_inline ? around : NULL);
}

/* Reads a word of an object in registers. */
static bool fetch_piece(const struct capture *c, unsigned piece, unsigned char *to)
{
	uint64_t word;

	if (piece < PIECE_XMM)
		word = c->frame->gpr[piece];
	else if (piece < PIECE_SAVED && c->frame->xmm &&
		 piece - PIECE_XMM < capture_xmm_count(c->frame))
		word = capture_load_word(c->frame->xmm[piece - PIECE_XMM], 8);
	else if (piece - PIECE_SAVED < CAPTURE_ARGS_MAX && c->saved)
		word = c->saved->word[piece - PIECE_SAVED];
	else
		return false;
	__builtin_memcpy(to, &word, sizeof word);
	return true;
}

/*
 * Assembles an object in two registers, of up to 16 bytes or in two x87 registers, in the record.
 */
static void load_pieces(const struct capture *c, const struct capture_op *op,
			struct record_value *value)
{
	unsigned char *bytes = capture_bytes(value);
	unsigned word = c->plan->word;
	bool fine = capture_room(c) >= (op->size > 16 ? op->size : 16);

	if (fine && op->index == PIECE_ST0 && c->frame->st)
		capture_copy(bytes, *c->frame->st, op->size);
	else
		fine = fine && fetch_piece(c, op->index, bytes) &&
		       (op->size <= word || fetch_piece(c, op->high, bytes + word));
	if (fine)
		value->length = op->size;
	else
		value->flags = VALUE_FAULT;
}

/* Assembles an object with scalars in more registers. The bytes between the scalars are 0. */
static void load_scalars(const struct capture *c, const struct capture_op *op,
			 struct record_value *value)
{
	unsigned char *bytes = capture_bytes(value);
	bool fine = capture_room(c) >= op->size;
	unsigned char word[sizeof(uint64_t)];

	for (unsigned i = 0; fine && i < op->size; i++)
		bytes[i] = 0;
	for (unsigned i = 0; fine && i < op->high; i++) {
		const struct capture_scalar *scalar = &c->plan->scalars[op->index + i];

		fine = scalar->size <= sizeof word && scalar->offset + scalar->size <= op->size &&
		       fetch_piece(c, scalar->piece, word);
		if (fine)
			capture_copy(bytes + scalar->offset, word, scalar->size);
	}
	if (fine)
		value->length = op->size;
	else
		value->flags = VALUE_FAULT;
}

static bool put_pieces(struct capture *c, const struct capture_op *op, struct object *object)
{
	struct record_value *value = capture_begin_value(c, VALUE_OBJECT, op->argument);

	if (!value)
		return false;
	value->size = c->plan->word;
	if (op->place == PLACE_SCALARS)
		load_scalars(c, op, value);
	else
		load_pieces(c, op, value);
	object->bytes = capture_bytes(value);
	object->length = value->length;
	capture_end_value(c, value);
	return put_parts(c, object);
}

bool capture_put_object(struct capture *c, const struct capture_op *op)
{
	struct object object;

	if (op->part >= c->plan->part_count)
		return true;
	object.around = NULL;
	object.part = &c->plan->parts[op->part];
	object.address = 0;
	object.depth = 1;
	object.argument = op->argument;
	if (op->kind == CAPTURE_INLINE && (op->place == PLACE_PIECES || op->place == PLACE_SCALARS))
		return put_pieces(c, op, &object);
	if (op->kind == CAPTURE_INLINE)
		object.address = c->sp + (uint64_t)(int64_t)op->offset;
	else if (!capture_fetch(c, op, &object.address))
		object.depth = CAPTURE_DEPTH_MAX + 1;
	return put_object(c, &object, NULL);
}

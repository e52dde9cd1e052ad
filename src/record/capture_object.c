/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Structs, arrays and pointers to anything, in capture plans.
 *
 * An object is captured as its bytes: numbers in it cost nothing but room, and the renderer finds
 * them by the type. Only what the bytes do not say has values of its own, which follow in the
 * order in which the type has them: strings, objects that are pointed to, arrays whose length is
 * known only now. These are the object's *parts*. A plan has one list of them, in which they refer
 * to one another by index, so a list's element refers to itself, and a plan is as long as its
 * types are, however long the tracee's lists.
 *
 * So it is here that an end is found, by four bounds: objects are followed in one another no
 * further than array_max and CAPTURE_DEPTH_MAX (beyond that, a value without bytes says that there
 * is more); an object that is one of those around it is not entered again; what pointers in objects
 * lead to has followed_max bytes, so that a tree leaves room for the parameters behind it, and
 * rings for the record; and the record is as long as it may be. The room for the headers of all
 * parts of an object is kept back before its own bytes take any: elements that would have no room
 * for their parts are not captured at all. That is what the renderer relies on: where an object has
 * bytes, all its parts have values.
 *
 * This recurses, in the agent on the stack of the tracee, some 200 bytes a level.
 *
 * Objects in registers (CAPTURE_INLINE) are put together in the record's buffer; parts of an
 * object that lie in it are taken from its bytes, as far as these go, so they are as they were
 * when the object was read.
 */
#include "record/capture_run.h"

/* Addresses of processes, on both ABIs; x86_64 has them in 47 bits. */
enum { NULL_PAGE = 4096, USER_BITS = 47 };

/* An object that is being captured, in those around it. */
struct object {
	const struct object *around;
	const struct capture_part *part;
	uint64_t address;
	const unsigned char *bytes; /* those that were read, of all elements */
	size_t length;
	const unsigned char *element; /* the one whose parts are being captured */
	size_t element_length;	      /* how much of that was read */
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
		/* A constant number of elements may have zeros in it; characters end at one. */
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
	/* A negative number of characters is one that is not known, one of other things is none. */
	if (part->kind == CAPTURE_OBJECT && !part->is_text && part->length_from != LENGTH_NUL &&
	    extent.bytes == UINT64_MAX && !extent.fault)
		extent.bytes = 0;
	if (part->in_bits) {
		extent.spare_bits = (uint8_t)(-extent.bytes % 8);
		extent.bytes = extent.bytes / 8 + (extent.bytes % 8 != 0);
	}
	return extent;
}

/* How many levels up the object at `address` is one that is being captured; 0: it is none. */
static unsigned find_around(const struct object *around, const struct capture_part *part,
			    uint64_t address)
{
	/* Without parts it leads nowhere. */
	for (unsigned up = 1; around && part->count; around = around->around) {
		if (around->address == address && around->part->first == part->first &&
		    around->part->count == part->count && around->part->size == part->size)
			return up;
		up += !around->part->is_inline;
	}
	return 0;
}

/* Bytes of an element that are captured. */
static size_t element_bytes(const struct capture_part *part)
{
	return min_size(part->size, CAPTURE_OBJECT_MAX);
}

/* How many elements are captured at most. */
static size_t elements_max(const struct capture *c, const struct capture_part *part,
			   const struct extent *extent, size_t room)
{
	size_t most = part->elements_max ? part->elements_max
		      : part->is_text	 ? c->plan->string_max
					 : c->plan->array_max;
	size_t each = element_bytes(part) + part->count * sizeof(struct record_value);

	/* An object alone is not an array. */
	if (part->length_from == LENGTH_CONSTANT && part->length == 1)
		most = 1;
	/* Of large ones not all is there, so none can follow. */
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

/* Bytes of the object around it, as far as they are there and memory beyond. */
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

/* The bytes of the elements into the value. */
static void load_extent(struct capture *c, struct record_value *value, const struct object *object,
			const struct object *within, struct extent extent)
{
	const struct capture_part *part = object->part;
	size_t size = element_bytes(part);
	size_t room = capture_room(c) & ~(size_t)7;
	size_t most = elements_max(c, part, &extent, room);
	/* One more, to see whether it is the end. */
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

/* The parts of all elements. Their headers have room, see elements_max(). */
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
 * Whether nothing can be there, in any process: what is read in vain costs a stop in the agent. In
 * objects that are not filled so far such pointers are common.
 */
static bool is_nowhere(const struct capture *c, uint64_t address)
{
	return address < NULL_PAGE || (c->plan->word == sizeof address && address >> USER_BITS);
}

/* The bytes of what a pointer points to, or why there are none. */
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

/* What `object` is, but for its bytes, is known: makes its value, and those of its parts. */
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
	/* They are filled one behind the other, as by readv(2). */
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

/* What a pointer in one of the outermost objects points to, and all that this leads to. */
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

	/* Of large objects the end is missing. The renderer does the same. */
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

/* A word of an object in registers. */
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

/* An object in registers, of 16 bytes or two x87 registers: in its place in the record. */
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

/* The same of one that is taken apart further. Between its scalars there is nothing. */
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

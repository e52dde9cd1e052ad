/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The executor of capture plans.
 *
 * It runs at every traced call, and its cost is the number of reads of the tracee's memory (each a
 * system call in the tracer, a guarded copy in the agent):
 *
 *   no stack arguments, no strings        no read
 *   stack arguments, any number           one read of the whole area, cached for this call
 *   one string                            one read, directly into the record
 *   several strings                       one batched read of the beginnings of all, which are
 *                                         copied into place; one read more for each string that
 *                                         is longer than its beginning
 *   a printf format                       one read, and one more for all strings it mentions
 *   a struct or an array                  one read, together with strings; one for each string or
 *                                         object that it points to
 *
 * The beginnings are kept at the far end of the record's buffer, which is borrowed while the record
 * is made. So nothing large is on the stack, which is the tracee's own in the agent.
 *
 * No input is trusted: registers, lengths, formats, memory that changes during the read. Every
 * string is limited by the plan's string_max and the room in the buffer, a format by its own bytes
 * and FORMAT_ARGS_MAX arguments. Nothing that was checked is read again for a decision. Room for
 * the headers of values still to come is reserved, so that a long string leaves room for the
 * arguments behind it.
 *
 * Freestanding: no libc, no allocation, no TLS, no floating point. That also holds for the other
 * files of the executor: capture_fetch.c (reading), capture_object.c (structs, arrays, pointers),
 * capture_format.c and format_spec.c (printf formats), and capture_plain.h (a fast path for most
 * plans).
 */
#include "record/capture_fetch.h"
#include "record/capture_format.h"
#include "record/capture_object.h"
#include "record/capture_run.h"

/*
 * Written as one word: a load of a word that was stored byte by byte stalls (no store forwarding).
 */
static inline void set_head(struct record_value *value, enum value_kind kind, unsigned argument,
			    unsigned size)
{
	const uint64_t head = capture_head(kind, argument, size);

	__builtin_memcpy(value, &head, sizeof head);
}

struct record_value *capture_begin_value(struct capture *c, enum value_kind kind, unsigned argument)
{
	size_t used = c->record->size;

	static_assert((RECORD_MAX - sizeof(struct record)) / sizeof(struct record_value) <=
			      UINT16_MAX,
		      "no record has more values than can be counted");
	if (c->capacity < used || c->capacity - used < sizeof(struct record_value))
		return NULL;
	struct record_value *value = (struct record_value *)(void *)(c->bytes + used);

	set_head(value, kind, argument, 0);
	value->word = 0;
	return value;
}

void capture_end_value(struct capture *c, struct record_value *value)
{
	size_t padded = round_up8(value->length);

	for (size_t i = value->length; i < padded; i++) {
		capture_bytes(value)[i] = 0;
		__asm__("" : "+r"(i)); /* keeps the compiler from calling memset */
	}
	c->record->size += (uint32_t)(sizeof *value + padded);
	c->record->value_count++;
}

static bool put_word(struct capture *c, const struct capture_op *op)
{
	struct record_value *value = capture_begin_value(c, VALUE_WORD, op->argument);

	if (!value)
		return false;
	value->size = op->size;
	if (!capture_fetch(c, op, &value->word))
		value->flags = VALUE_FAULT;
	capture_end_value(c, value);
	return true;
}

void capture_set_long_double(const struct capture *c, struct record_value *value,
			     const unsigned char *bytes)
{
	value->size = 10;
	if (!bytes) {
		value->flags |= VALUE_FAULT;
	} else if (capture_room(c) < 16) {
		value->flags |= VALUE_TRUNCATED;
	} else {
		value->length = 10;
		capture_copy(capture_bytes(value), bytes, value->length);
	}
}

static bool put_float(struct capture *c, const struct capture_op *op)
{
	struct record_value *value = capture_begin_value(c, VALUE_FLOAT, op->argument);

	if (!value)
		return false;
	value->size = op->size;
	if (op->place == PLACE_ST0)
		capture_set_long_double(c, value, c->frame->st ? *c->frame->st : NULL);
	else if (op->size == 10)
		capture_set_long_double(c, value,
					op->place == PLACE_STACK ? capture_stack(c, op->offset, 10)
								 : NULL);
	else if (!capture_fetch(c, op, &value->word))
		value->flags = VALUE_FAULT;
	capture_end_value(c, value);
	return true;
}

/* Returns the value of a parameter that is or points to a length, and whether it is signed. */
static bool fetch_length(struct capture *c, uint32_t index, uint64_t *word, bool *is_signed)
{
	*word = 0;
	if (index >= c->plan->arg_count || index >= CAPTURE_ARGS_MAX)
		return false;
	const unsigned pointed = c->plan->pointed[index];

	*is_signed = c->plan->args[index].is_signed;
	if (c->saved)
		*word = c->saved->word[index];
	else if (!capture_fetch_location(c, &c->plan->args[index], word))
		return false;
	if (!pointed)
		return true;
	*is_signed = (pointed & CAPTURE_SIGNED) != 0;
	return capture_load_pointed(c, *word, pointed & ~(unsigned)CAPTURE_SIGNED, *is_signed,
				    word);
}

/* 0 if there is none. noinline, here and below: the agent's code has to be small. */
static __attribute__((noinline)) int64_t result_of(struct capture *c)
{
	uint64_t word = 0;

	if (c->plan->exit_count && c->plan->exit[0].argument == VALUE_RESULT)
		capture_fetch(c, &c->plan->exit[0], &word);
	return (int64_t)word;
}

static uint64_t result_length(struct capture *c)
{
	const int64_t result = result_of(c);

	return result > 0 ? (uint64_t)result : 0;
}

void capture_end_at_failure(struct capture *c, struct extent *extent)
{
	if (result_of(c) < 0)
		extent->bytes = 0;
}

__attribute__((noinline)) void capture_end_at_result(struct capture *c, struct extent *extent)
{
	const uint64_t length = result_length(c) - c->shared_out;

	extent->fault |= !extent->bytes;
	if (length < extent->bytes)
		extent->bytes = length;
}

/*
 * Multiplies two lengths. Factors are limited to 32 bits, so the product cannot overflow; no more
 * than that is ever captured.
 */
static __attribute__((noinline)) bool fetch_product(struct capture *c, uint32_t factors,
						    uint64_t *word, bool *is_signed)
{
	uint64_t product = 1;
	bool known = true;

	*is_signed = false;
	for (; factors; factors >>= 16) {
		const uint32_t factor = factors & 0xffff;
		bool factor_signed = false;

		if (factor)
			known = fetch_length(c, factor - 1, word, &factor_signed) && known;
		else
			*word = result_length(c);
		if (factor_signed && (int64_t)*word < 0) {
			*is_signed = true;
			return known;
		}
		product *= min_size(*word, UINT32_MAX);
	}
	*word = product;
	return known;
}

struct extent capture_extent(struct capture *c, enum capture_length from, uint32_t length,
			     bool zero_ends)
{
	struct extent extent = capture_extent_of(UINT64_MAX, true, true);
	uint64_t word = 0;
	bool is_signed = false;

	if (from == LENGTH_CONSTANT) {
		extent.bytes = length;
	} else if (from == LENGTH_ARGUMENT || from == LENGTH_PRODUCT) {
		bool known = from == LENGTH_ARGUMENT ? fetch_length(c, length, &word, &is_signed)
						     : fetch_product(c, length, &word, &is_signed);

		extent = capture_extent_of(word, is_signed, zero_ends);
		extent.fault = !known || (!word && zero_ends && c->saved);
	} else if (from == LENGTH_RESULT) {
		return capture_extent_of(result_length(c), false, zero_ends);
	}
	return extent;
}

static struct extent extent_of(struct capture *c, const struct capture_op *op)
{
	struct extent extent = capture_extent(c, (enum capture_length)op->length_from, op->length,
					      op->zero_ends);

	if (op->result_ends)
		capture_end_at_result(c, &extent);
	return extent;
}

/* Returns how many bytes of a string are shown at most, with `room` bytes left. */
static size_t shown_max(const struct capture *c, const struct extent *extent, size_t room)
{
	size_t limit = min_size(extent->bytes, c->plan->string_max);

	if (limit < room)
		return limit;
	return room ? room - 1 : 0;
}

/* Adds the byte that tells whether a string goes on behind its limit. */
static size_t with_next(const struct extent *extent, size_t limit)
{
	return limit + (extent->nul_ends && limit < extent->bytes);
}

size_t capture_read_max(const struct capture *c, const struct extent *extent)
{
	return with_next(extent, shown_max(c, extent, SIZE_MAX));
}

void capture_load_string(struct capture *c, struct record_value *value, uint64_t address,
			 const struct extent *extent)
{
	size_t room = capture_room(c) & ~(size_t)7;
	size_t limit = shown_max(c, extent, room);
	bool ended = false;

	if (extent->fault)
		value->flags |= VALUE_FAULT;
	if (!address)
		return;
	if (!room && extent->bytes) {
		value->flags |= VALUE_TRUNCATED;
		return;
	}
	size_t want = with_next(extent, limit);
	size_t got = capture_load(c, address, capture_bytes(value), want, extent->nul_ends, &ended);

	value->length = (uint32_t)min_size(got, limit);
	if (ended)
		return;
	if (got < want)
		value->flags |= VALUE_FAULT;
	else if (limit < extent->bytes)
		value->flags |= VALUE_TRUNCATED;
}

/* Follows has_path from an argument to its text. Returns 0 if it leads nowhere. */
static __attribute__((noinline)) uint64_t follow_path(struct capture *c,
						      const struct capture_op *op, uint64_t word)
{
	uint64_t address = word + (uint64_t)(int64_t)op->path[0];

	for (unsigned i = 0; i < op->loads && i < CAPTURE_LOADS_MAX; i++) {
		if (!word || !capture_load_pointed(c, address, c->plan->word, false, &word))
			return 0;
		address = word + (uint64_t)(int64_t)op->path[i + 1];
	}
	return word ? address : 0;
}

/* Returns true if bytes may be text: no control characters but tab, newline and the like. */
static bool is_text(const unsigned char *bytes, size_t length)
{
	bool fine = length != 0;

	for (size_t i = 0; i < length; i++)
		fine &= bytes[i] >= ' ' ? bytes[i] != 0x7f : bytes[i] >= '\t' && bytes[i] <= '\r';
	return fine;
}

/* Reads the text that has_path leads to. Without one, the value has only the argument. */
static void load_by_path(struct capture *c, const struct capture_op *op, struct record_value *value,
			 const struct extent *extent)
{
	const uint64_t address = follow_path(c, op, value->word);

	capture_load_string(c, value, address, extent);
	if (!address || (op->checks_text && !is_text(capture_bytes(value), value->length))) {
		value->length = 0;
		value->flags = VALUE_FAULT;
	}
}

static bool put_string(struct capture *c, const struct capture_op *op)
{
	struct record_value *value = capture_begin_value(c, VALUE_STRING, op->argument);

	if (!value)
		return false;
	value->size = op->size;
	if (capture_fetch(c, op, &value->word)) {
		struct extent extent = extent_of(c, op);

		if (op->has_path)
			load_by_path(c, op, value, &extent);
		else
			capture_load_string(c, value, value->word, &extent);
	} else {
		value->flags = VALUE_FAULT;
	}
	capture_end_value(c, value);
	return true;
}

static bool is_pointer(const struct capture_op *op)
{
	return (op->kind == CAPTURE_STRING && !op->has_path) || op->kind == CAPTURE_FORMAT ||
	       op->kind == CAPTURE_OBJECT;
}

/* Returns how much to read in advance of what a parameter points to. */
static size_t ahead_of(struct capture *c, const struct capture_op *op)
{
	/* All of a format is needed, however little of it is shown. */
	if (op->kind == CAPTURE_FORMAT)
		return CHUNK_MAX;
	if (op->kind == CAPTURE_OBJECT)
		return capture_object_ahead(c, op);
	struct extent extent = extent_of(c, op);

	return capture_read_max(c, &extent);
}

/* Returns true if an operation with `choices` makes a value. noinline: see result_of(). */
static __attribute__((noinline)) bool is_chosen(struct capture *c, const struct capture_op *op)
{
	const struct capture_plan *plan = c->plan;
	const struct capture_choice *choice = &plan->choices[op->choice];
	uint64_t word;

	if (c->saved)
		word = c->saved->word[op->selector % CAPTURE_ARGS_MAX];
	else if (!capture_fetch_location(c, &plan->args[op->selector % CAPTURE_ARGS_MAX], &word))
		return false;
	for (unsigned i = 0; i < op->choices; i++, choice++)
		if ((uint32_t)word >= choice->first && (uint32_t)word <= choice->last)
			return true;
	return false;
}

/* Reads the beginnings of what parameters point to, in one batch. */
static void prefetch(struct capture *c, const struct capture_op *ops, unsigned count)
{
	unsigned pointers = 0;

	if (c->frame->memory->read_string)
		return;
	for (unsigned i = 0; i < count; i++)
		pointers += is_pointer(&ops[i]);
	if (pointers < 2)
		return;
	for (unsigned i = 0; i < count; i++) {
		const struct capture_op *op = &ops[i];
		uint64_t address;

		if (is_pointer(op) && (!op->choices || is_chosen(c, op)) &&
		    capture_fetch(c, op, &address))
			capture_want_chunk(c, address, ahead_of(c, op));
	}
	capture_read_chunks(c, 0);
}

/* A fast path for most values: an integer or a pointer in a register. */
static bool put_register(struct capture *c, const struct capture_op *op)
{
	struct record_value *value = capture_begin_value(c, VALUE_WORD, op->argument);

	if (!value)
		return false;
	set_head(value, VALUE_WORD, op->argument, op->size);
	value->word = capture_extend(c->frame->gpr[op->index & 15], op->size, op->is_signed);
	c->record->size += (uint32_t)sizeof *value;
	c->record->value_count++;
	return true;
}

static bool put_value(struct capture *c, const struct capture_op *op)
{
	switch (op->kind) {
	case CAPTURE_FLOAT:
		return put_float(c, op);
	case CAPTURE_STRING:
		return put_string(c, op);
	case CAPTURE_FORMAT:
		return capture_put_format(c, op);
	case CAPTURE_OBJECT:
	case CAPTURE_INLINE:
		return capture_put_object(c, op);
	default:
		return op->place == PLACE_GPR ? put_register(c, op) : put_word(c, op);
	}
}

static void run(struct capture *c, const struct capture_op *ops, unsigned count)
{
	prefetch(c, ops, count);
	c->reserve = count * sizeof(struct record_value);
	for (unsigned i = 0; i < count; i++) {
		c->reserve -= sizeof(struct record_value);
		if (ops[i].choices && !is_chosen(c, &ops[i]))
			continue;
		if (!put_value(c, &ops[i]))
			break;
	}
}

/* Returns false if the record has no room for any value. */
static bool begin(struct capture *c, const struct capture_plan *plan,
		  const struct capture_frame *frame, struct capture_buffer *buffer)
{
	c->plan = plan;
	c->frame = frame;
	c->saved = NULL;
	c->sp = frame->sp;
	c->bytes = buffer->bytes;
	c->record = (struct record *)(void *)buffer->bytes;
	c->capacity = min_size(buffer->capacity, RECORD_MAX) & ~(size_t)7;
	c->reserve = 0;
	c->room_end = SIZE_MAX;
	c->followed_left = plan->followed_max;
	c->shared_out = 0;
	c->chunk_count = 0;
	c->stack_offset = 0;
	c->stack_length = 0;
	c->stack_done = 0;
	return c->record->size <= c->capacity;
}

static void save(struct capture *c, struct capture_saved *saved)
{
	const struct capture_plan *plan = c->plan;

	saved->sp = c->sp;
	for (unsigned i = 0; i < CAPTURE_ARGS_MAX; i++)
		if (plan->saved_mask >> i & 1)
			capture_fetch_location(c, &plan->args[i], &saved->word[i]);
	if (!plan->saves_varargs)
		return;
	for (unsigned i = 0; i < plan->int_args && i < 6; i++)
		saved->int_arg[i] = c->frame->gpr[plan->int_arg[i] & 15];
	saved->vectors = capture_vectors(plan, c->frame);
	for (unsigned i = 0; i < plan->fp_args && i < 8; i++)
		saved->fp_arg[i] = c->frame->xmm ? capture_load_word(c->frame->xmm[i], 8) : 0;
}

void capture_entry(const struct capture_plan *plan, const struct capture_frame *frame,
		   struct capture_buffer *buffer, struct capture_saved *saved)
{
	struct capture capture;

	if (!plan->entry_count && !plan->needs_saved)
		return;
	bool has_room = begin(&capture, plan, frame, buffer);

	if (plan->needs_saved && saved)
		save(&capture, saved);
	if (has_room)
		run(&capture, plan->entry, plan->entry_count);
}

/*
 * Returns how many of these operations are run if the entry of the call was not seen: the first
 * one, if it is for a result that is a number.
 */
static unsigned count_without_saved(const struct capture_op *first, unsigned count)
{
	return count && first->argument == VALUE_RESULT && !first->choices &&
	       (first->kind == CAPTURE_WORD || first->kind == CAPTURE_FLOAT);
}

void capture_exit_some(const struct capture_plan *plan, unsigned first, unsigned count,
		       const struct capture_frame *frame, const struct capture_saved *saved,
		       struct capture_buffer *buffer)
{
	struct capture capture;

	if (plan->needs_saved && !saved)
		count = count_without_saved(&plan->exit[first], count);
	if (!count || !begin(&capture, plan, frame, buffer))
		return;
	if (plan->needs_saved && saved) {
		capture.saved = saved;
		capture.sp = saved->sp;
	}
	run(&capture, plan->exit + first, count);
}

void capture_exit(const struct capture_plan *plan, const struct capture_frame *frame,
		  const struct capture_saved *saved, struct capture_buffer *buffer)
{
	capture_exit_some(plan, 0, plan->exit_count, frame, saved, buffer);
}

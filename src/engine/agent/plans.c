/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capture plans for the agent: each is copied into a unit once, with its pointers changed. The
 * agent runs them by the same code as the tracer. The trap engine keeps functions whose records may
 * be too long for a ring even if texts are short.
 */
#include "engine/agent/plans.h"

#include "base/hash.h"
#include "base/xalloc.h"
#include "engine/agent/agent_state.h"
#include "engine/agent/rings.h"
#include "engine/agent/rings_abi.h"
#include "record/condition.h"
#include "record/format_spec.h"
#include "tracee/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FLOAT_BYTES = 16 };

/* A plan that is in the unit: a copy with pointers of NULL, and its address in the tracee. */
struct written {
	unsigned char *bytes;
	size_t length;
	uint64_t place;
};

struct plans {
	struct map by_hash; /* hash → index in `written` + 1 */
	struct vec written; /* struct written */
	uint64_t used;
};

struct plans *plans_create(void)
{
	struct plans *plans = xcalloc(1, sizeof *plans);

	vec_init(&plans->written, sizeof(struct written));
	return plans;
}

void plans_destroy(struct plans *plans)
{
	if (!plans)
		return;
	for (size_t i = 0; i < plans->written.count; i++)
		free(((struct written *)vec_at(&plans->written, i))->bytes);
	vec_deinit(&plans->written);
	map_deinit(&plans->by_hash);
	free(plans);
}

static size_t string_bytes(const struct capture_plan *plan)
{
	return sizeof(struct record_value) + (((size_t)plan->string_max + 1 + 7) & ~(size_t)7);
}

/* The most bytes of values: of an object itself, and of what pointers in it lead to. */
struct estimate {
	size_t own, followed;
};

/* Returns true if this is too much for a ring, or more than the executor reads. */
static bool is_enough(const struct capture_plan *plan, const struct estimate *estimate,
		      bool is_followed)
{
	return is_followed ? estimate->followed > plan->followed_max
			   : estimate->own > AGENT_RECORD_MAX;
}

/*
 * Adds the values of an object and of what it points to; one element for each pointer that can be
 * followed.
 */
static void add_part(const struct capture_plan *plan, const struct capture_part *part,
		     unsigned depth, bool is_followed, struct estimate *estimate)
{
	uint64_t elements = part->elements_max ? part->elements_max
			    : part->is_text    ? plan->string_max
					       : plan->array_max;
	uint64_t size = part->size < CAPTURE_OBJECT_MAX ? part->size : CAPTURE_OBJECT_MAX;
	unsigned depth_max = plan->array_max ? plan->array_max : 1;
	size_t *bytes = is_followed ? &estimate->followed : &estimate->own;

	if (part->length_from == LENGTH_CONSTANT && (part->length < elements || part->length == 1))
		elements = part->length;
	*bytes += sizeof(struct record_value);
	if (part->kind == CAPTURE_STRING)
		*bytes += string_bytes(plan);
	if (part->kind != CAPTURE_OBJECT || depth > depth_max || depth > CAPTURE_DEPTH_MAX)
		return;
	is_followed |= depth > 1;
	bytes = is_followed ? &estimate->followed : &estimate->own;
	if (is_enough(plan, estimate, is_followed))
		return;
	/* The executor reads one more element than it keeps. */
	*bytes += (size_t)((elements + 1) * size + 7) & ~(size_t)7;
	for (uint64_t i = 0; i < elements && part->count; i++)
		for (unsigned k = 0; k < part->count && !is_enough(plan, estimate, is_followed);
		     k++) {
			const struct capture_part *inner = &plan->parts[part->first + k];

			add_part(plan, inner, depth + !inner->is_inline, is_followed, estimate);
		}
}

static void add_op(const struct capture_plan *plan, const struct capture_op *op,
		   struct estimate *estimate)
{
	switch (op->kind) {
	case CAPTURE_FLOAT:
		estimate->own += sizeof(struct record_value) + FLOAT_BYTES;
		break;
	case CAPTURE_STRING:
		estimate->own += string_bytes(plan);
		break;
	case CAPTURE_FORMAT:
		estimate->own += (FORMAT_ARGS_MAX + 2) * (string_bytes(plan) + FLOAT_BYTES) +
				 (op->is_wide ? WIDE_BYTES * string_bytes(plan) : 0);
		break;
	case CAPTURE_OBJECT:
	case CAPTURE_INLINE:
		add_part(plan, &plan->parts[op->part], 1, false, estimate);
		estimate->own += FLOAT_BYTES;
		break;
	default:
		estimate->own += sizeof(struct record_value);
	}
}

/* The entry or the exit of a call. */
struct half {
	struct estimate estimate;
	/* lends a quarter of the buffer to strings read in advance (record/capture.c) */
	bool lends;
};

static struct half look_at(const struct capture_plan *plan, const struct capture_op *ops,
			   unsigned count)
{
	struct half half = {.estimate.own = RING_CALL};
	unsigned strings = 0;

	for (unsigned i = 0; i < count; i++) {
		add_op(plan, &ops[i], &half.estimate);
		strings += ops[i].kind == CAPTURE_STRING || ops[i].kind == CAPTURE_FORMAT ||
			   ops[i].kind == CAPTURE_OBJECT;
	}
	half.lends = strings > 1 || plan->varargs;
	return half;
}

/* The longest record, with at most `followed` bytes of what pointers in objects lead to. */
static size_t record_bytes(const struct half *half, size_t followed)
{
	size_t bytes = half->estimate.own +
		       (half->estimate.followed < followed ? half->estimate.followed : followed);

	if (half->lends)
		bytes += bytes / 2;
	return (bytes + 15) & ~(size_t)7;
}

/* How much of that fits in a ring; less than FOLLOWED_MIN is not worth it. */
enum { FOLLOWED_MIN = 1 << 10, FOLLOWED_STEP = 256 };

static size_t followed_in_ring(const struct capture_plan *plan, const struct half *half)
{
	size_t followed = plan->followed_max < AGENT_RECORD_MAX ? plan->followed_max
								: AGENT_RECORD_MAX;

	while (followed > FOLLOWED_MIN && record_bytes(half, followed) > AGENT_RECORD_MAX)
		followed -= FOLLOWED_STEP;
	return followed;
}

/*
 * A plan whose texts may be longer than a record in a ring gets a limit that fits. The tracer makes
 * the record of a call whose text is cut by it (agent_plan.is_limited): texts that conditions and
 * groups are about are captured up to 64 KiB, and hardly any is that long.
 */
enum { TEXT_MAX = 4096, TEXT_MIN = 64 };

struct fitting {
	struct capture_plan plan; /* as it was, but for string_max */
	struct half entry, exit;
	size_t followed; /* by both halves */
	bool fits;
};

static void try_to_fit(struct fitting *fitting)
{
	const struct capture_plan *plan = &fitting->plan;

	fitting->entry = look_at(plan, plan->entry, plan->entry_count);
	fitting->exit = look_at(plan, plan->exit, plan->exit_count);
	const size_t at_entry = followed_in_ring(plan, &fitting->entry);
	const size_t at_exit = followed_in_ring(plan, &fitting->exit);

	fitting->followed = at_entry < at_exit ? at_entry : at_exit;
	fitting->fits = record_bytes(&fitting->entry, at_entry) <= AGENT_RECORD_MAX &&
			record_bytes(&fitting->exit, at_exit) <= AGENT_RECORD_MAX;
}

static struct fitting fit(const struct capture_plan *plan)
{
	struct fitting fitting = {.plan = *plan};

	try_to_fit(&fitting);
	for (unsigned most = TEXT_MAX; !fitting.fits && most >= TEXT_MIN; most /= 2) {
		if (most >= plan->string_max)
			continue;
		fitting.plan.string_max = most;
		try_to_fit(&fitting);
	}
	return fitting;
}

/* make() does not copy a plan's scalars. Only Go's functions have any. */
static bool has_scalars(const struct capture_op *ops, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (ops[i].place == PLACE_SCALARS)
			return true;
	return false;
}

const char *plans_refuse(const struct capture_plan *plan)
{
	if (!fit(plan).fits)
		return "its lines may become too long for a ring";
	if (has_scalars(plan->entry, plan->entry_count) ||
	    has_scalars(plan->exit, plan->exit_count))
		return "it passes objects member by member";
	return NULL;
}

/* Returns how far the condition is behind the beginning of the plan in the tracee. */
static size_t condition_offset(const struct capture_plan *plan)
{
	const size_t before = sizeof(struct agent_plan) +
			      (plan->entry_count + (size_t)plan->exit_count) * sizeof *plan->entry +
			      plan->part_count * sizeof *plan->parts +
			      plan->choice_count * sizeof *plan->choices;

	return (before + 7) & ~(size_t)7;
}

/* The plan as it will be in the tracee, without its pointers. */
static struct written make(const struct capture_plan *plan)
{
	size_t entry = plan->entry_count * sizeof *plan->entry;
	size_t exit = plan->exit_count * sizeof *plan->exit;
	size_t parts = plan->part_count * sizeof *plan->parts;
	size_t choices = plan->choice_count * sizeof *plan->choices;
	size_t before = condition_offset(plan);
	size_t conditions = plan->condition_count * sizeof *plan->condition;
	struct written made = {.length = (before + conditions + 15) & ~(size_t)15};
	struct agent_plan *copy = xcalloc(1, made.length);

	const struct fitting fitting = fit(plan);

	copy->plan = fitting.plan;
	copy->plan.entry = copy->plan.exit = NULL;
	copy->plan.parts = NULL;
	copy->plan.choices = NULL;
	copy->plan.scalars = NULL;
	copy->plan.condition = NULL;
	copy->plan.followed_max = (uint32_t)fitting.followed;
	copy->is_limited = fitting.plan.string_max < plan->string_max;
	copy->entry_max = (uint32_t)record_bytes(&fitting.entry, fitting.followed);
	copy->exit_max = (uint32_t)record_bytes(&fitting.exit, fitting.followed);
	made.bytes = (unsigned char *)copy;
	if (entry)
		memcpy(made.bytes + sizeof *copy, plan->entry, entry);
	if (exit)
		memcpy(made.bytes + sizeof *copy + entry, plan->exit, exit);
	if (parts)
		memcpy(made.bytes + sizeof *copy + entry + exit, plan->parts, parts);
	if (choices)
		memcpy(made.bytes + sizeof *copy + entry + exit + parts, plan->choices, choices);
	if (conditions)
		memcpy(made.bytes + before, plan->condition, conditions);
	return made;
}

static int write_new(struct space *space, uint64_t place, const struct written *made)
{
	struct agent_plan *copy = xmemdup(made->bytes, made->length);
	uint64_t ops = place + sizeof *copy;

	uint64_t exit = ops + copy->plan.entry_count * sizeof *copy->plan.entry;

	copy->plan.entry = (void *)(uintptr_t)ops;
	copy->plan.exit = (void *)(uintptr_t)exit;
	uint64_t parts = exit + copy->plan.exit_count * sizeof *copy->plan.exit;

	copy->plan.parts = (void *)(uintptr_t)parts;
	copy->plan.choices =
		(void *)(uintptr_t)(parts + copy->plan.part_count * sizeof *copy->plan.parts);
	copy->plan.condition = (void *)(uintptr_t)(place + condition_offset(&copy->plan));
	int error = space_write(space, place, copy, made->length);

	free(copy);
	return error;
}

uint64_t plans_take(struct plans *plans, uint64_t unit, size_t length)
{
	static const uint64_t room = AGENT_SAVED - AGENT_PLAN_ROOM;
	const uint64_t place = unit + AGENT_PLAN_ROOM + plans->used;

	length = (length + 15) & ~(size_t)15;
	if (length > room - plans->used)
		return 0;
	plans->used += length;
	return place;
}

/* The address of the plan in the tracee, which is written if necessary; 0: no room. */
static uint64_t place_of(struct plans *plans, struct space *space, uint64_t unit,
			 const struct capture_plan *plan)
{
	struct written made = make(plan);
	uint64_t key = hash_bytes(HASH_START, made.bytes, made.length);
	size_t index = (uintptr_t)map_get(&plans->by_hash, key);
	const struct written *known = index ? vec_at(&plans->written, index - 1) : NULL;

	if (known && known->length == made.length &&
	    !memcmp(known->bytes, made.bytes, made.length)) {
		free(made.bytes);
		return known->place;
	}
	made.place = plans_take(plans, unit, made.length);
	if (!made.place || write_new(space, made.place, &made) != 0) {
		free(made.bytes);
		return 0;
	}
	vec_push(&plans->written, &made);
	map_put(&plans->by_hash, key, (void *)(uintptr_t)plans->written.count);
	return made.place;
}

int plans_write(struct plans *plans, struct space *space, uint64_t unit, uint32_t number,
		const struct capture_plan *plan)
{
	uint64_t place = place_of(plans, space, unit, plan);

	if (!place)
		return -ENOSPC;
	return space_write(space, unit + AGENT_PLAN_ADDRESSES + (uint64_t)number * sizeof place,
			   &place, sizeof place);
}

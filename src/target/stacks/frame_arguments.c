/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The arguments of the calls whose frames are on a stack, for --stacks.
 *
 * Whoever looks at a process that hangs in a query wants to know which one. Its arguments were in
 * registers at the entry. They may still be known from two sides: the function may have moved them
 * to registers that callees save, or to its frame; and its caller may still have what it has
 * passed. code/argument_flow.h tells where they are in both frames. The registers of the frames are
 * made by call-frame information, the arguments are put back where they were at the entry, and are
 * captured and shown as those of a call that is traced.
 *
 * The function that was called is not always the one whose frame is there: it may have jumped to
 * another one at its end, as mysql_query() does. What was called is known from the call in the
 * caller's code. So a frame may stand for two calls: that of its own function, and in a line below
 * the one that has led there.
 *
 * What is shown must be right, or marked as a guess. A variable of the caller that another function
 * once had a pointer to, as PyArg_ParseTuple() has, is most likely what it was when it was passed;
 * but whoever has kept the pointer may have changed it. An argument that is not known, or whose
 * copies differ, is shown as `...`. What the call will fill in is shown as an address, and so is a
 * text whose length is not known. What an argument points to is shown as it is now.
 */
#include "target/stacks/frame_arguments.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "sink/render/escape.h"
#include "sink/render/render.h"
#include "target/module.h"
#include "target/stacks/frame_functions.h"
#include "target/stacks/native_stacks.h"

#include <stdlib.h>
#include <string.h>

enum { RECORD_BYTES = 16384, STACK_WORDS = 64 };

/* A frame in which a value may be, and what is known of it. */
struct source {
	size_t index;
	const struct unwind_frame *frame; /* NULL: there is no such frame */
	struct argument_places places;
	bool has_places;
	struct unwind_registers registers;
	bool has_registers;
};

/* A call whose arguments are wanted. */
struct wanted_call {
	struct target *target;
	struct thread *thread;
	const struct unwind_frame *frames;
	const struct known_function *function;
	struct source own;    /* the frame of the function itself */
	struct source caller; /* the frame that has made the call */
};

/* What is known of its arguments. */
struct known_arguments {
	uint64_t registers[REG_COUNT]; /* as they were at the entry */
	uint32_t parameters;	       /* set of those that are known */
	bool has_guess;		       /* one of them is a guess */
};

static const struct arch *arch_of(const struct wanted_call *call)
{
	return call->thread->process->space->arch;
}

/* ------------------------------------------------------------------ values at the entry */

/* Gets a register of a frame. Returns false if it is not known. */
static bool get_register(const struct wanted_call *call, struct source *source, unsigned general,
			 uint64_t *value)
{
	const struct arch *arch = arch_of(call);

	if (!source->has_registers &&
	    !native_stacks_registers(call->thread, call->frames, source->index, &source->registers))
		source->registers.known = 0;
	source->has_registers = true;
	for (unsigned i = 0; i < arch->dwarf_return; i++) {
		if (arch->dwarf_general[i] != general || !(source->registers.known >> i & 1))
			continue;
		*value = source->registers.values[i];
		return true;
	}
	return false;
}

/* Gets what is at a place. Returns false if that is not known. */
static bool get_copy(const struct wanted_call *call, struct source *source,
		     const struct held_copy *copy, unsigned width, uint64_t *value)
{
	const struct unwind_frame *frame = source->frame;
	const uint64_t at = (uint64_t)copy->at;

	switch ((enum held_place)copy->place) {
	case HELD_IN_REGISTER:
		return get_register(call, source, (unsigned)copy->at, value);
	case HELD_IN_FRAME:
		return memory_read_word(&call->thread->process->space->readable, frame->cfa + at,
					width, value);
	case HELD_IS_NUMBER:
		*value = at;
		return true;
	case HELD_IS_ADDRESS:
		*value = at + frame->module.bias;
		return true;
	case HELD_IS_FRAME:
		*value = frame->cfa + at;
		return true;
	}
	return false;
}

static uint64_t cut(uint64_t value, unsigned width)
{
	return width < sizeof value ? value & ((UINT64_C(1) << 8 * width) - 1) : value;
}

/* The low bytes of a register at the entry. */
struct found_value {
	unsigned width;
	uint64_t value;
	bool is_known;
	bool is_guess;
	bool is_doubtful; /* two copies differ */
};

static void look_in(const struct wanted_call *call, struct source *source,
		    const struct held_value *held, struct found_value *found)
{
	for (unsigned i = 0; i < held->count; i++) {
		const struct held_copy *copy = &held->copies[i];
		uint64_t value;

		/* A guess is better than nothing, but says nothing about what is known. */
		if (copy->width < found->width || (copy->is_guess && found->is_known) ||
		    !get_copy(call, source, copy, found->width, &value))
			continue;
		value = cut(value + (uint64_t)copy->addend, found->width);
		found->is_doubtful |= found->is_known && found->value != value;
		found->value = value;
		found->is_known = true;
		found->is_guess = copy->is_guess;
	}
}

/* Finds the low bytes of a register at the entry. Returns false if they are not known. */
static bool find_register(struct wanted_call *call, unsigned number, unsigned size,
			  struct known_arguments *known)
{
	struct found_value found = {.width = size <= 1 ? 1U : size <= 2 ? 2U : size <= 4 ? 4U : 8U};

	if (number >= REG_COUNT || !size)
		return false;
	if (call->own.has_places)
		look_in(call, &call->own, &call->own.places.entry[number], &found);
	if (call->caller.has_places)
		look_in(call, &call->caller, &call->caller.places.passed[number], &found);
	known->registers[number] = found.value;
	known->has_guess |= found.is_guess;
	return found.is_known && !found.is_doubtful;
}

/* Returns true if stack bytes at that distance from sp at the entry are as they were. */
static bool is_intact(const struct wanted_call *call, int32_t offset, unsigned size)
{
	const int word = (int)arch_of(call)->abi->word;
	const int first = offset / word - 1;
	const int64_t last = ((int64_t)offset + size - 1) / word - 1;

	if (!call->own.has_places || first < 0 || last >= STACK_WORDS || !size)
		return false;
	for (int i = first; i <= last; i++)
		if (!(call->own.places.intact >> i & 1))
			return false;
	return true;
}

static bool find_location(struct wanted_call *call, unsigned index, struct known_arguments *known)
{
	const struct capture_location *location = &call->function->plan->args[index];

	if (location->place == PLACE_GPR)
		return find_register(call, location->index, location->size, known);
	return location->place == PLACE_STACK && is_intact(call, location->offset, location->size);
}

/* Returns true if all that an operation reads is known. */
static bool find_operands(struct wanted_call *call, const struct capture_op *op,
			  struct known_arguments *known)
{
	const struct capture_plan *plan = call->function->plan;
	const unsigned word = plan->word;

	switch (op->place) {
	case PLACE_GPR:
		return find_register(call, op->index, op->kind == CAPTURE_WORD ? op->size : word,
				     known);
	case PLACE_STACK:
		return is_intact(call, op->offset,
				 op->kind == CAPTURE_INLINE ? plan->parts[op->part].size
							    : op->size);
	case PLACE_PIECES:
		return find_register(call, op->index, word, known) &&
		       (op->high == PIECE_NONE || find_register(call, op->high, word, known));
	default:
		return false;
	}
}

static void find_arguments(struct wanted_call *call, struct known_arguments *known)
{
	const struct capture_plan *plan = call->function->plan;

	for (unsigned i = 0; i < plan->arg_count; i++)
		if (find_location(call, i, known))
			known->parameters |= 1U << i;
	for (unsigned i = 0; i < plan->entry_count; i++) {
		const uint32_t bit = 1U << (plan->entry[i].argument & VALUE_INDEX);

		if ((known->parameters & bit) && !find_operands(call, &plan->entry[i], known))
			known->parameters &= ~bit;
	}
}

/* ------------------------------------------------------------------ what is shown */

/* A prototype for what is known, and what is shown in place of the rest. */
struct shown_call {
	struct prototype prototype;
	struct parameter parameters[CAPTURE_ARGS_MAX];
	struct type hidden[CAPTURE_ARGS_MAX];
	uint32_t unknown; /* set of parameters that are shown as unknown */
	bool any;	  /* one is known */
};

/* Returns the set of other parameters that a parameter's value depends on. */
static uint32_t needs_of(const struct prototype *prototype, unsigned index)
{
	const struct parameter *parameter = &prototype->parameters[index];
	uint32_t needs = parameter->type->arguments;

	for (unsigned i = 0; i < parameter->choice_count; i++)
		needs |= parameter->choices[i].type->arguments;
	if (parameter->choices)
		needs |= 1U << parameter->selector;
	for (unsigned i = index; parameter->only_with && i-- > 0;)
		if (!prototype->parameters[i].only_with && !prototype->parameters[i].choices)
			return needs | 1U << i;
	return needs;
}

/* Whether a parameter is passed, or its type, depends on another one. */
static bool is_conditional(const struct parameter *parameter)
{
	return parameter->choices || parameter->only_with;
}

static void reduce_to(struct parameter *parameter, const struct type *type)
{
	parameter->type = type;
	parameter->choices = NULL;
	parameter->choice_count = 0;
	parameter->path = NULL;
	parameter->only_with = 0;
}

/* The parameter keeps its place, but is not captured. */
static void hide(struct shown_call *shown, unsigned index)
{
	struct parameter *parameter = &shown->parameters[index];

	if (!parameter->type->is_hidden && !is_conditional(parameter))
		shown->unknown |= 1U << index;
	shown->hidden[index] = *parameter->type;
	shown->hidden[index].is_hidden = true;
	reduce_to(parameter, &shown->hidden[index]);
}

static void choose_shown(const struct prototype *prototype, const struct known_arguments *known,
			 struct shown_call *shown)
{
	shown->prototype = *prototype;
	shown->prototype.parameters = shown->parameters;
	memcpy(shown->parameters, prototype->parameters,
	       prototype->parameter_count * sizeof *shown->parameters);
	for (unsigned i = 0; i < prototype->parameter_count; i++) {
		struct parameter *parameter = &shown->parameters[i];
		const bool lacks_length = needs_of(prototype, i) & ~known->parameters;

		if (!(known->parameters >> i & 1) ||
		    (lacks_length &&
		     (is_conditional(parameter) || parameter->type->kind == TYPE_STRUCT)))
			hide(shown, i);
		else if (lacks_length)
			reduce_to(parameter, &frame_functions_address);
		shown->any |= !parameter->type->is_hidden;
	}
}

static struct record *capture(const struct wanted_call *call, const struct shown_call *shown,
			      const struct known_arguments *known)
{
	const struct space *space = call->thread->process->space;
	const struct capture_frame frame = {.gpr = known->registers,
					    .sp = call->own.frame->cfa - space->arch->abi->word,
					    .memory = &space->readable};
	struct capture_plan *plan = frame_functions_plan(call->target, call->thread,
							 &shown->prototype);
	struct record *record = xcalloc(1, RECORD_BYTES);
	struct capture_buffer buffer = {(unsigned char *)record, RECORD_BYTES};

	*record = (struct record){.size = sizeof *record,
				  .version = RECORD_VERSION,
				  .kind = RECORD_CALL,
				  .pid = call->thread->process->pid,
				  .tid = call->thread->tid};
	capture_entry(plan, &frame, &buffer, NULL);
	plan_destroy(plan);
	return record;
}

static void render(const struct wanted_call *call, const struct shown_call *shown,
		   const struct record *record, bool has_guess, struct outbuf *out)
{
	const struct output_options *options = call->target->options->output;
	const struct code_names code = {
		.find = module_code_name, .place = module_code_place, .context = call->target};
	const struct render_options render = {.string_max = options->string_max,
					      .array_max = options->array_max,
					      .names = options->parameter_names,
					      .utf8 = options->utf8,
					      .code = &code,
					      .unknown = shown->unknown};
	struct value_cursor values = value_cursor_start(record);

	if (out->length)
		outbuf_newline(out);
	escape_name(out, call->function->name);
	outbuf_char(out, '(');
	render_arguments(out, &shown->prototype, 0, shown->prototype.parameter_count, &values,
			 &render);
	outbuf_text(out, call->function->has_more ? ", ...)" : ")");
	if (has_guess)
		outbuf_text(out, " ?");
}

static void show(struct wanted_call *call, struct outbuf *out)
{
	_cleanup_free_ struct shown_call *shown = xcalloc(1, sizeof *shown);
	struct known_arguments known = {.parameters = 0};

	find_arguments(call, &known);
	choose_shown(call->function->prototype, &known, shown);
	if (!shown->any)
		return;
	_cleanup_free_ struct record *record = capture(call, shown, &known);

	render(call, shown, record, known.has_guess, out);
}

/* ------------------------------------------------------------------ the calls of a frame */

static void set_source(const struct wanted_call *call, size_t index, struct source *source)
{
	*source = (struct source){.index = index, .frame = &call->frames[index]};
	source->has_places = frame_functions_places(call->target, call->thread, source->frame,
						    &source->places);
}

char *frame_arguments_text(struct target *target, struct thread *thread,
			   const struct unwind_frame *frames, size_t count, size_t index)
{
	struct wanted_call own = {.target = target, .thread = thread, .frames = frames};
	const struct unwind_frame *frame = &frames[index];
	struct outbuf out;

	if (!frame->module.file || !frame->cfa || frame->is_guessed || frame->is_signal_frame)
		return NULL;
	const uint64_t start = frame_functions_start(thread, frame);
	const uint64_t called = index + 1 < count
					? frame_functions_called(target, thread, frame + 1)
					: 0;
	struct wanted_call other = own;

	outbuf_init(&out, -1);
	own.function = frame_functions_at(target, thread, start);
	if (own.function) {
		set_source(&own, index, &own.own);
		/* If others are called in its place, the frame may be of another call of it. */
		if (called == start && own.own.has_places && !own.own.places.leaves_too)
			set_source(&own, index + 1, &own.caller);
		show(&own, &out);
	}
	other.function = called == start ? NULL : frame_functions_at(target, thread, called);
	if (other.function) {
		other.own.frame = frame;
		set_source(&other, index + 1, &other.caller);
		show(&other, &out);
	}
	char *text = out.length ? xstrndup(out.text, out.length) : NULL;

	outbuf_deinit(&out);
	return text;
}

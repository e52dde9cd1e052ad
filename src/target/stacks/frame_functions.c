/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of the functions of a space's frames.
 *
 * A function has a prototype only if that is certain. Its symbol must be global: of a function that
 * others cannot call, the compiler may have changed the arguments. And the prototype must be from a
 * file for the module that defines the function, or from an -F file; in a file for another library
 * the name may mean another function.
 *
 * The analysis of a function takes some hundred microseconds, so its result is kept for each pc.
 * Where a module was unloaded, another one may be at the same address: what is kept is used for the
 * same file at the same place only.
 */
#include "target/stacks/frame_functions.h"

#include "base/xalloc.h"
#include "object/elf_address.h"
#include "object/elf_symbols.h"
#include "target/module.h"
#include "target/shown_names.h"
#include "target/site_prototypes.h"
#include "target/stacks/called_functions.h"
#include "unwind/eh_rows.h"
#include "unwind/unwind_table.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* A step takes some hundred nanoseconds; a function of usual size some hundred steps. */
enum { KEPT_MAX = 1 << 10, BUDGET = 1 << 23 };

struct frame_functions {
	struct map functions; /* address → struct known_function */
	struct map codes;     /* pc * 2 + is_call → struct frame_code */
	size_t budget;	      /* steps that analyses may still make */
};

const struct type frame_functions_address = {.kind = TYPE_POINTER};
static const struct type text_type = {.kind = TYPE_STRING};

/* ------------------------------------------------------------------ what is kept */

static void free_function(struct known_function *function)
{
	plan_destroy(function->plan);
	free(function->parameters);
	free(function->prototype);
	free(function->name);
	elf_unref(function->file);
	free(function);
}

static void free_code(struct frame_code *code)
{
	elf_unref(code->file);
	free(code);
}

static void forget_functions(struct frame_functions *functions)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&functions->functions, &cursor, NULL, &value))
		free_function(value);
	map_deinit(&functions->functions);
}

static void forget_codes(struct frame_functions *functions)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&functions->codes, &cursor, NULL, &value))
		free_code(value);
	map_deinit(&functions->codes);
}

static struct frame_functions *functions_of(const struct thread *thread)
{
	struct modules *modules = thread->process->space->modules;

	if (!modules->functions) {
		modules->functions = xcalloc(1, sizeof *modules->functions);
		modules->functions->budget = BUDGET;
	}
	return modules->functions;
}

void frame_functions_forget(struct modules *modules)
{
	struct frame_functions *functions = modules->functions;

	if (!functions)
		return;
	modules->functions = NULL;
	forget_functions(functions);
	forget_codes(functions);
	free(functions);
}

/* ------------------------------------------------------------------ functions with prototypes */

/* Returns a name by which others may call what begins at `start`, or NULL. */
static const char *find_name(struct elf_file *file, uint64_t start)
{
	uint64_t offset;
	const char *name = elf_name_of_code(file, start, &offset);

	if (!name || offset)
		return NULL;
	for (const struct elf_symbol *symbol = elf_find_symbol(file, name); symbol;
	     symbol = elf_find_next(file, symbol))
		if (symbol->value == start && symbol->type == STT_FUNC && symbol->bind != STB_LOCAL)
			return name;
	return NULL;
}

/* Makes a parameter one that is captured at the entry. Returns true if others follow a format. */
static bool capture_at_entry(struct parameter *parameter)
{
	const struct type *type = parameter->type;
	const bool is_format = type->kind == TYPE_FORMAT;
	bool needs_result = type->needs_result;

	for (unsigned i = 0; i < parameter->choice_count; i++)
		needs_result |= parameter->choices[i].type->needs_result;
	if (parameter->is_filled || needs_result) {
		parameter->type = &frame_functions_address;
		parameter->choices = NULL;
		parameter->choice_count = 0;
		parameter->path = NULL;
	} else if (is_format) {
		parameter->type = type->is_wide ? &frame_functions_address : &text_type;
	}
	parameter->on_return = parameter->is_filled = false;
	return is_format;
}

struct capture_plan *frame_functions_plan(const struct target *target, const struct thread *thread,
					  const struct prototype *prototype)
{
	const struct plan_limits limits = {.string_max = target->options->string_max,
					   .array_max = target->options->array_max};

	return plan_create(prototype, thread->process->space->arch->abi, &limits);
}

static void set_prototype(const struct target *target, const struct thread *thread,
			  const struct prototype *prototype, struct known_function *function)
{
	const unsigned count = prototype->parameter_count;

	function->parameters = xcalloc(count, sizeof *function->parameters);
	memcpy(function->parameters, prototype->parameters, count * sizeof *function->parameters);
	for (unsigned i = 0; i < count; i++)
		if (!function->parameters[i].type->is_hidden)
			function->has_more |= capture_at_entry(&function->parameters[i]);
	function->prototype = xcalloc(1, sizeof *function->prototype);
	*function->prototype = *prototype;
	function->prototype->parameters = function->parameters;
	function->plan = frame_functions_plan(target, thread, function->prototype);
}

static struct known_function *look_up(struct target *target, const struct thread *thread,
				      const struct module *module, uint64_t address)
{
	const struct space *space = thread->process->space;
	struct known_function *function = xcalloc(1, sizeof *function);
	const char *name = find_name(module->file, address - module->bias);
	const struct function_query question = {PROBE_ENTRY, address, name, module};
	const struct prototype *found = name ? site_prototype_in_files(target, space, module, name)
					     : NULL;

	function->file = elf_ref(module->file);
	function->bias = module->bias;
	if (!found || found->is_unknown || !found->parameter_count ||
	    found->parameter_count > CAPTURE_ARGS_MAX || site_prototype_is_go(&question))
		return function;
	set_prototype(target, thread, site_prototype_resolve(target, space, &question, found),
		      function);
	function->name = shown_names_function(target, module, name);
	return function;
}

const struct known_function *frame_functions_at(struct target *target, struct thread *thread,
						uint64_t address)
{
	struct frame_functions *functions = functions_of(thread);
	const struct module *module =
		address ? modules_find(thread->process->space->modules, address) : NULL;
	struct known_function *function = map_get(&functions->functions, address);

	if (!module)
		return NULL;
	if (function && (function->file != module->file || function->bias != module->bias)) {
		forget_functions(functions);
		function = NULL;
	}
	if (!function) {
		if (functions->functions.count == KEPT_MAX)
			forget_functions(functions);
		function = look_up(target, thread, module, address);
		map_put(&functions->functions, address, function);
	}
	return function->prototype ? function : NULL;
}

/* ------------------------------------------------------------------ code of frames */

static uint64_t find_start(const struct unwind_frame *frame)
{
	const uint64_t address = frame->pc - frame->is_call - frame->module.bias;
	struct eh_unwind_row row;
	struct eh_function function;
	uint64_t offset;

	if (!elf_name_of_code(frame->module.file, address, &offset))
		offset = 0;
	if (!unwind_table_row(unwind_table(frame->module.file), address, &row, &function))
		return 0;
	/* A part of a function that was split off is one of its own for call-frame information. */
	return offset && offset <= address && address - offset != function.start
		       ? 0
		       : function.start + frame->module.bias;
}

static struct frame_code *code_of(struct thread *thread, const struct unwind_frame *frame)
{
	struct frame_functions *functions = functions_of(thread);
	const uint64_t key = frame->pc * 2 + frame->is_call;
	struct frame_code *code = map_get(&functions->codes, key);

	if (code && code->file == frame->module.file && code->bias == frame->module.bias)
		return code;
	if (code || functions->codes.count == KEPT_MAX)
		forget_codes(functions);
	code = xcalloc(1, sizeof *code);
	code->file = elf_ref(frame->module.file);
	code->bias = frame->module.bias;
	code->start = find_start(frame);
	map_put(&functions->codes, key, code);
	return code;
}

uint64_t frame_functions_start(struct thread *thread, const struct unwind_frame *frame)
{
	return frame->module.file ? code_of(thread, frame)->start : 0;
}

static uint64_t find_called(const struct target *target, const struct space *space, uint64_t pc)
{
	struct called_functions called;

	called_functions_find(target, space, pc, &called);
	if (!called.slot)
		return called.direct;
	return called_functions_slot_is_right(space, &called) ? called.by_slot : 0;
}

uint64_t frame_functions_called(const struct target *target, struct thread *thread,
				const struct unwind_frame *frame)
{
	const struct space *space = thread->process->space;

	if (!frame->is_call || frame->is_guessed)
		return 0;
	if (!frame->module.file)
		return find_called(target, space, frame->pc);
	struct frame_code *code = code_of(thread, frame);

	if (!code->is_called_known)
		code->called = find_called(target, space, frame->pc);
	code->is_called_known = true;
	return code->called;
}

static bool agrees(const struct thread *thread, const struct unwind_frame *frame,
		   const struct argument_places *places)
{
	const uint64_t distance = frame->sp - frame->cfa - (uint64_t)places->sp;

	return !places->has_sp ||
	       !(thread->process->space->arch->abi->word == sizeof distance ? distance
									    : (uint32_t)distance);
}

bool frame_functions_places(struct target *target, struct thread *thread,
			    const struct unwind_frame *frame, struct argument_places *places)
{
	if (!frame->module.file || !frame->cfa || frame->is_guessed || frame->is_signal_frame)
		return false;
	struct frame_code *code = code_of(thread, frame);

	if (!code->is_asked && code->start)
		code->has_places = argument_flow_find(code->file, trap_decoder(target->trap),
						      code->start - code->bias,
						      frame->pc - code->bias, frame->is_call,
						      &functions_of(thread)->budget, &code->places);
	code->is_asked = true;
	if (!code->has_places || !agrees(thread, frame, &code->places))
		return false;
	*places = code->places;
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The values that expressions find in one call.
 *
 * All of them are in the records of the call's entry and end, or in what the records refer to by
 * number (probe, stack). The exceptions are the name of a thread and of the caller, which are asked
 * for while the call is shown.
 */
#include "sink/call_values.h"

#include "base/cleanup.h"
#include "base/time_of_day.h"
#include "base/xalloc.h"
#include "probe/fingerprint.h"
#include "sink/call_members.h"
#include "sink/stacks/folded.h"
#include "sink/stacks/stack_lines.h"

#include <stdlib.h>
#include <string.h>

enum { NS_PER_US = 1000, NS_PER_S = 1000000000 };

/* ------------------------------------------------------------------ arguments and results */

static const struct record *any_record(const struct call_values *values)
{
	return values->entry ? values->entry : values->end;
}

/* Returns the index of the parameter that a node names, or -1. */
static int parameter_of(const struct prototype *prototype, const struct expression *node)
{
	if (node->number)
		return node->number <= prototype->parameter_count ? (int)node->number - 1 : -1;
	for (unsigned i = 0; i < prototype->parameter_count; i++)
		if (prototype->parameters[i].name &&
		    !strcmp(prototype->parameters[i].name, node->text))
			return (int)i;
	return -1;
}

/* Goes to the first value of a parameter, or of the result. */
static const struct record_value *find_value(struct value_cursor *cursor, unsigned argument)
{
	const struct record_value *value;

	while ((value = value_cursor_next(cursor)))
		if (argument == VALUE_RESULT ? value->argument == VALUE_RESULT
					     : value->argument != VALUE_RESULT &&
						       (value->argument & VALUE_INDEX) == argument)
			return value;
	return NULL;
}

static struct expression_value value_in(struct call_values *values, const struct record *record,
					const struct type *type, unsigned argument,
					const struct expression *node)
{
	const struct output_options *options = values->target->options;
	const struct render_options render = {.string_max = options->string_max,
					      .array_max = options->array_max,
					      .utf8 = options->utf8,
					      .code = values->target->code};
	struct value_cursor cursor = value_cursor_start(record);
	const struct record_value *value = find_value(&cursor, argument);

	if (!value)
		return expression_none();
	const struct typed_value typed = {type, value, &cursor, &render, value->argument};

	return call_members_get(&typed, node, &values->run);
}

static struct expression_value argument_value(struct call_values *values,
					      const struct expression *node)
{
	const struct prototype *prototype = values->probe ? values->probe->prototype : NULL;
	const int index = prototype ? parameter_of(prototype, node) : -1;

	if (index < 0)
		return expression_none();
	const struct parameter *parameter = &prototype->parameters[index];
	const struct record *record = parameter->on_return ? values->end : values->entry;
	const struct type *type = parameter->type;

	if (!record || (parameter->on_return && record->kind != RECORD_RETURN))
		return expression_none();
	if (parameter->choices) {
		struct value_cursor cursor = value_cursor_start(record);
		const struct record_value *value = find_value(&cursor, (unsigned)index);
		const unsigned choice = value ? value->argument >> VALUE_CHOICE_SHIFT : 0;

		if (!value || choice >= parameter->choice_count)
			return expression_none();
		type = parameter->choices[choice].type;
	}
	struct expression_value value = value_in(values, record, type, (unsigned)index, node);

	value.is_object = parameter->path != NULL;
	return value;
}

static struct expression_value result_value(struct call_values *values,
					    const struct expression *node)
{
	const struct probe_info *probe = values->probe;

	if (!probe || !values->end || values->end->kind != RECORD_RETURN)
		return expression_none();
	if (probe->kind == PROBE_SYSTEM && values->end->number > 0)
		return expression_signed(-1);
	return value_in(values, values->end, probe->prototype->result, VALUE_RESULT, node);
}

/* ------------------------------------------------------------------ other names */

static struct expression_value kept(struct call_values *values, const char *text)
{
	const size_t length = text ? strlen(text) : 0;

	return text ? expression_text(expression_run_keep(&values->run, text, length), length)
		    : expression_none();
}

/* MODULE(FUNCTION), without the distance: calls from one function are one caller. */
static struct expression_value caller_value(struct call_values *values)
{
	const struct code_names *code = values->target->code;
	const struct record *record = any_record(values);
	_cleanup_free_ char *place = code && record->pc
					     ? code->place(code->context, record->pid, record->pc)
					     : NULL;
	char *sign = place ? strrchr(place, '+') : NULL;
	const char *end = sign ? strchr(sign, ')') : NULL;

	if (end && !end[1]) {
		sign[0] = ')';
		sign[1] = '\0';
	}
	return kept(values, place);
}

static struct expression_value line_value(struct call_values *values, bool with_line)
{
	const struct sink_target *target = values->target;
	const struct stack_frame *frame = target->stacks
						  ? stack_lines_choose(target->stacks,
								       any_record(values)->stack,
								       target->options)
						  : NULL;
	struct strbuf text = {0};
	struct expression_value value = expression_none();

	if (!frame)
		return value;
	strbuf_add(&text, with_line ? stack_lines_file(frame, target->options) : frame->file);
	if (with_line)
		strbuf_printf(&text, ":%u", frame->line);
	value = kept(values, text.text);
	strbuf_deinit(&text);
	return value;
}

static struct expression_value stack_value(struct call_values *values)
{
	const struct sink_target *target = values->target;
	struct strbuf text = {0};
	struct expression_value value;

	if (!target->stacks || !any_record(values)->stack)
		return expression_none();
	folded_add_frames(&text, target->stacks, any_record(values)->stack, target->options);
	value = kept(values, text.text ? text.text + 1 : NULL);
	strbuf_deinit(&text);
	return value;
}

static struct expression_value comm_value(struct call_values *values)
{
	const struct code_names *code = values->target->code;
	char name[16] = "";

	if (!code || !code->thread)
		return expression_none();
	code->thread(code->context, any_record(values)->tid, name);
	return kept(values, name);
}

static struct expression_value with_unit(struct expression_value value, enum expression_unit unit)
{
	value.unit = unit;
	return value;
}

static struct expression_value value_of(void *context, const struct expression *node,
					struct expression_run *run)
{
	struct call_values *values = context;
	const struct record *record = any_record(values);
	const struct record *end = values->end;

	(void)run;
	switch (node->name) {
	case NAME_ARGUMENT:
		return argument_value(values, node);
	case NAME_RESULT:
		return result_value(values, node);
	case NAME_ERRNO:
		return values->probe && values->probe->kind == PROBE_SYSTEM && end
			       ? expression_signed(end->number > 0 ? end->number : 0)
			       : expression_none();
	case NAME_DURATION:
		return end && end->kind == RECORD_RETURN
			       ? with_unit(expression_unsigned(end->duration), UNIT_DURATION)
			       : expression_none();
	case NAME_FUNCTION:
		return kept(values, values->probe ? values->probe->name : NULL);
	case NAME_MODULE:
		return kept(values, values->probe ? values->probe->module : NULL);
	case NAME_CALLER:
		return caller_value(values);
	case NAME_PID:
		return expression_signed(record->pid);
	case NAME_TID:
		return expression_signed(record->tid);
	case NAME_COMM:
		return comm_value(values);
	case NAME_TIME:
		return with_unit(expression_unsigned(record->time), UNIT_TIME);
	case NAME_DEPTH:
		return expression_unsigned(record->depth);
	case NAME_LINE:
		return line_value(values, true);
	case NAME_FILE:
		return line_value(values, false);
	case NAME_STACK:
		return stack_value(values);
	default:
		return expression_none();
	}
}

/* ------------------------------------------------------------------ fingerprints */

/* Returns the dialect of the library that a function belongs to. */
static enum sql_dialect dialect_of(const struct probe_info *probe)
{
	if (!probe)
		return SQL_MYSQL;
	if (strstr(probe->module, "sqlite") || !strncmp(probe->name, "sqlite3", 7))
		return SQL_SQLITE;
	if (strstr(probe->module, "libpq") || !strncmp(probe->name, "PQ", 2))
		return SQL_POSTGRESQL;
	return SQL_MYSQL;
}

static struct expression_value fingerprint_of(void *context, const struct expression_value *text,
					      const struct expression_value *dialect,
					      struct expression_run *run)
{
	const struct call_values *values = context;
	enum sql_dialect spoken = dialect_of(values->probe);

	if (text->type != EXPRESSION_TEXT)
		return text->is_unreadable ? *text : expression_none();
	if (dialect)
		sql_dialect_find(dialect->text, &spoken);
	char *shape = xmalloc(fingerprint_room(text->length));
	const size_t length = fingerprint(spoken, text->text ? text->text : "", text->length,
					  text->is_cut, shape);
	const struct expression_value shown =
		expression_text(expression_run_keep(run, shape, length), length);

	free(shape);
	return shown;
}

/* ------------------------------------------------------------------ for those who ask */

void call_values_begin(struct call_values *values, const struct sink_target *target,
		       const struct record *entry, const struct record *end)
{
	*values = (struct call_values){.target = target, .entry = entry, .end = end};
	values->probe = probe_table_get(target->probes, any_record(values)->probe);
	values->subject = (struct expression_subject){value_of, fingerprint_of, values};
	expression_run_begin(&values->run, &values->subject);
}

void call_values_end(struct call_values *values)
{
	expression_run_end(&values->run);
}

struct expression_value call_values_get(struct call_values *values,
					const struct expression *expression)
{
	return expression_evaluate(expression, &values->run);
}

static void add_time(struct strbuf *text, uint64_t time)
{
	char clock[TIME_OF_DAY_US_BYTES];

	time_of_day_us(clock, time);
	strbuf_add(text, clock);
}

/* [4, 8) */
static void add_power(struct strbuf *text, int64_t power)
{
	if (power == POWER_BELOW_0)
		strbuf_add(text, "(..., 0)");
	else if (power == POWER_OF_0)
		strbuf_add(text, "[0]");
	else if (power >= 63)
		strbuf_printf(text, "[%llu, ...)", 1ULL << 63);
	else
		strbuf_printf(text, "[%llu, %llu)", 1ULL << power, 2ULL << power);
}

static void add_number(struct strbuf *text, const struct expression_value *value)
{
	const unsigned long long number = value->number;

	if (value->unit == UNIT_POINTER && !number)
		strbuf_add(text, "nil");
	else if (value->unit == UNIT_POINTER)
		strbuf_printf(text, "0x%llx", number);
	else if (value->unit == UNIT_POWER)
		add_power(text, (int64_t)number);
	else if (value->unit == UNIT_TIME)
		add_time(text, number);
	else if (value->unit == UNIT_DURATION &&
		 !(value->type == EXPRESSION_SIGNED && (int64_t)number < 0))
		strbuf_printf(text, "%llu.%06llu", number / NS_PER_S,
			      number % NS_PER_S / NS_PER_US);
	else if (value->type == EXPRESSION_SIGNED)
		strbuf_printf(text, "%lld", (long long)number);
	else
		strbuf_printf(text, "%llu", number);
}

/* Three digits behind the point; six of a number below a thousandth. */
static void add_real(struct strbuf *text, const struct expression_value *value)
{
	const double real = value->real, size = real < 0 ? -real : real;

	if (value->unit == UNIT_DURATION)
		strbuf_printf(text, "%.9f", real / NS_PER_S);
	else if (size >= 1e15)
		strbuf_printf(text, "%.6g", real);
	else
		strbuf_printf(text, "%.*f", real != 0 && size < 0.001 ? 6 : 3, real);
}

void call_values_add(struct strbuf *text, const struct expression_value *value)
{
	if (value->is_unreadable) {
		strbuf_add(text, "(unreadable)");
		return;
	}
	switch (value->type) {
	case EXPRESSION_NONE:
		strbuf_add(text, "-");
		break;
	case EXPRESSION_FLOAT:
		add_real(text, value);
		break;
	case EXPRESSION_TEXT:
		strbuf_add_bytes(text, value->text, value->length);
		strbuf_add(text, value->is_cut ? "..." : "");
		break;
	default:
		add_number(text, value);
	}
}

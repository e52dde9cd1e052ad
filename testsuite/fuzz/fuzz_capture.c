/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capture plans over a memory that is short, has holes, and changes while it is read: whatever it
 * holds, the record is whole and stays in its buffer, and what is shown of it is printable text.
 *
 * An input is a prototype up to a NUL, then the numbers below, then the tracee's memory.
 */
#include "fuzz.h"
#include "proto/plan.h"
#include "record/capture_plain.h"
#include "sink/render/render.h"

enum { BASE = 4096, TEXT_MAX = 768, CAPACITY_MAX = 8192, GUARD = 64 };

struct machine {
	const struct abi *abi;
	struct fake_memory fake;
	uint64_t gpr[16];
	uint8_t xmm[8][16];
	uint8_t st[2][16];
	uint64_t sp;
	bool has_fp;
	uint64_t record[(CAPACITY_MAX + GUARD) / 8];
	size_t capacity;
};

static char *take_text(struct input *input)
{
	char *text = malloc(TEXT_MAX + 1);
	size_t length = 0;

	MUST(text);
	while (length < TEXT_MAX && input->left && (text[length] = (char)input_byte(input)))
		length++;
	text[length] = '\0';
	return text;
}

static void take_machine(struct machine *machine, struct input *input)
{
	uint8_t flags = input_byte(input);
	uint16_t capacity;

	machine->abi = flags & 1 ? arch_i386.abi : arch_x86_64.abi;
	machine->has_fp = flags & 2;
	input_take(input, &capacity, sizeof capacity);
	machine->capacity = sizeof(struct record) + capacity % (CAPACITY_MAX - 64);
	machine->sp = BASE + input_byte(input) * UINT64_C(8);
	/* Half of the registers point into the memory. */
	for (size_t i = 0; i < 16; i++) {
		uint64_t word = input_word(input);

		machine->gpr[i] = i % 2 ? word : BASE + word % 4096;
	}
	input_take(input, machine->xmm, 16);
	input_take(input, machine->st[0], sizeof machine->st[0]);
	fake_create(&machine->fake, BASE, flags >> 4, input);
}

static struct capture_buffer begin(struct machine *machine)
{
	struct record *record = (struct record *)(void *)machine->record;

	memset(machine->record, 0xa5, sizeof machine->record);
	*record = (struct record){.size = sizeof *record, .version = RECORD_VERSION};
	return (struct capture_buffer){(unsigned char *)machine->record, machine->capacity};
}

/* The record is whole and has not left its buffer. */
static const struct record *check_record(const struct machine *machine)
{
	const struct record *record = (const void *)machine->record;
	const unsigned char *bytes = (const void *)machine->record;
	const unsigned char *end = bytes + record->size;
	const struct record_value *value = record_values(record);

	MUST(record->size <= machine->capacity && record->size % 8 == 0);
	for (unsigned i = 0; i < record->value_count; i++) {
		MUST((const unsigned char *)(value + 1) <= end);
		MUST(value->kind >= VALUE_WORD && value->kind <= VALUE_OBJECT);
		MUST(value->length <= (size_t)(end - (const unsigned char *)(value + 1)));
		value = record_value_next(value);
	}
	MUST((const unsigned char *)value == end);
	for (size_t i = machine->capacity; i < sizeof machine->record; i++)
		MUST(bytes[i] == 0xa5);
	return record;
}

static void check_text(const struct outbuf *out)
{
	for (size_t i = 0; i < out->length; i++)
		MUST(out->text[i] >= ' ' && out->text[i] <= '~');
}

static void show(const struct record *record, const struct prototype *prototype, bool entry)
{
	static const struct render_options options = {
		.string_max = 32, .array_max = 4, .names = true};
	struct outbuf out;
	struct value_cursor cursor = value_cursor_start(record);
	unsigned first = render_entry_count(prototype);

	outbuf_init(&out, -1);
	if (entry) {
		render_arguments(&out, prototype, 0, first, &cursor, &options);
	} else {
		render_result(&out, prototype, &cursor, &options);
		render_arguments(&out, prototype, first, prototype->parameter_count, &cursor,
				 &options);
	}
	check_text(&out);
	/* Plan and renderer were in step, or it is said that they were not. */
	MUST(!cursor.left || memchr(out.text, '?', out.length));
	outbuf_deinit(&out);
}

/* What is plain is made by the short cut as well, in no more room than that asks for. */
static void run_plain(struct machine *machine, const struct capture_plan *plan,
		      const struct prototype *prototype, bool entry)
{
	const struct capture_op *ops = entry ? plan->entry : plan->exit;
	const unsigned count = entry ? plan->entry_count : plan->exit_count;
	const size_t capacity = machine->capacity;
	const struct plain_memory memory = {
		.read = fake_read, .read_string = fake_read_string, .context = &machine->fake};
	size_t room = sizeof(struct record) + 8 + count * sizeof(struct record_value);

	if (entry ? !plan->plain_entry : !plan->plain_exit)
		return;
	for (unsigned i = 0; i < count; i++)
		room += ops[i].kind == CAPTURE_STRING ? (plan->string_max + 7U) & ~7U : 0;
	if (room > CAPACITY_MAX)
		return;
	machine->capacity = room;
	begin(machine);
	capture_plain(plan, ops, count, machine->gpr, &memory,
		      (struct record *)(void *)machine->record);
	show(check_record(machine), prototype, entry);
	machine->capacity = capacity;
}

static void run(struct machine *machine, const struct prototype *prototype, unsigned string_max)
{
	const struct plan_limits limits = {.string_max = string_max, .array_max = string_max % 7};
	struct capture_plan *plan = plan_create(prototype, machine->abi, &limits);
	struct capture_saved saved = {0};
	struct capture_frame frame = {
		.gpr = machine->gpr,
		.xmm = machine->has_fp ? (const uint8_t(*)[16])machine->xmm : NULL,
		.st = machine->has_fp ? (const uint8_t(*)[16])machine->st : NULL,
		.sp = machine->sp,
		.memory = &machine->fake.source};
	struct capture_buffer buffer = begin(machine);

	capture_entry(plan, &frame, &buffer, &saved);
	show(check_record(machine), prototype, true);
	buffer = begin(machine);
	capture_exit(plan, &frame, &saved, &buffer);
	show(check_record(machine), prototype, false);
	run_plain(machine, plan, prototype, true);
	run_plain(machine, plan, prototype, false);
	machine->fake.source.read_string = fake_read_string;
	buffer = begin(machine);
	capture_entry(plan, &frame, &buffer, &saved);
	show(check_record(machine), prototype, true);
	machine->fake.source.read_string = NULL;
	plan_destroy(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	struct protolib *lib = protolib_create();
	struct machine *machine = calloc(1, sizeof *machine);
	char *text = take_text(&input);
	const struct prototype *prototype;
	size_t cursor = 0;

	MUST(machine);
	unsigned string_max = input_byte(&input) * 8U;

	take_machine(machine, &input);
	protolib_parse(lib, "f", text, NULL, NULL);
	while ((prototype = protolib_next(lib, &cursor)))
		run(machine, prototype, string_max);
	fake_destroy(&machine->fake);
	protolib_destroy(lib);
	free(machine);
	free(text);
	return 0;
}

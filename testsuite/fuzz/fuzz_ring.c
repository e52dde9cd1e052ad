/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rings as a process may leave them: whatever it writes there, records are taken that hold
 * together, and an end is found. What is shown of them, by whatever prototype, is printable text.
 */
#include "engine/agent/rings.h"
#include "fuzz.h"
#include "sink/render/printable.h"
#include "sink/render/render.h"
#include "sink/render/utf8.h"

#include <sys/mman.h>

enum { THREADS = 2, ROUNDS = 4, SOME = 4096 };

/* They are given out one behind the other. */
static uint8_t *ring_of(uint8_t *memory, uint64_t base)
{
	return memory + AGENT_RINGS_HEAD + ((base >> 12) - 1) * AGENT_RING_ROOM;
}

static struct ring_thread *entry_of(uint8_t *memory, uint64_t base)
{
	struct ring_thread *entries = (struct ring_thread *)(void *)memory;
	uint32_t index = agent_thread_hash(base);

	while (entries[index % AGENT_THREAD_COUNT].base != base)
		index++;
	return &entries[index % AGENT_THREAD_COUNT];
}

/* The process writes: a head, and bytes somewhere. */
static void scribble(struct input *input, uint8_t *memory, uint64_t base)
{
	struct ring_thread *entry = entry_of(memory, base);
	uint8_t *ring = ring_of(memory, base);
	uint16_t place, length;
	int32_t ahead;

	input_take(input, &ahead, sizeof ahead);
	input_take(input, &place, sizeof place);
	input_take(input, &length, sizeof length);
	length %= SOME;
	place = (uint16_t)(place % (AGENT_RING_BYTES - SOME)) & ~7;
	input_take(input, ring + place, length);
	entry->head += (uint64_t)(int64_t)ahead;
	entry->busy = length & 1;
}

/* All that a writer would look at. */
static void read_all(const struct record *record)
{
	const struct record_value *value = record_values(record);
	const unsigned char *end = (const unsigned char *)record + record->size;
	unsigned sum = 0;

	MUST(record->size <= RINGS_RECORD_MAX && record->size >= sizeof *record);
	for (unsigned i = 0; i < record->value_count; i++) {
		const unsigned char *bytes = record_value_bytes(value);

		MUST(bytes <= end && value->length <= (size_t)(end - bytes));
		for (uint32_t k = 0; k < value->length; k++)
			sum += bytes[k];
		value = record_value_next(value);
	}
	MUST((const unsigned char *)value == end);
	__asm__ volatile("" : : "r"(sum));
}

/* What records may be taken for. */
static const char prototypes[] =
	"typedef l = struct; typedef l = struct(long, l *next, string, l*);\n"
	"l *a(l*, array(l, arg3)*, ulong); l b(+l, string(array(int, zero)*));\n"
	"void c(struct(string(array(char, 9)), array(string, 2), array(short, elt4), uint8)*,"
	" bitvec(array(char, 9))*, double*, array(array(l*, 2)*, 3)*);\n"
	"void e(sockaddr(arg2), int*, bitvec[arg2], struct(sockaddr(12), uint, sockaddr(elt2)*)*);\n"
	"double d(long double, hide(int), enum(A, B), format);\n";

/* Printable characters in UTF-8, and none of them beyond ASCII without `utf8`. */
static void check_text(const struct outbuf *out, bool utf8)
{
	const unsigned char *text = (const unsigned char *)out->text;
	struct printable_range range = {0};
	uint32_t c;

	for (size_t i = 0; i < out->length;) {
		size_t size = utf8_decode(text + i, out->length - i, &c);

		MUST(size && printable_class(c, &range) != PRINTABLE_NOT && (utf8 || size == 1));
		i += size;
	}
	MUST(outbuf_column(out) <= out->length);
}

static void show(const struct record *record, const struct prototype *prototype, bool utf8)
{
	const struct render_options options = {
		.string_max = 32, .array_max = 4, .names = true, .utf8 = utf8};
	struct value_cursor result = value_cursor_start(record);
	struct value_cursor cursor = result;
	struct outbuf out;

	outbuf_init(&out, -1);
	if (record->kind == RECORD_RETURN) {
		render_skip_result(prototype, &cursor);
		render_result(&out, prototype, &result, &options);
	}
	render_arguments(&out, prototype, 0, prototype->parameter_count, &cursor, &options);
	check_text(&out, utf8);
	outbuf_deinit(&out);
}

static void show_all(const struct record *record, const struct protolib *lib)
{
	const struct prototype *prototype;
	size_t cursor = 0;

	while ((prototype = protolib_next(lib, &cursor)))
		for (int utf8 = 0; utf8 < 2; utf8++)
			show(record, prototype, utf8);
}

static void take_all(struct rings *rings, struct record *record, const struct protolib *lib)
{
	struct ring_record head;
	struct ring *ring;
	pid_t tid;
	uint64_t time;
	size_t taken = 0;

	rings_look(rings, 1, 1);
	rings_floor(rings, &tid);
	while ((ring = rings_oldest(rings, &time))) {
		if (rings_take(rings, ring, &head, record)) {
			read_all(record);
			show_all(record, lib);
		}
		MUST(taken++ <= THREADS * AGENT_RING_BYTES / RING_RETURN + THREADS);
	}
	rings_release(rings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	uint8_t *memory = mmap(NULL, AGENT_RINGS_BYTES, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct record *record = malloc(RINGS_RECORD_MAX);

	struct protolib *lib = protolib_create();

	MUST(memory != MAP_FAILED && record);
	MUST(protolib_parse(lib, "f", prototypes, NULL, NULL) == 0);
	struct rings *rings = rings_over(memory, 0);

	for (int i = 1; i <= THREADS; i++)
		MUST(rings_bind(rings, i, (uint64_t)i << 12));
	for (int i = 0; i < ROUNDS; i++) {
		for (int k = 1; k <= THREADS; k++)
			scribble(&input, memory, (uint64_t)k << 12);
		take_all(rings, record, lib);
		rings_stuck(rings, (uint64_t)i << 30);
	}
	rings_unbind(rings, 1);
	rings_destroy(rings);
	protolib_destroy(lib);
	free(record);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The executor of capture plans, on simulated memory of a few pages with holes: what it captures,
 * how often it reads, and that no input makes it leave the buffer.
 */
#include "abis.h"
#include "proto/plan.h"
#include "record/capture_plain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
	PAGE = 4096,
	BASE = 0x10000,
	PAGES = 8, /* pages 2 and 5 are missing */
	STRING_MAX = 32,
	ARRAY_MAX = 4,
	STACK = BASE + 6 * PAGE + 256, /* sp at the entry */
	BUFFER = 16384,
	GUARD = 64
};

#define AT(page, offset) ((uint64_t)(BASE + (page)*PAGE + (offset)))

struct fixture {
	unsigned char pages[PAGES][PAGE];
	unsigned reads; /* calls of readv */
	unsigned ranges;
	unsigned plain; /* values that capture_plain() has made, too */
	struct memory_source memory;
	struct capture_plan *plan;
	const struct abi *abi;
	uint64_t gpr[16];
	uint8_t xmm[8][16];
	uint8_t st[2][16];
	struct capture_saved saved;
	uint64_t record[(BUFFER + GUARD) / 8];
	size_t capacity;
	unsigned string_max;
	unsigned array_max;
};

static bool is_mapped(uint64_t page)
{
	return page < PAGES && page != 2 && page != 5;
}

static void fake_readv(void *context, struct memory_range *ranges, size_t count)
{
	struct fixture *f = context;

	f->reads++;
	f->ranges += (unsigned)count;
	for (size_t i = 0; i < count; i++) {
		struct memory_range *r = &ranges[i];

		for (r->done = 0; r->done < r->length; r->done++) {
			uint64_t at = r->address + r->done - BASE;

			if (r->address + r->done < BASE || !is_mapped(at / PAGE))
				break;
			((unsigned char *)r->buffer)[r->done] = f->pages[at / PAGE][at % PAGE];
		}
	}
}

/* Reads like the agent's code reads strings. */
static size_t fake_read(void *context, uint64_t address, void *buffer, size_t length)
{
	struct memory_range range = {.address = address, .buffer = buffer, .length = length};

	fake_readv(context, &range, 1);
	return range.done;
}

static size_t fake_read_string(void *context, uint64_t address, void *buffer, size_t length)
{
	unsigned char *bytes = buffer;

	for (size_t done = 0; done < length; done++) {
		struct memory_range range = {
			.address = address + done, .buffer = bytes + done, .length = 1};

		fake_readv(context, &range, 1);
		if (!range.done || !bytes[done])
			return done + range.done;
	}
	return length;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	f->memory = (struct memory_source){.readv = fake_readv, .context = f};
	f->gpr[REG_SP] = STACK;
	f->gpr[REG_AX] = 8; /* like callers of variadic functions */
	f->capacity = BUFFER;
	f->string_max = STRING_MAX;
	f->array_max = ARRAY_MAX;
	memset(f->pages, 0xee, sizeof f->pages);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	plan_destroy(f->plan);
	free(f);
	return 0;
}

/* Puts bytes into the simulated memory. */
static void poke(struct fixture *f, uint64_t address, const void *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		uint64_t at = address + i - BASE;

		assert_true(at / PAGE < PAGES);
		f->pages[at / PAGE][at % PAGE] = ((const unsigned char *)bytes)[i];
	}
}

static uint64_t poke_string(struct fixture *f, uint64_t address, const char *text)
{
	poke(f, address, text, strlen(text) + 1);
	return address;
}

/* Puts a word of the ABI at an offset from sp. */
static void poke_stack(struct fixture *f, unsigned offset, uint64_t word, size_t size)
{
	poke(f, STACK + offset, &word, size);
}

static void compile(struct fixture *f, const struct abi *abi, const char *text)
{
	struct protolib *lib = protolib_create();
	size_t cursor = 0;

	assert_int_equal(protolib_parse(lib, "t", text, NULL, NULL), 0);
	plan_destroy(f->plan);
	const struct plan_limits limits = {.string_max = f->string_max, .array_max = f->array_max};

	f->plan = plan_create(protolib_next(lib, &cursor), abi, &limits);
	f->abi = abi;
	protolib_destroy(lib);
}

static struct record *start(struct fixture *f)
{
	struct record *record = (struct record *)(void *)f->record;

	memset(f->record, 0xa5, sizeof f->record);
	memset(record, 0, sizeof *record);
	record->size = sizeof *record;
	record->version = RECORD_VERSION;
	f->reads = f->ranges = 0;
	return record;
}

/* Asserts that the record is well-formed, and that nothing was written behind the capacity. */
static void check(const struct fixture *f)
{
	const struct record *record = (const void *)f->record;
	const unsigned char *bytes = (const void *)f->record;
	const struct record_value *value = record_values(record);

	assert_true(record->size <= f->capacity);
	assert_int_equal(record->size % 8, 0);
	for (unsigned i = 0; i < record->value_count; i++) {
		const unsigned char *data = record_value_bytes(value);

		assert_true(value->kind >= VALUE_WORD && value->kind <= VALUE_OBJECT);
		for (size_t j = value->length; j % 8; j++)
			assert_int_equal(data[j], 0);
		value = record_value_next(value);
	}
	assert_ptr_equal(value, bytes + record->size);
	for (size_t i = f->capacity; i < sizeof f->record; i++)
		assert_int_equal(bytes[i], 0xa5);
}

static struct capture_frame frame_of(struct fixture *f)
{
	return (struct capture_frame){
		.gpr = f->gpr,
		.xmm = (const uint8_t(*)[16])f->xmm,
		.st = (const uint8_t(*)[16])f->st,
		.sp = STACK,
		.memory = &f->memory,
	};
}

/*
 * With enough room, the other ways to capture make the same record: strings read one by one, and
 * capture_plain() for plain operations.
 */
static void check_other_ways(struct fixture *f, const struct capture_frame *frame, bool at_entry)
{
	const struct capture_plan *plan = f->plan;
	const struct memory_source by_string = {
		.readv = fake_readv, .read_string = fake_read_string, .context = f};
	const struct plain_memory plainly = {
		.read = fake_read, .read_string = fake_read_string, .context = f};
	struct capture_saved saved = f->saved;
	struct capture_frame other = *frame;
	struct capture_buffer buffer = {(unsigned char *)f->record, f->capacity};
	const unsigned reads = f->reads;
	const unsigned ranges = f->ranges;
	uint64_t expected[sizeof f->record / sizeof *f->record];
	const size_t size = ((const struct record *)(const void *)f->record)->size;

	if (f->capacity != BUFFER)
		return;
	memcpy(expected, f->record, sizeof expected);
	start(f);
	other.memory = &by_string;
	if (at_entry)
		capture_entry(plan, &other, &buffer, plan->needs_saved ? &saved : NULL);
	else
		capture_exit(plan, &other, plan->needs_saved ? &saved : NULL, &buffer);
	assert_memory_equal(f->record, expected, size);
	/* capture_plain() needs room for the longest strings. */
	if ((at_entry ? plan->plain_entry : plan->plain_exit) && plan->string_max < f->capacity) {
		struct record *record = start(f);

		if (at_entry)
			capture_plain(plan, plan->entry, plan->entry_count, f->gpr, &plainly,
				      record);
		else
			capture_plain(plan, plan->exit, plan->exit_count, f->gpr, &plainly, record);
		assert_memory_equal(f->record, expected, size);
		f->plain += record->value_count;
	}
	memcpy(f->record, expected, sizeof expected);
	f->reads = reads;
	f->ranges = ranges;
}

static const struct record *enter(struct fixture *f)
{
	struct record *record = start(f);
	struct capture_frame frame = frame_of(f);
	struct capture_buffer buffer = {(unsigned char *)f->record, f->capacity};

	if (!f->plan->needs_fp_entry)
		frame.xmm = NULL;
	frame.st = NULL;
	capture_entry(f->plan, &frame, &buffer, f->plan->needs_saved ? &f->saved : NULL);
	check(f);
	check_other_ways(f, &frame, true);
	return record;
}

static const struct record *leave(struct fixture *f)
{
	struct record *record = start(f);
	struct capture_frame frame = frame_of(f);
	struct capture_buffer buffer = {(unsigned char *)f->record, f->capacity};

	if (!f->plan->needs_fp_exit) {
		frame.xmm = NULL;
		frame.st = NULL;
	}
	frame.sp = STACK + 8;
	capture_exit(f->plan, &frame, f->plan->needs_saved ? &f->saved : NULL, &buffer);
	check(f);
	check_other_ways(f, &frame, false);
	return record;
}

static const struct record_value *nth(const struct record *record, unsigned n)
{
	const struct record_value *value = record_values(record);

	assert_true(n < record->value_count);
	while (n--)
		value = record_value_next(value);
	return value;
}

static void assert_word(const struct record *record, unsigned n, uint64_t word, unsigned size)
{
	const struct record_value *value = nth(record, n);

	assert_int_equal(value->kind, VALUE_WORD);
	assert_int_equal(value->flags & ~VALUE_VARARG, 0);
	assert_int_equal(value->length, 0);
	assert_int_equal(value->size, size);
	assert_true(value->word == word);
}

static void assert_bytes(const struct record *record, unsigned n, const void *bytes, size_t length,
			 unsigned flags)
{
	const struct record_value *value = nth(record, n);

	assert_int_equal(value->kind, VALUE_STRING);
	assert_int_equal(value->flags & ~VALUE_VARARG, flags);
	assert_int_equal(value->length, length);
	assert_memory_equal(record_value_bytes(value), bytes, length);
}

static void assert_string(const struct record *record, unsigned n, const char *text, unsigned flags)
{
	assert_bytes(record, n, text, strlen(text), flags);
}

static void assert_double(const struct record *record, unsigned n, double expected)
{
	const struct record_value *value = nth(record, n);
	double number;

	assert_int_equal(value->kind, VALUE_FLOAT);
	assert_int_equal(value->size, 8);
	assert_int_equal(value->length, 0);
	memcpy(&number, &value->word, sizeof number);
	assert_true(number == expected);
}

/* `open`: there may be more values. */
static void assert_end(const struct record *record, unsigned n, bool open)
{
	const struct record_value *value = nth(record, n);

	assert_int_equal(value->flags, VALUE_FORMAT_END | (open ? VALUE_TRUNCATED : 0));
	assert_int_equal(value->kind, VALUE_WORD);
	assert_int_equal(record->value_count, n + 1);
}

static void assert_format_end(const struct record *record, unsigned n)
{
	assert_end(record, n, false);
}

static void set_double(uint8_t *xmm, double number)
{
	memset(xmm, 0x77, 16);
	memcpy(xmm, &number, sizeof number);
}

static void test_registers(void **state)
{
	struct fixture *f = *state;

	compile(f, &abi64, "int f(int, uint, char, uchar, long, addr);");
	f->gpr[REG_DI] = 0x12345678fffffffe;
	f->gpr[REG_SI] = 0x12345678fffffffe;
	f->gpr[REG_DX] = 0xffffff80;
	f->gpr[REG_CX] = 0xffffff80;
	f->gpr[R8] = (uint64_t)-3;
	f->gpr[R9] = 0xdeadbeefcafe;
	const struct record *record = enter(f);

	assert_int_equal(record->value_count, 6);
	assert_word(record, 0, (uint64_t)-2, 4);
	assert_word(record, 1, 0xfffffffe, 4);
	assert_word(record, 2, (uint64_t)-128, 1);
	assert_word(record, 3, 0x80, 1);
	assert_word(record, 4, (uint64_t)-3, 8);
	assert_word(record, 5, 0xdeadbeefcafe, 8);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(nth(record, i)->argument, i);
	/* The hot path uses registers only. */
	assert_int_equal(f->reads, 0);
	f->gpr[REG_AX] = 0xffffffff;
	record = leave(f);
	assert_int_equal(record->value_count, 1);
	assert_int_equal(nth(record, 0)->argument, VALUE_RESULT);
	assert_word(record, 0, (uint64_t)-1, 4);
	assert_int_equal(f->reads, 0);
}

static void test_stack_arguments(void **state)
{
	struct fixture *f = *state;

	compile(f, &abi64, "void f(int,int,int,int,int,int, int, char, ulong, double);");
	poke_stack(f, 8, 0xaaaaaaaa00000007, 8);
	poke_stack(f, 16, 0xffffffffffffff01, 8);
	poke_stack(f, 24, 0xffffffffffffff01, 8);
	set_double(f->xmm[0], 2.5);
	const struct record *record = enter(f);

	assert_word(record, 6, 7, 4);
	assert_word(record, 7, 1, 1);
	assert_word(record, 8, 0xffffffffffffff01, 8);
	assert_double(record, 9, 2.5);
	/* One read for all of them. */
	assert_int_equal(f->reads, 1);

	compile(f, &abi32, "void f(int, char, long long, double, addr, int);");
	poke_stack(f, 4, (uint32_t)-5, 4);
	poke_stack(f, 8, 0xffffff41, 4);
	poke_stack(f, 12, 0x8000000000000001, 8);
	double number = -0.5;

	poke(f, STACK + 20, &number, 8);
	poke_stack(f, 28, 0xffff0000, 4);
	poke_stack(f, 32, 9, 4);
	record = enter(f);
	assert_word(record, 0, (uint64_t)-5, 4);
	assert_word(record, 1, 0x41, 1);
	assert_word(record, 2, 0x8000000000000001, 8);
	assert_double(record, 3, -0.5);
	assert_word(record, 4, 0xffff0000, 4);
	assert_word(record, 5, 9, 4);
	assert_int_equal(f->reads, 1);
}

static void test_stack_that_ends(void **state)
{
	struct fixture *f = *state;
	struct capture_buffer buffer = {(unsigned char *)f->record, f->capacity};

	compile(f, &abi32, "void f(int, int, int);");
	struct record *record = start(f);
	struct capture_frame frame = frame_of(f);

	/* Arguments at -8, -4 and, unreadable, 0 before the hole. */
	frame.sp = AT(2, -12);
	poke(f, AT(2, -8), "\1\0\0\0\2\0\0\0", 8);
	capture_entry(f->plan, &frame, &buffer, NULL);
	check(f);
	assert_word(record, 0, 1, 4);
	assert_word(record, 1, 2, 4);
	assert_int_equal(nth(record, 2)->flags, VALUE_FAULT);
	assert_true(nth(record, 2)->word == 0);
}

static void test_floats(void **state)
{
	struct fixture *f = *state;
	float single = 1.5F;

	compile(f, &abi64, "float f(double, float);");
	set_double(f->xmm[0], 3.25);
	memset(f->xmm[1], 0x99, 16);
	memcpy(f->xmm[1], &single, 4);
	const struct record *record = enter(f);

	assert_double(record, 0, 3.25);
	assert_int_equal(nth(record, 1)->size, 4);
	uint32_t bits;

	memcpy(&bits, &single, 4);
	assert_true(nth(record, 1)->word == bits);
	memcpy(f->xmm[0], &single, 4);
	record = leave(f);
	assert_true(nth(record, 0)->word == bits);
	assert_int_equal(nth(record, 0)->size, 4);
	assert_int_equal(f->reads, 0);
}

static void test_x87(void **state)
{
	struct fixture *f = *state;
	const struct record_value *value;
	static const uint8_t one[10] = {0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f};

	memcpy(f->st[0], one, sizeof one);
	for (int i = 0; i < 2; i++) {
		compile(f, i ? &abi32 : &abi64, i ? "double f(ldouble);" : "ldouble f(ldouble);");
		poke(f, STACK + (i ? 4 : 8), one, sizeof one);
		value = nth(enter(f), 0);
		for (int half = 0; half < 2; half++) {
			assert_int_equal(value->kind, VALUE_FLOAT);
			assert_int_equal(value->size, 10);
			assert_int_equal(value->length, 10);
			assert_memory_equal(record_value_bytes(value), one, 10);
			value = nth(leave(f), 0);
		}
	}
}

static void test_pair(void **state)
{
	struct fixture *f = *state;

	compile(f, &abi32, "long long f();");
	f->gpr[REG_AX] = 0x89abcdef;
	f->gpr[REG_DX] = 0xff234567;
	assert_word(leave(f), 0, 0xff23456789abcdef, 8);
}

static void test_strings(void **state)
{
	struct fixture *f = *state;
	const struct record *record;

	compile(f, &abi64, "void f(string);");
	f->gpr[REG_DI] = poke_string(f, AT(0, 100), "hello");
	record = enter(f);
	assert_string(record, 0, "hello", 0);
	assert_true(nth(record, 0)->word == AT(0, 100));
	assert_int_equal(f->reads, 1);

	poke_string(f, AT(0, 100), "");
	assert_string(enter(f), 0, "", 0);
	/* Exactly as long as the limit, and one byte longer. */
	poke_string(f, AT(0, 100), "0123456789abcdef0123456789abcdef");
	assert_string(enter(f), 0, "0123456789abcdef0123456789abcdef", 0);
	assert_int_equal(f->reads, 1);
	poke_string(f, AT(0, 100), "0123456789abcdef0123456789abcdef+");
	assert_string(enter(f), 0, "0123456789abcdef0123456789abcdef", VALUE_TRUNCATED);
	assert_int_equal(f->reads, 1);

	f->gpr[REG_DI] = 0;
	record = enter(f);
	assert_string(record, 0, "", 0);
	assert_true(nth(record, 0)->word == 0);
	assert_int_equal(f->reads, 0);

	f->gpr[REG_DI] = 0x1234;
	record = enter(f);
	assert_string(record, 0, "", VALUE_FAULT);
	assert_true(nth(record, 0)->word == 0x1234);
	f->gpr[REG_DI] = UINT64_MAX;
	assert_string(enter(f), 0, "", VALUE_FAULT);
}

static void poke_word(struct fixture *f, uint64_t address, uint64_t word, unsigned size)
{
	poke(f, address, &word, size);
}

/* Texts that arguments lead to. If there is none, the argument itself is captured. */
static void test_paths(void **state)
{
	struct fixture *f = *state;
	const struct record *record;

	compile(f, &abi64, "void f(string @ *(arg1 + 0xf8), string @ arg2 + 4);");
	f->gpr[REG_DI] = AT(0, 0);
	f->gpr[REG_SI] = AT(1, 200);
	poke_word(f, AT(0, 0xf8), AT(3, 0), 8);
	poke_string(f, AT(3, 0), "SELECT\t1\n");
	poke_string(f, AT(1, 204), "text");
	record = enter(f);
	assert_string(record, 0, "SELECT\t1\n", 0);
	assert_true(nth(record, 0)->word == AT(0, 0));
	assert_string(record, 1, "text", 0);
	assert_true(nth(record, 1)->word == AT(1, 200));
	/* Control characters are not shown as text; UTF-8 is. */
	poke_string(f, AT(3, 0), "SELECT\x01");
	poke_string(f, AT(1, 204), "\xc4\xab");
	record = enter(f);
	assert_string(record, 0, "", VALUE_FAULT);
	assert_true(nth(record, 0)->word == AT(0, 0));
	assert_string(record, 1, "\xc4\xab", 0);
	poke_string(f, AT(3, 0), "");
	assert_string(enter(f), 0, "", VALUE_FAULT);
	poke_string(f, AT(3, 0), "0123456789abcdef0123456789abcdef+");
	assert_string(enter(f), 0, "0123456789abcdef0123456789abcdef", VALUE_TRUNCATED);
	/* The path leads nowhere, the object is not there, or the argument is NULL. */
	poke_word(f, AT(0, 0xf8), AT(2, 0), 8);
	assert_string(enter(f), 0, "", VALUE_FAULT);
	poke_word(f, AT(0, 0xf8), 0, 8);
	assert_string(enter(f), 0, "", VALUE_FAULT);
	f->gpr[REG_DI] = AT(2, 0);
	assert_string(enter(f), 0, "", VALUE_FAULT);
	f->gpr[REG_DI] = 0;
	record = enter(f);
	assert_string(record, 0, "", VALUE_FAULT);
	assert_true(nth(record, 0)->word == 0);

	/* At the return, by the argument at the entry; through an object in another. */
	compile(f, &abi32, "int f(+string @ *(*(arg1 - 8) + 12) + 2);");
	poke_stack(f, 4, AT(0, 64), 4);
	poke_word(f, AT(0, 56), AT(1, 0), 4);
	poke_word(f, AT(1, 12), AT(3, 100), 4);
	assert_int_equal(enter(f)->value_count, 0);
	poke_string(f, AT(3, 100), "..back");
	assert_string(leave(f), 1, "back", 0);

	/* The path would come from a function that is not known. */
	compile(f, &abi64, "void f(string @ text_of(arg1));");
	f->gpr[REG_DI] = AT(0, 0);
	assert_word(enter(f), 0, AT(0, 0), 8);
}

static void test_strings_at_holes(void **state)
{
	struct fixture *f = *state;

	compile(f, &abi64, "void f(string);");
	/* The string ends right before the hole. */
	f->gpr[REG_DI] = poke_string(f, AT(2, -4), "abc");
	assert_string(enter(f), 0, "abc", 0);
	assert_int_equal(f->reads, 1);
	/* The string continues into the hole. */
	poke(f, AT(2, -4), "abcd", 4);
	assert_string(enter(f), 0, "abcd", VALUE_FAULT);
	/* Across a page boundary within readable memory. */
	f->gpr[REG_DI] = poke_string(f, AT(1, -3), "crossing");
	assert_string(enter(f), 0, "crossing", 0);
	f->gpr[REG_DI] = AT(2, 0);
	assert_string(enter(f), 0, "", VALUE_FAULT);
}

static void test_string_max(void **state)
{
	struct fixture *f = *state;
	char text[3001];

	memset(text, 'x', 3000);
	text[3000] = '\0';
	f->string_max = 0;
	compile(f, &abi64, "void f(string);");
	f->gpr[REG_DI] = poke_string(f, AT(3, 0), text);
	assert_string(enter(f), 0, "", VALUE_TRUNCATED);
	f->string_max = 10000;
	compile(f, &abi64, "void f(string);");
	assert_string(enter(f), 0, text, 0);
	/* 512 + 1024 + 2048 */
	assert_int_equal(f->reads, 3);
	f->string_max = UINT32_MAX;
	compile(f, &abi64, "void f(string);");
	assert_string(enter(f), 0, text, 0);
	/* Up to the hole at page 5, without a NUL before it. */
	for (int i = 0; i < 2 * PAGE; i++)
		poke(f, AT(3, i), "y", 1);
	const struct record *record = enter(f);

	assert_int_equal(nth(record, 0)->length, 2 * PAGE);
	assert_int_equal(nth(record, 0)->flags, VALUE_FAULT);
	/* A buffer that is too small. */
	f->capacity = 1000;
	record = enter(f);
	assert_int_equal(nth(record, 0)->flags, VALUE_TRUNCATED);
	assert_true(nth(record, 0)->length > 850);
}

static void test_constant_lengths(void **state)
{
	struct fixture *f = *state;

	compile(f, &abi64, "void f(string[4]);");
	f->gpr[REG_DI] = poke_string(f, AT(0, 0), "abcdefgh");
	assert_string(enter(f), 0, "abcd", 0);
	poke_string(f, AT(0, 0), "ab");
	assert_string(enter(f), 0, "ab", 0);
	/* No byte behind the length is read. */
	f->gpr[REG_DI] = AT(2, -4);
	poke(f, AT(2, -4), "wxyz", 4);
	assert_string(enter(f), 0, "wxyz", 0);
	compile(f, &abi64, "void f(string[40]);");
	f->gpr[REG_DI] = poke_string(f, AT(0, 0), "0123456789abcdef0123456789abcdef");
	assert_string(enter(f), 0, "0123456789abcdef0123456789abcdef", 0);
	poke_string(f, AT(0, 0), "0123456789abcdef0123456789abcdef+");
	assert_string(enter(f), 0, "0123456789abcdef0123456789abcdef", VALUE_TRUNCATED);
}

static void test_argument_lengths(void **state)
{
	struct fixture *f = *state;

	compile(f, &abi64, "void f(addr, string[arg3], ulong);");
	poke(f, AT(0, 8), "a\0b\0c", 6);
	f->gpr[REG_SI] = AT(0, 8);
	f->gpr[REG_DX] = 5;
	assert_bytes(enter(f), 1, "a\0b\0c", 5, 0);
	assert_int_equal(f->reads, 1);
	f->gpr[REG_DX] = 0;
	assert_string(enter(f), 1, "", 0);
	assert_int_equal(f->reads, 0);
	f->gpr[REG_DX] = UINT64_MAX - 1;
	const struct record *record = enter(f);

	assert_int_equal(nth(record, 1)->length, STRING_MAX);
	assert_int_equal(nth(record, 1)->flags, VALUE_TRUNCATED);
	f->gpr[REG_DX] = STRING_MAX;
	assert_int_equal(nth(enter(f), 1)->flags, 0);
	/* Up to the hole. */
	f->gpr[REG_SI] = AT(2, -2);
	f->gpr[REG_DX] = 10;
	poke(f, AT(2, -2), "\0z", 2);
	assert_bytes(enter(f), 1, "\0z", 2, VALUE_FAULT);

	/* -1 of an unsigned type: up to the NUL. */
	f->gpr[REG_SI] = poke_string(f, AT(0, 8), "select 1");
	f->gpr[REG_DX] = UINT64_MAX;
	assert_string(enter(f), 1, "select 1", 0);

	/* A negative length of a signed type: up to the NUL. */
	compile(f, &abi64, "void f(addr, string[arg3], int);");
	f->gpr[REG_SI] = poke_string(f, AT(0, 8), "select 1");
	f->gpr[REG_DX] = 0xffffffff;
	assert_string(enter(f), 1, "select 1", 0);
	f->gpr[REG_DX] = 0xffffffff00000003;
	assert_string(enter(f), 1, "sel", 0);

	/* Up to the NUL or the length, whichever comes first. */
	compile(f, &abi64, "void f(addr, string[zero(arg3)], int);");
	f->gpr[REG_DX] = 9;
	assert_string(enter(f), 1, "select 1", 0);
	f->gpr[REG_DX] = 3;
	assert_string(enter(f), 1, "sel", 0);
	f->gpr[REG_DX] = (uint64_t)-1;
	assert_string(enter(f), 1, "select 1", 0);
	f->gpr[REG_SI] = AT(2, -2);
	f->gpr[REG_DX] = 2;
	poke(f, AT(2, -2), "ok", 2);
	assert_string(enter(f), 1, "ok", 0);
	f->gpr[REG_SI] = AT(0, 8);

	/* From the stack, which is read once. */
	compile(f, &abi32, "void f(string[arg2], int);");
	poke_stack(f, 4, AT(0, 8), 4);
	poke_stack(f, 8, 6, 4);
	assert_string(enter(f), 0, "select", 0);
	assert_int_equal(f->reads, 2);
}

/* A number of elements times the size of each. */
static void test_product_lengths(void **state)
{
	struct fixture *f = *state;

	compile(f, &abi64, "ulong f(string[arg2*arg3], ulong, int);");
	poke(f, AT(0, 8), "ab\0cdefghij", 12);
	f->gpr[REG_DI] = AT(0, 8);
	f->gpr[REG_SI] = 5;
	f->gpr[REG_DX] = 2;
	assert_bytes(enter(f), 0, "ab\0cdefghi", 10, 0);
	f->gpr[REG_SI] = 0;
	assert_string(enter(f), 0, "", 0);
	/* A product that overflows is large. */
	f->gpr[REG_SI] = UINT64_C(1) << 63;
	assert_int_equal(nth(enter(f), 0)->length, STRING_MAX);
	/* A negative factor gives no length. */
	f->gpr[REG_DX] = 0xffffffff;
	assert_bytes(enter(f), 0, "ab", 2, 0);

	compile(f, &abi64, "ulong f(+string[retval*arg2], uint*);");
	poke(f, AT(1, 0), "\003\0\0\0", 4);
	f->gpr[REG_SI] = AT(1, 0);
	enter(f);
	memset(f->gpr, 0x55, sizeof f->gpr);
	f->gpr[REG_AX] = 2;
	assert_bytes(leave(f), 1, "ab\0cde", 6, 0);
	f->gpr[REG_AX] = UINT64_MAX;
	assert_string(leave(f), 1, "", 0);
	/* The size cannot be read. */
	f->saved.word[1] = AT(2, 0);
	f->gpr[REG_AX] = 2;
	assert_int_equal(nth(leave(f), 1)->flags, VALUE_FAULT);

	compile(f, &abi32, "void f(array(short, arg2*arg3)*, int, int);");
	poke_stack(f, 4, AT(0, 8), 4);
	poke_stack(f, 8, 3, 4);
	poke_stack(f, 12, 1, 4);
	assert_int_equal(nth(enter(f), 0)->kind, VALUE_OBJECT);
	assert_int_equal(nth(enter(f), 0)->length, 6);
}

static void test_several_strings(void **state)
{
	struct fixture *f = *state;
	char text[PAGE];
	const struct record *record;

	compile(f, &abi64, "void f(string, int, string, string[arg2], string, string);");
	f->gpr[REG_DI] = poke_string(f, AT(0, 0), "one");
	f->gpr[REG_SI] = 3;
	f->gpr[REG_DX] = poke_string(f, AT(2, -4), "two");
	f->gpr[REG_CX] = AT(0, 100);
	poke(f, AT(0, 100), "\0\1\2\3", 4);
	f->gpr[R8] = 0;
	f->gpr[R9] = AT(5, 0);
	record = enter(f);
	assert_string(record, 0, "one", 0);
	assert_word(record, 1, 3, 4);
	assert_string(record, 2, "two", 0);
	assert_bytes(record, 3, "\0\1\2", 3, 0);
	assert_string(record, 4, "", 0);
	assert_string(record, 5, "", VALUE_FAULT);
	/* One batch; a second read for what was not readable. */
	assert_int_equal(f->reads, 2);
	f->gpr[R9] = AT(0, 0);
	assert_string(enter(f), 5, "one", 0);
	assert_int_equal(f->reads, 1);

	/* Longer than what is read in advance. */
	f->string_max = 3000;
	compile(f, &abi64, "void f(string, string);");
	memset(text, 'l', 2000);
	text[2000] = '\0';
	f->gpr[REG_DI] = poke_string(f, AT(3, 0), text);
	f->gpr[REG_SI] = poke_string(f, AT(0, 0), "short");
	record = enter(f);
	assert_string(record, 0, text, 0);
	assert_string(record, 1, "short", 0);
	/* 512 and 512 at once; then 512 and 1024 more. */
	assert_int_equal(f->reads, 3);

	/* More than one batch. */
	f->string_max = STRING_MAX;
	compile(f, &abi32,
		"void f(string,string,string,string,string,string,string,string,string,"
		"string);");
	for (unsigned i = 0; i < 10; i++)
		poke_stack(f, 4 + 4 * i, AT(0, 0), 4);
	record = enter(f);
	for (unsigned i = 0; i < 10; i++)
		assert_string(record, i, "short", 0);
}

static void test_small_buffers(void **state)
{
	struct fixture *f = *state;

	compile(f, &abi64, "void f(string, int, string, int);");
	f->gpr[REG_DI] = poke_string(f, AT(0, 0), "0123456789abcdef0123456789abcdef");
	f->gpr[REG_SI] = 5;
	f->gpr[REG_DX] = AT(0, 0);
	f->gpr[REG_CX] = 6;
	for (f->capacity = sizeof(struct record); f->capacity < 400; f->capacity++) {
		const struct record *record = enter(f);
		size_t values = (f->capacity - sizeof(struct record)) / sizeof(struct record_value);

		/* Headers come first, then the bytes of strings. */
		assert_int_equal(record->value_count, values < 4 ? values : 4);
		if (values >= 4) {
			assert_word(record, 1, 5, 4);
			assert_word(record, 3, 6, 4);
		}
		if (values > 0 && f->capacity < 300)
			assert_true(nth(record, 0)->length >= 31 ||
				    (nth(record, 0)->flags & VALUE_TRUNCATED));
	}
	const struct record *record = enter(f);

	assert_int_equal(nth(record, 0)->length, 32);
	assert_int_equal(nth(record, 2)->length, 32);
	/* A header that says that the record is full. */
	f->capacity = sizeof(struct record) - 8;
	struct capture_frame frame = frame_of(f);
	struct capture_buffer buffer = {(unsigned char *)f->record, f->capacity};
	struct record *full = start(f);

	capture_entry(f->plan, &frame, &buffer, NULL);
	assert_int_equal(full->value_count, 0);
}

/* Which plans are plain, and that check_other_ways() compares what capture_plain() makes. */
static void test_plain(void **state)
{
	static const char *const plain[] = {
		"long query(addr, string[arg3], ulong);", "int open(string, int);",
		"short f(char, bool(short), uint);", "string getenv(string);",
		"int g(string(array(char, zero(arg2))*), int);"};
	static const char *const others[] = {
		"int f(double);",	  "long read(int, +string[retval], ulong);",
		"int printf(format);",	  "int f(int, int, int, int, int, int, int);",
		"int f(array(int, 3)*);", "int f(string[arg2], ulong*);"};
	struct fixture *f = *state;

	poke_string(f, AT(0, 8), "a text that is longer than thirty-two bytes are");
	poke_string(f, AT(0, 100), "");
	poke_string(f, AT(1, -20), "over the end of a page");
	poke(f, AT(2, -3), "end", 3);
	f->gpr[REG_AX] = AT(0, 20);
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		for (unsigned k = 0; k < 6; k++) {
			static const uint64_t texts[] = {AT(0, 8),  AT(0, 100), AT(1, -20),
							 AT(2, -3), 0,		AT(2, 5)};

			compile(f, &abi64, plain[i]);
			f->gpr[REG_DI] = texts[k];
			f->gpr[REG_SI] = texts[(k + i) % 6];
			f->gpr[REG_DX] = (uint64_t)(int64_t)(k * 9) - 1;
			f->plain = 0;
			enter(f);
			leave(f);
			assert_int_equal(f->plain, f->plan->entry_count + f->plan->exit_count);
		}
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		compile(f, &abi64, others[i]);
		assert_false(f->plan->plain_entry && f->plan->plain_exit);
	}
}

static void test_on_return(void **state)
{
	struct fixture *f = *state;
	const struct record *record;

	compile(f, &abi64, "long read(int, +string[retval], ulong);");
	f->gpr[REG_DI] = 3;
	f->gpr[REG_SI] = AT(0, 0);
	f->gpr[REG_DX] = 1000;
	record = enter(f);
	assert_int_equal(record->value_count, 1);
	assert_word(record, 0, 3, 4);
	assert_int_equal(f->reads, 0);
	/* The callee fills the buffer and overwrites the registers. */
	memset(f->gpr, 0x55, sizeof f->gpr);
	poke(f, AT(0, 0), "in\0put", 6);
	f->gpr[REG_AX] = 6;
	record = leave(f);
	assert_int_equal(record->value_count, 3);
	assert_word(record, 0, 6, 8);
	assert_bytes(record, 1, "in\0put", 6, 0);
	assert_int_equal(nth(record, 1)->argument, 1);
	assert_word(record, 2, 1000, 8);
	assert_int_equal(f->reads, 1);
	f->gpr[REG_AX] = (uint64_t)-1;
	record = leave(f);
	assert_string(record, 1, "", 0);
	assert_int_equal(f->reads, 0);

	/* The arguments are on the stack, which the callee changes. */
	compile(f, &abi32, "int f(int, +string[arg3], int);");
	poke_stack(f, 4, 1, 4);
	poke_stack(f, 8, AT(0, 0), 4);
	poke_stack(f, 12, 4, 4);
	enter(f);
	for (unsigned i = 4; i < 16; i += 4)
		poke_stack(f, i, 0xbad, 4);
	f->gpr[REG_AX] = 0x1ffffffff;
	record = leave(f);
	assert_word(record, 0, (uint64_t)-1, 4);
	assert_bytes(record, 1, "in\0p", 4, 0);
	assert_word(record, 2, 4, 4);

	compile(f, &abi64, "void f(+double, ldouble);");
	set_double(f->xmm[0], 6.5);
	poke(f, STACK + 8, "0123456789", 10);
	enter(f);
	memset(f->xmm, 0, sizeof f->xmm);
	record = leave(f);
	assert_double(record, 0, 6.5);
	assert_memory_equal(record_value_bytes(nth(record, 1)), "0123456789", 10);
}

static void test_format_in_registers(void **state)
{
	struct fixture *f = *state;
	const struct record *record;
	unsigned n = 0;

	compile(f, &abi64, "int printf(format);");
	f->gpr[REG_DI] = poke_string(f, AT(0, 0), "%d %s %5.1f%% %lx %c|%hhd %*d");
	f->gpr[REG_SI] = 0x1fffffffe;
	f->gpr[REG_DX] = poke_string(f, AT(0, 100), "string");
	set_double(f->xmm[0], 0.25);
	f->gpr[REG_CX] = 0x123456789abcdef0;
	f->gpr[R8] = 0xffffff41;
	f->gpr[R9] = 0x1ff;
	poke_stack(f, 8, 7, 8);
	poke_stack(f, 16, 0xffffffff80000000, 8);
	record = enter(f);
	assert_string(record, n++, "%d %s %5.1f%% %lx %c|%hhd %*d", 0);
	assert_word(record, n, (uint64_t)-2, 4);
	assert_int_equal(nth(record, n)->conversion, 'd');
	assert_int_equal(nth(record, n++)->flags, VALUE_VARARG);
	assert_int_equal(nth(record, n)->conversion, 's');
	assert_string(record, n++, "string", 0);
	assert_int_equal(nth(record, n)->conversion, 'f');
	assert_double(record, n++, 0.25);
	assert_int_equal(nth(record, n)->conversion, 'x');
	assert_word(record, n++, 0x123456789abcdef0, 8);
	assert_int_equal(nth(record, n)->conversion, 'c');
	assert_word(record, n++, 0x41, 1);
	assert_word(record, n++, (uint64_t)-1, 1);
	assert_word(record, n++, 7, 4);
	assert_word(record, n++, (uint64_t)INT32_MIN, 4);
	assert_format_end(record, n);
	/* The format, the string, the stack. */
	assert_int_equal(f->reads, 3);
}

static void test_format_on_the_stack(void **state)
{
	struct fixture *f = *state;
	const struct record *record;
	double number = 1e10;

	compile(f, &abi32, "int fprintf(file, format);");
	poke_stack(f, 4, 0xf11e, 4);
	poke_stack(f, 8, poke_string(f, AT(0, 0), "%s%lld%d%e%Lf%zu%s%p"), 4);
	poke_stack(f, 12, poke_string(f, AT(0, 100), "first"), 4);
	poke_stack(f, 16, 0x8000000000000002, 8);
	poke_stack(f, 24, (uint32_t)-7, 4);
	poke(f, STACK + 28, &number, 8);
	poke(f, STACK + 36, "0123456789", 10);
	poke_stack(f, 48, 0xffffffff, 4);
	poke_stack(f, 52, poke_string(f, AT(0, 200), "second"), 4);
	poke_stack(f, 56, 0xffffffff, 4);
	record = enter(f);
	assert_word(record, 0, 0xf11e, 4);
	assert_string(record, 2, "first", 0);
	assert_word(record, 3, 0x8000000000000002, 8);
	assert_word(record, 4, (uint64_t)-7, 4);
	assert_double(record, 5, 1e10);
	assert_int_equal(nth(record, 6)->size, 10);
	assert_memory_equal(record_value_bytes(nth(record, 6)), "0123456789", 10);
	assert_word(record, 7, 0xffffffff, 4);
	assert_string(record, 8, "second", 0);
	assert_word(record, 9, 0xffffffff, 4);
	assert_int_equal(nth(record, 9)->conversion, 'p');
	assert_format_end(record, 10);
	/* The stack, the format, both strings at once. */
	assert_int_equal(f->reads, 3);
}

static void test_format_long_double(void **state)
{
	struct fixture *f = *state;
	const struct record *record;

	compile(f, &abi64, "int printf(format);");
	f->gpr[REG_DI] = poke_string(f, AT(0, 0), "%d%d%d%d%d%d%Lg%d%d%d%d%d%d%Lg%Lg%d");
	/*
	 * The sixth %d is the first on the stack; long doubles are aligned to 16 behind the
	 * register save area.
	 */
	for (unsigned i = 8; i < 240; i += 8)
		poke_stack(f, i, i, 8);
	record = enter(f);
	assert_word(record, 6, 8, 4);
	assert_int_equal(nth(record, 7)->word, 0);
	assert_int_equal(*(const uint8_t *)record_value_bytes(nth(record, 7)), 24);
	for (unsigned i = 0; i < 6; i++)
		assert_word(record, 8 + i, 40 + 8 * i, 4);
	assert_int_equal(*(const uint8_t *)record_value_bytes(nth(record, 14)), 88);
	assert_int_equal(*(const uint8_t *)record_value_bytes(nth(record, 15)), 104);
	assert_word(record, 16, 120, 4);
	assert_format_end(record, 17);
}

static void test_format_precision(void **state)
{
	struct fixture *f = *state;
	const struct record *record;

	compile(f, &abi64, "int printf(format);");
	f->gpr[REG_DI] = poke_string(f, AT(0, 0), "%.3s %.*s %.*s %.s");
	f->gpr[REG_SI] = poke_string(f, AT(0, 100), "abcdef");
	f->gpr[REG_DX] = 2;
	f->gpr[REG_CX] = AT(0, 100);
	f->gpr[R8] = (uint32_t)-1;
	f->gpr[R9] = AT(0, 100);
	poke_stack(f, 8, AT(2, 0), 8);
	record = enter(f);
	assert_string(record, 1, "abc", 0);
	assert_word(record, 2, 2, 4);
	assert_string(record, 3, "ab", 0);
	assert_word(record, 4, (uint64_t)-1, 4);
	assert_string(record, 5, "abcdef", 0);
	assert_string(record, 6, "", 0);
	assert_format_end(record, 7);
	/* The bytes behind a precision may be unreadable. */
	poke_string(f, AT(0, 0), "%.2s");
	f->gpr[REG_SI] = AT(2, -2);
	poke(f, AT(2, -2), "ok", 2);
	record = enter(f);
	assert_string(record, 1, "ok", 0);
}

static void assert_some(struct fixture *f, const char *format, const char *conversions,
			const char *sizes, bool open)
{
	const struct record *record;
	unsigned n = 1;

	f->gpr[REG_DI] = poke_string(f, AT(0, 0), format);
	record = enter(f);
	for (; *conversions; conversions++, sizes++, n++) {
		assert_int_equal(nth(record, n)->conversion, *conversions);
		assert_int_equal(nth(record, n)->size,
				 *sizes == 'a' ? 10 : (unsigned)(*sizes - '0'));
		assert_true(nth(record, n)->flags & VALUE_VARARG);
	}
	assert_end(record, n, open);
}

static void assert_conversions(struct fixture *f, const char *format, const char *conversions,
			       const char *sizes)
{
	assert_some(f, format, conversions, sizes, false);
}

static void test_format_conversions(void **state)
{
	struct fixture *f = *state;

	f->string_max = 200;
	compile(f, &abi64, "int printf(format);");
	assert_conversions(f, "", "", "");
	assert_conversions(f, "no conversion", "", "");
	assert_conversions(f, "%%%m%%", "", "");
	assert_conversions(f, "%i%u%o%X%x", "iuoXx", "44444");
	assert_conversions(f, "%hd%hhu%ld%lld%qd%jd%zd%td%Ld", "duddddddd", "218888888");
	assert_conversions(f, "%a%A%e%E%f%F%g%G%lf", "aAeEfFgGf", "888888888");
	assert_conversions(f, "%Lf%Le%llf%qe%jf", "fefef", "aaaa8");
	assert_conversions(f, "%c%lc%C%llc", "cccc", "1444");
	assert_conversions(f, "%ls%S%p%n%hhn%lls%Ls", "SSpnnSS", "8888888");
	assert_conversions(f, "%-+ #0'Id%012.34ld", "dd", "48");
	assert_conversions(f, "%*.*f", "ddf", "448");
	assert_conversions(f, "%*%%d", "dd", "44");
	/* A conversion that is not understood ends it. */
	assert_some(f, "%d%y%d", "d", "4", true);
	assert_some(f, "%d%*y%d", "d", "4", true);
	assert_some(f, "%1$d%d", "d", "4", true);
	assert_some(f, "%d%*1$d", "d", "4", true);
	assert_some(f, "%1$*d%1$d", "", "", true);
	/* In the order of their positions. */
	assert_conversions(f, "%3$s%1$d%%%2$Lf%1$p", "dfs", "4a8");
	assert_conversions(f, "%2$*1$.*3$s", "dsd", "484");
	assert_some(f, "%3$s%1$d", "d", "4", true);
	assert_some(f, "%1$d%99999999999999999999$d", "d", "4", true);
	assert_some(f, "%1$d%y", "d", "4", true);
	/* Conversions of SQLite. */
	assert_conversions(f, "%q%Q%w%z,%qd%.2Q%-q'", "ssssdss", "8888888");
	assert_conversions(f, "%d%", "d", "4");
	assert_conversions(f, "%d%l", "d", "4");
	assert_conversions(f, "%d%-", "d", "4");
	assert_conversions(f, "%99999999999999999999d", "d", "4");
	compile(f, &abi32, "int printf(format);");
	poke_stack(f, 4, AT(0, 0), 4);
	f->string_max = 200;
	assert_conversions(f, "%ld%lld%zd%jd%p%s%n", "ddddpsn", "4848444");
}

static void test_format_bounds(void **state)
{
	struct fixture *f = *state;
	char text[PAGE];
	const struct record *record;

	/* More conversions than are captured. */
	compile(f, &abi64, "int printf(format);");
	text[0] = '\0';
	for (int i = 0; i < 50; i++)
		strcat(text, "%d");
	f->gpr[REG_DI] = poke_string(f, AT(0, 0), text);
	record = enter(f);
	text[STRING_MAX] = '\0';
	/* Shown up to the length for strings, but all of it is parsed. */
	assert_string(record, 0, text, VALUE_TRUNCATED);
	assert_end(record, 33, true);

	/* A NULL format, and one that cannot be read. */
	f->gpr[REG_DI] = 0;
	record = enter(f);
	assert_string(record, 0, "", 0);
	assert_format_end(record, 1);
	f->gpr[REG_DI] = AT(2, 5);
	record = enter(f);
	assert_string(record, 0, "", VALUE_FAULT);
	assert_format_end(record, 1);
	f->gpr[REG_DI] = AT(2, -3);
	poke(f, AT(2, -3), "%d%", 3);
	record = enter(f);
	assert_string(record, 0, "%d%", VALUE_FAULT);
	assert_format_end(record, 2);

	/* No end within the bytes that are read. */
	f->string_max = 3000;
	compile(f, &abi64, "int printf(format);");
	for (unsigned i = 0; i < 3 * PAGE / 2; i++)
		poke(f, AT(3, i), "x", 1);
	f->gpr[REG_DI] = AT(3, 0);
	record = enter(f);
	assert_int_equal(nth(record, 0)->flags, VALUE_TRUNCATED);
	assert_int_equal(nth(record, 0)->length, 3000);
	assert_format_end(record, 1);

	/* Strings that cannot be read. */
	f->gpr[REG_DI] = poke_string(f, AT(0, 0), "%s%s");
	f->gpr[REG_SI] = 0;
	f->gpr[REG_DX] = 1;
	record = enter(f);
	assert_string(record, 1, "", 0);
	assert_string(record, 2, "", VALUE_FAULT);
	assert_format_end(record, 3);
}

static void test_format_small_buffers(void **state)
{
	struct fixture *f = *state;

	compile(f, &abi64, "int printf(format);");
	f->gpr[REG_DI] = poke_string(f, AT(0, 0), "%s%d%s%Lf");
	f->gpr[REG_SI] = f->gpr[REG_CX] = poke_string(f, AT(0, 50), "0123456789abcdef0123456789ab");
	for (f->capacity = sizeof(struct record); f->capacity < 1200; f->capacity++) {
		const struct record *record = enter(f);

		/* Whatever fits, the end is marked. */
		if (record->value_count > 1)
			assert_format_end(record, record->value_count - 1U);
		if (f->capacity >= sizeof(struct record) + 2 * sizeof(struct record_value) + 24)
			assert_true(record->value_count > 1);
	}
	assert_int_equal(enter(f)->value_count, 6);
}

static void test_format_on_return(void **state)
{
	struct fixture *f = *state;

	compile(f, &abi64, "int sprintf(+string, format);");
	f->gpr[REG_DI] = AT(0, 0);
	f->gpr[REG_SI] = poke_string(f, AT(0, 100), "%s:%d:%f:%d%d%d%d");
	f->gpr[REG_DX] = poke_string(f, AT(0, 200), "name");
	f->gpr[REG_CX] = 42;
	f->gpr[R8] = 1;
	f->gpr[R9] = 2;
	set_double(f->xmm[0], 0.5);
	poke_stack(f, 8, 3, 8);
	poke_stack(f, 16, 4, 8);
	assert_int_equal(enter(f)->value_count, 0);
	assert_int_equal(f->reads, 0);
	memset(f->gpr, 0x66, sizeof f->gpr);
	memset(f->xmm, 0, sizeof f->xmm);
	poke_string(f, AT(0, 0), "name:42:0.5:1234");
	f->gpr[REG_AX] = 16;
	const struct record *record = leave(f);

	assert_word(record, 0, 16, 4);
	assert_string(record, 1, "name:42:0.5:1234", 0);
	assert_string(record, 2, "%s:%d:%f:%d%d%d%d", 0);
	assert_string(record, 3, "name", 0);
	assert_word(record, 4, 42, 4);
	assert_double(record, 5, 0.5);
	for (unsigned i = 0; i < 4; i++)
		assert_word(record, 6 + i, i + 1, 4);
	assert_format_end(record, 10);
}

static void test_empty_plan(void **state)
{
	struct fixture *f = *state;

	f->plan = plan_create_empty();
	assert_int_equal(enter(f)->value_count, 0);
	assert_int_equal(leave(f)->value_count, 0);
	assert_int_equal(f->reads, 0);
}

/* Random prototypes on random registers and memory: records stay well-formed (see check()). */
static void test_random(void **state)
{
	static const char *const types[] = {
		"int",	   "char",	     "long long",	 "double", "float",
		"ldouble", "string",	     "string[7]",	 "addr",   "string[arg1]",
		"+string", "string[retval]", "string[arg1*arg1]"};
	struct fixture *f = *state;

	srand(7);
	for (size_t i = 0; i < sizeof f->pages; i++)
		((unsigned char *)f->pages)[i] = "%sdfl*.\0ab"[rand() % 10];
	for (int round = 0; round < 3000; round++) {
		char text[400] = "int f(int";
		unsigned count = (unsigned)rand() % 12;

		for (unsigned i = 0; i < count; i++) {
			strcat(text, ", ");
			strcat(text, types[(unsigned)rand() % (sizeof types / sizeof types[0])]);
		}
		strcat(text, rand() % 2 ? ", format);" : ");");
		f->string_max = (unsigned)(rand() % 3 ? rand() % 64 : rand() % 5000);
		f->capacity = sizeof(struct record) +
			      (size_t)(rand() % 3 ? rand() % 512 : rand() % (BUFFER - 72));
		compile(f, round % 2 ? &abi64 : &abi32, text);
		for (unsigned i = 0; i < 16; i++)
			f->gpr[i] = AT(0, rand() % (PAGES * PAGE));
		for (unsigned i = 4; i < 200; i += 4)
			poke_stack(f, i, AT(0, rand() % (PAGES * PAGE)), 4);
		f->gpr[REG_DI] = (uint64_t)(rand() % 100 - 10);
		enter(f);
		f->gpr[REG_AX] = (uint64_t)(rand() % 100 - 10);
		leave(f);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_registers),
		TEST(test_stack_arguments),
		TEST(test_stack_that_ends),
		TEST(test_floats),
		TEST(test_x87),
		TEST(test_pair),
		TEST(test_strings),
		TEST(test_paths),
		TEST(test_strings_at_holes),
		TEST(test_string_max),
		TEST(test_constant_lengths),
		TEST(test_argument_lengths),
		TEST(test_product_lengths),
		TEST(test_several_strings),
		TEST(test_small_buffers),
		TEST(test_plain),
		TEST(test_on_return),
		TEST(test_format_in_registers),
		TEST(test_format_on_the_stack),
		TEST(test_format_long_double),
		TEST(test_format_precision),
		TEST(test_format_conversions),
		TEST(test_format_bounds),
		TEST(test_format_small_buffers),
		TEST(test_format_on_return),
		TEST(test_empty_plan),
		TEST(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

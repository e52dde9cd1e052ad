/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Objects from their prototype to their text: where the ABIs pass them, what is captured of a
 * simulated memory with an end, and what is shown of records that are short, cut, or forged.
 */
#include "abis.h"
#include "proto/plan.h"
#include "sink/render/render.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BASE = 0x10000, LENGTH = 4096, STACK = BASE + 3072, BUFFER = 1 << 16, GUARD = 64 };

struct fixture {
	unsigned char memory[LENGTH];
	unsigned reads;
	struct memory_source source;
	struct protolib *lib;
	const struct prototype *prototype;
	struct capture_plan *plan;
	uint64_t gpr[16];
	uint8_t xmm[8][16];
	uint8_t st[2][16];
	struct capture_saved saved;
	uint64_t record[(BUFFER + GUARD) / 8];
	size_t capacity;
	struct plan_limits limits;
	struct outbuf out;
};

static void fake_readv(void *context, struct memory_range *ranges, size_t count)
{
	struct fixture *f = context;

	f->reads++;
	for (size_t i = 0; i < count; i++) {
		struct memory_range *range = &ranges[i];
		uint64_t at = range->address - BASE;
		size_t left = at < LENGTH ? LENGTH - (size_t)at : 0;

		range->done = left < range->length ? left : range->length;
		memcpy(range->buffer, f->memory + (left ? at : 0), range->done);
	}
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	f->source = (struct memory_source){.readv = fake_readv, .context = f};
	f->limits = (struct plan_limits){.string_max = 32, .array_max = 4};
	f->capacity = BUFFER;
	outbuf_init(&f->out, -1);
	*state = f;
	return 0;
}

static void forget(struct fixture *f)
{
	plan_destroy(f->plan);
	protolib_destroy(f->lib);
	f->plan = NULL;
	f->lib = NULL;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	forget(f);
	outbuf_deinit(&f->out);
	free(f);
	return 0;
}

/* The plan of the first prototype in `text`. */
static const struct capture_plan *compile(struct fixture *f, const struct abi *abi,
					  const char *text)
{
	size_t cursor = 0;

	forget(f);
	f->lib = protolib_create();
	assert_int_equal(protolib_parse(f->lib, "t", text, NULL, NULL), 0);
	f->prototype = protolib_next(f->lib, &cursor);
	f->plan = plan_create(f->prototype, abi, &f->limits);
	return f->plan;
}

static uint64_t poke(struct fixture *f, uint64_t address, const void *bytes, size_t length)
{
	assert_true(address >= BASE && address + length <= BASE + LENGTH);
	memcpy(f->memory + (address - BASE), bytes, length);
	return address;
}

static uint64_t poke_words(struct fixture *f, uint64_t address, unsigned size, unsigned count, ...)
{
	va_list words;

	va_start(words, count);
	for (unsigned i = 0; i < count; i++) {
		uint64_t word = va_arg(words, uint64_t);

		poke(f, address + (uint64_t)i * size, &word, size);
	}
	va_end(words);
	return address;
}

static uint64_t poke_text(struct fixture *f, uint64_t address, const char *text)
{
	return poke(f, address, text, strlen(text) + 1);
}

static struct record *run(struct fixture *f, bool entry)
{
	struct record *record = (struct record *)(void *)f->record;
	struct capture_buffer buffer = {(unsigned char *)f->record, f->capacity};
	struct capture_frame frame = {
		.gpr = f->gpr,
		.xmm = (const uint8_t(*)[16])f->xmm,
		.st = (const uint8_t(*)[16])f->st,
		.sp = STACK,
		.memory = &f->source,
	};

	memset(f->record, 0xa5, sizeof f->record);
	*record = (struct record){.size = sizeof *record, .version = RECORD_VERSION};
	f->reads = 0;
	if (entry)
		capture_entry(f->plan, &frame, &buffer, &f->saved);
	else
		capture_exit(f->plan, &frame, &f->saved, &buffer);
	assert_true(record->size <= f->capacity && record->size % 8 == 0);
	for (size_t i = f->capacity; i < sizeof f->record; i++)
		assert_int_equal(((unsigned char *)f->record)[i], 0xa5);
	return record;
}

/* Renders the parameters of one half, or the result with `result`. */
static const char *show(struct fixture *f, const struct record *record, bool entry, bool result)
{
	const struct render_options options = {.string_max = f->limits.string_max,
					       .array_max = f->limits.array_max};
	struct value_cursor cursor = value_cursor_start(record);
	unsigned first = render_entry_count(f->prototype);

	f->out.length = 0;
	if (result)
		render_result(&f->out, f->prototype, &cursor, &options);
	else if (!entry)
		render_skip_result(f->prototype, &cursor);
	if (!result)
		render_arguments(&f->out, f->prototype, entry ? 0 : first,
				 entry ? first : f->prototype->parameter_count, &cursor, &options);
	outbuf_char(&f->out, '\0');
	return f->out.text;
}

static const char *entered(struct fixture *f)
{
	return show(f, run(f, true), true, false);
}

static void assert_pieces(const struct capture_op *op, unsigned low, unsigned high, unsigned size)
{
	assert_int_equal(op->kind, CAPTURE_INLINE);
	assert_int_equal(op->place, PLACE_PIECES);
	assert_int_equal(op->index, low);
	assert_int_equal(op->high, high);
	assert_int_equal(op->size, size);
}

static void assert_stack(const struct capture_op *op, enum capture_kind kind, int32_t offset)
{
	assert_int_equal(op->kind, kind);
	assert_int_equal(op->place, PLACE_STACK);
	assert_int_equal(op->offset, offset);
}

static void test_x86_64_by_value(void **state)
{
	struct fixture *f = *state;
	const struct capture_plan *plan = compile(
		f, &abi64,
		"void f(struct(int, int, double), struct(float, float, float),"
		" struct(struct(char), float), struct(array(short, 5)), struct(long, long, char),"
		" int, struct(long, long), int, struct(long double), struct(double, int));");

	/* INTEGER and SSE; SSE twice; both in one word; INTEGER twice; memory. */
	assert_pieces(&plan->entry[0], PIECE_GPR + REG_DI, PIECE_XMM + 0, 16);
	assert_pieces(&plan->entry[1], PIECE_XMM + 1, PIECE_XMM + 2, 12);
	assert_pieces(&plan->entry[2], PIECE_GPR + REG_SI, PIECE_NONE, 8);
	assert_pieces(&plan->entry[3], PIECE_GPR + REG_DX, PIECE_GPR + REG_CX, 10);
	assert_stack(&plan->entry[4], CAPTURE_INLINE, 8);
	assert_int_equal(plan->entry[5].index, R8);
	/* One register is left: not enough for both words, but enough for the next parameter. */
	assert_stack(&plan->entry[6], CAPTURE_INLINE, 32);
	assert_int_equal(plan->entry[7].index, R9);
	/* Aligned to 16. */
	assert_stack(&plan->entry[8], CAPTURE_INLINE, 56);
	assert_stack(&plan->entry[9], CAPTURE_INLINE, 72);
	assert_true(plan->needs_fp_entry);
}

/* Hidden members of an object decide on its place, too. */
static void test_x86_64_mixtures(void **state)
{
	struct fixture *f = *state;
	const struct capture_plan *plan = compile(
		f, &abi64,
		"void f(union(array(double, 2), long), union(float, double), struct(int:3, int:4),"
		" struct(hide(uint8):3, float), struct(hide(double), ...), int128, struct(), int,"
		" int128, int, int, int128);");

	assert_pieces(&plan->entry[0], PIECE_GPR + REG_DI, PIECE_XMM + 0, 16);
	assert_pieces(&plan->entry[1], PIECE_XMM + 1, PIECE_NONE, 8);
	assert_pieces(&plan->entry[2], PIECE_GPR + REG_SI, PIECE_NONE, 4);
	assert_pieces(&plan->entry[3], PIECE_XMM + 2, PIECE_NONE, 8);
	assert_pieces(&plan->entry[4], PIECE_XMM + 3, PIECE_NONE, 8);
	assert_pieces(&plan->entry[5], PIECE_GPR + REG_DX, PIECE_GPR + REG_CX, 16);
	assert_int_equal(plan->entry[7].index, R8);
	/* The whole object goes to the stack, aligned to 16. */
	assert_stack(&plan->entry[8], CAPTURE_INLINE, 8);
	assert_int_equal(plan->entry[9].index, R9);
	assert_stack(&plan->entry[10], CAPTURE_WORD, 24);
	assert_stack(&plan->entry[11], CAPTURE_INLINE, 40);
	assert_pieces(compile(f, &abi64, "int128 f();")->exit, PIECE_GPR + REG_AX,
		      PIECE_GPR + REG_DX, 16);
	assert_stack(&compile(f, &abi32, "int f(union(int, double), int);")->entry[1], CAPTURE_WORD,
		     12);
}

/* System V AMD64 psABI 3.2.3, the algorithm: how classes that share a word are merged. */
static void test_x86_64_merged(void **state)
{
	struct fixture *f = *state;
	const struct capture_plan *plan = compile(
		f, &abi64,
		"void f(union(ldouble, struct(union(ldouble, ldouble))), union(ldouble, int128),"
		" union(ldouble, array(int, 4)), union(ldouble, struct(double, long)), int,"
		" union(ldouble, struct(float, int, float, int)), union(ldouble, long));");

	assert_stack(&plan->entry[0], CAPTURE_INLINE, 8);
	assert_pieces(&plan->entry[1], PIECE_GPR + REG_DI, PIECE_GPR + REG_SI, 16);
	assert_pieces(&plan->entry[2], PIECE_GPR + REG_DX, PIECE_GPR + REG_CX, 16);
	assert_stack(&plan->entry[3], CAPTURE_INLINE, 24);
	assert_int_equal(plan->entry[4].index, R8);
	assert_stack(&plan->entry[5], CAPTURE_INLINE, 40);
	assert_stack(&plan->entry[6], CAPTURE_INLINE, 56);
	/* Equal classes stay as they are. */
	static const char *const alone[] = {
		"union(ldouble, ldouble) f();", "union(array(ldouble, 1), ldouble) f();",
		"struct(union(ldouble, struct(ldouble, struct()))) f();"};

	for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
		assert_int_equal(compile(f, &abi64, alone[i])->exit->index, PIECE_ST0);
	assert_pieces(compile(f, &abi64, "union(ldouble, int128) f();")->exit, PIECE_GPR + REG_AX,
		      PIECE_GPR + REG_DX, 16);
	static const char *const mixed[] = {
		"union(ldouble, double) f(int);", "union(ldouble, char) f(int);",
		/* In the order of the members. */
		"union(ldouble, array(double, 2), array(long, 2)) f(int);",
		"union(long double _Complex, ldouble) f(int);"};

	for (size_t i = 0; i < sizeof mixed / sizeof *mixed; i++)
		assert_int_equal(compile(f, &abi64, mixed[i])->entry->index, REG_SI);
	plan = compile(f, &abi64, "union(ldouble, array(long, 2), array(double, 2)) f(int);");
	assert_int_equal(plan->entry->index, REG_DI);
}

static void test_members_of_all_kinds(void **state)
{
	struct fixture *f = *state;
	/* From the lowest bit: 5 in 3 bits, -3 in 7 bits, 1 in one bit; then 7. */
	static const unsigned char fields[] = {0xed, 0x07, 0, 0, 7, 0, 0, 0};

	poke(f, BASE, fields, sizeof fields);
	poke_words(f, BASE + 16, 8, 2, (uint64_t)BASE + 64, UINT64_C(1));
	poke_text(f, BASE + 64, "text");
	compile(f, &abi64,
		"void f(struct(uint:3, int b:7, bool(uint8) c:1, uint8:1, int e, ...)*,"
		" union(string s, long n)*, int128*, array(union(uint8, string), 2)*,"
		" struct(hide(long), ...)*);");
	f->gpr[REG_DI] = BASE;
	f->gpr[REG_SI] = f->gpr[REG_DX] = f->gpr[R8] = BASE + 16;
	f->gpr[REG_CX] = BASE;
	assert_string_equal(entered(f), "{ 5, b=-3, c=true, 0, e=7, ... }, { s=\"text\", ... },"
					" 0x10000000000010040, [ { 237, ... }, { 0, ... } ],"
					" { ... }");
	/* In a register, and behind the bytes that are read of an object. */
	compile(f, &abi64,
		"void f(struct(uint16 a:12, int16 b:4), struct(hide(array(char, 1023)), int a:7, "
		"int b:2)*);");
	f->gpr[REG_DI] = 0xfabc;
	f->gpr[REG_SI] = BASE;
	assert_string_equal(entered(f), "{ a=2748, b=-1 }, { a=0, ... }");
}

static void test_x86_64_results(void **state)
{
	struct fixture *f = *state;

	assert_pieces(compile(f, &abi64, "struct(int, int, float, float) f();")->exit,
		      PIECE_GPR + REG_AX, PIECE_XMM + 0, 16);
	assert_pieces(compile(f, &abi64, "struct(double, double) f();")->exit, PIECE_XMM + 0,
		      PIECE_XMM + 1, 16);
	assert_pieces(compile(f, &abi64, "struct(long, string) f();")->exit, PIECE_GPR + REG_AX,
		      PIECE_GPR + REG_DX, 16);
	assert_int_equal(compile(f, &abi64, "struct(struct(long double)) f();")->exit->index,
			 PIECE_ST0);
	assert_true(f->plan->needs_fp_exit);
	/* Both numbers of a complex one. */
	f->st[0][7] = f->st[1][7] = 0x80;
	f->st[0][8] = 0xff;
	f->st[0][9] = f->st[1][9] = 0x3f;
	f->st[1][8] = 0xfe;
	compile(f, &abi64, "long double _Complex f();");
	assert_string_equal(show(f, run(f, false), false, true), "{ 1.000000, 0.500000 }");
	compile(f, &abi64, "struct(long double) f();");
	assert_string_equal(show(f, run(f, false), false, true), "{ 1.000000 }");
	/* In memory: its address is the first parameter, and is returned. */
	compile(f, &abi64, "struct(long, long, long) f(int);");
	assert_int_equal(f->plan->exit->kind, CAPTURE_OBJECT);
	assert_int_equal(f->plan->exit->index, REG_AX);
	assert_int_equal(f->plan->entry->index, REG_SI);
}

static void test_i386_by_value(void **state)
{
	struct fixture *f = *state;
	const struct capture_plan *plan = compile(
		f, &abi32,
		"struct(int) f(struct(char), struct(double, char), int, struct(long double), int);");

	/* Behind the address of the result. */
	assert_stack(&plan->entry[0], CAPTURE_INLINE, 8);
	assert_stack(&plan->entry[1], CAPTURE_INLINE, 12);
	assert_stack(&plan->entry[2], CAPTURE_WORD, 24);
	assert_stack(&plan->entry[3], CAPTURE_INLINE, 28);
	assert_stack(&plan->entry[4], CAPTURE_WORD, 40);
	assert_int_equal(plan->exit->kind, CAPTURE_OBJECT);
	assert_int_equal(plan->exit->index, REG_AX);
	plan = compile(f, &abi32, "float _Complex f(int);");
	assert_pieces(plan->exit, PIECE_GPR + REG_AX, PIECE_GPR + REG_DX, 8);
	assert_stack(&plan->entry[0], CAPTURE_WORD, 4);
}

/* Words in registers, at the entry and, saved, at the return. */
static void test_in_registers(void **state)
{
	struct fixture *f = *state;
	static const double number = 2.5;

	poke_text(f, BASE + 8, "text");
	f->gpr[REG_DI] = BASE + 8;
	f->gpr[REG_SI] = (uint64_t)-2 << 32 | 7;
	memcpy(f->xmm[0], &number, 8);
	compile(f, &abi64, "void f(struct(string, int, short), struct(double));");
	assert_string_equal(entered(f), "{ \"text\", 7, -2 }, { 2.500000 }");
	compile(f, &abi64, "void f(+struct(string, int, short), struct(double));");
	run(f, true);
	f->gpr[REG_DI] = f->gpr[REG_SI] = 0;
	memset(f->xmm, 0, sizeof f->xmm);
	assert_string_equal(show(f, run(f, false), false, false),
			    "{ \"text\", 7, -2 }, { 2.500000 }");
	f->gpr[REG_AX] = BASE + 8;
	f->gpr[REG_DX] = 1;
	compile(f, &abi64, "struct(string, long) f();");
	assert_string_equal(show(f, run(f, false), false, true), "{ \"text\", 1 }");
	/* An array in registers has no address. */
	f->gpr[REG_DI] = BASE + 8;
	f->gpr[REG_SI] = 0;
	compile(f, &abi64, "void f(struct(array(string, 2)));");
	assert_string_equal(entered(f), "{ [ \"text\", nil ] }");
}

/*
 * Callers of variadic functions pass the number of xmm registers they have filled. The others hold
 * no arguments.
 */
static void test_vectors(void **state)
{
	struct fixture *f = *state;
	static const double number = 2.5;

	f->gpr[REG_DI] = poke_text(f, BASE, "%g %g");
	for (unsigned i = 0; i < 8; i++)
		memcpy(f->xmm[i], &number, 8);
	compile(f, &abi64, "void f(format);");
	f->gpr[REG_AX] = 0x7700 | 8;
	assert_string_equal(entered(f), "\"%g %g\", 2.500000, 2.500000");
	f->gpr[REG_AX] = 0;
	assert_string_equal(entered(f), "\"%g %g\", ?, ?");
	/* At the return, the number from the entry is used. */
	compile(f, &abi64, "void f(+format);");
	f->gpr[REG_AX] = 1;
	run(f, true);
	f->gpr[REG_AX] = 8;
	assert_string_equal(show(f, run(f, false), false, false), "\"%g %g\", 2.500000, ?");
}

/* A struct of numbers behind a pointer is one read, whatever it holds. */
static void test_reads(void **state)
{
	struct fixture *f = *state;

	f->gpr[REG_DI] = poke_words(f, BASE, 4, 4, UINT64_C(1), UINT64_C(2), UINT64_C(3),
				    UINT64_C(4));
	f->gpr[REG_SI] = poke_text(f, BASE + 64, "s");
	compile(f, &abi64, "void f(struct(int, array(int, 3))*);");
	assert_string_equal(entered(f), "{ 1, [ 2, 3, 4 ] }");
	assert_int_equal(f->reads, 1);
	compile(f, &abi64, "void f(struct(int, array(int, 3))*, string);");
	assert_string_equal(entered(f), "{ 1, [ 2, 3, 4 ] }, \"s\"");
	assert_int_equal(f->reads, 1);
}

static void test_lengths(void **state)
{
	struct fixture *f = *state;

	f->gpr[REG_DI] = poke_words(f, BASE, 2, 6, UINT64_C(1), UINT64_C(2), UINT64_C(0),
				    UINT64_C(4), UINT64_C(5), UINT64_C(6));
	f->gpr[REG_SI] = 3;
	compile(f, &abi64, "void f(array(short, arg2)*, ulong);");
	assert_string_equal(entered(f), "[ 1, 2, 0 ], 3");
	f->gpr[REG_SI] = UINT64_MAX / 2;
	assert_string_equal(entered(f), "[ 1, 2, 0, 4... ], 9223372036854775807");
	compile(f, &abi64, "void f(array(short, zero)*);");
	assert_string_equal(entered(f), "[ 1, 2 ]");
	f->gpr[REG_SI] = 1;
	compile(f, &abi64, "void f(array(short, zero(arg2))*, int);");
	assert_string_equal(entered(f), "[ 1 ], 1");
	/* The end of the bytes shown is the end of the array. */
	poke_words(f, BASE, 2, 5, UINT64_C(1), UINT64_C(2), UINT64_C(3), UINT64_C(4), UINT64_C(0));
	compile(f, &abi64, "void f(array(short, zero)*);");
	assert_string_equal(entered(f), "[ 1, 2, 3, 4 ]");
	poke_words(f, BASE, 2, 5, UINT64_C(1), UINT64_C(2), UINT64_C(3), UINT64_C(4), UINT64_C(5));
	assert_string_equal(entered(f), "[ 1, 2, 3, 4... ]");
	/* The length is a member of the object. */
	poke_words(f, BASE, 2, 4, UINT64_C(2), UINT64_C(7), UINT64_C(8), UINT64_C(9));
	compile(f, &abi64, "void f(struct(short n, array(short, elt1) items)*);");
	assert_string_equal(entered(f), "{ n=2, items=[ 7, 8 ] }");
	compile(f, &abi64, "void f(struct(struct(short, array(short, elt1)))*);");
	assert_string_equal(entered(f), "{ { 2, [ 7, 8 ] } }");
}

/* The lesser of the result and the size of the buffer. */
static void test_result_ends(void **state)
{
	struct fixture *f = *state;

	f->gpr[REG_DI] = poke_text(f, BASE, "some text");
	f->gpr[REG_SI] = 4;
	f->gpr[REG_AX] = 2;
	compile(f, &abi64, "int f(string[retval(arg2)], int);");
	run(f, true);
	assert_string_equal(show(f, run(f, false), false, false), "\"so\", 4");
	f->gpr[REG_AX] = 9;
	assert_string_equal(show(f, run(f, false), false, false), "\"some\", 4");
	f->gpr[REG_AX] = UINT64_MAX;
	assert_string_equal(show(f, run(f, false), false, false), "\"\", 4");
	/* Nothing was written; without a result the text ends at a NUL. */
	f->gpr[REG_AX] = 9;
	f->gpr[REG_SI] = 0;
	run(f, true);
	assert_string_equal(show(f, run(f, false), false, false), "0x10000, 0");
	compile(f, &abi64, "int f(+string[zero(arg2)], int);");
	run(f, true);
	assert_string_equal(show(f, run(f, false), false, false), "0x10000, 0");
	compile(f, &abi64, "int f(string[zero(arg2)], int);");
	assert_string_equal(entered(f), "\"\", 0");
	/* Elements, a constant number of them, bits, and inside of an object. */
	f->gpr[REG_DI] = poke_words(f, BASE, 2, 4, UINT64_C(1), UINT64_C(2), UINT64_C(3),
				    UINT64_C(4));
	f->gpr[REG_AX] = 300;
	compile(f, &abi64, "int f(array(short, retval(2)));");
	run(f, true);
	assert_string_equal(show(f, run(f, false), false, false), "[ 1, 2 ]");
	f->gpr[REG_AX] = 0;
	assert_string_equal(show(f, run(f, false), false, false), "[  ]");
	/* One element or none. */
	compile(f, &abi64, "int f(array(short, retval(1)), array(struct(short), retval(1)));");
	f->gpr[REG_SI] = BASE + 2;
	run(f, true);
	assert_string_equal(show(f, run(f, false), false, false), "0x10000, 0x10002");
	f->gpr[REG_AX] = 300;
	assert_string_equal(show(f, run(f, false), false, false), "1, { 2 }");
	f->gpr[REG_SI] = 0;
	run(f, true);
	assert_string_equal(show(f, run(f, false), false, false), "1, nil");
	/* One element, unless the function has failed. */
	compile(f, &abi64, "int f(array(short, success), +array(struct(short), success));");
	f->gpr[REG_SI] = BASE + 2;
	f->gpr[REG_AX] = 0;
	run(f, true);
	assert_string_equal(show(f, run(f, false), false, false), "1, { 2 }");
	f->gpr[REG_AX] = UINT32_MAX;
	assert_string_equal(show(f, run(f, false), false, false), "0x10000, 0x10002");
	f->gpr[REG_AX] = UINT32_MAX - 1;
	assert_string_equal(show(f, run(f, false), false, false), "0x10000, 0x10002");
	f->gpr[REG_AX] = INT32_MAX;
	assert_string_equal(show(f, run(f, false), false, false), "1, { 2 }");
	f->gpr[REG_AX] = 3;
	compile(f, &abi64, "int f(struct(short, array(short, retval(2)), short)*);");
	run(f, true);
	assert_string_equal(show(f, run(f, false), false, false), "{ 1, [ 2, 3 ], 4 }");
	f->gpr[REG_AX] = 17;
	compile(f, &abi64, "int f(bitvec[retval(64)]);");
	run(f, true);
	assert_string_equal(show(f, run(f, false), false, false), "<0>");
	f->gpr[REG_AX] = 18;
	assert_string_equal(show(f, run(f, false), false, false), "<0,17>");
}

/* As many bits as a parameter says: bits behind them are not shown, and may be unreadable. */
static void test_lengths_in_bits(void **state)
{
	struct fixture *f = *state;

	f->gpr[REG_DI] = poke_words(f, BASE + LENGTH - 4, 4, 1, UINT64_C(0x40000089));
	compile(f, &abi64, "void f(bitvec[arg2], int);");
	f->gpr[REG_SI] = 31;
	assert_string_equal(entered(f), "<0,3,7,30>, 31");
	f->gpr[REG_SI] = 30;
	assert_string_equal(entered(f), "<0,3,7>, 30");
	f->gpr[REG_SI] = 1;
	assert_string_equal(entered(f), "<0>, 1");
	f->gpr[REG_SI] = 0;
	assert_string_equal(entered(f), "<>, 0");
	f->gpr[REG_SI] = UINT64_MAX;
	assert_string_equal(entered(f), "<>, -1");
	f->gpr[REG_SI] = 33;
	assert_string_equal(entered(f), "<0,3,7,30>..., 33");
	f->gpr[REG_DI] = 0;
	assert_string_equal(entered(f), "nil, 33");
	f->gpr[REG_DI] = 16;
	assert_string_equal(entered(f), "0x10, 33");
	/* A constant, a member, and more than -A allows, which is about arrays. */
	f->gpr[REG_DI] = BASE + LENGTH - 4;
	compile(f, &abi64, "void f(bitvec[4]);");
	assert_string_equal(entered(f), "<0,3,7>");
	f->gpr[REG_DI] = poke_words(f, BASE, 8, 4, UINT64_C(33), (uint64_t)BASE + 16, UINT64_MAX,
				    UINT64_C(3));
	compile(f, &abi64, "void f(struct(int, bitvec[elt1])*);");
	assert_string_equal(entered(f), "{ 33, ~<33-39> }");
	compile(f, &abi64, "void f(bitvec(array(uchar, arg2)), int);");
	f->gpr[REG_SI] = 16;
	f->gpr[REG_DI] = BASE + 16;
	assert_string_equal(entered(f), "~<66-127>, 16");
}

/* A length may be the integer that a parameter points to, when it is needed. */
static void test_pointed_lengths(void **state)
{
	struct fixture *f = *state;

	f->gpr[REG_DI] = poke_words(f, BASE, 2, 3, UINT64_C(1), UINT64_C(2), UINT64_C(3));
	f->gpr[REG_SI] = poke_words(f, BASE + 64, 4, 1, UINT64_C(2));
	compile(f, &abi64, "void f(array(short, arg2)*, int*);");
	assert_string_equal(entered(f), "[ 1, 2 ], 2");
	compile(f, &abi64, "void f(+array(short, arg2)*, int*);");
	run(f, true);
	f->gpr[REG_SI] = 0; /* as the function has left the register */
	poke_words(f, BASE + 64, 4, 1, UINT64_C(3));
	assert_string_equal(show(f, run(f, false), false, false), "[ 1, 2, 3 ], 3");
	/* With the size, and the sign, of that integer. */
	poke_words(f, BASE + 64, 4, 2, UINT64_MAX, UINT64_C(7));
	f->gpr[REG_SI] = BASE + 64;
	compile(f, &abi64, "void f(array(short, arg2)*, int*);");
	assert_string_equal(entered(f), "[  ], -1");
	compile(f, &abi64, "void f(string[arg2], uchar*);");
	assert_string_equal(entered(f),
			    "\"\\001\\000\\002\\000\\003\\000\\000\\000\\000\\000\\000\\000"
			    "\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000"
			    "\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\"..., '\\377'");
	/* A length that cannot be read is no length. */
	f->gpr[REG_SI] = BASE + LENGTH - 2;
	compile(f, &abi64, "void f(array(short, arg2)*, int*);");
	assert_string_equal(entered(f), "0x10000, 0x10ffe");
	compile(f, &abi64, "void f(string[arg2], int*);");
	assert_string_equal(entered(f), "0x10000, 0x10ffe");
}

static void test_addresses(void **state)
{
	static const uint8_t inet[] = {2, 0, 0, 80, 10, 0, 0, 255};
	static const uint8_t inet6[28] = {10, 0, 1, 1, [23] = 1, [24] = 3};
	static const uint8_t netlink[] = {16, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0x80};
	struct fixture *f = *state;

	f->gpr[REG_DI] = poke(f, BASE, inet, sizeof inet);
	f->gpr[REG_SI] = sizeof inet;
	compile(f, &abi64, "void f(sockaddr(arg2), uint);");
	assert_string_equal(
		entered(f),
		"{ sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr(\"10.0.0.255\") }, 8");
	f->gpr[REG_SI] = 4;
	assert_string_equal(entered(f), "{ sa_family=AF_INET, sa_data=\"\\000P\" }, 4");
	f->gpr[REG_SI] = 2;
	assert_string_equal(entered(f), "{ sa_family=AF_INET }, 2");
	f->gpr[REG_SI] = 0;
	assert_string_equal(entered(f), "0x10000, 0");
	f->gpr[REG_SI] = sizeof inet6;
	poke(f, BASE, inet6, sizeof inet6);
	assert_string_equal(entered(f),
			    "{ sa_family=AF_INET6, sin6_port=htons(257), sin6_flowinfo=htonl(0), "
			    "inet_pton(AF_INET6, \"::1\", &sin6_addr), sin6_scope_id=3 }, 28");
	f->gpr[REG_SI] = 23;
	assert_string_equal(strstr(entered(f), "\" }"), "\" }, 23");
	poke(f, BASE, netlink, sizeof netlink);
	f->gpr[REG_SI] = sizeof netlink;
	assert_string_equal(entered(f),
			    "{ sa_family=AF_NETLINK, nl_pid=4, nl_groups=0x80000000 }, 12");
	/*
	 * However long the address is said to be, at most the maximum is read; and less where
	 * memory ends.
	 */
	f->gpr[REG_SI] = UINT32_MAX;
	poke(f, BASE, "\1", 2);
	memset(f->memory + 2, 'x', 300);
	f->limits.string_max = 3;
	compile(f, &abi64, "void f(sockaddr(arg2), uint);");
	assert_string_equal(entered(f), "{ sa_family=AF_UNIX, sun_path=\"xxx\"... }, 4294967295");
	f->limits.string_max = 1000;
	compile(f, &abi64, "void f(sockaddr(arg2), uint);");
	assert_int_equal(strspn(strchr(entered(f), 'x'), "x"), 126);
	f->gpr[REG_DI] = poke(f, BASE + LENGTH - 4, "\1\0ab", 4);
	assert_string_equal(entered(f), "{ sa_family=AF_UNIX, sun_path=\"ab\" }, 4294967295");
	/* In a structure, and where a file has redefined the name. */
	f->gpr[REG_DI] = BASE;
	poke_words(f, BASE, 8, 2, (uint64_t)BASE + 64, UINT64_C(8));
	poke(f, BASE + 64, inet, sizeof inet);
	compile(f, &abi64, "void f(struct(sockaddr(elt2)* name, int)*);");
	assert_string_equal(entered(f), "{ name={ sa_family=AF_INET, sin_port=htons(80), "
					"sin_addr=inet_addr(\"10.0.0.255\") }, 8 }");
	compile(f, &abi64, "typedef sockaddr = struct(short, short); void f(sockaddr*);");
	assert_string_equal(entered(f), "{ 64, 1 }");
}

static void test_unreadable(void **state)
{
	struct fixture *f = *state;
	const uint64_t end = BASE + LENGTH;

	compile(f, &abi64, "void f(struct(int, int)*);");
	f->gpr[REG_DI] = end - 4;
	assert_string_equal(entered(f), "0x10ffc");
	f->gpr[REG_DI] = UINT64_MAX - 2;
	assert_string_equal(entered(f), "0xfffffffffffffffd");
	compile(f, &abi64, "void f(array(int, 3)*);");
	f->gpr[REG_DI] = poke_words(f, end - 8, 4, 2, UINT64_C(1), UINT64_C(2));
	assert_string_equal(entered(f), "[ 1, 2... ]");
	compile(f, &abi64, "void f(array(string, 2)*);");
	f->gpr[REG_DI] = poke_words(f, BASE, 8, 2, end, UINT64_C(0));
	assert_string_equal(entered(f), "[ 0x11000, nil ]");
	compile(f, &abi64, "void f(int**);");
	assert_string_equal(entered(f), "0x11000");
}

static void test_circles(void **state)
{
	struct fixture *f = *state;
	static const char list[] = "typedef l = struct; typedef l = struct(int, l*); void f(l*);";
	static const char tree[] =
		"typedef t = struct; typedef t = struct(t*, t*, t*); void f(t*);";

	f->gpr[REG_DI] = BASE;
	poke_words(f, BASE, 8, 2, UINT64_C(1), (uint64_t)BASE);
	compile(f, &abi64, list);
	assert_string_equal(entered(f), "{ 1, recurse }");
	poke_words(f, BASE, 8, 4, UINT64_C(1), (uint64_t)BASE + 16, UINT64_C(2), (uint64_t)BASE);
	assert_string_equal(entered(f), "{ 1, { 2, recurse^ } }");
	/* An array in an object is no object of its own. */
	compile(f, &abi64,
		"typedef n = struct; typedef n = struct(array(n*, 2), long); void f(n*);");
	poke_words(f, BASE, 8, 6, (uint64_t)BASE, (uint64_t)BASE + 24, UINT64_C(1), (uint64_t)BASE,
		   UINT64_C(0), UINT64_C(2));
	assert_string_equal(entered(f), "{ [ recurse, { [ recurse^, nil ], 2 } ], 1 }");
	compile(f, &abi64, list);
	for (uint64_t i = 0; i < 100; i++)
		poke_words(f, BASE + 16 * i, 8, 2, i, BASE + 16 * (i + 1));
	assert_string_equal(entered(f), "{ 0, { 1, { 2, { 3, ... } } } }");
	/* Whatever -A says, the depth is limited, and so is the record. */
	f->limits.array_max = 1000;
	compile(f, &abi64, list);
	assert_non_null(strstr(entered(f), "{ 15, ... }"));
	for (uint64_t i = 0; i < 160; i++)
		poke_words(f, BASE + 24 * i, 8, 3, BASE + 24 * ((3 * i + 1) % 160),
			   BASE + 24 * ((3 * i + 2) % 160), BASE + 24 * ((3 * i + 3) % 160));
	compile(f, &abi64, tree);
	assert_non_null(strstr(entered(f), "..."));
	assert_null(strchr(f->out.text, '?'));
}

/* What pointers in objects lead to does not use up the room of later values. */
static void test_followed(void **state)
{
	struct fixture *f = *state;

	poke_text(f, BASE + LENGTH - 8, "behind");
	f->gpr[REG_DI] = BASE;
	f->gpr[REG_SI] = BASE + LENGTH - 8;
	for (uint64_t i = 0; i < 160; i++)
		poke_words(f, BASE + 24 * i, 8, 3, BASE + 24 * ((3 * i + 1) % 160),
			   BASE + 24 * ((3 * i + 2) % 160), BASE + 24 * ((3 * i + 3) % 160));
	compile(f, &abi64,
		"typedef t = struct; typedef t = struct(t*, t*, t*); void f(t*, string);");
	for (uint32_t most = 0; most <= f->plan->followed_max; most += 512) {
		f->plan->followed_max = most;
		const struct record *record = run(f, true);
		const size_t own = sizeof(struct record) + 5 * sizeof(struct record_value) + 24 + 8;

		assert_in_range(record->size, own, own + most);
		assert_non_null(strstr(show(f, record, true, false), "}, \"behind\""));
		assert_null(strchr(f->out.text, '?'));
	}
	/* Addresses that cannot be readable are not read. */
	poke_words(f, BASE, 8, 3, UINT64_C(4095), UINT64_C(1) << 47, UINT64_MAX);
	compile(f, &abi64, "typedef t = struct; typedef t = struct(t*, t*, t*); void f(t*);");
	assert_string_equal(entered(f), "{ 0xfff, 0x800000000000, 0xffffffffffffffff }");
	assert_int_equal(f->reads, 1);
}

/*
 * The record is consistent however little room there is: `?` is shown only for parameters that are
 * not in the record at all.
 */
static void test_little_room(void **state)
{
	struct fixture *f = *state;

	f->gpr[REG_DI] = BASE;
	for (uint64_t i = 0; i < 16; i++)
		poke_words(f, BASE + 24 * i, 8, 3, i, BASE + 1024, BASE + 24 * (i + 1));
	poke_text(f, BASE + 1024, "some text of some length");
	f->limits.array_max = 16;
	compile(f, &abi64,
		"typedef l = struct; typedef l = struct(long, string, l*);"
		" void f(array(l, 3)*, l*, struct(long, string, l*));");
	f->gpr[REG_SI] = BASE;
	for (size_t room = sizeof(struct record); room < 4096; room += 8) {
		const struct record *record;
		const char *text;

		f->capacity = room;
		record = run(f, true);
		text = show(f, record, true, false);
		if (record->value_count >= 3)
			assert_null(strchr(text, '?'));
	}
}

/* Large objects are cut where captured bytes end, and so are their parts. */
static void test_large(void **state)
{
	struct fixture *f = *state;

	f->gpr[REG_DI] = BASE;
	poke_words(f, BASE, 8, 1, (uint64_t)BASE + 2048);
	poke_words(f, BASE + 1016, 8, 2, (uint64_t)BASE + 2048, (uint64_t)BASE + 2048);
	poke_text(f, BASE + 2048, "x");
	compile(f, &abi64,
		"void f(struct(string, array(char, 1008), string, string, array(string, 4))*, int);");
	f->gpr[REG_SI] = 5;
	assert_string_equal(entered(f),
			    "{ \"x\", [ '\\0', '\\0', '\\0', '\\0'... ], \"x\", ... }, 5");
	compile(f, &abi64,
		"void f(struct(string, struct(array(char, 1012), string), string)*, int);");
	assert_string_equal(entered(f),
			    "{ \"x\", { [ '\\0', '\\0', '\\0', '\\0'... ], ... }, ... }, 5");
	/* Of an array of large objects, the first is captured. */
	compile(f, &abi64, "void f(array(struct(int, array(char, 2000)), 3)*);");
	assert_string_equal(entered(f), "[ { 67584, [ '\\0', '\\0', '\\0', '\\0'... ] }... ]");
}

/* Forged records: every byte of a valid record is changed, and the record is cut anywhere. */
static void test_lies(void **state)
{
	struct fixture *f = *state;
	uint64_t good[512];
	size_t size;

	f->gpr[REG_DI] = BASE;
	poke_words(f, BASE, 8, 4, UINT64_C(1), (uint64_t)BASE + 64, (uint64_t)BASE, UINT64_C(2));
	poke_words(f, BASE + 64, 8, 4, UINT64_C(3), UINT64_C(4), (uint64_t)BASE + 128, UINT64_C(0));
	poke_text(f, BASE + 128, "abc");
	compile(f, &abi64,
		"typedef l = struct; typedef l = struct(long, array(struct(long, long, string), 1)*, l*,"
		" bitvec(array(char, 4)), string(array(char, 4))); void f(l*);");
	size = run(f, true)->size;
	assert_string_equal(entered(f), "{ 1, [ { 3, 4, \"abc\" } ], recurse, <1>, \"\" }");
	assert_true(size <= sizeof good);
	memcpy(good, f->record, size);
	for (size_t at = sizeof(struct record); at < size; at++)
		for (unsigned change = 1; change < 256; change++) {
			/* sanitizers see an access behind it */
			struct record *record = malloc(size);

			memcpy(record, good, size);
			((unsigned char *)record)[at] ^= (unsigned char)change;
			show(f, record, true, false);
			free(record);
		}
	for (size_t cut = sizeof(struct record); cut < size; cut++) {
		struct record *record = malloc(cut);

		memcpy(record, good, cut);
		record->size = (uint32_t)cut;
		show(f, record, true, false);
		free(record);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_x86_64_by_value, setup, teardown),
		cmocka_unit_test_setup_teardown(test_x86_64_mixtures, setup, teardown),
		cmocka_unit_test_setup_teardown(test_x86_64_merged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_members_of_all_kinds, setup, teardown),
		cmocka_unit_test_setup_teardown(test_x86_64_results, setup, teardown),
		cmocka_unit_test_setup_teardown(test_i386_by_value, setup, teardown),
		cmocka_unit_test_setup_teardown(test_in_registers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_vectors, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reads, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pointed_lengths, setup, teardown),
		cmocka_unit_test_setup_teardown(test_addresses, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lengths, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lengths_in_bits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_result_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unreadable, setup, teardown),
		cmocka_unit_test_setup_teardown(test_circles, setup, teardown),
		cmocka_unit_test_setup_teardown(test_followed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_little_room, setup, teardown),
		cmocka_unit_test_setup_teardown(test_large, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lies, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

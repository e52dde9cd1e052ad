/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unwind rows and rules, expressions, and walks over simulated stacks. */
#include "elf_fixture.h"
#include "object/elf_symbols.h"
#include "unwind/eh_expression.h"
#include "unwind/extent.h"
#include "unwind/unwind_table.h"
#include "unwind/unwind_walk.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { FRAMES = 64, STACK_WORDS = 1024 };

/* ------------------------------------------------------------------ rows */

static const char plain[] =
	"int leaf(int x) { return x + 1; }\n"
	"int g(int *p, int n) { char b[n]; b[n / 2] = 1; return leaf(b[0]) + p[leaf(n)]; }\n"
	"int h(int a, int b, int c) { return g(&a, b) * g(&c, leaf(a)) + leaf(b); }\n"
	"int main(void) { return h(1, 2, 3); }\n";

static struct elf_file *make(struct fixture *fixture, const char *source, const char *name,
			     const char *arguments)
{
	char command[1024];

	fixture_write(fixture, name, source, strlen(source));
	snprintf(command, sizeof command, "%s %s -o made", arguments, name);
	if (fixture_compile(fixture, command))
		return NULL;
	return fixture_open(fixture, "made");
}

static void assert_same_rule(const struct unwind_rule *left, const struct unwind_rule *right)
{
	assert_int_equal(left->cfa, right->cfa);
	assert_memory_equal(left, right, sizeof *left);
}

/* All code of functions has a rule, which is that of its row; other code has none. */
static void compare_rows(struct elf_file *file)
{
	size_t count;
	const struct extent *extents = extent_list(file, &count);
	struct unwind_table *table = unwind_table(file);
	struct eh_function function;
	struct eh_unwind_row row;

	assert_true(count > 4);
	for (size_t i = 0; i < count; i += 1 + count / 2000)
		for (uint64_t into = 0; into < extents[i].size; into++) {
			uint64_t address = extents[i].start + into;
			const struct unwind_rule rule = unwind_table_rule(table, address);

			assert_true(rule.cfa != UNWIND_NONE);
			assert_true(unwind_table_row(table, address, &row, &function));
			const struct unwind_rule whole =
				unwind_rule_of(&row, &function, unwind_table_expressions(table));

			assert_same_rule(&whole, &rule);
		}
	assert_int_equal(unwind_table_rule(table, UINT64_MAX).cfa, UNWIND_NONE);
	assert_true(unwind_table_bytes(table) > 0);
}

static void rows_at_once_and_one_by_one(void **state)
{
	static const char *const flags[] = {"-O2",	   "-O0 -static",
					    "-O2 -m32",	   "-O2 -static -Wl,--no-eh-frame-hdr",
					    "-O1 -no-pie", "-O2 -m32 -static"};
	size_t made = 0;

	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
		struct elf_file *file = make(*state, plain, "plain.c", flags[i]);

		if (!file)
			continue;
		compare_rows(file);
		elf_unref(file);
		made++;
	}
	assert_true(made >= 2);
}

/* Without a table in .eh_frame_hdr, or with a wrong one, all of .eh_frame is read. */
static void damaged_search_tables(void **state)
{
	static const char damages[][16] = {"order", "entries", "count"};
	struct elf_file *file = make(*state, plain, "plain.c", "-O2");
	size_t length;
	unsigned char *good = fixture_load(*state, "made", &length);
	uint64_t main_at = elf_find_symbol(file, "main")->value;
	uint64_t header = elf_eh_frame_header(file);
	struct unwind_rule right = unwind_table_rule(unwind_table(file), main_at);

	assert_int_equal(right.cfa, UNWIND_BY_SP);
	assert_true(header + 12 < length); /* GNU linkers map the file from its beginning */
	for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
		unsigned char *bad = malloc(length);
		struct elf_file *damaged;

		memcpy(bad, good, length);
		if (i == 0)
			memset(bad + header + 12, 0x7f, 4);
		else if (i == 1)
			for (size_t j = 0; j < 4; j++)
				memset(bad + header + 16 + 8 * j, 0x11, 2);
		else
			memset(bad + header + 8, 0xff, 4);
		fixture_write(*state, damages[i], bad, length);
		damaged = fixture_open(*state, damages[i]);
		assert_non_null(damaged);
		struct unwind_rule rule = unwind_table_rule(unwind_table(damaged), main_at);

		assert_same_rule(&rule, &right);
		elf_unref(damaged);
		free(bad);
	}
	elf_unref(file);
	free(good);
}

/* ------------------------------------------------------------------ expressions */

struct expression {
	const char *bytes;
	int error;
	uint64_t result;
};

/* Registers are 100, 101, …; each word of memory is its address plus 1; 7 is unknown. */
static const struct expression expressions[] = {
	{"0x70, 4", 0, 104},					  /* r0 + 4 */
	{"0x71, 0x7c", 0, 97},					  /* r1 - 4 */
	{"0x70, 4, 0x06", 0, 105},				  /* *(r0 + 4) */
	{"0x70, 4, 0x06, 0x23, 8", 0, 113},			  /* … + 8 */
	{"0x70, 0, 0x94, 1", 0, 101},				  /* a byte */
	{"0x70, 0, 0x94, 3", -EINVAL, 0},			  /* of no such size */
	{"0x77, 0", -ENODATA, 0},				  /* r7 */
	{"0x92, 40, 0", -ENODATA, 0},				  /* r40 */
	{"0x92, 2, 1", 0, 103},					  /* r2 + 1 */
	{"0x08, 200, 0x09, 200, 0x22", 0, 144},			  /* 200 + -56 */
	{"0x0a, 0, 1, 0x0b, 0xff, 0xff, 0x22", 0, 255},		  /* 256 + -1 */
	{"0x0c, 1, 0, 0, 0, 0x0d, 2, 0, 0, 0, 0x1c, 0x1f", 0, 1}, /* -(1 - 2) */
	{"0x10, 0x80, 1, 0x11, 0x7f, 0x1e, 0x19", 0, 128},	  /* abs(128 * -1) */
	{"0x3a, 0x33, 0x1b", 0, 3},				  /* 10 / 3 */
	{"0x3a, 0x33, 0x1d", 0, 1},				  /* 10 % 3 */
	{"0x3a, 0x30, 0x1b", -EINVAL, 0},			  /* 10 / 0 */
	{"0x3a, 0x32, 0x24", 0, 40},				  /* 10 << 2 */
	{"0x3a, 0x32, 0x25", 0, 2},				  /* 10 >> 2 */
	{"0x3a, 0x1f, 0x31, 0x26, 0x1f", 0, 5},			  /* -(-10 >> 1) */
	{"0x31, 0x08, 255, 0x24", 0, 0},			  /* 1 << 255 */
	{"0x3c, 0x3a, 0x1a", 0, 8},				  /* 12 & 10 */
	{"0x3c, 0x3a, 0x21", 0, 14},				  /* 12 | 10 */
	{"0x3c, 0x3a, 0x27", 0, 6},				  /* 12 ^ 10 */
	{"0x30, 0x20, 0x1f", 0, 1},				  /* -~0 */
	{"0x31, 0x32, 0x29", 0, 0},				  /* 1 == 2 */
	{"0x31, 0x32, 0x2a", 0, 0},				  /* 1 >= 2 */
	{"0x31, 0x32, 0x2b", 0, 0},				  /* 1 > 2 */
	{"0x31, 0x32, 0x2c", 0, 1},				  /* 1 <= 2 */
	{"0x31, 0x32, 0x2d", 0, 1},				  /* 1 < 2 */
	{"0x31, 0x32, 0x2e", 0, 1},				  /* 1 != 2 */
	{"0x31, 0x1f, 0x30, 0x2d", 0, 1},			  /* -1 < 0 */
	{"0x31, 0x32, 0x33, 0x17, 0x13", 0, 1},			  /* 3 1 2, without the 2 */
	{"0x31, 0x32, 0x16, 0x1c", 0, 1},			  /* 2 - 1 */
	{"0x31, 0x32, 0x14, 0x22, 0x22", 0, 4},			  /* 1 + (2 + 1) */
	{"0x35, 0x12, 0x22", 0, 10},				  /* 5 + 5 */
	{"0x31, 0x32, 0x15, 1, 0x15, 9", -EINVAL, 0},		  /* nothing is so deep */
	{"0x31, 0x28, 1, 0, 0x35, 0x36", 0, 6},			  /* skips the 5, if 1 */
	{"0x30, 0x28, 1, 0, 0x35, 0x96", 0, 5},			  /* … if 0 */
	{"0x34, 0x2f, 1, 0, 0x06, 0x96", 0, 4},			  /* skips the read */
	{"0x2f, 0xfd, 0xff", -EINVAL, 0},			  /* for ever */
	{"0x2f, 0, 0x70", -EINVAL, 0},				  /* out of it */
	{"0x2f, 0, 0x80", -EINVAL, 0},
	{"0x31, 0x2f, 0xfc, 0xff", -EINVAL, 0},	      /* for ever, and more and more */
	{"0x22", -EINVAL, 0},			      /* nothing to add */
	{"0x03, 0, 0, 0, 0, 0, 0, 0, 0", -EINVAL, 0}, /* an address that is relocated */
	{"0x08", -EINVAL, 0},			      /* without its number */
};

static bool read_fake(void *context, uint64_t address, unsigned size, uint64_t *value)
{
	(void)context;
	*value = address + 1;
	return size <= 8;
}

static void evaluate_expressions(void **state)
{
	char text[8192] = "	.globl all\n	.type all, @function\nall:\n", line[256];
	size_t count = sizeof expressions / sizeof *expressions;
	uint64_t registers[EH_REGISTERS];

	for (size_t i = 0; i < count; i++) {
		snprintf(line, sizeof line,
			 "1:	.uleb128 3f - 2f\n2:	.byte %s\n3:	.skip 64 - (3b - 1b)\n",
			 expressions[i].bytes);
		strcat(text, line);
	}
	struct elf_file *file = make(*state, text, "expressions.S", "-shared -nostdlib");
	struct eh_reader reader;

	assert_non_null(file);
	for (size_t i = 0; i < EH_REGISTERS; i++)
		registers[i] = 100 + i;
	const struct eh_environment environment = {
		.registers = registers, .known = 0x1ff7f, .word = 8, .read = read_fake};

	eh_reader_init(&reader, file, 64);
	for (size_t i = 0; i < count; i++) {
		uint64_t result = 0;
		uint64_t at = elf_find_symbol(file, "all")->value + 64 * i;

		print_message("%s\n", expressions[i].bytes);
		assert_int_equal(eh_evaluate(&reader, at, &environment, NULL, &result),
				 expressions[i].error);
		if (!expressions[i].error)
			assert_int_equal(result, expressions[i].result);
	}
	eh_reader_deinit(&reader);
	elf_unref(file);
}

/* ------------------------------------------------------------------ walks */

/*
 * Functions whose rows are all kinds of rules. Each calls the next one: the walk begins in the last
 * one. `by_rbx` needs a register that only the rows tell.
 */
static const char chain[] = "	.macro begin name\n"
			    "	.globl \\name\n"
			    "	.type \\name, @function\n"
			    "\\name: .cfi_startproc\n"
			    "	.endm\n"
			    "	.macro end name, next\n"
			    "	call \\next\n"
			    "	.globl in_\\name\n"
			    "in_\\name: nop\n"
			    "	.cfi_endproc\n"
			    "	.size \\name, .-\\name\n"
			    "	.endm\n"
			    "	begin outer\n"
			    "	.cfi_undefined rip\n"
			    "	end outer, by_rbx\n"
			    "	begin by_rbx\n" /* CFA = rbx + 16 */
			    "	.cfi_def_cfa rbx, 16\n"
			    "	end by_rbx, saves_rbx\n"
			    "	begin saves_rbx\n" /* one word, and the saved rbx */
			    "	.cfi_def_cfa_offset 24\n"
			    "	.cfi_offset rbx, -16\n"
			    "	end saves_rbx, kept\n"
			    "	begin kept\n" /* CFA = *(rsp + 8) + 8 */
			    "	.cfi_escape 0x0f, 5, 0x77, 8, 0x06, 0x23, 8\n"
			    "	end kept, by_rbp\n"
			    "	begin by_rbp\n"
			    "	.cfi_def_cfa rbp, 16\n"
			    "	.cfi_offset rbp, -16\n"
			    "	end by_rbp, last\n"
			    "	begin loses_rbx\n"
			    "	.cfi_undefined rbx\n"
			    "	end loses_rbx, last\n"
			    "	begin last\n"
			    "	end last, last\n"
			    "	.section .note.GNU-stack, \"\", @progbits\n";

struct simulated {
	struct elf_file *file;
	struct memory_source memory;
	uint64_t words[STACK_WORDS];
	size_t length; /* in words */
	unsigned reads;
	uint64_t trampoline, true_pc, true_place;
};

enum { STACK_AT = 0x7000000, BIAS = 0x400000, TRAMPOLINE = 0x5000 };

static void read_simulated(void *context, struct memory_range *ranges, size_t count)
{
	struct simulated *simulated = context;

	for (size_t i = 0; i < count; i++) {
		uint64_t into = ranges[i].address - STACK_AT;
		uint64_t bytes = 8 * simulated->length;
		uint64_t there = into < bytes ? bytes - into : 0;

		simulated->reads++;
		ranges[i].done = ranges[i].length < there ? ranges[i].length : there;
		if (ranges[i].done)
			memcpy(ranges[i].buffer, (char *)simulated->words + into, ranges[i].done);
	}
}

static bool find_simulated(void *context, uint64_t pc, struct unwind_module *module)
{
	const struct simulated *simulated = context;

	*module = (struct unwind_module){BIAS, BIAS + 0x10000, simulated->file, BIAS};
	return pc >= BIAS && pc < BIAS + 0x10000;
}

static bool find_program(void *context, uint64_t pc, uint64_t place, uint64_t *program_pc)
{
	const struct simulated *simulated = context;

	if (pc != TRAMPOLINE || place != simulated->true_place)
		return false;
	*program_pc = simulated->true_pc;
	return true;
}

static uint64_t address_of(const struct simulated *simulated, const char *name)
{
	const struct elf_symbol *symbol = elf_find_symbol(simulated->file, name);

	assert_non_null(symbol);
	return symbol->value + BIAS;
}

static size_t walk(struct simulated *simulated, uint64_t pc, uint64_t sp, uint64_t bp,
		   struct unwind_frame *frames, size_t room, enum unwind_end *end)
{
	const struct unwind_process process = {.arch = elf_arch(simulated->file),
					       .memory = &simulated->memory,
					       .find_module = find_simulated,
					       .find_program_pc = find_program,
					       .context = simulated};
	struct unwinder *unwinder = unwinder_create(&process);
	struct regs regs = {.pc = pc};

	regs.r[REG_SP] = sp;
	regs.r[REG_BP] = bp;
	size_t count = unwinder_walk(unwinder, &regs, false, frames, room, end);

	unwinder_destroy(unwinder);
	return count;
}

static const char *const names[] = {"last",	    "in_by_rbp", "in_kept",
				    "in_saves_rbx", "in_by_rbx", "in_outer"};

/* Lays out the stack of the chain. Returns the number of words. */
static size_t lay_out(struct simulated *simulated)
{
	uint64_t *words = simulated->words;
	const uint64_t at = STACK_AT;

	words[0] = address_of(simulated, "in_by_rbp"); /* sp of `last` */
	words[3] = 77;				       /* by_rbp: the saved rbp, then */
	words[4] = address_of(simulated, "in_kept");
	words[6] = at + 8 * 9; /* kept: CFA - 8, which is where its return address is, plus 8 */
	words[9] = address_of(simulated, "in_saves_rbx");
	words[11] = at + 8 * 20; /* saves_rbx: the saved rbx */
	words[12] = address_of(simulated, "in_by_rbx");
	words[21] = address_of(simulated, "in_outer");
	return 24;
}

static void open_chain(struct simulated *simulated, struct fixture *fixture)
{
	*simulated = (struct simulated){.memory = {.readv = read_simulated, .context = simulated}};
	simulated->file = make(fixture, chain, "chain.S", "-shared -nostdlib");
	if (!simulated->file || elf_arch(simulated->file)->abi->word != 8) {
		elf_unref(simulated->file);
		skip();
	}
	simulated->length = lay_out(simulated);
}

static void all_kinds_of_rules(void **state)
{
	struct simulated simulated;
	struct unwind_frame frames[FRAMES];
	enum unwind_end end;
	const size_t count = sizeof names / sizeof *names;

	open_chain(&simulated, *state);
	assert_int_equal(walk(&simulated, address_of(&simulated, "last"), STACK_AT,
			      STACK_AT + 8 * 3, frames, FRAMES, &end),
			 count);
	assert_int_equal(end, UNWIND_END_OUTER);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(frames[i].pc, address_of(&simulated, names[i]));
		assert_int_equal(frames[i].is_call, i > 0);
		assert_false(frames[i].is_guessed || frames[i].is_signal_frame);
		assert_ptr_equal(frames[i].module.file, simulated.file);
	}
	assert_int_equal(frames[4].cfa, STACK_AT + 8 * 22);
	assert_int_equal(frames[5].sp, STACK_AT + 8 * 22);
	assert_int_equal(frames[5].cfa, 0);
	assert_int_equal(simulated.reads, 1);
	/* The room ends before the stack does. */
	assert_int_equal(walk(&simulated, address_of(&simulated, "last"), STACK_AT,
			      STACK_AT + 8 * 3, frames, 3, &end),
			 3);
	assert_int_equal(end, UNWIND_END_LIMIT);
	elf_unref(simulated.file);
}

static void return_trampolines(void **state)
{
	struct simulated simulated;
	struct unwind_frame frames[FRAMES];
	enum unwind_end end;

	open_chain(&simulated, *state);
	simulated.true_pc = simulated.words[4];
	simulated.words[4] = TRAMPOLINE;
	simulated.true_place = STACK_AT + 8 * 4;
	assert_int_equal(walk(&simulated, address_of(&simulated, "last"), STACK_AT,
			      STACK_AT + 8 * 3, frames, FRAMES, &end),
			 6);
	assert_int_equal(frames[2].pc, address_of(&simulated, "in_kept"));
	/* A displaced instruction: in the pc, and in no memory. */
	simulated.words[4] = simulated.true_pc;
	simulated.true_pc = address_of(&simulated, "last");
	simulated.true_place = 0;
	assert_int_equal(
		walk(&simulated, TRAMPOLINE, STACK_AT, STACK_AT + 8 * 3, frames, FRAMES, &end), 6);
	assert_int_equal(frames[0].pc, address_of(&simulated, "last"));
	/* A trampoline that is not known leads nowhere, and what is behind it is a guess. */
	simulated.words[4] = TRAMPOLINE;
	walk(&simulated, address_of(&simulated, "last"), STACK_AT, STACK_AT + 8 * 3, frames, FRAMES,
	     &end);
	assert_true(frames[2].is_guessed);
	elf_unref(simulated.file);
}

static void damaged_stacks(void **state)
{
	struct simulated simulated;
	struct unwind_frame frames[FRAMES];
	enum unwind_end end;
	uint64_t last;

	open_chain(&simulated, *state);
	last = address_of(&simulated, "last");
	/* The stack ends. */
	simulated.length = 9;
	assert_int_equal(walk(&simulated, last, STACK_AT, STACK_AT + 8 * 3, frames, FRAMES, &end),
			 3);
	assert_int_equal(end, UNWIND_END_UNREADABLE);
	/* There is none. */
	assert_int_equal(walk(&simulated, last, 0, 0, frames, FRAMES, &end), 1);
	assert_int_equal(end, UNWIND_END_UNREADABLE);
	assert_int_equal(walk(&simulated, last, UINT64_MAX - 3, 0, frames, FRAMES, &end), 1);
	/* A frame that leads back. */
	simulated.length = lay_out(&simulated);
	simulated.words[6] = STACK_AT;
	assert_int_equal(walk(&simulated, last, STACK_AT, STACK_AT + 8 * 3, frames, FRAMES, &end),
			 3);
	assert_int_equal(end, UNWIND_END_NO_PROGRESS);
	/* A stack of nothing but calls. */
	simulated.length = STACK_WORDS;
	for (size_t i = 0; i < STACK_WORDS; i++)
		simulated.words[i] = address_of(&simulated, "in_last");
	assert_int_equal(walk(&simulated, last, STACK_AT, 0, frames, FRAMES, &end), FRAMES);
	assert_int_equal(end, UNWIND_END_LIMIT);
	/* A return address of 0 is the end, like one that is undefined. */
	simulated.words[1] = 0;
	assert_int_equal(walk(&simulated, last, STACK_AT, 0, frames, FRAMES, &end), 2);
	assert_int_equal(end, UNWIND_END_OUTER);
	elf_unref(simulated.file);
}

/* A frame needs a register that a frame farther in does not keep: what calls it is a guess. */
static void lost_registers(void **state)
{
	struct simulated simulated;
	struct unwind_frame frames[FRAMES];
	enum unwind_end end;

	open_chain(&simulated, *state);
	simulated.words[0] = address_of(&simulated, "in_loses_rbx");
	simulated.words[1] = address_of(&simulated, "in_by_rbx");
	simulated.words[3] = address_of(&simulated, "in_outer");
	assert_int_equal(
		walk(&simulated, address_of(&simulated, "last"), STACK_AT, 0, frames, FRAMES, &end),
		4);
	assert_int_equal(end, UNWIND_END_OUTER);
	assert_int_equal(frames[2].pc, address_of(&simulated, "in_by_rbx"));
	assert_false(frames[2].is_guessed);
	assert_int_equal(frames[3].pc, address_of(&simulated, "in_outer"));
	assert_true(frames[3].is_guessed);
	elf_unref(simulated.file);
}

/* A call through a pointer to nowhere: the caller is what is on top of the stack. */
static void jumps_to_nowhere(void **state)
{
	struct simulated simulated;
	struct unwind_frame frames[FRAMES];
	enum unwind_end end;

	open_chain(&simulated, *state);
	assert_int_equal(walk(&simulated, 0, STACK_AT, STACK_AT + 8 * 3, frames, FRAMES, &end), 6);
	assert_int_equal(frames[0].pc, 0);
	assert_int_equal(frames[1].pc, address_of(&simulated, "in_by_rbp"));
	assert_true(frames[1].is_guessed);
	assert_int_equal(end, UNWIND_END_OUTER);
	elf_unref(simulated.file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FIXTURE(rows_at_once_and_one_by_one),
		WITH_FIXTURE(damaged_search_tables),
		WITH_FIXTURE(evaluate_expressions),
		WITH_FIXTURE(all_kinds_of_rules),
		WITH_FIXTURE(return_trampolines),
		WITH_FIXTURE(damaged_stacks),
		WITH_FIXTURE(lost_registers),
		WITH_FIXTURE(jumps_to_nowhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

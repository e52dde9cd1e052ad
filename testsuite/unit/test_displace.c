/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Displaced instructions, as far as no process is needed: which are rejected, how far operands
 * reach, where a pc belongs, and what happens if memory cannot be accessed. test_relocate.c runs
 * them.
 */
#include "code/relocate.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CODE = 0x10000100 };

static int set_up(void **state)
{
	*state = decoder_create();
	return *state ? 0 : -1;
}

static int tear_down(void **state)
{
	decoder_destroy(*state);
	return 0;
}

static void read_nothing(void *context, struct memory_range *ranges, size_t count)
{
	(void)context;
	for (size_t i = 0; i < count; i++)
		ranges[i].done = 0;
}

static int write_nothing(void *context, uint64_t address, const void *bytes, size_t length)
{
	(void)context;
	(void)address;
	(void)bytes;
	(void)length;
	return -EIO;
}

static void test_refused(void **state)
{
	static const struct {
		uint8_t bytes[16];
		int error_64, error_32;
	} cases[] = {
		{{0xcc}, -ENOTSUP, -ENOTSUP},			   /* int3 */
		{{0xcd, 0x03}, -ENOTSUP, -ENOTSUP},		   /* int $3 */
		{{0xf1}, -ENOTSUP, -ENOTSUP},			   /* int1 */
		{{0xcf}, -ENOTSUP, -ENOTSUP},			   /* iret */
		{{0xcb}, -ENOTSUP, -ENOTSUP},			   /* lret */
		{{0xca, 8, 0}, -ENOTSUP, -ENOTSUP},		   /* lret $8 */
		{{0x9a, 0, 0, 0, 0, 0x33, 0}, -ENOTSUP, -ENOTSUP}, /* lcall */
		{{0xea, 0, 0, 0, 0, 0x33, 0}, -ENOTSUP, -ENOTSUP}, /* ljmp */
		{{0xff, 0x18}, -ENOTSUP, -ENOTSUP},		   /* lcall *(%rax) */
		{{0xff, 0x28}, -ENOTSUP, -ENOTSUP},		   /* ljmp *(%rax) */
		{{0x0f, 0x34}, -ENOTSUP, -ENOTSUP},		   /* sysenter */
		{{0xc7, 0xf8, 0, 0, 0, 0}, -ENOTSUP, -ENOTSUP},	   /* xbegin */
		{{0xc6, 0xf8, 0}, -ENOTSUP, -ENOTSUP},		   /* xabort */
		{{0x66, 0xe9, 0, 0, 0, 0}, -ENOTSUP, -ENOTSUP},	   /* data16 jmp */
		{{0x66, 0xc3}, -ENOTSUP, -ENOTSUP},		   /* data16 ret */
		{{0x66, 0xff, 0xe0}, -ENOTSUP, -ENOTSUP},	   /* data16 jmp *%ax */
		{{0xf0, 0xe9, 0, 0, 0, 0}, -ENOTSUP, -ENOTSUP},	   /* lock jmp */
		{{0x0f, 0x05}, 0, -ENOTSUP},			   /* syscall */
		{{0x67, 0xff, 0x27}, 0, -ENOTSUP},		   /* jmp *(%bx) */
		{{0x06}, -EILSEQ, 0},				   /* push %es */
		{{0xd6}, -EILSEQ, 0},				   /* salc */
		{{0x0f, 0x04}, -EILSEQ, -EILSEQ},		   /* undefined */
		{{0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
		  0x66, 0x66, 0x90},
		 -EILSEQ,
		 -EILSEQ}, /* sixteen bytes: too long */
	};
	struct decoder *decoder = *state;
	struct displaced displaced;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const uint8_t *bytes = cases[i].bytes;

		assert_int_equal(arch_x86_64.displace(decoder, bytes, 16, CODE, &displaced),
				 cases[i].error_64);
		assert_int_equal(arch_i386.displace(decoder, bytes, 16, CODE, &displaced),
				 cases[i].error_32);
	}
	assert_int_equal(arch_x86_64.displace(decoder, cases[0].bytes, 0, CODE, &displaced),
			 -EILSEQ);
}

/* What a pc-relative operand reaches, to the byte. */
static void test_reach(void **state)
{
	static const uint8_t load[] = {0x48, 0x8b, 0x05, 0, 0, 0, 0},
			     load_32bit[] = {0x67, 0x8b, 5};
	struct decoder *decoder = *state;
	uint64_t address = 0x7f0000000000, limit = UINT64_C(1) << 31;
	uint8_t code[DISPLACED_CODE_MAX], padded[16] = {0};
	struct displaced displaced;
	int32_t distance;
	size_t length;

	arch_x86_64.displace(decoder, load, sizeof load, address, &displaced);
	assert_int_equal(displaced.rip_offset, 3);
	assert_int_equal(displaced_emit(&displaced, address + limit, code, &length), 0);
	memcpy(&distance, code + 3, sizeof distance);
	assert_int_equal(distance, INT32_MIN);
	assert_int_equal(length, 7 + 14); /* the jump back is one byte too far for a jmp rel32 */
	assert_int_equal(displaced_emit(&displaced, address + limit + 1, code, &length), -ERANGE);
	assert_int_equal(displaced_emit(&displaced, address - limit + 1, code, &length), 0);
	assert_int_equal(displaced_emit(&displaced, address - limit, code, &length), -ERANGE);
	memcpy(padded, load_32bit, sizeof load_32bit);
	arch_x86_64.displace(decoder, padded, 7, CODE, &displaced);
	assert_int_equal(displaced_emit(&displaced, address, code, &length), 0);
	arch_i386.displace(decoder, load, 1, 0xfffffff0, &displaced);
	assert_int_equal(displaced_emit(&displaced, 0x1000, code, &length), 0);
	assert_int_equal(length, 1 + 5);
}

static void test_program_pc(void **state)
{
	static const uint8_t push[] = {0x41, 0x57};
	struct decoder *decoder = *state;
	struct displaced displaced;

	arch_x86_64.displace(decoder, push, sizeof push, 0x400000, &displaced);
	assert_int_equal(displaced_program_pc(&displaced, 0x1000, 0x1000), 0x400000);
	assert_int_equal(displaced_program_pc(&displaced, 0x1000, 0x1002), 0x400002);
	assert_int_equal(displaced_program_pc(&displaced, 0x1000, 0x0fff), 0x0fff);
	assert_int_equal(displaced_program_pc(&displaced, 0x1000, 0x1000 + DISPLACED_CODE_MAX),
			 0x1000 + DISPLACED_CODE_MAX);
}

/* A call whose return address cannot be written; a return whose stack cannot be read. */
/* Which copies a single-step runs without a visible difference. */
static void test_at_once(void **state)
{
	static const struct {
		uint8_t bytes[8];
		bool at_once;
	} cases[] = {
		{{0x55}, true},		    /* push %rbp */
		{{0x89, 0xf8}, true},	    /* mov %edi, %eax */
		{{0x0f, 0x58, 0xc1}, true}, /* addps */
		{{0xc5, 0xf8, 0x77}, true}, /* vzeroupper */
		{{0xcd, 0x80}, false},	    /* int $0x80 */
		{{0x9c}, false},	    /* pushf */
		{{0x66, 0x9c}, false},
		{{0xf3, 0xa4}, false}, /* rep movsb */
		{{0xf3, 0xab}, false}, /* rep stos */
		{{0x8e, 0xd0}, false}, /* mov %eax, %ss */
		{{0xf4}, false},       /* hlt */
		{{0x90}, false},       /* nop: emulated, not copied */
		{{0xc3}, false},       /* ret: emulated, too */
	};
	struct displaced displaced;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(arch_i386.displace(*state, cases[i].bytes, 8, CODE, &displaced),
				 0);
		assert_int_equal(displaced.at_once, cases[i].at_once);
		assert_int_equal(arch_x86_64.displace(*state, cases[i].bytes, 8, CODE, &displaced),
				 0);
		assert_int_equal(displaced.at_once, cases[i].at_once);
	}
	static const uint8_t syscall[8] = {0x0f, 0x05};

	assert_int_equal(arch_x86_64.displace(*state, syscall, 8, CODE, &displaced), 0);
	assert_false(displaced.at_once);
}

static void test_faults(void **state)
{
	static const uint8_t call[] = {0xe8, 0, 1, 0, 0}, ret[] = {0xc3};
	const struct memory_source memory = {.readv = read_nothing};
	struct decoder *decoder = *state;
	struct regs regs = {.pc = CODE, .flags = 0x202}, before;
	struct displaced displaced;

	regs.r[REG_SP] = 8;
	before = regs;
	arch_x86_64.displace(decoder, call, sizeof call, CODE, &displaced);
	assert_int_equal(displaced_emulate(&displaced, &regs, &memory, write_nothing, NULL),
			 -EFAULT);
	arch_x86_64.displace(decoder, ret, sizeof ret, CODE, &displaced);
	assert_int_equal(displaced_emulate(&displaced, &regs, &memory, write_nothing, NULL),
			 -EFAULT);
	assert_memory_equal(&before, &regs, sizeof regs);
	displaced.kind = DISPLACED_COPY;
	assert_int_equal(displaced_emulate(&displaced, &regs, &memory, write_nothing, NULL),
			 -EINVAL);
}

/* Random bytes, cut anywhere: nothing behind them is read, and the result is consistent. */
static void test_random_bytes(void **state)
{
	const struct arch *archs[] = {&arch_x86_64, &arch_i386};
	uint64_t random = 0x9e3779b97f4a7c15;
	struct displaced displaced;
	uint8_t code[DISPLACED_CODE_MAX];
	size_t emitted;

	for (int round = 0; round < 200000; round++) {
		uint64_t words[2];

		for (int i = 0; i < 2; i++) {
			random = random * 6364136223846793005 + 1442695040888963407;
			words[i] = random ^ random >> 29;
		}
		size_t length = random >> 33 & 15;
		uint8_t *bytes = malloc(length + 1);

		memcpy(bytes + 1, words, length);
		int err = archs[round & 1]->displace(*state, bytes + 1, length, CODE, &displaced);

		free(bytes);
		if (err) {
			assert_true(err == -EILSEQ || err == -ENOTSUP);
			continue;
		}
		assert_in_range(displaced.length, 1, length);
		assert_true(displaced.rip_offset < 0 ||
			    displaced.rip_offset + 4 <= displaced.length);
		if (displaced.kind == DISPLACED_EMULATE)
			continue;
		err = displaced_emit(&displaced, CODE + 0x10000, code, &emitted);
		assert_true(err == -ERANGE || (!err && emitted == displaced.length + 5u));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),	   cmocka_unit_test(test_reach),
		cmocka_unit_test(test_program_pc), cmocka_unit_test(test_faults),
		cmocka_unit_test(test_at_once),	   cmocka_unit_test(test_random_bytes),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

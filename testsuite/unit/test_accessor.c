/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accessor functions: those that compilers make are recognised, and others are rejected. */
#include "code/accessor.h"
#include "code_bytes.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { CODE = 0x1000, REFUSED = -1 };

struct code {
	const char *name;
	const struct arch *arch;
	uint8_t bytes[48];
	int loads; /* or REFUSED */
	bool of_argument;
	uint64_t offset[ACCESSOR_LOADS_MAX + 1];
};

static const struct code codes[] = {
	{.name = "p ? p->text : NULL",
	 .arch = &arch_x86_64,
	 .bytes = {0x48, 0x85, 0xff, 0x74, 0x0b, 0x48, 0x8b, 0x87, 0xf8, 0, 0, 0, 0xc3},
	 .loads = 1,
	 .of_argument = true,
	 .offset = {0xf8}},
	{.name = "the same, clang's and gcc -Os",
	 .arch = &arch_x86_64,
	 .bytes = {0x48, 0x89, 0xf8, 0x48, 0x85, 0xff, 0x74, 0x04, 0x48, 0x8b, 0x47, 0x28, 0xc3},
	 .loads = 1,
	 .of_argument = true,
	 .offset = {0x28}},
	{.name = "the same, the other way round, behind endbr64",
	 .arch = &arch_x86_64,
	 .bytes = {0xf3, 0x0f, 0x1e, 0xfa, 0x31, 0xc0, 0x48, 0x85, 0xff, 0x75, 0x01, 0xc3, 0x48,
		   0x8b, 0x47, 0x28, 0xc3},
	 .loads = 1,
	 .of_argument = true,
	 .offset = {0x28}},
	{.name = "cmp $0",
	 .arch = &arch_x86_64,
	 .bytes = {0x48, 0x83, 0xff, 0x00, 0x74, 0x05, 0x48, 0x8b, 0x47, 0x28, 0xc3},
	 .loads = 1,
	 .of_argument = true,
	 .offset = {0x28}},
	{.name = "a member of a member",
	 .arch = &arch_x86_64,
	 .bytes = {0x48, 0x8b, 0x47, 0x30, 0x48, 0x8b, 0x40, 0x08, 0xc3},
	 .loads = 2,
	 .of_argument = true,
	 .offset = {0x30, 8}},
	{.name = "an array",
	 .arch = &arch_x86_64,
	 .bytes = {0x48, 0x8d, 0x47, 0x38, 0xc3},
	 .loads = 0,
	 .of_argument = true,
	 .offset = {0x38}},
	{.name = "an array by a sum",
	 .arch = &arch_x86_64,
	 .bytes = {0x48, 0x89, 0xf8, 0x48, 0x83, 0xc0, 0x38, 0xc3},
	 .loads = 0,
	 .of_argument = true,
	 .offset = {0x38}},
	{.name = "a member before the end of the first page of it",
	 .arch = &arch_x86_64,
	 .bytes = {0x48, 0x8b, 0x87, 0xf8, 0xff, 0xff, 0xff, 0xc3},
	 .loads = 1,
	 .of_argument = true,
	 .offset = {(uint64_t)-8}},
	{.name = "three members in one another",
	 .arch = &arch_x86_64,
	 .bytes = {0x48, 0x8b, 0x47, 0x30, 0x48, 0x8b, 0x40, 0x08, 0x48, 0x8b, 0x00, 0xc3},
	 .loads = REFUSED},
	{.name = "what depends on a member",
	 .arch = &arch_x86_64,
	 .bytes = {0x83, 0x7f, 0x40, 0x00, 0x74, 0x05, 0x48, 0x8b, 0x47, 0x28, 0xc3, 0x31, 0xc0,
		   0xc3},
	 .loads = REFUSED},
	{.name = "what depends on a register that is loaded",
	 .arch = &arch_x86_64,
	 .bytes = {0x48, 0x8b, 0x57, 0x40, 0x48, 0x85, 0xd2, 0x74, 0x05, 0x48, 0x8b, 0x47, 0x28,
		   0xc3, 0xc3},
	 .loads = REFUSED},
	{.name = "flags of something else",
	 .arch = &arch_x86_64,
	 .bytes = {0x48, 0x85, 0xff, 0x31, 0xc0, 0x74, 0x04, 0x48, 0x8b, 0x47, 0x28, 0xc3},
	 .loads = REFUSED},
	{.name = "a choice without a branch",
	 .arch = &arch_x86_64,
	 .bytes = {0x48, 0x8b, 0x47, 0x28, 0x48, 0x85, 0xc0, 0x48, 0x0f, 0x44, 0xc7, 0xc3},
	 .loads = REFUSED},
	{.name = "half a word",
	 .arch = &arch_x86_64,
	 .bytes = {0x8b, 0x47, 0x28, 0xc3},
	 .loads = REFUSED},
	{.name = "a byte",
	 .arch = &arch_x86_64,
	 .bytes = {0x0f, 0xb6, 0x47, 0x28, 0xc3},
	 .loads = REFUSED},
	{.name = "an element",
	 .arch = &arch_x86_64,
	 .bytes = {0x48, 0x8b, 0x44, 0xf7, 0x28, 0xc3},
	 .loads = REFUSED},
	{.name = "of another segment",
	 .arch = &arch_x86_64,
	 .bytes = {0x64, 0x48, 0x8b, 0x47, 0x28, 0xc3},
	 .loads = REFUSED},
	{.name = "of the second argument",
	 .arch = &arch_x86_64,
	 .bytes = {0x48, 0x8b, 0x46, 0x28, 0xc3},
	 .loads = REFUSED},
	{.name = "changed by and",
	 .arch = &arch_x86_64,
	 .bytes = {0x48, 0x8b, 0x47, 0x28, 0x48, 0x83, 0xe0, 0xf8, 0xc3},
	 .loads = REFUSED},
	{.name = "what a call gives",
	 .arch = &arch_x86_64,
	 .bytes = {0x48, 0x8b, 0x47, 0x28, 0xe8, 0x03, 0, 0, 0, 0xc3, 0x90, 0x90, 0x31, 0xc0, 0xc3},
	 .loads = REFUSED},
	{.name = "nothing", .arch = &arch_x86_64, .bytes = {0xc3}, .loads = REFUSED},
	{.name = "NULL", .arch = &arch_x86_64, .bytes = {0x31, 0xc0, 0xc3}, .loads = REFUSED},
	{.name = "a loop", .arch = &arch_x86_64, .bytes = {0xeb, 0xfe}, .loads = REFUSED},
	{.name = "a static pointer",
	 .arch = &arch_x86_64,
	 .bytes = {0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x8b, 0x05, 0x2d, 0x2f, 0, 0, 0xc3},
	 .loads = 1,
	 .offset = {0x3f38}},
	{.name = "a table",
	 .arch = &arch_x86_64,
	 .bytes = {0x48, 0x8d, 0x05, 0x00, 0x01, 0, 0, 0xc3},
	 .loads = 0,
	 .offset = {0x1107}},
	{.name = "a table, with a frame pointer",
	 .arch = &arch_x86_64,
	 .bytes = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x8d, 0x05, 0x00, 0x01, 0, 0, 0x5d, 0xc3},
	 .loads = 0,
	 .offset = {0x110b}},
	{.name = "a table at a fixed place",
	 .arch = &arch_x86_64,
	 .bytes = {0xb8, 0x40, 0x10, 0x40, 0x00, 0xc3},
	 .loads = 0,
	 .offset = {0x401040}},
	{.name = "a number below 0",
	 .arch = &arch_x86_64,
	 .bytes = {0x48, 0xc7, 0xc0, 0xf8, 0xff, 0xff, 0xff, 0xc3},
	 .loads = 0,
	 .offset = {-UINT64_C(8)}},
	{.name = "a number by way of another register",
	 .arch = &arch_x86_64,
	 .bytes = {0x49, 0xc7, 0xc0, 0x38, 0xff, 0xff, 0xff, 0x4c, 0x89, 0xc0, 0xc3},
	 .loads = 0,
	 .offset = {-UINT64_C(0xc8)}},
	{.name = "a number that is written to memory",
	 .arch = &arch_x86_64,
	 .bytes = {0x48, 0xc7, 0x00, 0xf8, 0xff, 0xff, 0xff, 0xc3},
	 .loads = REFUSED},
	{.name = "a thread-local variable",
	 .arch = &arch_x86_64,
	 .bytes = {0x64, 0x48, 0x8b, 0x04, 0x25, 0xf8, 0xff, 0xff, 0xff, 0xc3},
	 .loads = REFUSED},
	{.name = "p ? p->text : NULL, i386",
	 .arch = &arch_i386,
	 .bytes = {0x8b, 0x44, 0x24, 0x04, 0x85, 0xc0, 0x74, 0x03, 0x8b, 0x40, 0x14, 0xc3},
	 .loads = 1,
	 .of_argument = true,
	 .offset = {0x14}},
	{.name = "the same, with a frame pointer",
	 .arch = &arch_i386,
	 .bytes = {0x55, 0x89, 0xe5, 0x8b, 0x45, 0x08, 0x85, 0xc0, 0x74, 0x03, 0x8b, 0x40, 0x14,
		   0x5d, 0xc3},
	 .loads = 1,
	 .of_argument = true,
	 .offset = {0x14}},
	{.name = "an array, i386",
	 .arch = &arch_i386,
	 .bytes = {0x8b, 0x44, 0x24, 0x04, 0x83, 0xc0, 0x1c, 0xc3},
	 .loads = 0,
	 .of_argument = true,
	 .offset = {0x1c}},
	{.name = "of the second argument, i386",
	 .arch = &arch_i386,
	 .bytes = {0x8b, 0x44, 0x24, 0x08, 0x8b, 0x40, 0x14, 0xc3},
	 .loads = REFUSED},
	{.name = "of an argument that has been left",
	 .arch = &arch_i386,
	 .bytes = {0x50, 0x8b, 0x44, 0x24, 0x04, 0x8b, 0x40, 0x14, 0x59, 0xc3},
	 .loads = REFUSED},
	{.name = "a static pointer by the GOT",
	 .arch = &arch_i386,
	 .bytes = {0xe8, 0x0d, 0, 0, 0, 0x05, 0xab, 0x2e, 0,	0,    0x8b,
		   0x80, 0x34, 0, 0, 0, 0xc3, 0x90, 0x8b, 0x04, 0x24, 0xc3},
	 .loads = 1,
	 .offset = {0x3ee4}},
	{.name = "a static pointer at a fixed place",
	 .arch = &arch_i386,
	 .bytes = {0xa1, 0x40, 0x10, 0x04, 0x08, 0xc3},
	 .loads = 1,
	 .offset = {0x8041040}},
};

static void test_codes(void **state)
{
	struct decoder *decoder = decoder_create();

	(void)state;
	assert_non_null(decoder);
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
		const struct code *code = &codes[i];
		struct code_bytes bytes = {CODE, code->bytes, sizeof code->bytes};
		const struct memory_source memory = code_bytes_memory(&bytes);
		struct accessor found;
		const int error = accessor_find(decoder, code->arch, &memory, CODE, &found);

		if (error != (code->loads == REFUSED ? -ENOTSUP : 0))
			fail_msg("%s: %d", code->name, error);
		if (error)
			continue;
		if (found.loads != (unsigned)code->loads || found.of_argument != code->of_argument)
			fail_msg("%s: %u loads", code->name, found.loads);
		for (unsigned k = 0; k <= found.loads; k++)
			if (found.offset[k] != code->offset[k])
				fail_msg("%s: offset %u is 0x%llx", code->name, k,
					 (unsigned long long)found.offset[k]);
	}
	decoder_destroy(decoder);
}

static void test_nothing_there(void **state)
{
	struct code_bytes bytes = {CODE, codes[0].bytes, sizeof codes[0].bytes};
	const struct memory_source memory = code_bytes_memory(&bytes);
	struct decoder *decoder = decoder_create();
	struct accessor found;

	(void)state;
	assert_non_null(decoder);
	assert_int_equal(accessor_find(decoder, &arch_x86_64, &memory, CODE + 4096, &found),
			 -EFAULT);
	decoder_destroy(decoder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_codes),
		cmocka_unit_test(test_nothing_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

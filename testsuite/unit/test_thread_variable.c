/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread-local variable that a function reads: the ways in which compilers and linkers do it. */
#include "code/thread_variable.h"
#include "code_bytes.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { CODE = 0x1000, WORD = 0x3f38, REFUSED = 1 };

struct code {
	const char *name;
	uint8_t bytes[48];
	int refused;
	uint64_t word;
	bool of_module;
	int64_t offset;
};

static const struct code codes[] = {
	{.name = "local exec",
	 .bytes = {0xf3, 0x0f, 0x1e, 0xfa, 0x64, 0x48, 0x8b, 0x04, 0x25, 0xe8, 0xff, 0xff, 0xff},
	 .offset = -0x18},
	{.name = "local exec behind the stack protector's word",
	 .bytes = {0x48, 0x83, 0xec, 0x18, 0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0,
		   0,	 0,    0x64, 0x48, 0x8b, 0x14, 0x25, 0xf0, 0xff, 0xff, 0xff},
	 .offset = -0x10},
	{.name = "local exec that was initial exec",
	 .bytes = {0x48, 0xc7, 0xc0, 0xe8, 0xff, 0xff, 0xff, 0x64, 0x48, 0x8b, 0x10},
	 .offset = -0x18},
	{.name = "local exec that was general dynamic",
	 .bytes = {0x48, 0x83, 0xec, 0x08, 0x64, 0x48, 0x8b, 0x04, 0x25, 0,    0,   0,
		   0,	 0x48, 0x8d, 0x80, 0xe8, 0xff, 0xff, 0xff, 0x48, 0x8b, 0x00},
	 .offset = -0x18},
	{.name = "the same, one instruction shorter",
	 .bytes = {0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0, 0x48, 0x8b, 0x80, 0xe8, 0xff, 0xff,
		   0xff},
	 .offset = -0x18},
	{.name = "initial exec",
	 .bytes = {0x48, 0x8b, 0x05, 0x31, 0x2f, 0, 0, 0x64, 0x48, 0x8b, 0x10},
	 .word = WORD},
	{.name = "initial exec, another word first",
	 .bytes = {0x48, 0x8b, 0x15, 0x39, 0x2f, 0, 0, 0x48, 0x8b, 0x05, 0x2a, 0x2f, 0, 0, 0x64,
		   0x48, 0x8b, 0x40, 0x08},
	 .word = WORD,
	 .offset = 8},
	{.name = "general dynamic",
	 .bytes = {0x48, 0x83, 0xec, 0x08, 0x66, 0x48, 0x8d, 0x3d, 0x2c, 0x2f, 0,   0,
		   0x66, 0x66, 0x48, 0xe8, 0x44, 0,    0,    0,	   0x48, 0x8b, 0x00},
	 .word = WORD,
	 .of_module = true},
	{.name = "general dynamic without a stub",
	 .bytes = {0x66, 0x48, 0x8d, 0x3d, 0x30, 0x2f, 0, 0, 0x66, 0x48, 0xff, 0x15, 0x44, 0, 0, 0,
		   0x48, 0x8b, 0x00},
	 .word = WORD,
	 .of_module = true},
	{.name = "local dynamic",
	 .bytes = {0x48, 0x8d, 0x3d, 0x31, 0x2f, 0, 0, 0xe8, 0x44, 0, 0, 0, 0x48, 0x8b, 0x80, 0x20,
		   0, 0, 0},
	 .word = WORD,
	 .of_module = true,
	 .offset = 0x20},
	{.name = "none", .bytes = {0x31, 0xc0, 0xc3}, .refused = REFUSED},
	{.name = "another call first",
	 .bytes = {0xe8, 0x44, 0, 0, 0, 0x64, 0x48, 0x8b, 0x04, 0x25, 0xe8, 0xff, 0xff, 0xff},
	 .refused = REFUSED},
	{.name = "a branch first",
	 .bytes = {0x85, 0xff, 0x74, 0x09, 0x64, 0x48, 0x8b, 0x04, 0x25, 0xe8, 0xff, 0xff, 0xff},
	 .refused = REFUSED},
	{.name = "a distance that is not known",
	 .bytes = {0x64, 0x48, 0x8b, 0x07, 0x64, 0x48, 0x8b, 0x04, 0x25, 0xe8, 0xff, 0xff, 0xff},
	 .refused = REFUSED},
	{.name = "a distance that something has been added to",
	 .bytes = {0x48, 0xc7, 0xc0, 0xe8, 0xff, 0xff, 0xff, 0x48, 0x01, 0xf8, 0x64, 0x48, 0x8b,
		   0x10},
	 .refused = REFUSED},
	{.name = "half of a variable",
	 .bytes = {0x64, 0x8b, 0x04, 0x25, 0xe0, 0xff, 0xff, 0xff, 0x64, 0x48, 0x8b, 0x04, 0x25,
		   0xe8, 0xff, 0xff, 0xff},
	 .refused = REFUSED},
	{.name = "what is added to the thread pointer is not known",
	 .bytes = {0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0, 0x48, 0x03, 0x05, 0x28, 0x2f, 0, 0,
		   0x48, 0x8b, 0x00},
	 .refused = REFUSED},
	{.name = "a word that is only compared",
	 .bytes = {0x48, 0x83, 0x3d, 0x30, 0x2f, 0, 0, 0, 0x64, 0x48, 0x8b, 0x04, 0x25, 0xe8, 0xff,
		   0xff, 0xff},
	 .refused = REFUSED},
	{.name = "a descriptor",
	 .bytes = {0x48, 0x8d, 0x05, 0x31, 0x2f, 0, 0, 0xff, 0x10, 0x64, 0x48, 0x8b, 0x00},
	 .refused = REFUSED},
	{.name = "of another segment",
	 .bytes = {0x65, 0x48, 0x8b, 0x04, 0x25, 0xe8, 0xff, 0xff, 0xff},
	 .refused = REFUSED},
};

static bool is_word(void *context, uint64_t address)
{
	(void)context;
	return address == WORD;
}

static void test_codes(void **state)
{
	struct decoder *decoder = decoder_create();

	(void)state;
	assert_non_null(decoder);
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
		const struct code *code = &codes[i];
		struct code_bytes bytes = {CODE, code->bytes, sizeof code->bytes};
		const struct memory_source memory = code_bytes_memory(&bytes);
		struct thread_variable found;
		const int error = thread_variable_find(decoder, &arch_x86_64, &memory, CODE,
						       is_word, NULL, &found);

		if (error != (code->refused ? -ENOTSUP : 0))
			fail_msg("%s: %d", code->name, error);
		if (error)
			continue;
		if (found.word != code->word || found.of_module != code->of_module ||
		    found.offset != code->offset)
			fail_msg("%s: 0x%llx %d %lld", code->name, (unsigned long long)found.word,
				 found.of_module, (long long)found.offset);
	}
	decoder_destroy(decoder);
}

static void test_nothing_there(void **state)
{
	struct code_bytes bytes = {CODE, codes[0].bytes, sizeof codes[0].bytes};
	const struct memory_source memory = code_bytes_memory(&bytes);
	struct decoder *decoder = decoder_create();
	struct thread_variable found;

	(void)state;
	assert_non_null(decoder);
	assert_int_equal(thread_variable_find(decoder, &arch_x86_64, &memory, CODE + 4096, is_word,
					      NULL, &found),
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

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places that change signal masks or dispositions by a system call, compared with labels in
 * hand-written code. "site_…" is in front of each place to be found, and no other place may be
 * found.
 */
#include "code/signal_calls.h"
#include "elf_fixture.h"
#include "object/elf_symbols.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char code[] = "#ifdef __x86_64__\n"
			   "#define NUMBER 14\n"
			   "#define HOW edi\n"
			   "#define ENTER syscall\n"
			   /* add %cl, (%rdi), in part; add $imm, %eax */
			   "#define ENTER_AND_MORE 0x0f, 0x05, 1, 0, 0, 0\n"
			   "#else\n"
			   "#define NUMBER 175\n"
			   "#define HOW ebx\n"
			   "#ifdef DIRECT\n"
			   "#define ENTER int $0x80\n"
			   "#else\n"
			   "#define ENTER call *%gs:0x10\n"
			   "#endif\n"
			   /* add %cl, %ch, in part; add $1, %cl */
			   "#define ENTER_AND_MORE 0xcd, 0x80, 0xc1, 1\n"
			   "#endif\n"
			   "	.macro begin name\n"
			   "	.globl \\name\n"
			   "	.type \\name, @function\n"
			   "\\name:\n"
			   "	.endm\n"
			   "	.macro function name\n"
			   "	begin \\name\n"
			   "	.cfi_startproc\n"
			   "	.endm\n"
			   "	.macro end\n"
			   "	ret\n"
			   "	.cfi_endproc\n"
			   "	.endm\n"
			   "	.text\n"
			   "	function right_behind\n"
			   "	nop\n"
			   "	mov $NUMBER, %eax\n"
			   "begin site_right_behind\n"
			   "	ENTER\n"
			   "begin not_the_same_again\n"
			   "	ENTER\n"
			   "	end\n"
			   "	function others_between\n"
			   "	mov $NUMBER, %eax\n"
			   "	xor %edx, %edx\n"
			   "	mov $2, %HOW\n"
			   "	nop\n"
			   "begin site_others_between\n"
			   "	ENTER\n"
			   "	mov $NUMBER, %eax\n"
			   "	xor %HOW, %HOW\n"
			   "	lea 1(%ecx), %ecx\n"
			   "begin site_second_in_function\n"
			   "	ENTER\n"
			   "	end\n"
			   "	function branch_between\n"
			   "	mov $NUMBER, %eax\n"
			   "	jmp not_behind_branch\n"
			   "begin not_behind_branch\n"
			   "	ENTER\n"
			   "	mov $NUMBER, %eax\n"
			   "	call right_behind\n"
			   "begin not_behind_call\n"
			   "	ENTER\n"
			   "	end\n"
			   "	function other_number\n"
			   "	mov $NUMBER - 2, %eax\n"
			   "	ENTER\n"
			   "	mov $NUMBER, %ebx\n"
			   "	ENTER\n"
			   "	end\n"
			   /* dispositions: rt_sigaction is the previous number on both */
			   "	function sets_disposition\n"
			   "	mov $2, %HOW\n"
			   "	mov $NUMBER - 1, %eax\n"
			   "begin site_disposition\n"
			   "	ENTER\n"
			   "	end\n"
			   /*
			    * mov $imm, %ecx, whose last bytes look like the load of the number; the
			    * bytes that follow are the rest of it
			    */
			   "	function inside_of_instructions\n"
			   "	.byte 0xb9, 0xb8, NUMBER, 0, 0, 0, ENTER_AND_MORE\n"
			   "	end\n"
			   "	function no_instruction_before\n"
			   "	.byte 0x0f, 0xff, 0xff\n"
			   "	.byte 0x06, 0x06, 0xff, 0xff, 0xff\n"
			   "	mov $NUMBER, %eax\n"
			   "	ENTER\n"
			   "	end\n"
			   "	function far_behind\n"
			   "	mov $NUMBER, %eax\n"
			   "	.skip 80, 0x90\n"
			   "	ENTER\n"
			   "	end\n"
			   "	begin not_described\n"
			   "	mov $NUMBER, %eax\n"
			   "	ENTER\n"
			   "	ret\n"
			   "	.section .note.GNU-stack, \"\", @progbits\n";

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

static bool is_found(const struct signal_call_site *sites, size_t count, uint64_t address)
{
	for (size_t i = 0; i < count; i++)
		if (sites[i].address == address)
			return true;
	return false;
}

static void labels_are_all_sites(struct elf_file *file, struct decoder *decoder)
{
	size_t count, symbol_count, expected = 0;
	const struct signal_call_site *sites = signal_calls(file, decoder, &count);
	const struct elf_symbol *symbols = elf_symbols(file, &symbol_count);

	for (size_t i = 0; i < symbol_count; i++) {
		bool is_site = !strncmp(symbols[i].name, "site_", 5) && symbols[i].dynamic;

		expected += is_site;
		if (is_site && !is_found(sites, count, symbols[i].value))
			fail_msg("%s is not found", symbols[i].name);
	}
	assert_int_equal(expected, 4);
	assert_int_equal(count, expected);
	for (size_t i = 1; i < count; i++)
		assert_true(sites[i].address > sites[i - 1].address);
	assert_int_equal(sites[0].function, elf_find_symbol(file, "right_behind")->value);
	assert_int_equal(sites[2].function, elf_find_symbol(file, "others_between")->value);
	assert_false(sites[0].opens);
	assert_true(sites[1].opens);
	assert_false(sites[2].opens);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(sites[i].call, SIGNAL_CALL_MASK);
	assert_int_equal(sites[3].call, SIGNAL_CALL_ACTION);
	assert_false(sites[3].opens);
	assert_ptr_equal(signal_calls(file, decoder, &count), sites);
}

static void what_is_labelled_is_found(void **state)
{
	static const char *const flags[] = {"", "-m32", "-m32 -DDIRECT"};
	struct fixture fixture;
	char arguments[128];
	size_t made = 0;

	assert_int_equal(fixture_create(&fixture), 0);
	fixture_write(&fixture, "code.S", code, sizeof code - 1);
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
		snprintf(arguments, sizeof arguments, "-shared -nostdlib %s code.S -o code",
			 flags[i]);
		if (fixture_compile(&fixture, arguments)) {
			print_message("not made: %s\n", flags[i]);
			continue;
		}
		struct elf_file *file = fixture_open(&fixture, "code");

		assert_non_null(file);
		labels_are_all_sites(file, *state);
		elf_unref(file);
		made++;
	}
	fixture_destroy(&fixture);
	assert_true(made);
}

static void none_in_plain_c(void **state)
{
	static const char source[] = "int f(int x) { return x + 1; }\n";
	struct fixture fixture;
	size_t count = 1;

	assert_int_equal(fixture_create(&fixture), 0);
	fixture_write(&fixture, "plain.c", source, sizeof source - 1);
	assert_int_equal(fixture_compile(&fixture, "-shared -fPIC -nostdlib plain.c -o plain"), 0);
	struct elf_file *file = fixture_open(&fixture, "plain");

	assert_null(signal_calls(file, *state, &count));
	assert_int_equal(count, 0);
	elf_unref(file);
	fixture_destroy(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_labelled_is_found),
		cmocka_unit_test(none_in_plain_c),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

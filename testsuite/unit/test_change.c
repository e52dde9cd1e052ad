/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What instructions change: the moves that are followed, and for all code that is loaded here, that
 * no register is left out which libcapstone says is written.
 */
#include "base/arch.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct insn_change change_of(const struct arch *arch, const char *bytes, size_t length)
{
	struct insn_change change;

	assert_true(arch->insn_change((const uint8_t *)bytes, length, &change));
	return change;
}

#define CHANGE(arch, bytes) change_of(&(arch), bytes, sizeof(bytes) - 1)

static void moves(void **state)
{
	(void)state;
	struct insn_change change = CHANGE(arch_x86_64, "\x48\x89\xf3"); /* mov %rsi,%rbx */

	assert_int_equal(change.kind, CHANGE_COPY);
	assert_int_equal(change.to, REG_BX);
	assert_int_equal(change.from, REG_SI);
	assert_int_equal(change.width, 8);
	change = CHANGE(arch_x86_64, "\x89\x75\xec"); /* mov %esi,-0x14(%rbp) */
	assert_int_equal(change.kind, CHANGE_STORE);
	assert_int_equal(change.from, REG_SI);
	assert_int_equal(change.stored, 4);
	assert_int_equal(change.base, REG_BP);
	assert_int_equal(change.displacement, -0x14);
	assert_true(change.is_exact);
	assert_int_equal(change.written, 0);
	change = CHANGE(arch_i386, "\x8b\x74\x24\x08"); /* mov 8(%esp),%esi */
	assert_int_equal(change.kind, CHANGE_LOAD);
	assert_int_equal(change.to, REG_SI);
	assert_int_equal(change.base, REG_SP);
	change = CHANGE(arch_x86_64, "\x4c\x8d\x6c\x24\x10"); /* lea 0x10(%rsp),%r13 */
	assert_int_equal(change.kind, CHANGE_ADDRESS);
	assert_int_equal(change.to, 13);
	change = CHANGE(arch_x86_64, "\x48\x83\xec\x38"); /* sub $0x38,%rsp */
	assert_int_equal(change.kind, CHANGE_ADD);
	assert_int_equal(change.addend, -0x38);
	change = CHANGE(arch_x86_64, "\x45\x31\xf6"); /* xor %r14d,%r14d */
	assert_int_equal(change.kind, CHANGE_NUMBER);
	assert_int_equal(change.to, 14);
	assert_int_equal(change.addend, 0);
}

/* ah … bh are parts of the first four registers; with a REX prefix the numbers mean spl … dil. */
static void bytes_of_registers(void **state)
{
	(void)state;
	assert_int_equal(CHANGE(arch_x86_64, "\xb4\x01").written, 1U << REG_AX);
	assert_int_equal(CHANGE(arch_x86_64, "\x40\xb7\x01").written, 1U << REG_DI);
	assert_int_equal(CHANGE(arch_x86_64, "\x0f\xb6\xdc").kind,
			 CHANGE_OTHER); /* movzbl %ah,%ebx */
	assert_int_equal(CHANGE(arch_x86_64, "\x40\x0f\xb6\xdf").kind, CHANGE_COPY);
}

static void unknown_ones(void **state)
{
	struct insn_change change;

	(void)state;
	assert_false(arch_x86_64.insn_change((const uint8_t *)"\xfd", 1, &change)); /* std */
	assert_false(arch_x86_64.insn_change((const uint8_t *)"\x67\x89\x07", 3, &change));
	assert_false(arch_x86_64.insn_change((const uint8_t *)"\x48", 1, &change));
}

/* ------------------------------------------------------------------ all code */

/* The number of the general register that a register of libcapstone's is or is a part of, or -1. */
static int number_of(csh handle, unsigned part)
{
	static const char *const names[][5] = {
		{"al", "ah", "ax", "eax", "rax"},    {"cl", "ch", "cx", "ecx", "rcx"},
		{"dl", "dh", "dx", "edx", "rdx"},    {"bl", "bh", "bx", "ebx", "rbx"},
		{"spl", "", "sp", "esp", "rsp"},     {"bpl", "", "bp", "ebp", "rbp"},
		{"sil", "", "si", "esi", "rsi"},     {"dil", "", "di", "edi", "rdi"},
		{"r8b", "", "r8w", "r8d", "r8"},     {"r9b", "", "r9w", "r9d", "r9"},
		{"r10b", "", "r10w", "r10d", "r10"}, {"r11b", "", "r11w", "r11d", "r11"},
		{"r12b", "", "r12w", "r12d", "r12"}, {"r13b", "", "r13w", "r13d", "r13"},
		{"r14b", "", "r14w", "r14d", "r14"}, {"r15b", "", "r15w", "r15d", "r15"},
	};
	const char *name = cs_reg_name(handle, part);

	for (int i = 0; name && i < REG_COUNT; i++)
		for (unsigned k = 0; k < 5; k++)
			if (!strcmp(name, names[i][k]))
				return i;
	return -1;
}

/* libcapstone has them write what they only read. */
static bool is_mistaken(const char *mnemonic)
{
	static const char *const names[] = {"test",  "cqo",   "cdq",   "cwd",
					    "stosb", "stosw", "stosd", "stosq"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(mnemonic, names[i]))
			return true;
	return false;
}

struct sweep {
	csh handle;
	const struct arch *arch;
	cs_insn *insn;
	size_t count, unknown;
};

static void compare(struct sweep *sweep, const uint8_t *bytes)
{
	struct insn_change change;
	cs_regs read, written;
	uint8_t read_count, count;

	sweep->count++;
	if (!sweep->arch->insn_change(bytes, sweep->insn->size, &change)) {
		sweep->unknown++;
		return;
	}
	if (is_mistaken(sweep->insn->mnemonic) ||
	    cs_regs_access(sweep->handle, sweep->insn, read, &read_count, written, &count))
		return;
	/* What pushes, pops, calls and returns do to sp is told by their kind. */
	for (uint8_t i = 0; i < count; i++) {
		const int number = number_of(sweep->handle, written[i]);

		if (number < 0 || number == REG_SP || (change.written >> number & 1))
			continue;
		fail_msg("%s %s writes %s", sweep->insn->mnemonic, sweep->insn->op_str,
			 cs_reg_name(sweep->handle, written[i]));
	}
}

static int sweep_object(struct dl_phdr_info *info, size_t size, void *context)
{
	struct sweep *sweep = context;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const uint8_t *at = (const uint8_t *)info->dlpi_addr + segment->p_vaddr;
		size_t left = segment->p_memsz;
		uint64_t address = segment->p_vaddr;

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		while (left) {
			const uint8_t *insn = at;

			if (cs_disasm_iter(sweep->handle, &at, &left, &address, sweep->insn)) {
				compare(sweep, insn);
				continue;
			}
			at = insn + 1;
			left--;
			address++;
		}
	}
	return 0;
}

static void all_code(void **state)
{
	const bool is_wide = sizeof(void *) == 8;
	struct sweep sweep = {.arch = is_wide ? &arch_x86_64 : &arch_i386};

	(void)state;
	assert_int_equal(cs_open(CS_ARCH_X86, is_wide ? CS_MODE_64 : CS_MODE_32, &sweep.handle),
			 CS_ERR_OK);
	cs_option(sweep.handle, CS_OPT_DETAIL, CS_OPT_ON);
	sweep.insn = cs_malloc(sweep.handle);
	dl_iterate_phdr(sweep_object, &sweep);
	cs_free(sweep.insn, 1);
	cs_close(&sweep.handle);
	/* Some of what is decoded is data. */
	assert_true(sweep.count > 100000);
	assert_true(sweep.unknown < sweep.count / 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moves),
		cmocka_unit_test(bytes_of_registers),
		cmocka_unit_test(unknown_ones),
		cmocka_unit_test(all_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

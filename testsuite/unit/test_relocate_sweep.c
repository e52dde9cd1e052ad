/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every instruction of the functions that real libraries export. Nearly all must be displaceable.
 * The length of each, and the offset of its pc-relative displacement, must agree with libcapstone
 * where it knows the instruction. Walking a whole function by these lengths also passes the places
 * where calls return. The libraries are those that this test has loaded, and an interpreter and a
 * 32-bit C library where the system has them.
 */
#include "code/relocate.h"

#include <capstone/capstone.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { FUNCTION_MAX = 1 << 16 };

struct sweep {
	struct decoder *decoder;
	csh handles[2]; /* 64-bit, 32-bit; with details */
	unsigned long first, first_bad, all, all_bad, disagreed;
	unsigned long copied, emulated, relative;
};

static csh handle_of(const struct sweep *sweep, const struct arch *arch)
{
	return sweep->handles[arch == &arch_i386];
}

/* Returns the byte at which libcapstone finds a pc-relative displacement, or -1. */
static int relative_offset(const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;

	for (int i = 0; i < x86->op_count; i++)
		if (x86->operands[i].type == X86_OP_MEM &&
		    (x86->operands[i].mem.base == X86_REG_RIP ||
		     x86->operands[i].mem.base == X86_REG_EIP))
			return x86->encoding.disp_offset;
	return -1;
}

static void compare_opinions(struct sweep *sweep, const struct displaced *displaced,
			     const uint8_t *bytes, size_t length, const char *name)
{
	cs_insn *insn;
	size_t count = cs_disasm(handle_of(sweep, displaced->arch), bytes, length,
				 displaced->address, 1, &insn);
	bool copied = displaced->kind == DISPLACED_COPY;

	if (!count)
		return; /* newer than libcapstone */
	if (insn->size != displaced->length ||
	    (copied && relative_offset(insn) != displaced->rip_offset)) {
		sweep->disagreed++;
		print_message("%s: %#lx: %s %s: length %d, displacement at %d\n", name,
			      (unsigned long)displaced->address, insn->mnemonic, insn->op_str,
			      displaced->length, displaced->rip_offset);
	}
	cs_free(insn, count);
}

/* The code in the XOL slot, next to the instruction: the same length, and then a jump. */
static void check_slot(struct sweep *sweep, const struct displaced *displaced)
{
	uint64_t slot = displaced->address ^ 0x100000;
	uint8_t code[DISPLACED_CODE_MAX];
	size_t length;

	assert_int_equal(displaced_emit(displaced, slot, code, &length), 0);
	assert_int_equal(length, displaced->length + 5u);
	assert_int_equal(displaced_program_pc(displaced, slot, slot + displaced->length),
			 displaced->address + displaced->length);
	sweep->relative += displaced->rip_offset >= 0;
}

/* Walks one function. */
static void sweep_function(struct sweep *sweep, const struct arch *arch, const uint8_t *bytes,
			   size_t length, uint64_t address, const char *name)
{
	struct displaced displaced;

	for (size_t at = 0; at < length; at += displaced.length) {
		int err = arch->displace(sweep->decoder, bytes + at, length - at, address + at,
					 &displaced);

		sweep->all++;
		sweep->first += at == 0;
		if (err) {
			sweep->all_bad++;
			sweep->first_bad += at == 0;
			cs_insn *insn;
			size_t count = cs_disasm(handle_of(sweep, arch), bytes + at, length - at, 0,
						 1, &insn);

			if (!count)
				return;
			displaced.length = (uint8_t)insn->size;
			cs_free(insn, count);
			continue;
		}
		compare_opinions(sweep, &displaced, bytes + at, length - at, name);
		if (displaced.kind == DISPLACED_COPY)
			check_slot(sweep, &displaced);
		sweep->copied += displaced.kind == DISPLACED_COPY;
		sweep->emulated += displaced.kind == DISPLACED_EMULATE;
	}
}

/* Returns the bytes of a loaded segment at an address; NULL if they are not in the file. */
static const uint8_t *bytes_at(Elf *elf, uint64_t address, uint64_t length)
{
	size_t count = 0, size = 0;
	const char *image = elf_rawfile(elf, &size);

	elf_getphdrnum(elf, &count);
	for (size_t i = 0; image && i < count; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
		    !(segment.p_flags & PF_X) || address < segment.p_vaddr ||
		    address - segment.p_vaddr > segment.p_filesz ||
		    length > segment.p_filesz - (address - segment.p_vaddr) ||
		    segment.p_offset + segment.p_filesz > size)
			continue;
		return (const uint8_t *)image + segment.p_offset + (address - segment.p_vaddr);
	}
	return NULL;
}

static void sweep_symbols(struct sweep *sweep, const struct arch *arch, Elf *elf, Elf_Data *data,
			  const char *name)
{
	GElf_Sym symbol;

	for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
		int type = GELF_ST_TYPE(symbol.st_info);
		const uint8_t *bytes = NULL;

		if ((type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_size &&
		    symbol.st_size <= FUNCTION_MAX)
			bytes = bytes_at(elf, symbol.st_value, symbol.st_size);
		if (bytes)
			sweep_function(sweep, arch, bytes, symbol.st_size, symbol.st_value, name);
	}
}

static void sweep_file(struct sweep *sweep, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
	Elf_Scn *section = NULL;
	GElf_Ehdr header;
	GElf_Shdr heading;
	unsigned long before = sweep->all;

	if (elf && gelf_getehdr(elf, &header)) {
		const struct arch *arch = arch_find(header.e_machine, header.e_ident[EI_CLASS]);

		while (arch && (section = elf_nextscn(elf, section)))
			if (gelf_getshdr(section, &heading) && heading.sh_type == SHT_DYNSYM)
				sweep_symbols(sweep, arch, elf, elf_getdata(section, NULL), path);
	}
	print_message("%s: %lu instructions\n", path, sweep->all - before);
	elf_end(elf);
	if (fd >= 0)
		close(fd);
}

static int sweep_loaded(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	if (strstr(info->dlpi_name, "/libc.") || strstr(info->dlpi_name, "/libelf"))
		sweep_file(context, info->dlpi_name);
	return 0;
}

static void check(const struct sweep *sweep)
{
	print_message(
		"%lu functions, %lu instructions: %lu copied (%lu pc-relative), %lu emulated, "
		"%lu refused\n",
		sweep->first, sweep->all, sweep->copied, sweep->relative, sweep->emulated,
		sweep->all_bad);
	assert_int_equal(sweep->disagreed, 0);
	/* At least 99.9 % of both. */
	assert_true(sweep->first_bad * 1000 <= sweep->first);
	assert_true(sweep->all_bad * 1000 <= sweep->all);
}

static int set_up(void **state)
{
	static struct sweep sweep;

	elf_version(EV_CURRENT);
	sweep.decoder = decoder_create();
	if (!sweep.decoder || cs_open(CS_ARCH_X86, CS_MODE_64, &sweep.handles[0]) ||
	    cs_open(CS_ARCH_X86, CS_MODE_32, &sweep.handles[1]))
		return -1;
	for (int i = 0; i < 2; i++)
		cs_option(sweep.handles[i], CS_OPT_DETAIL, CS_OPT_ON);
	*state = &sweep;
	return 0;
}

static int tear_down(void **state)
{
	struct sweep *sweep = *state;

	decoder_destroy(sweep->decoder);
	for (int i = 0; i < 2; i++)
		cs_close(&sweep->handles[i]);
	return 0;
}

static void start(struct sweep *sweep)
{
	sweep->first = sweep->first_bad = sweep->all = sweep->all_bad = sweep->disagreed = 0;
	sweep->copied = sweep->emulated = sweep->relative = 0;
}

static void test_own_libraries(void **state)
{
	struct sweep *sweep = *state;

	start(sweep);
	dl_iterate_phdr(sweep_loaded, sweep);
	assert_true(sweep->first > 1000);
	check(sweep);
}

static void test_others(void **state)
{
	struct sweep *sweep = *state;

	start(sweep);
	sweep_file(sweep, "/usr/bin/python3");
	sweep_file(sweep, "/lib32/libc.so.6");
	sweep_file(sweep, "/lib/i386-linux-gnu/libc.so.6");
	if (!sweep->all)
		skip();
	check(sweep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_libraries),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

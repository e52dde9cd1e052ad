/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GOT slots and PLT stubs of every linker and kind of PLT that the machine can make. The code is
 * the reference: call_fN() calls fN, so the stub found for fN must be the target of a call
 * instruction in call_fN(), and no other function's stub may be.
 */
#include "code/slot_calls.h"

#include "elf_fixture.h"
#include "object/elf_got_slots.h"
#include "object/elf_ifuncs.h"
#include "object/elf_symbols.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { FUNCTIONS = 24, TAKEN = 3 };

static void write_sources(const struct fixture *fixture)
{
	char user[8192], provider[4096];
	size_t u = 0, p = 0;

	for (int i = 0; i < FUNCTIONS; i++) {
		u += (size_t)snprintf(user + u, sizeof user - u,
				      "int f%d(int);\n__attribute__((noinline))"
				      "int call_f%d(int x){return f%d(x)+%d;}\n",
				      i, i, i, i + 1);
		p += (size_t)snprintf(provider + p, sizeof provider - p,
				      "int f%d(int x){return x*%d;}\n", i, i + 1);
	}
	/* Called, and its address taken: a GLOB_DAT slot that a stub may use. */
	u += (size_t)snprintf(user + u, sizeof user - u,
			      "int (*get(void))(int);int (*get(void))(int){return f%d;}\n"
			      "int main(void){return call_f1(0);}\n",
			      TAKEN);
	assert_int_equal(fixture_write(fixture, "user.c", user, u), 0);
	assert_int_equal(fixture_write(fixture, "provider.c", provider, p), 0);
}

/* The GOT slot of a function: a JUMP_SLOT one, or another one with a stub. */
static const struct got_slot *find_slot(const struct got_slot *slots, size_t count,
					const char *name)
{
	const struct got_slot *found = NULL;

	for (size_t i = 0; i < count; i++)
		if (slots[i].name && !strcmp(slots[i].name, name) && (!found || slots[i].stub))
			found = &slots[i];
	return found;
}

/*
 * Returns true if `caller` contains `opcode` and a disp32 that, relative to its end, means
 * `target`.
 */
static bool code_reaches(struct elf_file *file, const char *caller, const char *opcode,
			 uint64_t target)
{
	const struct elf_symbol *symbol = elf_find_symbol(file, caller);
	unsigned char code[256];
	size_t prefix = strlen(opcode);
	int32_t distance;

	assert_non_null(symbol);
	assert_true(symbol->size && symbol->size <= sizeof code);
	assert_true(elf_read(file, symbol->value, code, symbol->size));
	for (size_t at = 0; at + prefix + 4 <= symbol->size; at++) {
		if (memcmp(code + at, opcode, prefix) != 0)
			continue;
		memcpy(&distance, code + at + prefix, 4);
		if (symbol->value + at + prefix + 4 + (uint64_t)(int64_t)distance == target)
			return true;
	}
	return false;
}

/* Asserts that every call goes to the stub that was found for its function, and to no other. */
static void check_stubs(struct elf_file *file, const char *what)
{
	size_t count;
	const struct got_slot *slots = elf_got_slots(file, &count);
	char name[24], caller[24];

	for (int i = 0; i < FUNCTIONS; i++) {
		snprintf(name, sizeof name, "f%d", i);
		snprintf(caller, sizeof caller, "call_f%d", i);
		const struct got_slot *slot = find_slot(slots, count, name);

		if (!slot || !slot->stub || !code_reaches(file, caller, "\xe8", slot->stub))
			fail_msg("%s: no stub, or a wrong one, for %s", what, name);
		for (size_t k = 0; k < count; k++)
			if (slots[k].stub && slots[k].stub != slot->stub &&
			    code_reaches(file, caller, "\xe8", slots[k].stub))
				fail_msg("%s: %s called by %s", what, slots[k].name, caller);
	}
}

/*
 * Tests a copy without section headers: the same symbols and GOT slots, and the same stubs where
 * they can be found.
 */
static void check_without_sections(const struct fixture *fixture, struct elf_file *whole,
				   const char *what, bool all_stubs)
{
	size_t length, count, bare_count;
	unsigned char *bytes = fixture_load(fixture, "made", &length);
	Elf64_Ehdr *wide = (void *)bytes;
	Elf32_Ehdr *narrow = (void *)bytes;

	assert_non_null(bytes);
	if (bytes[EI_CLASS] == ELFCLASS64)
		wide->e_shoff = wide->e_shnum = wide->e_shstrndx = 0;
	else
		narrow->e_shoff = narrow->e_shnum = narrow->e_shstrndx = 0;
	assert_int_equal(fixture_write(fixture, "bare", bytes, length), 0);
	free(bytes);
	struct elf_file *bare = fixture_open(fixture, "bare");
	const struct got_slot *slots = elf_got_slots(whole, &count);
	const struct got_slot *bare_slots = elf_got_slots(bare, &bare_count);

	assert_int_equal(count, bare_count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(slots[i].address, bare_slots[i].address);
		assert_string_equal(slots[i].name, bare_slots[i].name);
		bool wanted = bare_slots[i].stub || (all_stubs && slots[i].kind == SLOT_JUMP);

		if (wanted && bare_slots[i].stub != slots[i].stub)
			fail_msg("%s: without sections, %s has another stub", what, slots[i].name);
	}
	assert_non_null(elf_find_symbol(bare, "call_f5"));
	assert_int_equal(elf_find_symbol(bare, "call_f5")->value,
			 elf_find_symbol(whole, "call_f5")->value);
	elf_unref(bare);
}

/* How a file is made: PIC or not, with or without IBT, and how it is linked. */
struct kind {
	const char *name, *compile, *link;
};

static const struct kind kinds[] = {
	{"shared", "-fPIC", "-shared"},
	{"pie", "-fPIE", "-pie"},
	{"fixed", "-fno-pie", "-no-pie"},
};

static bool compile(const struct fixture *fixture, unsigned bits, const struct kind *kind,
		    const char *flags, const char *suffix)
{
	char arguments[512];

	snprintf(arguments, sizeof arguments,
		 "-m%u -w -O1 -fno-stack-protector %s %s -c user.c -o %s%u%s.o", bits,
		 kind->compile, flags, kind->name, bits, suffix);
	return !fixture_compile(fixture, arguments);
}

static bool link_one(const struct fixture *fixture, unsigned bits, const char *linker,
		     const struct kind *kind, const char *flags, const char *suffix)
{
	char arguments[512];

	snprintf(arguments, sizeof arguments,
		 "-m%u -fuse-ld=%s %s -Wl,-export-dynamic %s %s%u%s.o libprovider%u.so -o made",
		 bits, linker, kind->link, flags, kind->name, bits, suffix, bits);
	return !fixture_compile(fixture, arguments);
}

static size_t check_linker(const struct fixture *fixture, unsigned bits, const char *linker)
{
	static const char *const shapes[][2] = {
		{"-Wl,-z,lazy", ""},
		{"-Wl,-z,now", ""},
		{"-Wl,-z,lazy,-z,ibtplt", "ibt"},
		{"-Wl,-z,now,-z,ibtplt", "ibt"},
		{"-Wl,-z,now,-z,retpolineplt", ""},
		{"-Wl,-z,lazy,-z,retpolineplt", ""},
		{"-Wl,--hash-style=sysv", ""},
	};
	char what[256];
	size_t made = 0;

	for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
		for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
			if (!link_one(fixture, bits, linker, &kinds[k], shapes[s][0], shapes[s][1]))
				continue;
			snprintf(what, sizeof what, "-m%u %s %s %s", bits, linker, shapes[s][0],
				 kinds[k].name);
			struct elf_file *file = fixture_open(fixture, "made");

			assert_non_null(file);
			check_stubs(file, what);
			/*
			 * mold's stubs do not begin with the jump: only sections tell where they
			 * begin
			 */
			check_without_sections(fixture, file, what, strcmp(linker, "mold") != 0);
			elf_unref(file);
			made++;
		}
	return made;
}

static void check_bits(const struct fixture *fixture, unsigned bits)
{
	static const char *const linkers[] = {"bfd", "gold", "lld", "mold"};
	char arguments[256];
	size_t made = 0;

	write_sources(fixture);
	snprintf(arguments, sizeof arguments,
		 "-m%u -w -shared -fPIC provider.c -o libprovider%u.so", bits, bits);
	if (fixture_compile(fixture, arguments))
		skip();
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		assert_true(compile(fixture, bits, &kinds[i], "-fcf-protection=none", ""));
		assert_true(compile(fixture, bits, &kinds[i], "-fcf-protection", "ibt"));
	}
	for (size_t i = 0; i < sizeof linkers / sizeof *linkers; i++) {
		size_t by_this = check_linker(fixture, bits, linkers[i]);

		print_message("%s: %zu files\n", linkers[i], by_this);
		made += by_this;
	}
	if (!made)
		skip();
}

static void stubs_x86_64(void **state)
{
	check_bits(*state, 64);
}

static void stubs_i386(void **state)
{
	check_bits(*state, 32);
}

/* Asserts that each function is called in one place, by its caller. */
static void check_slot_calls(struct elf_file *file)
{
	struct decoder *decoder = decoder_create();
	size_t count;
	const struct slot_call *calls = slot_calls(file, decoder, &count);
	char caller[24];

	for (int i = 0; i < FUNCTIONS; i++) {
		snprintf(caller, sizeof caller, "call_f%d", i);
		const struct elf_symbol *symbol = elf_find_symbol(file, caller);
		size_t found = 0;

		assert_non_null(symbol);
		for (size_t k = 0; k < count; k++)
			if (!strcmp(calls[k].slot->name, caller + strlen("call_"))) {
				assert_true(calls[k].certain);
				assert_true(calls[k].address - symbol->value < symbol->size);
				found++;
			}
		assert_int_equal(found, 1);
	}
	decoder_destroy(decoder);
}

/*
 * Functions that load a GOT slot, and others that do not. The last one has no .eh_frame entry, only
 * a symbol.
 */
static const char pointers_source[] =
	"__asm__(\".text\\n\"\n"
	"\".globl loads\\n.type loads,@function\\nloads:\\n.cfi_startproc\\n\"\n"
	"\"mov f@GOTPCREL(%rip),%rax\\n\"\n"				       /* 7 bytes */
	"\"call *%rax\\ncall *8(%rdi)\\njmp *(%rdi,%rsi,8)\\njmp *%rdx\\n\"\n" /* 2, 3, 3, 2 */
	"\".cfi_endproc\\n.size loads,.-loads\\n\"\n"
	"\".globl carries\\n.type carries,@function\\ncarries:\\n.cfi_startproc\\n\"\n"
	"\"mov f@GOTPCREL(%rip),%rbx\\ncall *%rdx\\nmov %rbx,%rcx\\n\"\n" /* 7, 2, 3 */
	"\"mov %rcx,8(%rdi)\\ncall *8(%rdi)\\njmp *%rbx\\n\"\n"		  /* 4, 3, 2 */
	"\".cfi_endproc\\n.size carries,.-carries\\n\"\n"
	"\".globl other\\n.type other,@function\\nother:\\n.cfi_startproc\\n\"\n"
	"\"call *%rax\\njmp *g@GOTPCREL(%rip)\\n\"\n" /* 2, 6 */
	"\".cfi_endproc\\n.size other,.-other\\n\"\n"
	"\".globl crooked\\n.type crooked,@function\\ncrooked:\\n.cfi_startproc\\n\"\n"
	"\".byte 0xb8\\nmov f@GOTPCREL(%rip),%rcx\\ncall *%rcx\\nret\\n\"\n"
	"\".cfi_endproc\\n.size crooked,.-crooked\\n\"\n"
	"\".globl hidden\\n.type hidden,@function\\nhidden:\\n\"\n"
	"\"mov f@GOTPCREL(%rip),%rax\\ncall *%rax\\nret\\n.size hidden,.-hidden\\n\");\n";

/*
 * Finds the calls that a pointer loaded from a GOT slot may reach, and no others. In "crooked" an
 * instruction ends in the middle of the load, so it is not certain where the others begin.
 */
static void pointers(void **state)
{
	static const struct {
		const char *slot, *function;
		uint64_t offset;
		bool certain;
	} expected[] = {{"f", "loads", 7, false},
			{"f", "carries", 16, false},
			{"f", "carries", 19, false},
			{"f", "hidden", 7, false},
			{"g", "other", 2, true}};
	struct fixture *fixture = *state;
	struct decoder *decoder = decoder_create();
	size_t count;

	if (fixture_write(fixture, "pointers.c", pointers_source, sizeof pointers_source - 1) ||
	    fixture_compile(fixture, "-shared -fPIC -nostdlib -o pointers.so pointers.c")) {
		decoder_destroy(decoder);
		skip();
	}
	struct elf_file *file = fixture_open(fixture, "pointers.so");
	const struct slot_call *calls = slot_calls(file, decoder, &count);

	assert_int_equal(count, 5);
	for (size_t i = 0; i < 5; i++) {
		size_t k = 0;

		while (k < count &&
		       (strcmp(calls[k].slot->name, expected[i].slot) != 0 ||
			calls[k].certain != expected[i].certain ||
			calls[k].address != elf_find_symbol(file, expected[i].function)->value +
						    expected[i].offset))
			k++;
		if (k == count)
			fail_msg("%s+%u is not found", expected[i].function,
				 (unsigned)expected[i].offset);
	}
	decoder_destroy(decoder);
	elf_unref(file);
}

/* Calls through a GLOB_DAT slot, without a PLT. */
static void no_plt(void **state)
{
	struct fixture *fixture = *state;
	char name[24], caller[24];
	size_t count;

	write_sources(fixture);
	if (fixture_compile(fixture, "-w -shared -fPIC provider.c -o libprovider64.so") ||
	    !compile(fixture, 64, &kinds[0], "-fno-plt", "noplt") ||
	    !link_one(fixture, 64, "bfd", &kinds[0], "", "noplt"))
		skip();
	struct elf_file *file = fixture_open(fixture, "made");
	const struct got_slot *slots = elf_got_slots(file, &count);

	for (int i = 0; i < FUNCTIONS; i++) {
		snprintf(name, sizeof name, "f%d", i);
		snprintf(caller, sizeof caller, "call_f%d", i);
		const struct got_slot *slot = find_slot(slots, count, name);

		assert_non_null(slot);
		assert_int_equal(slot->kind, SLOT_DATA);
		assert_int_equal(slot->stub, 0);
		assert_true(code_reaches(file, caller, "\xff\x15", slot->address));
	}
	check_slot_calls(file);
	elf_unref(file);
}

static const char ifunc_source[] =
	"static int one(void){return 1;}\n"
	"static int (*choose(void))(void){return one;}\n"
	"int __new_chosen(void)__attribute__((ifunc(\"choose\")));\n" /* like memcpy in glibc */
	"int chosen(void)__attribute__((weak, alias(\"__new_chosen\")));\n"
	"int call_chosen(void);\n"
	"__attribute__((noinline)) int call_chosen(void){return chosen()+1;}\n"
	"int main(void){return call_chosen();}\n";

/* Asserts the IRELATIVE slot whose resolver is `chosen`, and the stub that a call goes to. */
static bool check_static(const struct fixture *fixture, const char *arguments)
{
	size_t count, found = 0;

	if (fixture_compile(fixture, arguments))
		return false;
	struct elf_file *file = fixture_open(fixture, "static");

	assert_non_null(file);
	const struct got_slot *slots = elf_got_slots(file, &count);
	const struct elf_symbol *resolver = elf_find_symbol(file, "chosen");

	assert_non_null(resolver);
	for (size_t i = 0; i < count; i++) {
		if (slots[i].kind != SLOT_IRELATIVE || slots[i].addend != resolver->value)
			continue;
		assert_null(slots[i].name);
		assert_string_equal(got_slot_name(file, &slots[i]), "chosen");
		assert_true(code_reaches(file, "call_chosen", "\xe8", slots[i].stub));
		found++;
	}
	assert_int_equal(found, 1);
	elf_unref(file);
	return true;
}

static void static_programs(void **state)
{
	struct fixture *fixture = *state;
	size_t made = 0;

	fixture_write(fixture, "ifunc.c", ifunc_source, sizeof ifunc_source - 1);
	made += check_static(fixture, "-w -O1 -static ifunc.c -o static");
	made += check_static(fixture, "-w -O1 -static-pie -fPIE ifunc.c -o static");
	made += check_static(fixture, "-w -O1 -static -fuse-ld=gold ifunc.c -o static");
	made += check_static(fixture, "-m32 -w -O1 -static ifunc.c -o static");
	if (!made)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FIXTURE(stubs_x86_64), WITH_FIXTURE(stubs_i386),	   WITH_FIXTURE(no_plt),
		WITH_FIXTURE(pointers),	    WITH_FIXTURE(static_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

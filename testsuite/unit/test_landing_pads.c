/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Landing pads, compared with labels of hand-written tables in all their encodings, and with the
 * places where the unwinder of a C++ program really went.
 */
#include "elf_fixture.h"
#include "object/elf_symbols.h"
#include "unwind/landing_pads.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include <cmocka.h>

enum { VARIANTS = 3000 };

/*
 * `hot` has landing pads of its own, one of them behind a call that does not return. `split` has
 * its pads in `cold`, which is another function to .eh_frame. A label pad_* is a landing pad, and
 * no other label is.
 */
static const char tables[] =
	".macro begin name\n"
	"	.globl \\name\n"
	"	.hidden \\name\n"
	"	.type \\name, @function\n"
	"\\name:\n"
	".endm\n"
	".macro function name, lsda\n"
	"	begin \\name\n"
	"	.cfi_startproc\n"
	"	.cfi_personality PERSONALITY, personality\n"
	"	.cfi_lsda LSDA, \\lsda\n"
	".endm\n"
	/* from and to count from `start`, pad from `base` */
	".macro site start, from, to, base, pad\n"
	"	SITE \\from - \\start\n"
	"	SITE \\to - \\from\n"
	"	SITE \\pad - \\base\n"
	"	.uleb128 0\n"
	".endm\n"
	"	.section .text.unlikely, \"ax\", @progbits\n"
	"	function cold, .Lcold_lsda\n"
	"	.skip 8, 0x90\n"
	"begin pad_split_one\n"
	"	nop\n"
	"begin pad_split_two\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.text\n"
	"begin personality\n"
	"	.cfi_startproc\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	function hot, .Lhot_lsda\n"
	"	nop\n"
	".Lhot_call:\n"
	"	call personality\n"
	".Lhot_called:\n"
	"begin pad_behind_call\n"
	"	nop\n"
	".Lhot_quiet:\n"
	"	call personality\n"
	".Lhot_quieted:\n"
	"	ret\n"
	".Lhot_other:\n"
	"	call personality\n"
	".Lhot_othered:\n"
	"	ret\n"
	"	.skip 200, 0x90\n"
	"begin pad_far\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	function split, .Lsplit_lsda\n"
	".Lsplit_one:\n"
	"	call personality\n"
	".Lsplit_two:\n"
	"	call personality\n"
	".Lsplit_end:\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.section .gcc_except_table, \"a\", @progbits\n"
	"	.long 0\n"
	".Lsplit_lsda:\n"
	"	.byte START_ENCODING\n"
	"	START cold START_BIAS\n"
	"	.byte 0x9b\n" /* types */
	"	.uleb128 .Lsplit_types - .Lsplit_sites\n"
	"	.byte SITE_ENCODING\n"
	"	.uleb128 .Lsplit_actions - .Lsplit_sites\n"
	".Lsplit_sites:\n"
	"	site split, .Lsplit_one, .Lsplit_two, cold, pad_split_one\n"
	"	site split, .Lsplit_two, .Lsplit_end, cold, pad_split_two\n"
	".Lsplit_actions:\n"
	"	.byte 1, 0x7d, 1, 2\n"
	"	.long 1, 2, 3\n"
	".Lsplit_types:\n"
	".Lhot_lsda:\n"
	"	.byte 0xff, 0xff, SITE_ENCODING\n"
	"	.uleb128 .Lhot_end - .Lhot_sites\n"
	".Lhot_sites:\n"
	"	site hot, .Lhot_call, .Lhot_called, hot, pad_behind_call\n"
	"	site hot, .Lhot_quiet, .Lhot_quieted, hot, hot\n" /* no landing pad */
	"	site hot, .Lhot_other, .Lhot_othered, hot, pad_far\n"
	"	site hot, .Lsplit_one, .Lsplit_two, hot, .Lhot_other\n" /* not in the function */
	".Lhot_end:\n"
	"	.byte 1, 2, 3, 4, 5, 6, 7, 8\n"
	/* Its length reaches into the next table, as with Clang's basic-block sections. */
	".Lcold_lsda:\n"
	"	.byte 0xff, 0xff, 1\n"
	"	.uleb128 40\n"
	"	.byte 1, 1, 1\n" /* no complete record */
	".Llast_lsda:\n"
	"	.byte 0xff, 0xff, 1, 0\n"
	"	.skip 64, 0x01\n"
	"	.text\n"
	"	function last, .Llast_lsda\n"
	"	.skip 64, 0x90\n"
	"	.cfi_endproc\n"
	"	.section .note.GNU-stack, \"\", @progbits\n";

#define PCREL                                                                                      \
	" -DPERSONALITY=0x1b -DLSDA=0x1b -DSTART_ENCODING=0x1b -DSTART=.long -DSTART_BIAS='-.'"
#define ULEB " -DSITE_ENCODING=1 -DSITE=.uleb128"
#define MAKE " -nostdlib -Wl,-e,hot tables.S -o tables"

static const char *const encodings[] = {
	"-shared" PCREL ULEB MAKE,
	"-shared -DSITE_ENCODING=3 -DSITE=.long" PCREL MAKE,
	"-shared -DSITE_ENCODING=2 -DSITE=.short" PCREL MAKE,
	"-shared -DSITE_ENCODING=0x0b -DSITE=.long" PCREL MAKE,
	"-shared -DPERSONALITY=0x1c -DLSDA=0x1c -DSTART_ENCODING=0x1c -DSTART=.quad "
	"-DSTART_BIAS='-.' -DSITE_ENCODING=0x0c -DSITE=.quad" MAKE,
	"-shared -m32" PCREL ULEB MAKE,
	"-shared -m32 -DSITE_ENCODING=3 -DSITE=.long" PCREL MAKE,
	"-static -no-pie -DPERSONALITY=0 -DLSDA=0 -DSTART_ENCODING=0 -DSTART=.quad -DSTART_BIAS=" ULEB
		MAKE,
	"-static -no-pie -DPERSONALITY=3 -DLSDA=3 -DSTART_ENCODING=3 -DSTART=.long -DSTART_BIAS=" ULEB
		MAKE,
	"-static -no-pie -m32 -DPERSONALITY=0 -DLSDA=0 -DSTART_ENCODING=0 -DSTART=.long "
	"-DSTART_BIAS=" ULEB MAKE,
	"-static -no-pie -Wl,--no-eh-frame-hdr" PCREL ULEB MAKE,
	"-static -no-pie -m32 -Wl,--no-eh-frame-hdr" PCREL ULEB MAKE,
	"-shared -fuse-ld=gold" PCREL ULEB MAKE,
	"-shared -fuse-ld=lld" PCREL ULEB MAKE,
};

static bool compile_tables(const struct fixture *fixture, const char *arguments)
{
	fixture_write(fixture, "tables.S", tables, sizeof tables - 1);
	return !fixture_compile(fixture, arguments);
}

static void labels_are_all_pads(struct elf_file *file)
{
	size_t count, pad_count, symbol_pads = 0;
	const uint64_t *pads = landing_pads(file, &pad_count);
	const struct elf_symbol *symbols = elf_symbols(file, &count);
	uint64_t last = 0;

	for (size_t i = 0; i < pad_count; i++) {
		assert_true(pads[i] > last);
		last = pads[i];
	}
	for (size_t i = 0; i < count; i++) {
		bool is_pad = strncmp(symbols[i].name, "pad_", 4) == 0;

		if (!symbols[i].value)
			continue;
		symbol_pads += is_pad;
		assert_int_equal(landing_pads_has(file, symbols[i].value), is_pad);
	}
	assert_int_equal(symbol_pads, 4);
	assert_int_equal(pad_count, 4);
	assert_false(landing_pads_has(file, 0));
	assert_false(landing_pads_has(file, UINT64_MAX));
}

static void all_encodings(void **state)
{
	size_t made = 0;

	for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++) {
		if (!compile_tables(*state, encodings[i])) {
			print_message("not made: %s\n", encodings[i]);
			continue;
		}
		struct elf_file *file = fixture_open(*state, "tables");

		print_message("%s\n", encodings[i]);
		assert_non_null(file);
		labels_are_all_pads(file);
		elf_unref(file);
		made++;
	}
	assert_true(made >= 5);
}

static void none_in_plain_c(void **state)
{
	static const char source[] = "int f(int x) { return x + 1; }\n";
	size_t count = 1;

	fixture_write(*state, "plain.c", source, sizeof source - 1);
	assert_int_equal(fixture_compile(*state, "-shared -fPIC -nostdlib plain.c -o plain"), 0);
	struct elf_file *file = fixture_open(*state, "plain");

	assert_null(landing_pads(file, &count));
	assert_int_equal(count, 0);
	assert_false(landing_pads_has(file, elf_find_symbol(file, "f")->value));
	elf_unref(file);
}

/* Prints "pad ADDRESS" where the unwinder goes, "return ADDRESS" where calls return. */
static const char program[] =
	"#include <dlfcn.h>\n#include <link.h>\n#include <cstdio>\n#include <unwind.h>\n"
	"static unsigned long bias;\n"
	"static int find(dl_phdr_info *i, size_t, void *) { bias = i->dlpi_addr; return 1; }\n"
	"static void say(const char *what, unsigned long ip) {\n"
	"	printf(\"%s %lx\\n\", what, ip - bias); }\n"
	"extern \"C\" void _Unwind_SetIP(struct _Unwind_Context *c, _Unwind_Ptr ip) {\n"
	"	typedef void set_ip(struct _Unwind_Context *, _Unwind_Ptr);\n"
	"	say(\"pad\", (unsigned long)ip);\n"
	"	((set_ip *)dlsym(RTLD_NEXT, \"_Unwind_SetIP\"))(c, ip); }\n"
	"#define NOINLINE __attribute__((noinline))\n"
	"NOINLINE void tick() {\n"
	"	say(\"return\", (unsigned long)__builtin_return_address(0)); }\n"
	"struct guard { NOINLINE ~guard() { tick(); } };\n"
	"[[noreturn]] NOINLINE void fail(int x) { guard g; tick(); if (x & 1) throw x; throw 1.5; }\n"
	"[[noreturn]] __attribute__((cold, noinline)) void rare(int x) { guard g; fail(x); }\n"
	"NOINLINE int work(int x) {\n"
	"	guard g;\n"
	"	try { tick(); if (x > 5) rare(x); if (x > 2) fail(x); tick(); }\n"
	"	catch (int i) { guard h; tick(); if (x == 7) throw; }\n"
	"	catch (double) { tick(); }\n"
	"	tick(); return x; }\n"
	"int main() {\n"
	"	dl_iterate_phdr(find, 0);\n"
	"	for (int i = 0; i < 9; i++)\n"
	"		try { work(i); } catch (...) { tick(); }\n"
	"	return 0; }\n";

static void check_run(struct elf_file *file, FILE *output)
{
	char kind[16];
	unsigned long address;
	size_t pads = 0, returns = 0;

	while (fscanf(output, "%15s %lx", kind, &address) == 2) {
		bool is_pad = strcmp(kind, "pad") == 0;

		assert_int_equal(landing_pads_has(file, address), is_pad);
		pads += is_pad;
		returns += !is_pad;
	}
	assert_true(pads >= 12);
	assert_true(returns >= 20);
}

/* Returns false if the program cannot be made, or cannot run. */
static bool follow_unwinder(struct fixture *fixture, const char *arguments)
{
	const char *compiler = getenv("CXX");
	char command[1024];

	fixture_write(fixture, "program.cc", program, sizeof program - 1);
	snprintf(command, sizeof command,
		 "cd '%s' && %s program.cc -o program -ldl %s >/dev/null 2>&1 && ./program >output",
		 fixture->directory, compiler && *compiler ? compiler : "c++", arguments);
	if (system(command))
		return false;
	struct elf_file *file = fixture_open(fixture, "program");
	FILE *output = fopen(fixture_path(fixture, command, sizeof command, "output"), "r");

	assert_non_null(file);
	assert_non_null(output);
	check_run(file, output);
	fclose(output);
	elf_unref(file);
	return true;
}

static void where_the_unwinder_goes(void **state)
{
	static const char *const flags[] = {"-O0",
					    "-O2",
					    "-O2 -no-pie -fno-pic",
					    "-O2 -m32",
					    "-O2 -m32 -no-pie -fno-pic",
					    "-O2 -Wl,--gc-sections -ffunction-sections -s"};
	size_t made = 0;

	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		made += follow_unwinder(*state, flags[i]);
	if (!made)
		skip();
}

static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* Returns the file offset of .eh_frame_hdr; .eh_frame and .gcc_except_table follow it. */
static size_t tables_offset(struct elf_file *file)
{
	size_t count;
	const struct elf_segment *segments = elf_segments(file, &count);
	uint64_t header = elf_eh_frame_header(file);

	assert_true(header != 0);
	for (size_t i = 0; i < count; i++)
		if (header - segments[i].address < segments[i].file_size)
			return segments[i].file_offset + (header - segments[i].address);
	fail();
	return 0;
}

static struct elf_file *open_bytes(int fd, const void *bytes, size_t length)
{
	struct elf_file *file = NULL;

	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, bytes, length, 0), (ssize_t)length);
	return elf_open(fd, &file) ? NULL : file;
}

static void damage(uint64_t *seed, unsigned char *bytes, size_t start, size_t size)
{
	static const uint32_t words[] = {0,	     1,		 4,	     0x7fffffff,
					 0x80000000, 0xffffffff, 0xfffffffb, 0xffffff};

	for (uint64_t i = 0, times = 1 + next_random(seed) % 6; i < times; i++) {
		unsigned char *place = bytes + start + next_random(seed) % (size - 4);

		if (next_random(seed) % 2)
			*place = (unsigned char)next_random(seed);
		else
			memcpy(place, &words[next_random(seed) % 8], 4);
	}
}

/* Asserts only that the result for damaged tables is sorted and finite. */
static void exercise(struct elf_file *file)
{
	size_t count;
	const uint64_t *pads = landing_pads(file, &count);

	for (size_t i = 0; i < count; i++) {
		assert_true(!i || pads[i] > pads[i - 1]);
		assert_true(landing_pads_has(file, pads[i]));
	}
}

static void damaged_variants(struct fixture *fixture, const char *arguments)
{
	size_t length;

	if (!compile_tables(fixture, arguments))
		skip();
	struct elf_file *file = fixture_open(fixture, "tables");
	unsigned char *good = fixture_load(fixture, "tables", &length);
	size_t start = tables_offset(file), size = length - start < 1024 ? length - start : 1024;
	unsigned char *bytes = malloc(length);
	int fd = memfd_create("damaged", MFD_CLOEXEC);
	uint64_t seed = 7;

	elf_unref(file);
	for (size_t i = 0; i < VARIANTS; i++) {
		memcpy(bytes, good, length);
		damage(&seed, bytes, start, size);
		file = open_bytes(fd, bytes, length);
		if (i % 8 == 0)
			assert_int_equal(ftruncate(fd, (off_t)(next_random(&seed) % length)), 0);
		if (file)
			exercise(file);
		elf_unref(file);
	}
	close(fd);
	free(bytes);
	free(good);
}

static void damaged_x86_64(void **state)
{
	damaged_variants(*state, encodings[0]);
}

static void damaged_i386(void **state)
{
	damaged_variants(*state, "-shared -m32" PCREL ULEB MAKE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FIXTURE(all_encodings),
		WITH_FIXTURE(none_in_plain_c),
		WITH_FIXTURE(where_the_unwinder_goes),
		WITH_FIXTURE(damaged_x86_64),
		WITH_FIXTURE(damaged_i386),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

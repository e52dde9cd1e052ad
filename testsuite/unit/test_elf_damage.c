/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Damaged files: bits flipped, bytes overwritten, cut short, and changed while they are open. The
 * test only requires that queries return, and that neither the sanitizers nor the processor report
 * an error. The pseudo-random numbers are the same in every run.
 */
#include "elf_fixture.h"
#include "object/elf_got_slots.h"
#include "object/elf_symbols.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include <cmocka.h>

enum { VARIANTS = 3000 };

static const char source[] =
	"int printf(const char*,...);int puts(const char*);extern char**environ;\n"
	"__attribute__((constructor)) static void begin(void){puts(\"x\");}\n"
	"static int one(void){return 1;}static int (*choose(void))(void){return one;}\n"
	"int chosen(void)__attribute__((ifunc(\"choose\")));\n"
	"int user(void){return chosen()+printf(\"%p\",(void*)environ);}\n"
	"int (*table[])(void)={user,one};\n";

static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* Makes all queries, and accesses their results. */
static size_t exercise(struct elf_file *file)
{
	size_t sum = 0, count;
	unsigned char bytes[32];
	const struct got_slot *slots;
	const struct elf_symbol *symbols;
	const struct elf_symbol *found = elf_find_symbol(file, "user");

	for (; found; found = elf_find_next(file, found))
		sum += strlen(found->name);
	slots = elf_got_slots(file, &count);
	for (size_t i = 0; i < count; i++)
		sum += slots[i].name ? strlen(slots[i].name) : slots[i].addend;
	symbols = elf_symbols(file, &count);
	for (size_t i = 0; i < count; i++)
		sum += strlen(symbols[i].name) + elf_read(file, symbols[i].value, bytes, 32);
	sum += elf_find_symbol(file, "absent") != NULL;
	sum += elf_init_function(file) + elf_program_headers(file) + elf_dynamic(file);
	sum += elf_soname(file) ? strlen(elf_soname(file)) : 0;
	sum += elf_interpreter(file) ? strlen(elf_interpreter(file)) : 0;
	return sum;
}

static struct elf_file *open_bytes(int fd, const void *bytes, size_t length)
{
	struct elf_file *file = NULL;

	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, bytes, length, 0), (ssize_t)length);
	return elf_open(fd, &file) ? NULL : file;
}

/* Values that parsers often handle wrongly. */
static uint32_t nasty_word(uint64_t *seed, size_t length)
{
	const uint32_t words[] = {
		0,	    1,		0x7fffffff, 0x80000000,	      0xffffffff,
		0xfffffff0, 0x10000000, 0xffff,	    (uint32_t)length, (uint32_t)length - 1};

	return words[next_random(seed) % (sizeof words / sizeof *words)];
}

/*
 * Chooses a place to damage: half of the time in the tables at the beginning or the section
 * headers.
 */
static size_t choose_place(uint64_t *seed, const unsigned char *bytes, size_t length)
{
	uint64_t kind = next_random(seed) % 4;
	uint64_t sections;

	memcpy(&sections, bytes + (bytes[EI_CLASS] == ELFCLASS64 ? 40 : 32), 8);
	if (bytes[EI_CLASS] != ELFCLASS64)
		sections &= UINT32_MAX;
	if (kind == 0)
		return next_random(seed) % (length < 1024 ? length : 1024);
	if (kind == 1 && sections < length)
		return sections + next_random(seed) % (length - sections);
	return next_random(seed) % length;
}

static size_t damage(uint64_t *seed, unsigned char *bytes, size_t length)
{
	uint64_t times = 1 + next_random(seed) % 8;

	for (uint64_t i = 0; i < times; i++) {
		size_t place = choose_place(seed, bytes, length);
		uint32_t word = nasty_word(seed, length);

		if (next_random(seed) % 2)
			bytes[place] ^= (unsigned char)(1U << next_random(seed) % 8);
		else if ((place &= ~(size_t)3) + 4 <= length)
			memcpy(bytes + place, &word, 4);
	}
	return next_random(seed) % 8 ? length : next_random(seed) % length;
}

/* Returns 0 if the file cannot be made. */
static unsigned char *make(const struct fixture *fixture, const char *arguments, size_t *length)
{
	fixture_write(fixture, "small.c", source, sizeof source - 1);
	return fixture_compile(fixture, arguments) ? NULL
						   : fixture_load(fixture, "small.so", length);
}

static void damaged_variants(struct fixture *fixture, const char *arguments)
{
	size_t length, opened = 0, sum = 0;
	unsigned char *good = make(fixture, arguments, &length);
	uint64_t seed = 20;

	if (!good)
		skip();
	unsigned char *bytes = malloc(length);
	int fd = memfd_create("damaged", MFD_CLOEXEC);

	for (size_t i = 0; i < VARIANTS; i++) {
		memcpy(bytes, good, length);
		struct elf_file *file = open_bytes(fd, bytes, damage(&seed, bytes, length));

		if (!file)
			continue;
		opened++;
		sum += exercise(file);
		elf_unref(file);
	}
	print_message("%zu of %d opened (%zx)\n", opened, VARIANTS, sum);
	assert_true(opened > VARIANTS / 4);
	close(fd);
	free(bytes);
	free(good);
}

static void damaged_x86_64(void **state)
{
	damaged_variants(*state, "-w -shared -fPIC small.c -o small.so");
}

static void damaged_i386(void **state)
{
	damaged_variants(*state, "-m32 -w -shared -fPIC small.c -o small.so");
}

static void damaged_without_sections(void **state)
{
	damaged_variants(*state, "-w -shared -fPIC -s -Wl,-z,norelro small.c -o small.so");
}

/* Cut short while it is open: a mapping read directly would raise SIGBUS. */
static void truncated_while_open(void **state)
{
	size_t length, count;
	unsigned char *good = make(*state, "-w -shared -fPIC small.c -o small.so", &length);

	if (!good)
		skip();
	int fd = memfd_create("truncated", MFD_CLOEXEC);

	for (size_t left = 0; left < length; left += 1021) {
		struct elf_file *file = open_bytes(fd, good, length);

		assert_non_null(file);
		assert_int_equal(ftruncate(fd, (off_t)left), 0);
		exercise(file);
		if (!left) {
			elf_symbols(file, &count);
			assert_int_equal(count, 0);
		}
		elf_unref(file);
	}
	close(fd);
	free(good);
}

/* What has been read stays as it was. */
static void overwritten_while_open(void **state)
{
	size_t length, count, after;
	unsigned char *good = make(*state, "-w -shared -fPIC small.c -o small.so", &length);

	if (!good)
		skip();
	int fd = memfd_create("overwritten", MFD_CLOEXEC);
	struct elf_file *file = open_bytes(fd, good, length);
	const struct elf_symbol *symbol = elf_find_symbol(file, "user");

	assert_non_null(symbol);
	elf_symbols(file, &count);
	memset(good, 0xff, length);
	assert_int_equal(pwrite(fd, good, length, 0), (ssize_t)length);
	assert_ptr_equal(elf_find_symbol(file, "user"), symbol);
	assert_string_equal(symbol->name, "user");
	elf_symbols(file, &after);
	assert_int_equal(count, after);
	exercise(file);
	elf_unref(file);
	close(fd);
	free(good);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FIXTURE(damaged_x86_64),		WITH_FIXTURE(damaged_i386),
		WITH_FIXTURE(damaged_without_sections), WITH_FIXTURE(truncated_while_open),
		WITH_FIXTURE(overwritten_while_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files put together from the memory they were loaded into: the same functions, GOT slots and stubs
 * as in the file, for both classes; and no harm from forged memory.
 */
#include "elf_fixture.h"
#include "object/elf_cache.h"
#include "object/elf_got_slots.h"
#include "object/elf_memory.h"
#include "object/elf_symbols.h"

#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { ROOM = 64 << 20, VARIANTS = 2000 };

static const char source[] =
	"int printf(const char*,...);int puts(const char*);extern char**environ;\n"
	"static __attribute__((noinline)) int hidden(int n){__asm__ volatile(\"\":\"+r\"(n));return n;}\n"
	"int exported(int n){return hidden(n)+printf(\"%p\",(void*)environ);}\n"
	"int other(int n){return exported(n)+puts(\"x\");}\n";

/* A library as it is loaded: `size` bytes at `base`. */
struct loaded {
	unsigned char *bytes;
	uint64_t base, size;
};

static void read_loaded(void *context, struct memory_range *ranges, size_t count)
{
	const struct loaded *loaded = context;

	for (size_t i = 0; i < count; i++) {
		uint64_t into = ranges[i].address - loaded->base;

		ranges[i].done = 0;
		if (ranges[i].address < loaded->base || into >= loaded->size)
			continue;
		ranges[i].done = ranges[i].length < loaded->size - into ? ranges[i].length
									: loaded->size - into;
		memcpy(ranges[i].buffer, loaded->bytes + into, ranges[i].done);
	}
}

/* Adds the base to a pointer of the dynamic section, as glibc does. */
static void relocate(struct loaded *loaded, uint64_t at, size_t word)
{
	static const uint64_t tags[] = {DT_HASH, DT_STRTAB,   DT_SYMTAB, DT_RELA,
					DT_REL,	 DT_GNU_HASH, DT_JMPREL, DT_PLTGOT};
	uint64_t tag = 0, value = 0;

	memcpy(&tag, loaded->bytes + at, word);
	memcpy(&value, loaded->bytes + at + word, word);
	for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
		if (tag == tags[i])
			value += loaded->base;
	memcpy(loaded->bytes + at + word, &value, word);
}

static void load(const struct elf_file *file, const unsigned char *bytes, struct loaded *loaded)
{
	size_t count;
	const struct elf_segment *segments = elf_segments(file, &count);
	size_t word = elf_arch(file)->abi->word;

	for (size_t i = 0; i < count; i++)
		if (segments[i].address + segments[i].memory_size > loaded->size)
			loaded->size = segments[i].address + segments[i].memory_size;
	loaded->bytes = calloc(1, loaded->size);
	assert_non_null(loaded->bytes);
	for (size_t i = 0; i < count; i++)
		memcpy(loaded->bytes + segments[i].address, bytes + segments[i].file_offset,
		       segments[i].file_size);
	for (uint64_t at = elf_dynamic(file), tag = 1; tag && at + 2 * word <= loaded->size;
	     at += 2 * word) {
		tag = 0;
		memcpy(&tag, loaded->bytes + at, word);
		relocate(loaded, at, word);
	}
}

/* Builds the library for an ABI and "loads" it. Skips the test if it cannot be built. */
static struct elf_file *build(struct fixture *fixture, const char *flags, struct loaded *loaded)
{
	char arguments[256];
	size_t length;

	assert_int_equal(fixture_write(fixture, "a.c", source, sizeof source - 1), 0);
	snprintf(arguments, sizeof arguments,
		 "%s -O1 -fno-builtin -shared -fPIC -Wl,-soname,libfoo.so.1 a.c -o a.so", flags);
	if (fixture_compile(fixture, arguments) != 0)
		skip();
	struct elf_file *file = fixture_open(fixture, "a.so");
	unsigned char *bytes = fixture_load(fixture, "a.so", &length);

	assert_non_null(file);
	assert_non_null(bytes);
	loaded->base = 0x56550000;
	load(file, bytes, loaded);
	free(bytes);
	return file;
}

static void same_slots(struct elf_file *one, struct elf_file *other)
{
	size_t count, other_count;
	const struct got_slot *slots = elf_got_slots(one, &count);
	const struct got_slot *others = elf_got_slots(other, &other_count);

	assert_int_equal(count, other_count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(slots[i].address, others[i].address);
		assert_int_equal(slots[i].kind, others[i].kind);
		assert_string_equal(slots[i].name ? slots[i].name : "",
				    others[i].name ? others[i].name : "");
		if (slots[i].kind == SLOT_JUMP) {
			assert_true(slots[i].stub != 0);
			assert_int_equal(slots[i].stub, others[i].stub);
		}
	}
}

static void has_what_the_file_exports(struct fixture *fixture, const char *flags)
{
	struct loaded loaded = {0};
	struct elf_file *file = build(fixture, flags, &loaded), *image = NULL;
	struct memory_source memory = {.readv = read_loaded, .context = &loaded};
	static const char *const names[] = {"exported", "other"};

	assert_int_equal(elf_open_memory(&memory, loaded.base, ROOM, &image), 0);
	assert_true(elf_is_from_memory(image));
	assert_false(elf_is_from_memory(file));
	assert_ptr_equal(elf_arch(image), elf_arch(file));
	assert_string_equal(elf_soname(image), "libfoo.so.1");
	assert_int_equal(elf_dynamic(image), elf_dynamic(file));
	for (size_t i = 0; i < 2; i++) {
		const struct elf_symbol *symbol = elf_find_symbol(image, names[i]);

		assert_non_null(symbol);
		assert_int_equal(symbol->value, elf_find_symbol(file, names[i])->value);
	}
	assert_non_null(elf_find_symbol(file, "hidden"));
	assert_null(elf_find_symbol(image, "hidden"));
	same_slots(file, image);
	assert_null(elf_damage(image));
	elf_unref(image);
	elf_unref(file);
	free(loaded.bytes);
}

static void of_64_bits(void **state)
{
	has_what_the_file_exports(*state, "-m64");
}

static void of_32_bits(void **state)
{
	has_what_the_file_exports(*state, "-m32");
}

static void headers_are_compared(void **state)
{
	struct loaded loaded = {0};
	struct elf_file *file = build(*state, "-m64", &loaded);
	struct memory_source memory = {.readv = read_loaded, .context = &loaded};

	assert_true(elf_fits_memory(file, &memory, loaded.base));
	assert_false(elf_fits_memory(file, &memory, loaded.base + 4096));
	assert_false(elf_fits_memory(file, &memory, 0x1000));
	loaded.bytes[sizeof(Elf64_Ehdr) + 32]++; /* in the program headers */
	assert_false(elf_fits_memory(file, &memory, loaded.base));
	elf_unref(file);
	free(loaded.bytes);
}

static void there_must_be_room(void **state)
{
	struct loaded loaded = {0};
	struct elf_file *file = build(*state, "-m64", &loaded), *image = NULL;
	struct memory_source memory = {.readv = read_loaded, .context = &loaded};

	assert_int_equal(elf_open_memory(&memory, loaded.base, 1000, &image), -EFBIG);
	assert_int_equal(elf_open_memory(&memory, 0x1000, ROOM, &image), -EFAULT);
	assert_int_equal(elf_open_memory(&memory, loaded.base + 4096, ROOM, &image), -ENOEXEC);
	elf_unref(file);
	free(loaded.bytes);
}

static void cache_knows_them_by_headers(void **state)
{
	struct loaded loaded = {0};
	struct elf_file *file = build(*state, "-m64", &loaded), *one, *two, *three;
	struct memory_source memory = {.readv = read_loaded, .context = &loaded};
	struct elf_cache *cache = elf_cache_create();

	assert_int_equal(elf_cache_open_memory(cache, &memory, loaded.base, 1, 2, &one), 0);
	assert_int_equal(elf_cache_open_memory(cache, &memory, loaded.base, 1, 2, &two), 0);
	assert_ptr_equal(one, two);
	loaded.bytes[EI_PAD]++;
	assert_int_equal(elf_cache_open_memory(cache, &memory, loaded.base, 1, 2, &three), 0);
	assert_ptr_not_equal(one, three);
	elf_unref(one);
	elf_unref(two);
	elf_unref(three);
	elf_unref(file);
	elf_cache_destroy(cache);
	free(loaded.bytes);
}

/* Headers and dynamic section overwritten at random, with the same numbers in each run. */
static void made_up_memory(void **state)
{
	struct loaded loaded = {0};
	struct elf_file *file = build(*state, "-m64", &loaded), *image;
	struct memory_source memory = {.readv = read_loaded, .context = &loaded};
	uint64_t random = 1, dynamic = elf_dynamic(file);
	unsigned char *original = malloc(loaded.size);
	size_t count;

	assert_non_null(original);
	memcpy(original, loaded.bytes, loaded.size);
	for (unsigned i = 0; i < VARIANTS; i++) {
		for (unsigned k = 0; k < 1 + i % 4; k++) {
			random = random * 6364136223846793005U + 1442695040888963407U;
			uint64_t at = random >> 33;

			at = i & 1 ? dynamic + at % 512 : at % 1024;
			loaded.bytes[at < loaded.size ? at : 0] = (unsigned char)(random >> 24);
		}
		image = NULL;
		if (!elf_open_memory(&memory, loaded.base, ROOM, &image)) {
			elf_symbols(image, &count);
			elf_got_slots(image, &count);
			elf_find_symbol(image, "exported");
		}
		elf_unref(image);
		memcpy(loaded.bytes, original, loaded.size);
	}
	elf_unref(file);
	free(original);
	free(loaded.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FIXTURE(of_64_bits),
		WITH_FIXTURE(of_32_bits),
		WITH_FIXTURE(headers_are_compared),
		WITH_FIXTURE(there_must_be_room),
		WITH_FIXTURE(cache_knows_them_by_headers),
		WITH_FIXTURE(made_up_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading whole ELF files, compared with what the kernel and the dynamic linker say about this
 * process, and with small files made for the test.
 */
#include "elf_fixture.h"
#include "object/elf_address.h"
#include "object/elf_cache.h"
#include "object/elf_got_slots.h"
#include "object/elf_symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include <cmocka.h>

static struct elf_file *open_path(const char *path)
{
	struct elf_file *file;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(elf_open(fd, &file), 0);
	close(fd);
	return file;
}

/* A module of this process. */
struct module {
	const char *name; /* a part of its path, "" for the program */
	uint64_t bias;
	char path[512];
};

static int find_module(struct dl_phdr_info *info, size_t size, void *context)
{
	struct module *module = context;

	(void)size;
	if (*module->name ? !strstr(info->dlpi_name, module->name) : *info->dlpi_name != '\0')
		return 0;
	module->bias = info->dlpi_addr;
	snprintf(module->path, sizeof module->path, "%s",
		 *module->name ? info->dlpi_name : "/proc/self/exe");
	return 1;
}

static void own_headers(void **state)
{
	struct module self = {.name = ""};
	size_t count;
	(void)state;

	assert_int_equal(dl_iterate_phdr(find_module, &self), 1);
	struct elf_file *file = open_path(self.path);

	assert_ptr_equal(elf_arch(file), sizeof(void *) == 8 ? &arch_x86_64 : &arch_i386);
	assert_int_equal(elf_entry(file) + self.bias, getauxval(AT_ENTRY));
	assert_int_equal(elf_program_headers(file) + self.bias, getauxval(AT_PHDR));
	assert_int_equal(elf_dynamic(file) + self.bias, (uintptr_t)_DYNAMIC);
	assert_int_equal(elf_is_pie(file), self.bias != 0);
	assert_non_null(strstr(elf_interpreter(file), "ld-linux"));
	assert_null(elf_soname(file));
	assert_non_null(elf_segments(file, &count));
	assert_true(count > 1);
	elf_unref(file);
}

static void contents_are_those_mapped(void **state)
{
	struct module self = {.name = ""};
	unsigned char bytes[64];
	size_t count;
	(void)state;

	dl_iterate_phdr(find_module, &self);
	struct elf_file *file = open_path(self.path);
	const struct elf_segment *segments = elf_segments(file, &count);

	assert_true(elf_read(file, elf_entry(file), bytes, sizeof bytes));
	assert_memory_equal(bytes, (void *)(uintptr_t)(elf_entry(file) + self.bias), sizeof bytes);
	for (size_t i = 0; i < count; i++) {
		uint64_t end = segments[i].address + segments[i].file_size;

		assert_true(elf_read(file, end - 1, bytes, 1));
		assert_false(elf_read(file, end - 1, bytes, 2));
	}
	assert_false(elf_read(file, UINT64_MAX - 3, bytes, 8));
	elf_unref(file);
}

/* Returns true if a definition of `name` is at `address`, or is an IFUNC, which may be anywhere. */
static bool defines_at(struct elf_file *file, const char *name, uint64_t address)
{
	const struct elf_symbol *symbol = elf_find_symbol(file, name);

	for (; symbol; symbol = elf_find_next(file, symbol)) {
		assert_string_equal(symbol->name, name);
		if (symbol->value == address || symbol->type == STT_GNU_IFUNC)
			return true;
	}
	return false;
}

static void libc_symbols_are_where_dlsym_finds_them(void **state)
{
	struct module libc = {.name = "libc.so.6"};
	size_t count, checked = 0;
	(void)state;

	assert_int_equal(dl_iterate_phdr(find_module, &libc), 1);
	void *handle = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);

	assert_non_null(handle);
	struct elf_file *file = open_path(libc.path);
	const struct elf_symbol *symbols = elf_symbols(file, &count);

	assert_string_equal(elf_soname(file), "libc.so.6");
	for (size_t i = 0; i < count; i++) {
		const struct elf_symbol *symbol = &symbols[i];

		assert_null(strchr(symbol->name, '@'));
		if (!symbol->dynamic || !symbol->value || symbol->type != STT_FUNC)
			continue;
		void *place = dlsym(handle, symbol->name);

		if (!place) /* exists for old programs only */
			continue;
		assert_true(defines_at(file, symbol->name, (uintptr_t)place - libc.bias));
		checked++;
	}
	assert_true(checked > 1000);
	elf_unref(file);
	dlclose(handle);
}

static void names_are_found_without_decoding_first(void **state)
{
	struct module libc = {.name = "libc.so.6"};
	(void)state;

	dl_iterate_phdr(find_module, &libc);
	struct elf_file *file = open_path(libc.path);
	const struct elf_symbol *symbol;

	assert_null(elf_find_symbol(file, "no_such_function_anywhere"));
	assert_null(elf_find_symbol(file, ""));
	symbol = elf_find_symbol(file, "getpid");
	assert_non_null(symbol);
	assert_int_equal(symbol->type, STT_FUNC);
	assert_true(symbol->dynamic && symbol->size);
	symbol = elf_find_symbol(file, "environ");
	assert_non_null(symbol);
	assert_int_equal(symbol->type, STT_OBJECT);
	symbol = elf_find_symbol(file, "strlen");
	assert_non_null(symbol);
	assert_int_equal(symbol->type, STT_GNU_IFUNC);
	/* the name of a version: an absolute symbol */
	assert_null(elf_find_symbol(file, "GLIBC_2.4"));
	elf_unref(file);
}

/* What elf_name_of_code() returns for the address `more` bytes behind a symbol. */
static const char *name_behind(struct elf_file *file, const char *name, uint64_t more,
			       uint64_t *offset)
{
	const struct elf_symbol *symbol = elf_find_symbol(file, name);

	assert_non_null(symbol);
	assert_true(symbol->size > 8);
	return elf_name_of_code(file, symbol->value + more, offset);
}

static void code_has_names(void **state)
{
	struct module libc = {.name = "libc.so.6"};
	uint64_t offset = 1;
	(void)state;

	dl_iterate_phdr(find_module, &libc);
	struct elf_file *file = open_path(libc.path);

	assert_string_equal(name_behind(file, "atoi", 0, &offset), "atoi");
	assert_int_equal(offset, 0);
	assert_string_equal(name_behind(file, "atoi", 3, &offset), "atoi");
	assert_int_equal(offset, 3);
	/* The plainest of several names. */
	assert_string_equal(name_behind(file, "_IO_puts", 0, &offset), "puts");
	assert_null(elf_name_of_code(file, 0, &offset));
	assert_null(elf_name_of_code(file, UINT64_MAX, &offset));
	const struct elf_symbol *data = elf_find_symbol(file, "environ");

	assert_null(elf_name_of_code(file, data->value, &offset));
	elf_unref(file);
}

static void undefined_symbols_have_no_value(void **state)
{
	struct module self = {.name = ""};
	size_t count, undefined = 0;
	(void)state;

	dl_iterate_phdr(find_module, &self);
	struct elf_file *file = open_path(self.path);
	const struct elf_symbol *symbols = elf_symbols(file, &count);

	assert_null(elf_find_symbol(file, "getauxval"));
	for (size_t i = 0; i < count; i++)
		if (!strcmp(symbols[i].name, "getauxval")) {
			assert_int_equal(symbols[i].value, 0);
			undefined++;
		}
	assert_true(undefined > 0);
	elf_unref(file);
}

static const char twin_source[] =
	"#ifdef SECOND\nint second_user(void);\n"
	"__attribute__((noinline)) static int twin(int x){return x*3;}\n"
	"int (*volatile second_twin)(int)=twin;\nint second_user(void){return twin(1);}\n"
	"#else\n__attribute__((noinline)) static int twin(int x){return x*5;}\n"
	"int (*volatile first_twin)(int)=twin;\n"
	"__asm__(\".text\\n.globl untyped\\nuntyped: ret\\n"
	".section .rodata\\n.globl constant\\nconstant: .long 1\\n.text\");\n"
	"const int table[4]={1,2,3,4};\n#endif\n";

static void symtab_has_twins_and_untyped_code(void **state)
{
	struct fixture *fixture = *state;
	struct elf_file *file;

	assert_int_equal(fixture_write(fixture, "twin.c", twin_source, sizeof twin_source - 1), 0);
	if (fixture_compile(fixture, "-O1 -fPIC -c twin.c -o first.o") ||
	    fixture_compile(fixture, "-O1 -fPIC -DSECOND -c twin.c -o second.o") ||
	    fixture_compile(fixture,
			    "-shared -Wl,-soname,libtwin.so.7 first.o second.o -o twin.so"))
		skip();
	file = fixture_open(fixture, "twin.so");
	assert_non_null(file);
	assert_string_equal(elf_soname(file), "libtwin.so.7");

	const struct elf_symbol *twin = elf_find_symbol(file, "twin");

	assert_non_null(twin);
	assert_false(twin->dynamic);
	const struct elf_symbol *other = elf_find_next(file, twin);

	assert_non_null(other);
	assert_string_equal(other->name, "twin");
	assert_true(other->value != twin->value);
	assert_null(elf_find_next(file, other));
	assert_non_null(elf_find_symbol(file, "untyped"));
	assert_null(elf_find_symbol(file, "constant"));
	assert_non_null(elf_find_symbol(file, "table"));
	assert_true(elf_find_symbol(file, "second_user")->dynamic);
	elf_unref(file);
}

static const char init_source[] =
	"int seen;\n#ifdef HIDDEN\n#pragma GCC visibility push(hidden)\n#endif\n"
	"__attribute__((constructor(101))) void first_constructor(void){seen=1;}\n"
	"__attribute__((constructor(102))) void second_constructor(void){seen=2;}\n";

static void check_init(const struct fixture *fixture, const char *arguments, bool required)
{
	struct elf_file *file;

	if (fixture_compile(fixture, arguments)) {
		assert_false(required);
		return;
	}
	file = fixture_open(fixture, "init.so");
	assert_non_null(file);
	assert_int_equal(elf_init_function(file),
			 elf_find_symbol(file, "first_constructor")->value);
	elf_unref(file);
}

static void first_initialisation_function(void **state)
{
	static const char *const variants[] = {
		"",
		"-Wl,-z,pack-relative-relocs",
		"-fuse-ld=lld",
		"-fuse-ld=lld -Wl,--pack-dyn-relocs=relr",
		"-fuse-ld=gold",
		"-fuse-ld=mold",
		"-m32",
		"-Wl,-init,first_constructor",
	};
	char arguments[256];
	struct fixture *fixture = *state;

	fixture_write(fixture, "init.c", init_source, sizeof init_source - 1);
	if (fixture_compile(fixture, "-shared -fPIC -nostdlib init.c -o init.so"))
		skip();
	for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
		snprintf(arguments, sizeof arguments,
			 "-shared -fPIC -nostdlib %s init.c -o init.so", variants[i]);
		check_init(fixture, arguments, !*variants[i]);
		snprintf(arguments, sizeof arguments,
			 "-shared -fPIC -nostdlib -DHIDDEN %s init.c -o init.so", variants[i]);
		check_init(fixture, arguments, !*variants[i]);
	}
}

static int open_bytes(const void *bytes, size_t length)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);
	struct elf_file *file = NULL;

	assert_int_equal(write(fd, bytes, length), (ssize_t)length);
	int result = elf_open(fd, &file);

	close(fd);
	elf_unref(file);
	return result;
}

static void what_is_no_elf_file_is_refused(void **state)
{
	Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			     .e_type = ET_DYN,
			     .e_machine = EM_X86_64,
			     .e_phentsize = sizeof(Elf64_Phdr),
			     .e_phoff = sizeof header};
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
	} good = {.header = header, .segment = {.p_type = PT_LOAD}};
	struct elf_file *file;
	int fd = open("/", O_RDONLY | O_CLOEXEC);
	(void)state;

	good.header.e_phnum = 1;
	assert_int_equal(elf_open(fd, &file), -EISDIR);
	close(fd);
	assert_int_equal(elf_open(-1, &file), -EBADF);
	assert_int_equal(open_bytes("", 0), -ENOEXEC);
	assert_int_equal(open_bytes("#!/bin/sh\necho some script\n", 27), -ENOEXEC);
	assert_int_equal(open_bytes(&good, sizeof good), 0);
	assert_int_equal(open_bytes(&good, sizeof good - 1), -ENOEXEC);
	assert_int_equal(open_bytes(&good, 40), -ENOEXEC);
	assert_int_equal(open_bytes(&header, sizeof header), -ENOEXEC);
	good.header.e_type = ET_REL;
	assert_int_equal(open_bytes(&good, sizeof good), -ENOEXEC);
	good.header.e_type = ET_DYN;
	good.header.e_machine = EM_AARCH64;
	assert_int_equal(open_bytes(&good, sizeof good), -ENOTSUP);
	good.header.e_machine = EM_X86_64;
	good.header.e_ident[EI_CLASS] = ELFCLASS32; /* x32 */
	assert_int_equal(open_bytes(&good, sizeof good), -ENOTSUP);
	good.header.e_ident[EI_CLASS] = ELFCLASS64;
	good.header.e_ident[EI_DATA] = ELFDATA2MSB;
	assert_int_equal(open_bytes(&good, sizeof good), -ENOTSUP);
}

static void the_cache_knows_files_by_identity(void **state)
{
	struct fixture *fixture = *state;
	struct elf_cache *cache = elf_cache_create();
	struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	struct elf_file *first, *again, *changed;
	size_t length;
	char path[512], other[512];
	struct module self = {.name = "libc.so.6"};

	dl_iterate_phdr(find_module, &self);
	fixture_path(fixture, path, sizeof path, "cached");
	fixture_path(fixture, other, sizeof other, "linked");
	int fd = open(self.path, O_RDONLY | O_CLOEXEC);
	unsigned char bytes[8192];

	length = (size_t)read(fd, bytes, sizeof bytes);
	close(fd);
	assert_int_equal(fixture_write(fixture, "cached", bytes, length), 0);
	assert_int_equal(link(path, other), 0);

	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(elf_cache_open(cache, fd, &first), 0);
	close(fd);
	fd = open(other, O_RDONLY | O_CLOEXEC);
	assert_int_equal(elf_cache_open(cache, fd, &again), 0);
	assert_ptr_equal(first, again);
	assert_int_equal(futimens(fd, times), 0);
	assert_int_equal(elf_cache_open(cache, fd, &changed), 0);
	assert_ptr_not_equal(first, changed);
	close(fd);
	elf_cache_destroy(cache);
	assert_true(elf_is_pie(first)); /* the test's references outlive it */
	elf_unref(first);
	elf_unref(again);
	elf_unref(changed);
}

static size_t mapped_below(const char *directory)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[1024];
	size_t count = 0;

	while (fgets(line, sizeof line, maps))
		count += strstr(line, directory) != NULL;
	fclose(maps);
	return count;
}

static struct elf_file *open_cached(struct elf_cache *cache, const char *path)
{
	struct elf_file *file = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_int_equal(elf_cache_open(cache, fd, &file), 0);
	close(fd);
	return file;
}

/* Like a process that compiles, loads and deletes a library every minute. */
static void the_cache_lets_go_what_nobody_uses(void **state)
{
	enum { FILES = 500, AT_MOST = 100 };
	struct fixture *fixture = *state;
	struct elf_cache *cache = elf_cache_create();
	struct module self = {.name = "libc.so.6"};
	unsigned char bytes[8192];
	char path[512];

	dl_iterate_phdr(find_module, &self);
	int fd = open(self.path, O_RDONLY | O_CLOEXEC);
	size_t length = (size_t)read(fd, bytes, sizeof bytes);

	close(fd);
	assert_int_equal(fixture_write(fixture, "in-use", bytes, length), 0);
	fixture_path(fixture, path, sizeof path, "in-use");
	struct elf_file *in_use = open_cached(cache, path);

	for (int i = 0; i < FILES; i++) {
		char name[32];

		snprintf(name, sizeof name, "file%d", i);
		assert_int_equal(fixture_write(fixture, name, bytes, length), 0);
		fixture_path(fixture, path, sizeof path, name);
		elf_unref(open_cached(cache, path));
		/* The file is still in the cache when it is soon asked for again. */
		struct elf_file *again = open_cached(cache, path);

		unlink(path);
		assert_true(elf_is_pie(again));
		elf_unref(again);
		assert_true(mapped_below(fixture->directory) <= AT_MOST);
	}
	fixture_path(fixture, path, sizeof path, "in-use");
	struct elf_file *same = open_cached(cache, path);

	assert_ptr_equal(same, in_use);
	elf_unref(same);
	elf_unref(in_use);
	elf_cache_destroy(cache);
	assert_int_equal(mapped_below(fixture->directory), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_headers),
		cmocka_unit_test(contents_are_those_mapped),
		cmocka_unit_test(libc_symbols_are_where_dlsym_finds_them),
		cmocka_unit_test(names_are_found_without_decoding_first),
		cmocka_unit_test(code_has_names),
		cmocka_unit_test(undefined_symbols_have_no_value),
		WITH_FIXTURE(symtab_has_twins_and_untyped_code),
		WITH_FIXTURE(first_initialisation_function),
		cmocka_unit_test(what_is_no_elf_file_is_refused),
		WITH_FIXTURE(the_cache_knows_files_by_identity),
		WITH_FIXTURE(the_cache_lets_go_what_nobody_uses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

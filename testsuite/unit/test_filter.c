/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filter patterns: what they parse to, what they match, and where they are wrong. */
#include "probe/filter.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct filter parse(const char *text)
{
	struct filter filter;
	char *error;

	if (filter_parse(&filter, text, true, &error))
		fail_msg("%s", error);
	assert_null(error);
	assert_string_equal(filter.text, text);
	return filter;
}

/* NULL stands for an absent module. */
static void check(const char *text, const char *name, const char *module, bool glob)
{
	struct filter filter = parse(text);

	assert_string_equal(filter.name, name);
	assert_int_equal(filter.name_is_glob, glob);
	assert_null(filter.slot_symbol);
	if (module)
		assert_string_equal(filter.module, module);
	else
		assert_null(filter.module);
	filter_deinit(&filter);
	assert_null(filter.text);
}

static void names_and_modules(void **state)
{
	(void)state;
	check("malloc", "malloc", NULL, false);
	check("malloc@libc.so.6", "malloc", "libc.so.6", false);
	check("*alloc", "*alloc", NULL, true);
	check("*", "*", NULL, true);
	check("*@MAIN", "*", "MAIN", true);
	check("mem???", "mem???", NULL, true);
	check("[fg]ree@lib*", "[fg]ree", "lib*", true);
	check("a[]@]b@m", "a[]@]b", "m", true);
	check("a[[:alpha:]@]@m", "a[[:alpha:]@]", "m", true);
	check("a\\[b", "a\\[b", NULL, true);
	check("operator new(unsigned long)", "operator new(unsigned long)", NULL, false);
	check("f@/usr/lib/libx.so.1", "f", "/usr/lib/libx.so.1", false);
	check("f@@VERSION_1.2", "f", NULL, false);
	check("f@@VERSION_1.2@libx.so", "f", "libx.so", false);
}

static void check_slot(const char *text, const char *symbol, uint64_t offset, const char *name,
		       const char *module)
{
	struct filter filter = parse(text);

	assert_string_equal(filter.slot_symbol, symbol);
	assert_int_equal(filter.slot_offset, offset);
	assert_string_equal(filter.name, name);
	assert_false(filter.name_is_glob);
	if (module)
		assert_string_equal(filter.module, module);
	else
		assert_null(filter.module);
	filter_deinit(&filter);
}

static void slots(void **state)
{
	(void)state;
	check_slot("*mysqlnd_methods+0x18=mysqlnd_query", "mysqlnd_methods", 0x18, "mysqlnd_query",
		   NULL);
	check_slot("*table+24=f", "table", 24, "f", NULL);
	check_slot("*table=f", "table", 0, "f", NULL);
	check_slot("*table+0=f@lib*.so", "table", 0, "f", "lib*.so");
	check_slot("*table+08=f", "table", 8, "f", NULL);
	check_slot("*t+0xffffffffffffffff=f", "t", UINT64_MAX, "f", NULL);
}

static void check_error(const char *text, bool allow_slot, const char *where)
{
	struct filter filter;
	char *error;

	assert_int_equal(filter_parse(&filter, text, allow_slot, &error), -EINVAL);
	assert_non_null(error);
	if (!strstr(error, where))
		fail_msg("%s: expected '%s' in: %s", text, where, error);
	assert_non_null(strstr(error, text));
	assert_null(filter.name);
	free(error);
}

static void errors_name_the_position(void **state)
{
	(void)state;
	check_error("", true, "character 1");
	check_error("@libc.so.6", true, "character 1");
	check_error("malloc@", true, "character 8");
	check_error("mal[loc", true, "character 4");
	check_error("mal[loc@libc", true, "character 4");
	check_error("x[!]", true, "character 2");
	check_error("x[[:alpha:]", true, "character 2");
	check_error("malloc@lib[", true, "character 11");
	check_error("malloc@libc@libm", true, "character 12");
	check_error("f@@V@", true, "character 6");
	check_error("*sym+8=f", false, "character 1");
	check_error("*=f", true, "character 2");
	check_error("*+8=f", true, "character 2");
	check_error("*sym+8=", true, "character 8");
	check_error("*sym+=f", true, "character 6");
	check_error("*sym+x=f", true, "character 6");
	check_error("*sym+0x=f", true, "character 8");
	check_error("*sym+0x0x1=f", true, "character 9");
	check_error("*sym+8z=f", true, "character 7");
	check_error("*sym+-8=f", true, "character 6");
	check_error("*sym+ 8=f", true, "character 6");
	check_error("*sym+0x10000000000000000=f", true, "character 8");
	check_error("*sy*m+8=f", true, "character 4");
	check_error("*sym+8=f*", true, "character 9");
}

static bool matches(const char *text, const char *name)
{
	struct filter filter = parse(text);
	bool result = filter_matches_name(&filter, name);

	filter_deinit(&filter);
	return result;
}

static void names_match_without_versions(void **state)
{
	(void)state;
	assert_true(matches("malloc", "malloc"));
	assert_false(matches("malloc", "mallo"));
	assert_false(matches("malloc", "malloc2"));
	assert_true(matches("malloc", "malloc@@GLIBC_2.2.5"));
	assert_true(matches("mysql_*query", "mysql_real_query@libmariadbclient_18"));
	assert_false(matches("malloc*5", "malloc@@GLIBC_2.2.5"));
	assert_true(matches("?alloc", "malloc"));
	assert_true(matches("[!c]alloc", "malloc"));
	assert_false(matches("[!m]alloc", "malloc"));
	assert_true(matches("a\\*b", "a*b"));
	assert_false(matches("a\\*b", "axb"));
	assert_false(matches("malloc", ""));
	assert_true(matches("*", ""));
}

static bool module_matches(const char *text, const char *soname, const char *path, bool is_main)
{
	struct filter filter = parse(text);
	bool result = filter_matches_module(&filter, soname, path, is_main);

	filter_deinit(&filter);
	return result;
}

static void modules_match_by_soname_path_and_file_name(void **state)
{
	static const char path[] = "/usr/lib/libmariadb.so.3.4";
	static const char soname[] = "libmariadb.so.3";
	(void)state;

	assert_true(module_matches("f", soname, path, false));
	assert_true(module_matches("f@libmariadb.so.3", soname, path, false));
	assert_true(module_matches("f@libmariadb.so.3.4", soname, path, false));
	assert_true(module_matches("f@libmariadb*", NULL, path, false));
	assert_true(module_matches("f@/usr/lib/*", soname, path, false));
	assert_true(module_matches("f@*/lib/*", soname, path, false));
	assert_false(module_matches("f@/lib*", soname, path, false));
	assert_false(module_matches("f@libmysql*", soname, path, false));
	assert_false(module_matches("f@libmariadb.so.3", NULL, path, false));
	assert_true(module_matches("f@MAIN", NULL, "/bin/true", true));
	assert_false(module_matches("f@MAIN", NULL, "/tmp/MAIN", false));
	assert_true(module_matches("f@true", NULL, "/bin/true", true));
	assert_true(module_matches("f@true", NULL, "true", true));
	assert_false(module_matches("f@false", NULL, "", true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_modules),
		cmocka_unit_test(slots),
		cmocka_unit_test(errors_name_the_position),
		cmocka_unit_test(names_match_without_versions),
		cmocka_unit_test(modules_match_by_soname_path_and_file_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

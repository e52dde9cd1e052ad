/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filters: which functions their chains of rules select, and where errors are reported. */
#include "probe/filter.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct filter parse_as(const char *text, enum filter_syntax syntax)
{
	struct filter filter;
	char *error;

	if (filter_parse(&filter, text, syntax, &error))
		fail_msg("%s", error);
	assert_null(error);
	return filter;
}

static const char libc_path[] = "/usr/lib/x86_64-linux-gnu/libc.so.6";

/* Returns true if `name` of the module is selected. */
static bool asks_of(const char *text, enum filter_syntax syntax, const char *name,
		    const char *soname, const char *path, bool is_main)
{
	struct filter filter = parse_as(text, syntax);
	struct filter_module module = {.soname = soname, .path = path, .is_main = is_main};
	bool entered = filter_enter(&filter, &module);
	bool asked = filter_asks(&filter, name) != NULL;

	assert_true(entered || !asked);
	filter_deinit(&filter);
	assert_null(filter.rules.items);
	return asked;
}

static bool in_libc(const char *text, const char *name)
{
	return asks_of(text, FILTER_CALLS, name, "libc.so.6", libc_path, false);
}

static bool in_main(const char *text, const char *name)
{
	return asks_of(text, FILTER_CALLS, name, NULL, "/opt/my-app/bin/prog", true);
}

static bool in_file(const char *text, const char *file)
{
	return asks_of(text, FILTER_CALLS, "f", NULL, file, false);
}

static void names(void **state)
{
	(void)state;
	assert_true(in_libc("malloc", "malloc"));
	assert_false(in_libc("malloc", "mallo"));
	assert_false(in_libc("malloc", "malloc2"));
	assert_false(in_libc("malloc", ""));
	assert_true(in_libc("malloc", "malloc@@GLIBC_2.2.5"));
	assert_true(in_libc("malloc@@GLIBC_2.2.5", "malloc"));
	assert_true(in_libc("malloc@@GLIBC_2.2.5@libc.so.6+free", "malloc"));
	assert_true(in_libc("mysql_*query", "mysql_real_query@libmariadbclient_18"));
	assert_false(in_libc("malloc*5", "malloc@@GLIBC_2.2.5"));
	assert_true(in_libc("?alloc", "malloc"));
	assert_true(in_libc("[!c]alloc", "malloc"));
	assert_false(in_libc("[!m]alloc", "malloc"));
	assert_true(in_libc("a[]@+-]b", "a+b"));
	assert_true(in_libc("a[[:alpha:]@]@libc.so.6", "ab"));
	assert_true(in_libc("a\\*b", "a*b"));
	assert_false(in_libc("a\\*b", "axb"));
	assert_true(in_libc("a\\-b", "a-b"));
	assert_true(in_libc("^malloc$", "malloc"));
	assert_true(in_libc("^m*c$", "malloc"));
	assert_true(in_libc("a\\$", "a$"));
	assert_false(in_libc("^$", "malloc"));
	assert_true(in_libc("*", ""));
	assert_true(in_libc("operator new(unsigned long)", "operator new(unsigned long)"));
}

static void expressions(void **state)
{
	(void)state;
	assert_true(in_libc("/m.*c/", "malloc"));
	assert_false(in_libc("/all/", "malloc"));
	assert_true(in_libc("/\\(malloc\\|free\\)/", "free"));
	assert_true(in_libc("/malloc\\|free/", "free"));
	assert_false(in_libc("/malloc\\|free/", "freed"));
	assert_true(in_libc("/m[a-z]*/@/libc\\.so\\..*/", "malloc"));
	assert_true(in_libc("/m[a-z]*@libc.*/", "malloc"));
	assert_false(in_libc("/m[a-z]*@libm.*/", "malloc"));
	assert_true(in_libc("m*@/libc.*/+free", "free"));
	assert_true(in_libc("free+/m.*c/-calloc", "malloc"));
	assert_false(in_libc("-/m.*c/", "malloc"));
	assert_true(in_libc("-/m.*c/", "free"));
	assert_false(in_libc("malloc-@/lib[cm].*/", "malloc"));
}

/* Large and unusual patterns that are valid. */
static void patterns_that_are_fine(void **state)
{
	static const char *const patterns[] = {"a\\\\",
					       "[a-z-]x",
					       "[]-a]",
					       "[a-a]",
					       "[[:digit:]-x]",
					       "[\\]-z]",
					       "[a-]",
					       "/a\\{200\\}b\\{1,200\\}c*/",
					       "/[a\\{9999\\}]/",
					       "/\\(a\\{9\\}\\)\\{9\\}/",
					       "/x\\{0\\}y*/",
					       "/a{30000}/"};

	(void)state;
	for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
		struct filter filter;
		char *error = NULL;

		if (filter_parse(&filter, patterns[i], FILTER_ENTRIES, &error))
			fail_msg("%s", error);
		filter_deinit(&filter);
	}
}

static void chains(void **state)
{
	(void)state;
	assert_true(in_libc("malloc+free", "malloc"));
	assert_true(in_libc("malloc+free", "free"));
	assert_false(in_libc("malloc+free", "calloc"));
	assert_true(in_libc("+malloc", "malloc"));
	assert_false(in_libc("malloc+free-@libc.so*", "free"));
	assert_true(in_main("malloc+free-@libc.so*", "free"));
	assert_true(in_libc("-malloc", "free"));
	assert_false(in_libc("-malloc", "malloc"));
	assert_true(in_libc("!malloc", "free"));
	assert_false(in_libc("!malloc-free+calloc", "malloc"));
	assert_false(in_libc("!malloc-free", "free"));
	assert_false(in_libc("malloc-!free", "free"));
	/* Rules apply from left to right. */
	assert_true(in_libc("m*-malloc+mal*", "malloc"));
	assert_false(in_libc("m*+mal*-malloc", "malloc"));
	assert_false(in_libc("m*-@+free", "malloc"));
	assert_true(in_libc("m*-@+free", "free"));
	assert_true(in_libc("@", "free"));
	assert_true(in_libc("f*@", "free"));
	assert_true(in_libc("@libc.so.6", "free"));
	assert_false(in_main("@libc.so.6", "free"));
}

static void modules(void **state)
{
	(void)state;
	assert_true(in_libc("f@libc.so.6", "f"));
	assert_true(in_libc("f@lib*", "f"));
	assert_true(in_libc("f@/usr/lib/x86_64-linux-gnu/libc.so.6", "f"));
	assert_true(in_libc("f@/usr/lib/*", "f"));
	assert_true(in_libc("f@*/x86_64-linux-gnu/*", "f"));
	assert_false(in_libc("f@/lib*", "f"));
	assert_false(in_libc("f@libm*", "f"));
	assert_false(in_libc("f@MAIN", "f"));
	assert_true(asks_of("f@libz.so.1.2", FILTER_CALLS, "f", "libz.so.1", "/lib/libz.so.1.2",
			    false));
	assert_true(
		asks_of("f@libz.so.1", FILTER_CALLS, "f", "libz.so.1", "/lib/libz.so.1.2", false));
	assert_false(asks_of("f@libz.so.1", FILTER_CALLS, "f", NULL, "/lib/libz.so.1.2", false));
	assert_true(in_main("f@MAIN", "f"));
	assert_true(in_main("@MAIN-g", "f"));
	assert_false(in_main("@MAIN-f", "f"));
	assert_true(in_main("f@prog", "f"));
	assert_false(in_main("f@^MAIN", "f"));
	assert_false(in_file("f@MAIN", "/tmp/MAIN"));
	assert_true(in_file("f@^MAIN", "/tmp/MAIN"));
	assert_true(in_file("f@[M]AIN", "/tmp/MAIN"));
}

/* Signs in the names of libraries. */
static void signs_in_libraries(void **state)
{
	(void)state;
	assert_true(in_file("f@ld-linux-x86-64.so.2", "/lib64/ld-linux-x86-64.so.2"));
	assert_true(in_file("f@libstdc++.so.6", "/lib/libstdc++.so.6"));
	assert_true(in_file("g+f@libstdc++.so.6-g", "/lib/libstdc++.so.6"));
	assert_true(in_file("f@libstdc++*", "/lib/libstdc++.so.6"));
	assert_false(in_file("f@libstdc++*-f", "/lib/libstdc++.so.6"));
	assert_true(in_file("g@libstdc*+f@notepad++", "/bin/notepad++"));
	assert_false(in_file("f@libstdc++.so.6-f", "/lib/libstdc++.so.6"));
	assert_true(in_file("f@_x.cpython-311-x86_64-linux-gnu.so",
			    "_x.cpython-311-x86_64-linux-gnu.so"));
	assert_false(in_file("f@libx.so-f@libx.so", "/lib/libx.so"));
	assert_false(in_file("*@lib*-@libx.so", "/lib/libx.so"));
	assert_true(in_main("f@/opt/my-app/bin/prog", "f"));
	assert_true(in_main("g@/opt/my-app/bin/prog+f", "f"));
	assert_false(in_main("@/opt/my-app/bin/prog-/[fg]/", "f"));
	assert_true(in_file("f@some\\-prog", "/bin/some-prog"));
	assert_true(in_file("f@some[-]prog", "/bin/some-prog"));
	assert_true(in_file("f@some-prog", "/bin/some"));
}

/* Asserts that the chain has these rules, with their text as in messages; NULL ends the list. */
static void check_rules(const char *text, enum filter_syntax syntax, const char *const *rules)
{
	struct filter filter = parse_as(text, syntax);
	size_t first = *text == '-', count = 0; /* the implied rule has no text */

	for (; rules[count]; count++) {
		const struct filter_rule *rule;

		if (first + count == filter.rules.count)
			fail_msg("%s: no rule '%s'", text, rules[count]);
		rule = vec_at(&filter.rules, first + count);
		if (strcmp(rule->text, rules[count]))
			fail_msg("%s: '%s' and not '%s'", text, rule->text, rules[count]);
	}
	assert_int_equal(filter.rules.count, first + count);
	filter_deinit(&filter);
}

#define RULES(...)                                                                                 \
	(const char *const[])                                                                      \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}

static void rules_behind_paths(void **state)
{
	static const char *const both[] = {"-@/tmp/f/*.so.2-@/^lib.*/", "-@/tmp/f/*.so.2+@/opt/x",
					   "-@/tmp/f/*.so.2-f@/lib[^/]*/", "-@/tmp/f/*.so.2-/f.*/",
					   "-@/tmp/f/*.so.2+/f.*@lib.*/"};

	(void)state;
	for (size_t i = 0; i < sizeof both / sizeof *both; i++) {
		const char *second = both[i] + strlen("-@/tmp/f/*.so.2-");

		check_rules(both[i], FILTER_CALLS, RULES("@/tmp/f/*.so.2", second));
		check_rules(both[i], FILTER_LIBRARIES, RULES("@/tmp/f/*.so.2", second));
	}
	check_rules("one_a-@/tmp/*-@/.*one.*/", FILTER_CALLS,
		    RULES("one_a", "@/tmp/*", "@/.*one.*/"));
	check_rules("/tmp/*-@/.*one.*/", FILTER_LIBRARIES, RULES("/tmp/*", "@/.*one.*/"));
	check_rules("/tmp/*-/.*one.*/", FILTER_LIBRARIES, RULES("/tmp/*", "/.*one.*/"));
	check_rules("@/tmp/a-f@/lib.*/", FILTER_CALLS, RULES("@/tmp/a", "f@/lib.*/"));
	check_rules("@/tmp/a-f+/f.*/@MAIN", FILTER_CALLS, RULES("@/tmp/a", "f", "/f.*/@MAIN"));
	check_rules("@libstdc+++@MAIN", FILTER_CALLS, RULES("@libstdc++", "@MAIN"));
	assert_false(in_main("@-@/opt/my-app/*-@/.*one.*/", "f"));
	assert_true(in_main("-@/tmp/*-@/.*one.*/", "f"));
	assert_false(in_main("-@/tmp/*-@/pr.*/", "f"));
	/* Behind these signs there is no regular expression, but the rest of the path. */
	check_rules("@/opt/c++/lib", FILTER_CALLS, RULES("@/opt/c++/lib"));
	check_rules("@/opt/c-/lib", FILTER_CALLS, RULES("@/opt/c-/lib"));
	check_rules("@/opt/c-/lib/x-/f.*/", FILTER_CALLS, RULES("@/opt/c-/lib/x", "/f.*/"));
	check_rules("@/opt/my-c-/lib/x", FILTER_CALLS, RULES("@/opt/my-c-/lib/x"));
	assert_true(in_file("f@/opt/c-/lib/x", "/opt/c-/lib/x"));
	check_rules("@/opt/c-/lib/-x", FILTER_CALLS, RULES("@/opt/c", "/lib/", "x"));
	assert_true(in_file("f@/opt/c\\-/lib/\\-x", "/opt/c-/lib/-x"));
}

static bool to_libc(const char *text, const char *name)
{
	return asks_of(text, FILTER_LIBRARIES, name, "libc.so.6", libc_path, false);
}

static void libraries_alone(void **state)
{
	(void)state;
	assert_true(to_libc("libc.so.6", "malloc"));
	assert_true(to_libc("libc*", "malloc"));
	assert_false(to_libc("libm*", "malloc"));
	assert_true(to_libc("libm.so.6+libc.so.6", "malloc"));
	assert_true(to_libc("@libc.so.6", "malloc"));
	assert_true(to_libc("malloc@libc.so.6", "malloc"));
	assert_false(to_libc("malloc@libc.so.6", "free"));
	assert_false(to_libc("libc.so.6-malloc@", "malloc"));
	assert_true(to_libc("/libc.*/", "malloc"));
	assert_true(to_libc("/m.*@libc.*/", "malloc"));
	assert_true(to_libc("/m.*/@libc.so.6", "malloc"));
	assert_true(to_libc(libc_path, "malloc"));
	assert_false(to_libc("-libc*", "malloc"));
}

static const struct filter_rule *rule_at(const struct filter *filter, size_t index)
{
	assert_true(index < filter->rules.count);
	return vec_at(&filter->rules, index);
}

/* Returns true if the LIB `text` is the library; its file has another name than its SONAME. */
static bool is_library(const char *text, const char *soname, const char *program)
{
	struct filter filter = parse_as(text, FILTER_LIBRARIES);
	struct filter_module module = {
		.soname = soname, .path = "/x/libother.so.1", .program = program};
	bool entered = filter_enter(&filter, &module);

	filter_deinit(&filter);
	return entered;
}

static void short_names_of_libraries(void **state)
{
	static const char *const good[] = {"libssl.so.3", "libssl", "ssl",    "SSL_*@ssl",
					   "^ssl$",	  "other",  "-z+ssl", "libother.so.1"};
	static const char *const bad[] = {"ss",	       "sl",	  "lib",       "libssl.so",
					  "ssl.so.3",  "ssl.so",  "sslx",      "libss",
					  "liblibssl", "lib*.so", "libss?.so", "/ssl/",
					  "./ssl",     "/x/ssl",  "/x/other",  "ssl-*@ssl"};

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		if (!is_library(good[i], "libssl.so.3", "/usr/bin/prog"))
			fail_msg("%s", good[i]);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (is_library(bad[i], "libssl.so.3", NULL))
			fail_msg("%s", bad[i]);
	/* The .so that ends the name counts. */
	assert_true(is_library("a.sort", "liba.sort.so", NULL));
	assert_false(is_library("a", "liba.sort.so", NULL));
	assert_true(is_library("other", NULL, NULL));
	/* The program's own name is the program's. */
	assert_false(is_library("ssl", "libssl.so.3", "/usr/bin/ssl"));
	assert_true(is_library("libssl", "libssl.so.3", "/usr/bin/ssl"));
	assert_true(asks_of("f@ssl", FILTER_CALLS, "f", NULL, "/usr/bin/ssl", true));
}

static void rules_know_what_they_found(void **state)
{
	struct filter filter = parse_as("malloc+m*@libc.so.6-mmap+free@libm.so.6", FILTER_CALLS);
	struct filter_module module = {.soname = "libc.so.6", .path = libc_path};

	(void)state;
	assert_int_equal(filter.rules.count, 4);
	assert_string_equal(rule_at(&filter, 1)->text, "m*@libc.so.6");
	assert_true(filter_enter(&filter, &module));
	assert_ptr_equal(filter_asks(&filter, "malloc"), rule_at(&filter, 0));
	assert_ptr_equal(filter_asks(&filter, "memcpy"), rule_at(&filter, 1));
	assert_null(filter_asks(&filter, "mmap"));
	assert_false(filter_is_plain(&filter));
	assert_true(filter_asks_all(&filter));
	assert_true(filter_may_ask(&filter, "free"));
	assert_false(filter_may_ask(&filter, "calloc"));
	filter_missed(&filter, NULL, MISS_NAME);
	filter_missed(&filter, "malloc", MISS_NO_STUB);
	filter_missed(&filter, "malloc", MISS_NAME);
	assert_int_equal(rule_at(&filter, 0)->miss, MISS_NO_STUB);
	assert_int_equal(rule_at(&filter, 3)->miss, MISS_MODULE);
	filter_found(&filter, "memcpy");
	assert_false(rule_at(&filter, 0)->matched);
	assert_true(rule_at(&filter, 1)->matched);
	filter_deinit(&filter);
	filter = parse_as("a+b", FILTER_CALLS);
	assert_true(filter_enter(&filter, &module));
	assert_true(filter_is_plain(&filter));
	assert_false(filter_asks_all(&filter));
	filter_deinit(&filter);
	/* Rules before a removal have no effect on what it removes. */
	filter = parse_as("a+b-@libc*", FILTER_CALLS);
	assert_false(filter_enter(&filter, &module));
	assert_int_equal(rule_at(&filter, 0)->miss, MISS_TAKEN_BACK);
	filter_deinit(&filter);
	filter = parse_as("-a", FILTER_CALLS);
	assert_null(rule_at(&filter, 0)->text);
	filter_deinit(&filter);
}

static void files_have_names(void **state)
{
	static const char *const good[] = {"f@libz.so.1",	"f@libz.so.1.2.13",
					   "f@libown.so",	"f@/lib/x/libz.so.1",
					   "f@./libown.so",	"f@/usr/lib/x/libz.so.1.*",
					   "f@/usr/*/libz.so.1"};
	static const char *const bad[] = {"f@libz.so", "f@/lib/*/libz.so.1.2.13", "f@own.so"};
	const struct filter_module module = {.path = "/lib/x/libz.so.1",
					     .mapped = "/usr/lib/x/libz.so.1.2.13",
					     .listed = "./libown.so"};

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good + sizeof bad / sizeof *bad; i++) {
		const bool is_good = i < sizeof good / sizeof *good;
		const char *text = is_good ? good[i] : bad[i - sizeof good / sizeof *good];
		struct filter filter = parse_as(text, FILTER_ENTRIES);

		if (filter_enter(&filter, &module) != is_good)
			fail_msg("%s", text);
		filter_deinit(&filter);
	}
}

static void check_slot(const char *text, const char *symbol, uint64_t offset, uint64_t index,
		       const char *name, const char *module)
{
	struct filter filter = parse_as(text, FILTER_ENTRIES);
	const struct filter_rule *rule = rule_at(&filter, 0);

	assert_string_equal(filter.slot_symbol, symbol);
	assert_int_equal(filter.slot_offset, offset);
	assert_int_equal(filter.slot_index, index);
	assert_int_equal(rule->symbol.kind, PATTERN_PLAIN);
	assert_string_equal(rule->symbol.text, name);
	if (module)
		assert_string_equal(rule->module.text, module);
	else
		assert_int_equal(rule->module.kind, PATTERN_ANY);
	filter_deinit(&filter);
}

static void slots(void **state)
{
	(void)state;
	check_slot("*mysqlnd_methods+0x18=mysqlnd_query", "mysqlnd_methods", 0x18, 0,
		   "mysqlnd_query", NULL);
	check_slot("*table+24=f", "table", 24, 0, "f", NULL);
	check_slot("*table=f", "table", 0, 0, "f", NULL);
	check_slot("*table+0=f@lib*.so", "table", 0, 0, "f", "lib*.so");
	check_slot("*table+08=f", "table", 8, 0, "f", NULL);
	check_slot("*t+0xffffffffffffffff=f", "t", UINT64_MAX, 0, "f", NULL);
	check_slot("*table[3]=f", "table", 0, 3, "f", NULL);
	check_slot("*table[0x10]=f@lib*.so", "table", 0, 16, "f", "lib*.so");
}

static void check_error_as(const char *text, enum filter_syntax syntax, const char *where)
{
	struct filter filter;
	char *error;

	assert_int_equal(filter_parse(&filter, text, syntax, &error), -EINVAL);
	assert_non_null(error);
	if (!strstr(error, where))
		fail_msg("%s: expected '%s' in: %s", text, where, error);
	assert_non_null(strstr(error, text));
	assert_null(filter.rules.items);
	free(error);
}

static void check_error(const char *text, const char *where)
{
	check_error_as(text, FILTER_ENTRIES, where);
}

static void errors_name_the_position(void **state)
{
	(void)state;
	check_error("", "character 1:");
	check_error("+", "character 2:");
	check_error("-", "character 2:");
	check_error("!", "character 2:");
	check_error("malloc+", "character 8:");
	check_error("malloc+-free", "character 8:");
	check_error("malloc@libc.so.6-", "character 18:");
	check_error("mal[loc", "character 4:");
	check_error("mal[loc@libc", "character 4:");
	check_error("free+mal[loc", "character 9:");
	check_error("x[!]", "character 2:");
	check_error("x[[:alpha:]", "character 2:");
	check_error("malloc@lib[", "character 11:");
	check_error("malloc@libc@libm", "character 12:");
	/* Patterns that cannot match. */
	check_error("mal\\", "character 4: '\\' with nothing behind it");
	check_error("malloc@libc\\", "character 12: '\\'");
	check_error("/a", "character 1: a regular expression that has no second '/'");
	check_error("/a\\/b", "character 1: a regular expression that has no second '/'");
	check_error("/a/b", "character 4: behind a regular expression '+', '-', '@' or the end");
	check_error("free+/usr/lib/libc.so.6", "character 11: behind a regular expression");
	check_error("a[xz-a]", "character 4: a range that ends before it begins");
	check_error("a[x[:foo:]]", "character 4: no such class of characters");
	check_error("a[^[:alphanumeric-and-more:]]", "character 4: no such class of characters");
	check_error("f@[!9-0]*", "character 5: a range");
	check_error("[[:alpha:]b-a]", "character 11: a range");
	/* A pattern that would take all memory. */
	check_error("/\\(a*b*\\)\\{20000\\}/", "character 10: this makes");
	check_error("/a\\{99999999999999999999\\}/", "character 3: this makes");
	check_error("/\\(\\(x\\{0,99\\}\\)\\{99\\}y\\)*/", "character 17: this makes");
	check_error("/[\\]a\\{9,32000\\}b]/", "character 6: this makes");
	check_error("f@/a\\{3000\\}[]]\\{3000\\}/", "character 16: this makes");
	check_error("a-malloc@libc@libm", "character 14:");
	check_error("f@@V@l@m", "character 7:");
	check_error("/abc", "character 1:");
	check_error("f+/abc", "character 3:");
	check_error("/abc/def", "character 6: behind");
	check_error("/a\\(b/", "character 2:");
	check_error("f@/a\\(b/", "character 4:");
	check_error("/a@b\\(/", "character 4:");
	check_error("/a@b/@c", "character 6:");
	check_error("/a\\)b/", "character 2:");
	check_error_as("*sym+8=f", FILTER_CALLS, "character 1:");
	check_error("*=f", "character 2:");
	check_error("*+8=f", "character 2:");
	check_error("*sym+8=", "character 8:");
	check_error("*sym+8=@lib", "character 8:");
	check_error("*sym+=f", "character 6:");
	check_error("*sym+x=f", "character 6:");
	check_error("*sym+0x=f", "character 8:");
	check_error("*sym+0x0x1=f", "character 9:");
	check_error("*sym+8z=f", "character 7:");
	check_error("*sym+-8=f", "character 6:");
	check_error("*sym+ 8=f", "character 6:");
	check_error("*sym+0x10000000000000000=f", "character 8:");
	check_error("*sy*m+8=f", "character 4:");
	check_error("*sym+8=f*", "character 9:");
	check_error("*sym+8=f+g", "character 9:");
}

/* A pattern with "::" is compared with source names: of C++, Rust (both manglings) and D. */
static void names_in_the_source(void **state)
{
	static const struct {
		const char *pattern, *symbol;
		bool matches;
	} rows[] = {
		{"ns::f", "_ZN2ns1fEi", true},
		{"ns::f", "_ZN2ns2ffEi", false},
		{"s::f", "_ZN2ns1fEi", false},
		{"ns::f", "ns::f", true},
		{"ns*f", "_ZN2ns1fEi", false},
		{"ns::*", "_ZN2ns5Klass6methodEv", true},
		{"ns::Klass::*", "_ZN2ns5KlassC1Ei", true},
		{"ns::Klass::Klass", "_ZN2ns5KlassC2Ei", true},
		{"ns::Klass::~Klass", "_ZN2ns5KlassD0Ev", true},
		{"ns::K[a-m]ass::*", "_ZN2ns5KlassD0Ev", true},
		{"ns::K[m-z]ass::*", "_ZN2ns5KlassD0Ev", false},
		{"*::K?ass::met*", "_ZNK2ns5Klass6methodEv", true},
		{"ns::f(int)", "_ZN2ns1fEi", true},
		{"ns::f(int)", "_ZN2ns1fEd", false},
		{"ns::f(*)", "_ZN2ns1fEd", true},
		{"ns::f(int) const", "_ZNK2ns1fEi", true},
		{"ns::f() \\[clone .isra.0\\]", "_ZN2ns1fEv.isra.0", true},
		{"(anonymous namespace)::f", "_ZN12_GLOBAL__N_11fEi", true},
		{"::f", "_Z1fi", true},
		{"::f", "f", true},
		{"::f*", "_Z3foov", true},
		{"f", "_Z1fi", false},
		/* names with codes of their own in the mangling */
		{"std::vector*", "_ZNSt6vectorIiSaIiEE9push_backEOi", true},
		{"std::string::*", "_ZNSs6appendEPKc", true},
		{"std::ostream::*", "_ZNSo5writeEPKcl", true},
		{"std::allocator<char>::*", "_ZNSaIcEC1Ev", true},
		/* with and without template arguments, and tags */
		{"std::vector::push_back", "_ZNSt6vectorIiSaIiEE9push_backEOi", true},
		{"std::vector<int*>::push_back", "_ZNSt6vectorIiSaIiEE9push_backEOi", true},
		{"std::vector<long*>::push_back", "_ZNSt6vectorIiSaIiEE9push_backEOi", false},
		{"ns::max", "_ZN2ns3maxIiEET_S1_S1_", true},
		{"ns::max<int>(int, int)", "_ZN2ns3maxIiEET_S1_S1_", true},
		{"ns::K::f", "_ZN2ns1K1fB5cxx11Ev", true},
		/* operators: their signs begin no rules, and their brackets hold no arguments */
		{"ns::K::operator+", "_ZN2ns1KplEi", true},
		{"ns::K::operator++", "_ZN2ns1KppEv", true},
		{"ns::K::operator--", "_ZN2ns1KmmEv", true},
		{"ns::K::operator->", "_ZN2ns1KptEv", true},
		{"ns::K::operator-=", "_ZN2ns1KmIEi", true},
		{"ns::K::operator<", "_ZN2ns1KltEi", true},
		{"ns::K::opera*", "_ZN2ns1KltEi", true},
		{"*::operator==", "_ZN2ns1KeqEi", true},
		{"*::operator=*", "_ZN2ns1KaSEi", true},
		{"ns::K::operator+-ns::K::*", "_ZN2ns1KplEi", false},
		{"my_operator-ns::f", "my_operator", true},
		/* regular expressions */
		{"/ns::.*/", "_ZN2ns1fEi", true},
		{"/ns::f*/", "_ZN2ns1gEi", false},
		{"/ns::gf*/", "_ZN2ns1gEi", true},
		{"/ns::\\(foo\\|bar\\)/", "_ZN2ns3barEi", true},
		{"/ns::fo\\{0,1\\}/", "_ZN2ns1fEi", true},
		{"/ns::[a-f]\\?g/", "_ZN2ns1gEi", true},
		/* Rust */
		{"core::fmt::*", "_ZN4core3fmt5Write9write_str17h0123456789abcdefE", true},
		{"core::fmt::Write::write_str", "_ZN4core3fmt5Write9write_str17h0123456789abcdefE",
		 true},
		{"mycrate::foo", "_RNvCs1234_7mycrate3foo", true},
		{"core::fmt::foo", "_RNvCs1234_7mycrate3foo", false},
		{"m::shop::Cart::add", "_RNvMNtCs1_1m4shopNtB2_4Cart3add", true},
		{"m::shop::Cart::total", "_RNvXNtCs1_1m4shopNtB2_4CartNtB2_5Total5total", true},
		{"<m::shop::Cart as *>::total", "_RNvXNtCs1_1m4shopNtB2_4CartNtB2_5Total5total",
		 true},
		{"m::shop::Total::total", "_RNvXNtCs1_1m4shopNtB2_4CartNtB2_5Total5total", false},
		/* D */
		{"std::stdio::writeln", "_D3std5stdio7writelnFZv", true},
		{"std::stdio::writeln()", "_D3std5stdio7writelnFZv", true},
		{"std::stdio::write", "_D3std5stdio7writelnFZv", false},
		{"app::Item::run", "_D3app4Item3runMxFiZi", true},
		{"app::Item::this", "_D3app4Item6__ctorMFZC3app4Item", true},
		/* names that are not mangled */
		{"*::*", "malloc", false},
		{"*::*", "_", false},
		{"*::*", "_Z", false},
		{"*::*", "_ZQQ", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (in_libc(rows[i].pattern, rows[i].symbol) != rows[i].matches)
			fail_msg("%s and %s", rows[i].pattern, rows[i].symbol);
	/* A name alone behind -l is a library. */
	assert_false(
		asks_of("ns::f", FILTER_LIBRARIES, "_ZN2ns1fEi", "libc.so.6", libc_path, false));
	assert_true(asks_of("ns::f@libc.so.6", FILTER_LIBRARIES, "_ZN2ns1fEi", "libc.so.6",
			    libc_path, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(expressions),
		cmocka_unit_test(patterns_that_are_fine),
		cmocka_unit_test(chains),
		cmocka_unit_test(modules),
		cmocka_unit_test(signs_in_libraries),
		cmocka_unit_test(rules_behind_paths),
		cmocka_unit_test(libraries_alone),
		cmocka_unit_test(short_names_of_libraries),
		cmocka_unit_test(rules_know_what_they_found),
		cmocka_unit_test(files_have_names),
		cmocka_unit_test(slots),
		cmocka_unit_test(names_in_the_source),
		cmocka_unit_test(errors_name_the_position),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

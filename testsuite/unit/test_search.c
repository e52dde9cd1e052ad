/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which .conf files are found for which library, in a tree of directories made for the test. */
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "proto/search.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
	char top[64];
	struct strbuf errors;
	struct proto_search *search;
};

static void collect(void *context, const char *file, unsigned line, const char *message)
{
	strbuf_printf(context, "%s:%u: %s\n", file, line, message);
}

static char *path_in(const struct fixture *f, const char *name)
{
	return xasprintf("%s/%s", f->top, name);
}

/* Writes a file below the top, and makes its directories. */
static void make_file(const struct fixture *f, const char *name, const char *text)
{
	char *path = path_in(f, name);

	for (char *slash = path + strlen(f->top) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (long)strlen(text));
	close(fd);
	free(path);
}

static void set_path(const struct fixture *f, const char *variable, const char *name)
{
	char *path = path_in(f, name);

	setenv(variable, path, 1);
	free(path);
}

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof *f);

	strcpy(f->top, "/tmp/tracer-test-search-XXXXXX");
	if (!mkdtemp(f->top))
		return -1;
	set_path(f, "HOME", "home");
	set_path(f, "XDG_CONFIG_DIRS", "xdg");
	unsetenv("XDG_CONFIG_HOME");
	*state = f;
	return 0;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
	(void)status;
	(void)kind;
	(void)walk;
	return remove(path);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	proto_search_destroy(f->search);
	strbuf_deinit(&f->errors);
	nftw(f->top, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free(f);
	return 0;
}

static void begin(struct fixture *f)
{
	char *data = path_in(f, "data");

	f->search = proto_search_create(data, collect, &f->errors);
	free(data);
}

static int add(struct fixture *f, const char *name)
{
	char *path = path_in(f, name);
	char *bad = NULL;
	int status = proto_search_add(f->search, path, &bad);

	if (status < 0)
		assert_string_equal(bad, path);
	else
		assert_null(bad);
	free(bad);
	free(path);
	return status;
}

/*
 * The number of parameters that `function` has for a library; -1: unknown, -2: no library at all.
 */
static int find(struct fixture *f, const char *soname, const char *function)
{
	const struct protolib *lib = proto_search_library(f->search, soname);
	const struct prototype *prototype = lib ? protolib_find(lib, function) : NULL;

	if (!lib)
		return -2;
	return prototype ? (int)prototype->parameter_count : -1;
}

static void test_names(void **state)
{
	struct fixture *f = *state;

	make_file(f, "data/libc.conf", "void a(int);");
	make_file(f, "data/libm.so.6.conf", "void b(int);");
	make_file(f, "data/libm.conf", "void b(int, int);");
	make_file(f, "data/python3.conf", "void c(int);");
	make_file(f, "data/libruby-3.conf", "void d(int);");
	make_file(f, "data/mysqlnd.conf", "void e(int);");
	make_file(f, "data/libx.so.conf", "void g(int);");
	make_file(f, "data/.conf", "void h(int);");
	make_file(f, "data/README", "void i(int);");
	begin(f);
	assert_int_equal(find(f, "libc.so.6", "a"), 1);
	assert_int_equal(find(f, "/lib/x86_64-linux-gnu/libc.so.6", "a"), 1);
	assert_int_equal(find(f, "libc", "a"), 1);
	/* The longest name that exists. */
	assert_int_equal(find(f, "libm.so.6", "b"), 1);
	assert_int_equal(find(f, "libm.so.7", "b"), 2);
	assert_int_equal(find(f, "python3.11", "c"), 1);
	assert_int_equal(find(f, "libruby-3.1.so.3.1", "d"), 1);
	assert_int_equal(find(f, "mysqlnd.so", "e"), 1);
	assert_int_equal(find(f, "libx.so.1.2.3", "g"), 1);
	/* Cut at dots only, and never to nothing. */
	assert_int_equal(find(f, "libxy.so", "g"), -2);
	assert_int_equal(find(f, "lib", "a"), -2);
	assert_int_equal(find(f, "libc-2.36", "a"), -2);
	assert_int_equal(find(f, ".so", "h"), -2);
	assert_int_equal(find(f, "", "h"), -2);
	assert_int_equal(find(f, "dir/", "h"), -2);
	assert_int_equal(find(f, "README", "i"), -2);
	assert_int_equal(f->errors.length, 0);
	/* Libraries for which the same files are found share them. */
	assert_ptr_equal(proto_search_library(f->search, "libc.so.6"),
			 proto_search_library(f->search, "libc.so.7"));
}

static void test_unreasonable_names(void **state)
{
	struct fixture *f = *state;
	char *name = xmalloc(1000001);

	make_file(f, "data/libc.conf", "void a(int);");
	begin(f);
	for (int i = 0; i < 1000000; i++)
		name[i] = i % 2 ? '.' : 'a';
	name[1000000] = '\0';
	assert_int_equal(find(f, name, "a"), -2);
	name[200] = '\0';
	assert_int_equal(find(f, name, "a"), -2);
	assert_int_equal(find(f, "libc.so.\n\x1b", "a"), 1);
	assert_int_equal(find(f, "../data/libc.so", "a"), 1);
	assert_int_equal(f->errors.length, 0);
	free(name);
}

static void test_directories(void **state)
{
	struct fixture *f = *state;

	make_file(f, "data/libc.conf", "void a(); void b(); void c(); void d();");
	make_file(f, "xdg/tracer/libc.conf", "void b(int); void c(int); void d(int);");
	make_file(f, "home/.config/tracer/libc.so.conf", "void c(int, int); void d(int, int);");
	make_file(f, "mine/libc.conf", "void d(int, int, int);");
	begin(f);
	assert_int_equal(add(f, "mine"), 0);
	/* The files of all directories together; the user's own take precedence. */
	assert_int_equal(find(f, "libc.so.6", "a"), 0);
	assert_int_equal(find(f, "libc.so.6", "b"), 1);
	assert_int_equal(find(f, "libc.so.6", "c"), 2);
	assert_int_equal(find(f, "libc.so.6", "d"), 3);
}

static void test_xdg_variables(void **state)
{
	struct fixture *f = *state;
	char *dirs = xasprintf("relative::%s/one:%s/two:", f->top, f->top);

	make_file(f, "config/tracer/libc.conf", "void a();");
	make_file(f, "home/.config/tracer/libm.conf", "void a();");
	make_file(f, "one/tracer/libx.conf", "void a(int);");
	make_file(f, "two/tracer/libx.conf", "void a(); void b();");
	set_path(f, "XDG_CONFIG_HOME", "config");
	setenv("XDG_CONFIG_DIRS", dirs, 1);
	free(dirs);
	f->search = proto_search_create(NULL, collect, &f->errors);
	assert_int_equal(find(f, "libc.so.6", "a"), 0);
	assert_int_equal(find(f, "libm.so.6", "a"), -2);
	assert_int_equal(find(f, "libx.so", "a"), 1);
	assert_int_equal(find(f, "libx.so", "b"), 0);
	unsetenv("HOME");
	proto_search_destroy(f->search);
	f->search = proto_search_create("", collect, &f->errors);
	assert_int_equal(find(f, "libc.so.6", "a"), 0);
	assert_int_equal(f->errors.length, 0);
}

static void test_global(void **state)
{
	struct fixture *f = *state;
	const struct protolib *global;

	make_file(f, "home/.tracer.conf", "void a(); void b();");
	make_file(f, "one.conf", "void b(int); void c(int);");
	make_file(f, "two", "void c(int, int);");
	begin(f);
	global = proto_search_global(f->search);
	assert_int_equal(protolib_find(global, "b")->parameter_count, 0);

	char *list = xasprintf("%s/one.conf:%s/two", f->top, f->top);
	char *bad = NULL;

	assert_int_equal(proto_search_add(f->search, list, &bad), 0);
	free(list);
	assert_ptr_equal(global, proto_search_global(f->search));
	assert_int_equal(protolib_find(global, "a")->parameter_count, 0);
	assert_int_equal(protolib_find(global, "b")->parameter_count, 1);
	assert_int_equal(protolib_find(global, "c")->parameter_count, 2);
	/* The -F files belong to no library. */
	assert_int_equal(find(f, "one.so", "b"), -2);
}

static void test_given_directories(void **state)
{
	struct fixture *f = *state;

	make_file(f, "data/libc.conf", "void a(); void b(); void c();");
	make_file(f, "first/libc.conf", "void a(int);");
	make_file(f, "second/libc.conf", "void a(int, int); void b(int, int);");
	begin(f);
	assert_int_equal(add(f, "first"), 0);
	assert_int_equal(add(f, "second"), 0);
	assert_int_equal(find(f, "libc.so.6", "a"), 1);
	assert_int_equal(find(f, "libc.so.6", "b"), 2);
	assert_int_equal(find(f, "libc.so.6", "c"), 0);
}

static void test_given_errors(void **state)
{
	struct fixture *f = *state;
	char *expected;
	char *bad = NULL;

	make_file(f, "broken.conf", "void a(;\nvoid b();\nfoo;\n");
	begin(f);
	assert_int_equal(add(f, "missing"), -ENOENT);
	assert_int_equal(add(f, "broken.conf"), 2);
	expected = xasprintf("%s/broken.conf:1: expected a type, found ';'\n"
			     "%s/broken.conf:3: expected a type, found 'foo'\n",
			     f->top, f->top);
	assert_string_equal(f->errors.text, expected);
	assert_non_null(protolib_find(proto_search_global(f->search), "b"));
	assert_int_equal(proto_search_add(f->search, "", &bad), 0);
	assert_int_equal(proto_search_add(f->search, ":::", &bad), 0);
	assert_null(bad);
	free(expected);
}

static void test_found_errors_are_said_once(void **state)
{
	struct fixture *f = *state;
	char *expected;
	char *directory = path_in(f, "data/liby.conf");

	make_file(f, "data/libx.conf", "void a();\nbroken;\nvoid b();\n");
	make_file(f, "data/libx.so.1.conf", "void c();\n");
	make_file(f, "xdg/tracer/libx.conf", "void d();\n");
	make_file(f, "xdg/tracer/libx.so.2.conf", "void e();\n");
	assert_int_equal(mkdir(directory, 0755), 0);
	begin(f);
	assert_int_equal(find(f, "libx.so.2", "b"), 0);
	assert_int_equal(find(f, "libx.so.3", "b"), 0);
	assert_int_equal(find(f, "libx.so.3", "d"), 0);
	assert_int_equal(find(f, "libx.so.2", "b"), 0);
	assert_int_equal(find(f, "liby.so", "b"), -1);
	assert_int_equal(find(f, "liby.so.2", "b"), -1);
	expected = xasprintf("%s/data/libx.conf:2: expected a type, found 'broken'\n"
			     "%s/data/liby.conf:0: cannot be read: Is a directory\n",
			     f->top, f->top);
	assert_string_equal(f->errors.text, expected);
	free(expected);
	free(directory);
}

/* Names are forgotten when there are many; libraries that were found stay valid. */
static void test_many_names(void **state)
{
	struct fixture *f = *state;
	char name[64];

	make_file(f, "data/libx.conf", "void a(int);");
	make_file(f, "data/libbad.conf", "broken;");
	begin(f);
	const struct protolib *lib = proto_search_library(f->search, "libx.so");

	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof name, i % 3 ? "lib%d.so" : "libx.so.%d", i);
		assert_int_equal(find(f, name, "a"), i % 3 ? -2 : 1);
		assert_int_equal(find(f, "libbad.so", "a"), -1);
	}
	assert_ptr_equal(proto_search_library(f->search, "libx.so"), lib);
	assert_non_null(strstr(f->errors.text, "libbad.conf"));
	assert_ptr_equal(strstr(f->errors.text, "libbad.conf"),
			 strrchr(f->errors.text, '/') + 1); /* reported once */
}

/* The number of parameters that `function` has in any library; -1: unknown. */
static int find_any(struct fixture *f, const char *function)
{
	const struct prototype *prototype = proto_search_any(f->search, function);

	return prototype ? (int)prototype->parameter_count : -1;
}

static void test_any(void **state)
{
	struct fixture *f = *state;

	make_file(f, "data/libc.conf", "void of_c(int);");
	make_file(f, "data/libc.so.6.conf", "void of_c(int);");
	make_file(f, "data/libcurl.conf", "void a(); void b(); /* comment(x) */ void c ();");
	make_file(f, "data/libdl.conf", "void a(int); void b(int);");
	make_file(f, "data/libm.conf", "void a(int, int); void m(int);");
	make_file(f, "data/libz.conf", "void comment(int); typedef late = enum(X); void z();");
	make_file(f, "data/python3.conf", "void machine();");
	make_file(f, "data/libpython3.conf", "void machine();");
	make_file(f, "data/libruby-3.conf", "void machine();");
	make_file(f, "data/linux.conf", "void imported(int, int, int);");
	make_file(f, "data/libx.conf", "import \"linux\";\nimport \"libx\";\nbroken;");
	make_file(f, "home/.config/tracer/libm.so.6.conf", "void m(int, int, int);");
	begin(f);
	/* libm before libdl before others; not the C library and language runtimes. */
	assert_int_equal(find_any(f, "a"), 2);
	assert_int_equal(find_any(f, "b"), 1);
	assert_int_equal(find_any(f, "c"), 0);
	assert_int_equal(find_any(f, "of_c"), -1);
	assert_int_equal(find_any(f, "machine"), -1);
	/*
	 * The user's file for one version is read together with the other files for that version.
	 */
	assert_int_equal(find_any(f, "m"), 3);
	/* A file without the name is not parsed, and its errors are not reported. */
	assert_int_equal(find_any(f, "nothing"), -1);
	assert_int_equal(f->errors.length, 0);
	assert_int_equal(find_any(f, "imported"), 3);
	assert_non_null(strstr(f->errors.text, "libx.conf:3: "));
	/* If a file has the name but not the function, the next file is used. */
	assert_int_equal(find_any(f, "comment"), 1);
	assert_int_equal(find_any(f, "enum"), -1);
	assert_int_equal(find_any(f, ""), -1);
}

/* Like find_any(), for the only library that has the function; *library: its name. */
static int find_only(struct fixture *f, const char *function, const char **library)
{
	const struct prototype *prototype = proto_search_only(f->search, function, "x86_64",
							      library);

	return prototype ? (int)prototype->parameter_count : -1;
}

static void test_only(void **state)
{
	struct fixture *f = *state;
	const char *library = NULL;

	make_file(f, "data/libc.conf", "void of_c(int);");
	make_file(f, "data/libm.conf", "void m(int, int);");
	make_file(f, "data/libssl.conf", "void a(int); void b(int); void own(int, int);");
	make_file(f, "data/libz.conf", "void b(); void z();");
	make_file(f, "data/shared.conf", "void imported(int, int, int);");
	make_file(f, "data/libx.conf", "import \"shared\"; void x(int);");
	make_file(f, "data/liby.conf", "import \"shared\"; void y(int);");
	make_file(f, "home/.config/tracer/libssl.conf", "void own(int, int, int);");
	begin(f);
	assert_int_equal(find_only(f, "a", &library), 1);
	assert_string_equal(library, "libssl");
	/* Two libraries have it; and one whose user's file takes precedence. */
	assert_int_equal(find_only(f, "b", &library), -1);
	assert_int_equal(find_only(f, "own", &library), 3);
	assert_string_equal(library, "libssl");
	/* A file that two others import is one file. */
	assert_int_equal(find_only(f, "imported", &library), 3);
	assert_string_equal(library, "libx");
	assert_int_equal(find_only(f, "y", &library), 1);
	/* Parts of the C library are linked in with the C library only. */
	assert_int_equal(find_only(f, "m", &library), -1);
	assert_int_equal(find_only(f, "of_c", &library), -1);
	assert_int_equal(find_only(f, "nothing", &library), -1);
}

static void test_any_of_none(void **state)
{
	struct fixture *f = *state;

	f->search = proto_search_create(NULL, collect, &f->errors);
	assert_int_equal(find_any(f, "a"), -1);
	assert_int_equal(find_any(f, "a"), -1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_names),	 TEST(test_unreasonable_names),
		TEST(test_directories),	 TEST(test_xdg_variables),
		TEST(test_global),	 TEST(test_given_directories),
		TEST(test_given_errors), TEST(test_found_errors_are_said_once),
		TEST(test_many_names),	 TEST(test_any),
		TEST(test_only),	 TEST(test_any_of_none),
		TEST(test_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

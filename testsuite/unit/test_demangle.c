/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Demangling of valid names, of invalid ones, and of names that expand exponentially. */
#include "object/demangle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check(const char *mangled, const char *expected)
{
	char *readable = demangle(mangled);

	assert_non_null(readable);
	assert_string_equal(readable, expected);
	free(readable);
}

static void languages(void **state)
{
	(void)state;
	check("_Z3foov", "foo");
	check("_ZN3foo3barEi", "foo::bar");
	check("_ZN3fooC1ERKS_", "foo::foo");
	check("_Znwm", "operator new");
	check("_ZNSt6vectorIiSaIiEE9push_backEOi",
	      "std::vector<int, std::allocator<int> >::push_back");
	check("_ZN4core3fmt5Write9write_str17h0123456789abcdefE", "core::fmt::Write::write_str");
	check("_RNvCs1234_7mycrate3foo", "mycrate::foo");
	check("_D3std5stdio7writelnFZv", "std.stdio.writeln()");
}

static void parameters_tell_overloads_apart(void **state)
{
	static const char *const rows[][2] = {
		{"_ZN2ns1fEi", "ns::f(int)"},
		{"_ZNK2ns1fEPKc", "ns::f(char const*) const"},
		{"_ZN2ns3maxIiEET_S1_S1_", "ns::max<int>(int, int)"},
		{"_ZN2ns1KC1Ev", "ns::K::K()"},
		{"_ZN2ns1KC2Ev", "ns::K::K()"},
		{"_ZN4core3fmt5Write9write_str17h0123456789abcdefE", "core::fmt::Write::write_str"},
		{"_D3std5stdio7writelnFZv", "std.stdio.writeln()"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char *name = demangle_with_parameters(rows[i][0]);

		assert_non_null(name);
		assert_string_equal(name, rows[i][1]);
		free(name);
	}
	assert_null(demangle_with_parameters("malloc"));
}

static void names_that_are_not_mangled(void **state)
{
	static const char *const plain[] = {"",	  "malloc", "_",    "_Z",    "_ZN",
					    "_R", "_D",	    "_ZQQ", "Z3foov"};
	(void)state;

	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		assert_null(demangle(plain[i]));
}

/* f<A<int, int>, A<X, X> with X the one before, …>: each level doubles what is printed. */
static char *demangle_levels(int levels)
{
	/* S0_ is A, S1_ is A<int, int>; each level makes the next substitution */
	char name[512] = "_Z1fI1AIiiE";
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	for (int i = 1; i <= levels; i++) {
		char level[] = "S0_IS?_S?_E";

		level[5] = level[8] = digits[i];
		strcat(name, level);
	}
	strcat(name, "Evv");
	return demangle(name);
}

static void names_that_explode(void **state)
{
	char *readable = demangle_levels(2);
	(void)state;

	assert_non_null(readable);
	assert_non_null(
		strstr(readable, "A<A<A<int, int>, A<int, int> >, A<A<int, int>, A<int, int> > >"));
	free(readable);
	/* The result would have more than 2 to the 30th letters, so it is given up. */
	assert_null(demangle_levels(30));
}

static void names_that_nest(void **state)
{
	enum { DEEP = 16000 };
	char *name = malloc(DEEP + 8), *readable;
	(void)state;

	memset(name, 'P', DEEP);
	memcpy(name, "_Z1fI", 5);
	strcpy(name + DEEP, "iEvv");
	readable = demangle(name);
	free(readable);
	name = realloc(name, 2 * DEEP);
	memset(name, '1', 2 * DEEP - 1);
	name[2 * DEEP - 1] = '\0';
	memcpy(name, "_Z", 2);
	assert_null(demangle(name));
	free(name);
}

static void names_of_noise(void **state)
{
	static const char letters[] = "_ZNSIEKTRPC0123abst";
	uint32_t seed = 7;
	(void)state;

	for (int round = 0; round < 20000; round++) {
		char name[40] = "_Z";
		size_t length = 2 + (seed >> 8) % 36;

		for (size_t i = 2; i < length; i++) {
			seed = seed * 1664525 + 1013904223;
			name[i] = letters[(seed >> 16) % (sizeof letters - 1)];
		}
		if (round % 3 == 0)
			name[1] = 'R';
		else if (round % 3 == 1)
			name[1] = 'D';
		free(demangle(name));
		demangle_parameters(name);
	}
}

static void parameters(void **state)
{
	static const struct {
		const char *name;
		int count;
	} known[] = {
		{"main", -1},
		{"_Z1fv", 0},
		{"_Z1fi", 1},
		{"_Z2fei1Vbl", 4},
		{"_ZNK5thing3getERK5plainPKc", 2},
		{"_Z1fIiEvT_S0_", 2},
		{"_Z1fIJidEEvDpT_", -1},
		{"_Z6printfPKcz", -1},
		{"_Z2feiNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEbl", 4},
		{"_ZZ4mainENKUliE_clEi", 1},
		{"_ZN1A1xE", -1},
		{"_ZTV1A", -1},
		{"_Z1fPFivE", 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (demangle_parameters(known[i].name) != known[i].count)
			fail_msg("%s: %d", known[i].name, demangle_parameters(known[i].name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(languages),
		cmocka_unit_test(parameters_tell_overloads_apart),
		cmocka_unit_test(names_that_are_not_mangled),
		cmocka_unit_test(names_that_explode),
		cmocka_unit_test(names_that_nest),
		cmocka_unit_test(names_of_noise),
		cmocka_unit_test(parameters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

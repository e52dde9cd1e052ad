/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of the C library whose prototypes say more than how many parameters there are. */
#include <arpa/inet.h>
#include <complex.h>
#include <inttypes.h>
#include <math.h>
#include <regex.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <uchar.h>
#include <wchar.h>
#include <wctype.h>

static void write_and_read(void)
{
	char bytes[12] = "abcdefghijk";
	FILE *file = tmpfile();

	if (!file)
		return;
	fwrite(bytes, 3, 2, file);
	fwrite(bytes, 11, 1, file);
	rewind(file);
	fread(bytes, 4, 3, file);
	fread(bytes, 4, 3, file);
	fclose(file);
}

static void divide(void)
{
	/* Who does not look at the result does not call them. */
	volatile div_t of_int = div(-17, 5);
	volatile ldiv_t of_long = ldiv(17, -5);
	volatile lldiv_t of_long_long = lldiv(-5000000000, 3);
	volatile imaxdiv_t of_most = imaxdiv(-5000000000, 3);
}

static void look_up(void)
{
	struct in_addr address = inet_makeaddr(10, 0x10203);

	inet_netof(address);
	inet_lnaof(address);
	hcreate(4);
	hsearch((ENTRY){.key = (char *)"key", .data = (void *)0x1234}, ENTER);
	hsearch((ENTRY){.key = (char *)"key"}, FIND);
	hdestroy();
}

static void search(void)
{
	struct re_pattern_buffer pattern = {0};

	re_compile_pattern("b*NOT", 2, &pattern);
	re_search(&pattern, "acNOT", 2, 0, 2, NULL);
	re_match(&pattern, "bbNOT", 2, 0, NULL);
	re_search_2(&pattern, "aNOT", 1, "bNOT", 1, 0, 2, NULL, 2);
	re_match_2(&pattern, "aNOT", 1, "bNOT", 1, 0, NULL, 2);
	regfree(&pattern);
}

static void calculate(void)
{
	volatile float complex single = 3 + 4 * I;
	volatile double complex twice = 5 - 12 * I;
	volatile long double complex most = -9;
	volatile double third = 1 / 3.0, small = 1e-10;
	volatile float tenth = 0.1F;
	volatile long double whole = 12;

	cabsf(single);
	cabs(twice);
	conjf(single);
	conj(twice);
	csqrtl(most);
	cpowf(single, 1);
	acos(-1 + 0 * third);
	fmod(small, 1);
	fmodf(tenth, 1);
	fmodl(whole, 1e-10L);
	conj(third + small * I);
}

static void wide_characters(void)
{
	FILE *nothing = fopen("/dev/null", "r");

	wctob(btowc('q'));
	wcwidth(L'\u0424');
	if (nothing)
		fgetwc(nothing);
}

static void write_letters(void)
{
	towupper(L'\u0448');
	towupper(L'a');
	towupper(L'\n');
	towupper(L'\u202e');
	towupper(WEOF);
	wctob(L'z');
	wctob(L'\U0001f389');
	c16rtomb(NULL, u'\u5927', NULL);
}

int main(void)
{
	write_and_read();
	divide();
	look_up();
	search();
	calculate();
	wide_characters();
	write_letters();
	return 0;
}

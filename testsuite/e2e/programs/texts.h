/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pointers to numbers and characters that debug information tells of. */
#ifndef TEXTS_H
#define TEXTS_H

#include <stddef.h>
#include <stdint.h>
#include <uchar.h>

typedef unsigned char xml_char;

enum kind { ONE = 1, OTHER };

struct texts {
	int number;
	const wchar_t *wide;
	wchar_t within[8];
	const char *plain;
	const unsigned char *bytes;
};

int t_data(const uint8_t *, const unsigned char *, size_t);
int t_xml(const xml_char *);
int t_numbers(const int *, const double *, const enum kind *, size_t);
int t_bad(const int *);
wchar_t *t_wide(const wchar_t *, wchar_t *);
int t_kinds(const char16_t *, const char32_t *);
wchar_t t_characters(wchar_t, char16_t, char32_t);
int t_members(const struct texts *);
int t_wprintf(int, const wchar_t *format, ...);

#endif

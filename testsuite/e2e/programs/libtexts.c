/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "texts.h"

int t_data(const uint8_t *data, const unsigned char *bytes, size_t length)
{
	return (int)length + data[0] - bytes[0];
}

int t_xml(const xml_char *text)
{
	return text[0];
}

int t_numbers(const int *numbers, const double *others, const enum kind *kind, size_t count)
{
	return (int)count + numbers[0] + (int)others[0] + *kind;
}

int t_bad(const int *number)
{
	return number ? 1 : 0;
}

wchar_t *t_wide(const wchar_t *text, wchar_t *other)
{
	return text ? other : NULL;
}

int t_kinds(const char16_t *narrow, const char32_t *wide)
{
	return narrow[0] + (int)wide[0];
}

wchar_t t_characters(wchar_t any, char16_t narrow, char32_t wide)
{
	return narrow == wide ? 'x' : any;
}

int t_members(const struct texts *texts)
{
	return texts->number;
}

int t_wprintf(int number, const wchar_t *format, ...)
{
	return number + (int)format[0];
}

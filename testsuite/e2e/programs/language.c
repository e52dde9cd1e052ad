/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the rest of ltrace's language is about: wide characters, formats, names that are its words. */
#include <wchar.h>

struct small {
	int number;
	short bits;
};

struct chain {
	wchar_t letter;
	struct chain *next;
};

int l_first(void);
int l_numbers(long long wide, long double precise, int behind);
int l_letter(wchar_t letter, const wchar_t *other, char narrow);
int l_letters(const wchar_t *text, const wchar_t *some, int count);
int l_print(const wchar_t *format, ...);
int l_early(const char *format, int number, double fraction, ...);
int l_into(char *to, unsigned long size, const char *format, ...);
void l_void(int first, int second, int third);
int l_chain(struct chain *chain);
int l_named(int number, int *none, const char *text);
struct small format(struct small *small, const char *text);
const char *string(const char *text);
int hex(int number);

static volatile int calls;

#define NOTED __attribute__((noinline))

NOTED int l_first(void)
{
	return ++calls;
}

NOTED int l_numbers(long long wide, long double precise, int behind)
{
	calls++;
	return wide > 0 && precise > 0 ? behind : 0;
}

NOTED int l_letter(wchar_t letter, const wchar_t *other, char narrow)
{
	calls++;
	return narrow ? letter : *other;
}

NOTED int l_letters(const wchar_t *text, const wchar_t *some, int count)
{
	calls++;
	return text == some ? 0 : count;
}

NOTED int l_print(const wchar_t *format, ...)
{
	calls++;
	return *format;
}

NOTED int l_early(const char *format, int number, double fraction, ...)
{
	calls++;
	return *format ? number : (int)fraction;
}

NOTED int l_into(char *to, unsigned long size, const char *format, ...)
{
	calls++;
	to[0] = format[0];
	return (int)size;
}

NOTED void l_void(int first, int second, int third)
{
	calls += first + second + third;
}

NOTED int l_chain(struct chain *chain)
{
	calls++;
	return chain != 0;
}

NOTED int l_named(int number, int *none, const char *text)
{
	calls++;
	return none && text ? number : 0;
}

NOTED struct small format(struct small *small, const char *text)
{
	calls++;
	small->number += *text;
	return *small;
}

NOTED const char *string(const char *text)
{
	calls++;
	return text + 1;
}

NOTED int hex(int number)
{
	calls++;
	return number;
}

int main(void)
{
	struct chain last = {L'\u0436', 0}, first = {L'a', &last};
	struct small small = {254, 5};
	char text[8] = "";
	int none = 7;

	l_first();
	l_numbers(1LL << 40, 2.5L, 3);
	l_letter(L'\u0424', L"\u00e9", 'n');
	l_letter(-1, L"q", 0);
	l_letters(L"\u0412\u043e\u0442", L"abcd", 2);
	l_print(L"%d %ls %s %lc %S %c", 1, L"\u0436", "narrow", L'\u0424', L"wide", 'c');
	l_early("%s %f %b", 5, 1.5, "later", 2.5, 6);
	l_into(text, 8, "%d|%s", 9, "nine");
	l_void(1, 2, 3);
	l_chain(&first);
	last.next = &first;
	l_chain(&first);
	l_named(10, &none, "none");
	format(&small, "\1");
	string("string");
	hex(255);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Formats of wide characters: wprintf(3)'s own, and what a function takes that prints nothing. */
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include <wchar.h>

int w_format(int number, const wchar_t *format, ...);

static volatile int calls;

__attribute__((noinline)) int w_format(int number, const wchar_t *format, ...)
{
	(void)format;
	calls++;
	return number;
}

/* The last characters of a page that no other follows. */
static wchar_t *at_end(const wchar_t *text, size_t count)
{
	long page = sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	wchar_t *end = (wchar_t *)(void *)(pages + page);

	mprotect(pages + page, (size_t)page, PROT_NONE);
	wmemcpy(end - count, text, count);
	return end - count;
}

int main(void)
{
	wchar_t long_one[701];
	wchar_t buffer[64];

	swprintf(buffer, 64, L"<%d|%s|%ls|%5.2f>", -5, "narrow", L"wide \u017c", 2.5);
	fwprintf(stderr, L"");
	w_format(1, L"\u00e9\u6c34%%%*d %.2ls %lc %lld %Lg", 4, 9, L"cut", L'\u0448', 1LL << 40, 1.5L);
	w_format(2, NULL);
	w_format(3, (const wchar_t *)8, 1);
	w_format(4, at_end(L"%d %d", 5), 6, 7);
	w_format(5, at_end(L"%d %d", 6), 6, 7);
	wmemset(long_one, L'x', 700);
	wmemcpy(long_one + 690, L"%d%s", 4);
	long_one[700] = 0;
	w_format(6, long_one, 8, "far");
	w_format(7, L"%1$d", 3);
	return 0;
}

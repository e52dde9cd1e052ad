/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Wide characters, and the smallest long double, as arguments, results, and in objects. */
#include <float.h>
#include <uchar.h>
#include <wchar.h>

struct letters {
	wchar_t w;
	char16_t half;
	char32_t whole;
	wint_t one, none;
	long double smallest;
};

__attribute__((noinline)) wint_t w_letter(wint_t one, wint_t none, wchar_t w)
{
	__asm__ volatile("");
	return one ? none : (wint_t)w;
}

__attribute__((noinline)) long double w_letters(const struct letters *letters, int number)
{
	__asm__ volatile("");
	return number ? letters->smallest : 0;
}

int main(void)
{
	const struct letters letters = {L'ж', u'ж', U'ж', L'ж', WEOF, 3 * __LDBL_DENORM_MIN__};

	w_letter(L'ж', WEOF, L'ж');
	return w_letters(&letters, 1) > 1;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "texts.h"

int main(void)
{
	static const int numbers[] = {7, 8, 9};
	static const double others[] = {7.5, 8};
	const enum kind kind = OTHER;
	struct texts texts = {1, L"wide", L"within", "plain", (const unsigned char *)"bytes"};
	wchar_t other[] = L"other";

	t_data((const uint8_t *)"data", (const unsigned char *)"bytes", 4);
	t_xml((const xml_char *)"xml");
	t_numbers(numbers, others, &kind, 3);
	t_bad((const int *)5);
	t_wide(L"h\u00e9llo", other);
	t_kinds(u"sixteen", U"thirty-two");
	t_characters(L'\u00e9', u'h', U'\U0001f389');
	t_members(&texts);
	t_wprintf(3, L"%d %s", 5, "five");
	return 0;
}

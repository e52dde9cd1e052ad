/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which characters of Unicode a terminal may get as they are. What steers it, turns text around or
 * is not to be seen stays out:
 *
 *  - controls, surrogates, private use, code points that are not assigned or never will be (all of
 *    general category C), and the separators of lines and paragraphs (Zl, Zp);
 *  - format characters (Cf): what overrides, embeds or isolates directions of writing, U+200B and
 *    other joiners of no width, soft hyphens, U+FEFF, tags;
 *  - whatever else may be invisible (Default_Ignorable_Code_Point): selectors of variants, fillers
 *    of Hangul, U+034F.
 *
 * The table is our own, not that of iswprint(3) and wcwidth(3): these differ between C libraries
 * and with the locale, and take U+00AD and the fillers of Hangul for printable.
 */
#ifndef TRACER_OUTPUT_PRINTABLE_H
#define TRACER_OUTPUT_PRINTABLE_H

#include <stdint.h>

enum printable {
	PRINTABLE_NOT,
	/* One that is drawn over the character in front of it, as accents are: no column */
	PRINTABLE_MARK,
	PRINTABLE_NARROW, /* in one column */
	PRINTABLE_WIDE	  /* in two: most of Chinese, Japanese and Korean, most emoji */
};

/* Code points of one class, from `first` up to, not including, `behind`. */
struct printable_range {
	uint32_t first, behind;
	enum printable class;
};

void printable_find(uint32_t code_point, struct printable_range *range);

/*
 * The class of a code point; *range is what was found last, or all zero. Text stays within a few
 * ranges, and a look is most of what a character costs.
 */
static inline enum printable printable_class(uint32_t code_point, struct printable_range *range)
{
	if (code_point < range->first || code_point >= range->behind)
		printable_find(code_point, range);
	return range->class;
}

#endif

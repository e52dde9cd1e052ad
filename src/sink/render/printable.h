/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides which Unicode characters may be sent to a terminal unchanged. Characters that control the
 * terminal, reorder text, or are invisible are excluded:
 *
 * - controls, surrogates, private use, code points that are not assigned or never will be (all of
 *   general category C), and the separators of lines and paragraphs (Zl, Zp);
 * - format characters (Cf): overrides, embeddings and isolates of the writing direction, U+200B and
 *   other zero-width joiners, soft hyphens, U+FEFF, tags;
 * - all other characters that may be invisible (Default_Ignorable_Code_Point): variation selectors,
 *   Hangul fillers, U+034F.
 *
 * The table is used instead of iswprint(3) and wcwidth(3), since these differ between C libraries
 * and with the locale, and treat U+00AD and the Hangul fillers as printable.
 */
#ifndef TRACER_SINK_RENDER_PRINTABLE_H
#define TRACER_SINK_RENDER_PRINTABLE_H

#include <stdint.h>

enum printable {
	PRINTABLE_NOT,
	/* drawn over the character in front of it, as accents are: takes no column */
	PRINTABLE_MARK,
	PRINTABLE_NARROW, /* takes one column */
	PRINTABLE_WIDE	  /* takes two: most of Chinese, Japanese and Korean, most emoji */
};

/* A range of code points of one class: from `first` up to, but not including, `behind`. */
struct printable_range {
	uint32_t first, behind;
	enum printable class;
};

void printable_find(uint32_t code_point, struct printable_range *range);

/*
 * Returns the class of a code point. *range caches the last range found, and is all zero at first.
 * Text stays within a few ranges, and the search would be most of a character's cost.
 */
static inline enum printable printable_class(uint32_t code_point, struct printable_range *range)
{
	if (code_point < range->first || code_point >= range->behind)
		printable_find(code_point, range);
	return range->class;
}

#endif

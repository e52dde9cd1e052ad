/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/format_spec.h"

/* Length modifiers; those that are the same to all ABIs we know (ll, q, j; z, t) share one. */
enum modifier {
	MODIFIER_NONE,
	MODIFIER_HH,
	MODIFIER_H,
	MODIFIER_L,
	MODIFIER_LL, /* to glibc the same as L, so %llf is a long double, and %Ls wide characters */
	MODIFIER_J,
	MODIFIER_Z
};

void format_scan_init(struct format_scan *scan, const unsigned char *format, size_t length,
		      unsigned word)
{
	scan->at = format;
	scan->end = format + length;
	scan->word = word;
	scan->count = 0;
	scan->pending_stars = 0;
	scan->pending = false;
}

static unsigned char peek(const struct format_scan *scan)
{
	return scan->at < scan->end ? *scan->at : 0;
}

static bool is_flag(unsigned char c)
{
	return c == '-' || c == '+' || c == ' ' || c == '#' || c == '0' || c == '\'' || c == 'I';
}

/* Digits, clamped to what an int can hold: longer ones make printf itself fail. */
static int64_t scan_number(struct format_scan *scan)
{
	int64_t number = 0;

	for (; peek(scan) >= '0' && peek(scan) <= '9'; scan->at++)
		if (number <= INT32_MAX)
			number = number * 10 + (peek(scan) - '0');
	return number;
}

static enum modifier scan_modifier(struct format_scan *scan)
{
	unsigned char c = peek(scan);

	switch (c) {
	case 'h':
	case 'l':
		scan->at++;
		if (peek(scan) != c)
			return c == 'h' ? MODIFIER_H : MODIFIER_L;
		scan->at++;
		return c == 'h' ? MODIFIER_HH : MODIFIER_LL;
	case 'q':
	case 'L':
		scan->at++;
		return MODIFIER_LL;
	case 'j':
		scan->at++;
		return MODIFIER_J;
	case 'z':
	case 'Z':
	case 't':
		scan->at++;
		return MODIFIER_Z;
	default:
		return MODIFIER_NONE;
	}
}

static uint8_t integer_size(enum modifier modifier, unsigned word)
{
	switch (modifier) {
	case MODIFIER_HH:
		return 1;
	case MODIFIER_H:
		return 2;
	case MODIFIER_NONE:
		return 4;
	case MODIFIER_L:
	case MODIFIER_Z:
		return (uint8_t)word;
	case MODIFIER_LL:
	case MODIFIER_J:
		break;
	}
	return 8;
}

/* Fills in class, size, sign and name; false when the conversion is unknown. */
static bool classify(struct format_item *item, unsigned char conversion, enum modifier modifier,
		     unsigned word)
{
	item->conversion = (char)conversion;
	item->class = FORMAT_INT;
	item->is_signed = false;
	switch (conversion) {
	case 'd':
	case 'i':
		item->is_signed = true;
		/* fallthrough */
	case 'o':
	case 'u':
	case 'x':
	case 'X':
	case 'b':
	case 'B':
		item->size = integer_size(modifier, word);
		return true;
	case 'c':
		item->size = modifier == MODIFIER_L || modifier == MODIFIER_LL ? 4 : 1;
		return true;
	case 'C':
		item->conversion = 'c';
		item->size = 4;
		return true;
	case 's':
	case 'S':
		item->size = (uint8_t)word;
		item->class = FORMAT_STRING;
		if (conversion == 'S' || modifier == MODIFIER_L || modifier == MODIFIER_LL) {
			item->class = FORMAT_WIDE_STRING;
			item->conversion = 'S';
		}
		return true;
	case 'p':
	case 'n':
		item->size = (uint8_t)word;
		return true;
	case 'a':
	case 'A':
	case 'e':
	case 'E':
	case 'f':
	case 'F':
	case 'g':
	case 'G':
		item->class = modifier == MODIFIER_LL ? FORMAT_LONG_DOUBLE : FORMAT_DOUBLE;
		item->size = modifier == MODIFIER_LL ? 10 : 8;
		return true;
	default:
		return false;
	}
}

static bool scan_star(struct format_scan *scan)
{
	if (peek(scan) != '*')
		return false;
	scan->at++;
	scan->pending_stars++;
	return true;
}

/* What is between '%' and the length modifier; false when it is positional. */
static bool scan_prefix(struct format_scan *scan)
{
	scan->item.precision = PRECISION_NONE;
	while (is_flag(peek(scan)))
		scan->at++;
	if (!scan_star(scan))
		scan_number(scan);
	else if (peek(scan) >= '0' && peek(scan) <= '9')
		return false; /* *n$ */
	if (peek(scan) == '$')
		return false;
	if (peek(scan) == '.') {
		scan->at++;
		if (scan_star(scan))
			scan->item.precision = PRECISION_ARGUMENT;
		else
			scan->item.precision = scan_number(scan);
	}
	return true;
}

/* Finds the next conversion that takes an argument; false when there is none. */
static bool scan_conversion(struct format_scan *scan)
{
	while (scan->at < scan->end) {
		if (*scan->at++ != '%')
			continue;
		scan->pending_stars = 0;
		if (!scan_prefix(scan))
			return false;
		enum modifier modifier = scan_modifier(scan);
		unsigned char conversion = peek(scan);

		if (scan->at == scan->end)
			return false;
		scan->at++;
		if (conversion == '%' || conversion == 'm') {
			/* No argument of its own; but a '*' has one. */
			if (scan->pending_stars)
				return true;
			continue;
		}
		scan->pending = classify(&scan->item, conversion, modifier, scan->word);
		return scan->pending;
	}
	return false;
}

bool format_scan_next(struct format_scan *scan, struct format_item *item)
{
	if (scan->count >= FORMAT_ARGS_MAX)
		return false;
	if (!scan->pending_stars && !scan->pending && !scan_conversion(scan)) {
		scan->at = scan->end;
		scan->pending_stars = 0;
		return false;
	}
	scan->count++;
	if (scan->pending_stars) {
		scan->pending_stars--;
		item->class = FORMAT_INT;
		item->size = 4;
		item->is_signed = true;
		item->conversion = 'd';
		item->precision = PRECISION_NONE;
		return true;
	}
	scan->pending = false;
	*item = scan->item;
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parser of printf formats. Separate from capture_format.c, as it needs no memory of the
 * tracee: it is tested with strings alone.
 */
#include "record/format_spec.h"

/* Length modifiers; those of equal size on all supported ABIs (ll, q, j; z, t) share one. */
enum modifier {
	MODIFIER_NONE,
	MODIFIER_HH,
	MODIFIER_H,
	MODIFIER_L,
	MODIFIER_LL, /* equal to L in glibc: %llf is a long double, %Ls wide characters */
	MODIFIER_J,
	MODIFIER_Z
};

static unsigned char peek(const struct format_scan *scan)
{
	return scan->at < scan->end ? *scan->at : 0;
}

static bool is_flag(const struct format_scan *scan, unsigned char c)
{
	if (scan->dialect == FORMAT_OF_SQLITE && (c == '!' || c == ','))
		return true;
	return c == '-' || c == '+' || c == ' ' || c == '#' || c == '0' || c == '\'' || c == 'I';
}

/* Parses digits, clamped to the range of an int: printf itself fails with longer numbers. */
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

/* Sets class, size, sign and name. Returns false if the conversion is unknown. */
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

/* Parses the place of an argument (1$, from 1 on). Returns 0 if there is none. */
static unsigned scan_place(struct format_scan *scan)
{
	const unsigned char *begun = scan->at;
	const int64_t number = scan_number(scan);

	if (peek(scan) != '$' || !number) {
		scan->at = begun;
		return 0;
	}
	scan->at++;
	return number > FORMAT_ARGS_MAX ? FORMAT_ARGS_MAX + 1 : (unsigned)number;
}

/* Sets the argument at a place. If two conversions use it, the first determines its type. */
static void set_place(struct format_scan *scan, unsigned place, const struct format_item *item)
{
	scan->has_far |= place > FORMAT_ARGS_MAX;
	if (place > FORMAT_ARGS_MAX)
		return;
	if (!format_item_is_known(&scan->by_place[place - 1]))
		scan->by_place[place - 1] = *item;
	if (place > scan->places)
		scan->places = place;
}

static void make_star(struct format_item *item)
{
	item->class = FORMAT_INT;
	item->size = 4;
	item->is_signed = true;
	item->conversion = 'd';
	item->precision = PRECISION_NONE;
}

/* Parses a '*'. *place: place of its argument, 0: the next one. */
static bool scan_star(struct format_scan *scan, unsigned *place)
{
	struct format_item star;

	if (peek(scan) != '*')
		return false;
	scan->at++;
	*place = scan_place(scan);
	make_star(&star);
	if (!*place)
		scan->pending_stars++;
	else if (scan->place)
		set_place(scan, *place, &star);
	else
		scan->place = *place; /* the conversion itself names no place */
	return true;
}

/* Parses what is between '%' and the length modifier. */
static void scan_prefix(struct format_scan *scan)
{
	unsigned place;

	scan->item.precision = PRECISION_NONE;
	scan->place = scan_place(scan);
	while (is_flag(scan, peek(scan)))
		scan->at++;
	if (!scan_star(scan, &place))
		scan_number(scan);
	if (peek(scan) == '.') {
		scan->at++;
		if (scan_star(scan, &place))
			scan->item.precision = PRECISION_ARGUMENT - (int64_t)place;
		else
			scan->item.precision = scan_number(scan);
	}
}

/* Classifies conversions that differ from printf(3). */
static bool classify_by_dialect(struct format_scan *scan, unsigned char conversion,
				enum modifier modifier)
{
	if (scan->dialect == FORMAT_OF_REDIS && conversion == 'b') {
		scan->pending_length = true;
		return classify(&scan->item, 'p', MODIFIER_NONE, scan->word);
	}
	if (scan->dialect != FORMAT_OF_SQLITE)
		return classify(&scan->item, conversion, modifier, scan->word);
	if (conversion == 'S' || conversion == 'C' || conversion == 'b' || conversion == 'B')
		return false;
	if (conversion == 's' || conversion == 'c')
		modifier = MODIFIER_NONE;
	return classify(&scan->item, conversion == 'r' ? 'd' : conversion, modifier, scan->word);
}

/* SQLite: Q or w, or a q or z that is followed by no conversion. */
static bool is_sql_text(struct format_scan *scan, const unsigned char *modifier)
{
	struct format_item item;
	const unsigned char *behind = scan->at;

	if (*modifier == 'Q' || *modifier == 'w') {
		scan->at = modifier + 1;
		return true;
	}
	if ((*modifier != 'q' && *modifier != 'z') || behind != modifier + 1 ||
	    (behind < scan->end && classify(&item, *behind, MODIFIER_NONE, scan->word)))
		return false;
	return true;
}

/* Finds the next conversion that takes an argument. Returns false if there is none. */
static bool scan_conversion(struct format_scan *scan)
{
	scan->pending = false;
	while (scan->at < scan->end) {
		if (*scan->at++ != '%')
			continue;
		scan->pending_stars = 0;
		scan_prefix(scan);
		const unsigned char *begun = scan->at;
		enum modifier modifier = scan_modifier(scan);
		unsigned char conversion = peek(scan);

		if (begun < scan->end && is_sql_text(scan, begun)) {
			classify(&scan->item, 's', MODIFIER_NONE, scan->word);
			scan->pending = true;
			return true;
		}
		if (scan->at == scan->end)
			return false;
		scan->at++;
		if (conversion == '%' || conversion == 'm') {
			/* No argument of its own, but a '*' has one. */
			if (scan->pending_stars)
				return true;
			continue;
		}
		scan->pending = classify_by_dialect(scan, conversion, modifier);
		scan->is_open = !scan->pending;
		return scan->pending;
	}
	return false;
}

void format_scan_rewind(struct format_scan *scan)
{
	scan->at = scan->format;
	scan->count = 0;
	scan->pending_stars = 0;
	scan->pending = false;
	scan->pending_length = false;
	scan->is_open = false;
	scan->place = 0;
}

/* A format names the places of either all arguments or none. */
void format_scan_init(struct format_scan *scan, const unsigned char *format, size_t length,
		      unsigned word, enum format_dialect dialect)
{
	scan->format = format;
	scan->dialect = dialect;
	scan->end = format + length;
	scan->word = word;
	scan->places = 0;
	scan->has_far = false;
	for (unsigned i = 0; i < FORMAT_ARGS_MAX; i++)
		scan->by_place[i].size = 0;
	format_scan_rewind(scan);
	while (scan_conversion(scan) && scan->place && !scan->pending_stars)
		set_place(scan, scan->place, &scan->item);
	scan->has_far |= scan->is_open || (scan->pending && !scan->place);
	format_scan_rewind(scan);
}

static bool next_place(struct format_scan *scan, struct format_item *item)
{
	if (scan->count >= scan->places || !format_item_is_known(&scan->by_place[scan->count])) {
		scan->is_open = scan->count < scan->places || scan->has_far;
		return false;
	}
	*item = scan->by_place[scan->count++];
	return true;
}

bool format_scan_next(struct format_scan *scan, struct format_item *item)
{
	if (scan->places)
		return next_place(scan, item);
	if (scan->count >= FORMAT_ARGS_MAX) {
		scan->is_open = true;
		return false;
	}
	if (!scan->pending_stars && !scan->pending && scan->pending_length) {
		scan->pending_length = false;
		scan->count++;
		return classify(item, 'u', MODIFIER_Z, scan->word);
	}
	if (!scan->pending_stars && !scan->pending && (!scan_conversion(scan) || scan->place)) {
		scan->is_open |= scan->place != 0;
		scan->at = scan->end;
		scan->pending_stars = 0;
		scan->pending = false;
		return false;
	}
	scan->count++;
	if (scan->pending_stars) {
		scan->pending_stars--;
		make_star(item);
		return true;
	}
	scan->pending = false;
	*item = scan->item;
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Renders integers, enums, bit sets and floating-point numbers. The lens of a type chooses the
 * form; without one, floating-point numbers have ltrace's form.
 */
#include "sink/render/render_number.h"

#include "sink/render/escape.h"
#include "sink/render/render_status.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	/* LENS_GUESS: values up to this far from zero are shown in decimal */
	GUESS_DECIMAL_MAX = 10000,
	CODE_POINT_MAX = 0x10ffff /* Unicode's last code point */
};

void render_pointer(struct outbuf *out, uint64_t pointer)
{
	if (pointer)
		outbuf_hex(out, pointer);
	else
		outbuf_text(out, "nil");
}

/* Returns the low `size` bytes. */
static uint64_t bits_of(uint64_t word, unsigned size)
{
	return size && size < 8 ? word & ((1ULL << 8 * size) - 1) : word;
}

static int64_t signed_of(uint64_t word, unsigned size)
{
	unsigned unused = size && size < 8 ? 64 - 8 * size : 0;

	return (int64_t)(word << unused) >> unused;
}

static void render_decimal(struct outbuf *out, uint64_t word, unsigned size, bool is_signed)
{
	if (is_signed)
		outbuf_signed(out, signed_of(word, size));
	else
		outbuf_unsigned(out, bits_of(word, size), 1, ' ');
}

static void render_guess(struct outbuf *out, uint64_t word, unsigned size, bool is_signed)
{
	uint64_t bits = bits_of(word, size);
	int64_t number = signed_of(word, size);

	if (bits <= GUESS_DECIMAL_MAX || (is_signed && number < 0 && number >= -GUESS_DECIMAL_MAX))
		render_decimal(out, word, size, is_signed);
	else
		outbuf_hex(out, bits);
}

/* Renders a character, or the number in a wide character type if it is none (WEOF). */
static void render_character(struct outbuf *out, uint64_t word, unsigned size, bool utf8)
{
	const uint64_t bits = bits_of(word, size);

	if (size <= 1)
		escape_char(out, (unsigned char)word);
	else if (bits <= CODE_POINT_MAX)
		escape_wide_char(out, (uint32_t)bits, utf8);
	else
		outbuf_signed(out, signed_of(word, size));
}

static void render_binary(struct outbuf *out, uint64_t bits)
{
	int count = bits ? 64 - __builtin_clzll(bits) : 1;

	outbuf_text(out, bits ? "0b" : "");
	while (count--)
		outbuf_char(out, bits >> count & 1 ? '1' : '0');
}

/*
 * What an enum's values tell about whether it is used as flags. Nothing declares that, and an
 * ordinary number shown as two names is worse than flags shown as a number. So an enum counts as
 * flags only if
 *
 * - each value of several bits (a mask, a combination) consists of single bits that have names, and
 *   there are fewer such values than single bits: an enumeration that counts has more;
 * - its values are not just three or more numbers in a row, as in `enum { A, B, C }`;
 * - it has at least two single bits. Two may be by chance, so then all bits of the value have to be
 *   known.
 */
struct flags {
	uint64_t single;   /* single bits that have names */
	uint64_t combined; /* bits of values with several bits */
	unsigned combinations;
	uint64_t small; /* values below 64, as a set of bits */
	bool has_large; /* there is a value of 64 or more */
};

static struct flags flags_of(const struct type *type, unsigned size)
{
	struct flags flags = {0};

	for (uint32_t i = 0; i < type->count; i++) {
		uint64_t value = bits_of((uint64_t)type->names[i].value, size);

		if (value < 64)
			flags.small |= UINT64_C(1) << value;
		else
			flags.has_large = true;
		if (value & (value - 1)) {
			flags.combined |= value;
			flags.combinations++;
		} else {
			flags.single |= value;
		}
	}
	return flags;
}

static bool is_row(const struct flags *flags)
{
	uint64_t first = flags->small & -flags->small;
	uint64_t behind = flags->small + first;

	return !flags->has_large && !(behind & flags->small) &&
	       __builtin_popcountll(flags->small) > 2;
}

/*
 * Returns true if `bits`, which have no name of their own, are several flags, or one and unknown
 * ones.
 */
static bool are_flags(const struct flags *flags, uint64_t bits)
{
	const unsigned count = (unsigned)__builtin_popcountll(flags->single);

	if (count < 2 || flags->combinations >= count || flags->combined & ~flags->single ||
	    is_row(flags))
		return false;
	return (bits & flags->single) && (count > 2 || !(bits & ~flags->single));
}

static void render_flags(struct outbuf *out, const struct type *type, uint64_t bits, unsigned size)
{
	const char *before = "";

	for (uint32_t i = 0; i < type->count && bits; i++) {
		uint64_t value = bits_of((uint64_t)type->names[i].value, size);

		if (!(bits & value) || value & (value - 1))
			continue;
		outbuf_text(out, before);
		escape_name(out, type->names[i].name);
		before = "|";
		bits &= ~value;
	}
	if (!bits)
		return;
	outbuf_text(out, before);
	outbuf_hex(out, bits);
}

bool render_value_name(struct outbuf *out, const struct type *type, uint64_t word, unsigned size)
{
	uint64_t bits = bits_of(word, size);

	for (uint32_t i = 0; i < type->count; i++)
		if (bits_of((uint64_t)type->names[i].value, size) == bits) {
			escape_name(out, type->names[i].name);
			return true;
		}
	return false;
}

static void render_enum(struct outbuf *out, const struct type *type, uint64_t word, unsigned size)
{
	const uint64_t bits = bits_of(word, size);

	if (render_value_name(out, type, word, size))
		return;
	const struct flags flags = flags_of(type, size);

	if (are_flags(&flags, bits))
		render_flags(out, type, bits, size);
	else
		render_decimal(out, word, size, type->is_signed);
}

/*
 * Returns true if the name is to be shown: its field has its value. Names of several bits come
 * before those of the single bits in them, and bits that were shown are not shown again. If a field
 * has a name for 0, that is always shown.
 */
static bool is_in(const struct type_name *name, uint64_t bits, uint64_t left)
{
	uint64_t value = (uint64_t)name->value;

	if (!name->field)
		return false;
	return value ? (left & name->field) == value : !(bits & name->field);
}

/* Returns the name for the value with no bits at all, or NULL. */
static const char *name_of_none(const struct type *type)
{
	for (uint32_t i = 0; i < type->count; i++)
		if (!type->names[i].value && !type->names[i].field)
			return type->names[i].name;
	return NULL;
}

/*
 * Returns true if the bits that are not set make the shorter list: more than half are set, and all
 * names are of single bits, in an integer of at least 32 bits.
 */
static bool is_rather_full(const struct type *type, uint64_t bits, unsigned size)
{
	if (size < sizeof(uint32_t) || __builtin_popcountll(bits) <= 4 * (int)size)
		return false;
	for (uint32_t i = 0; i < type->count; i++) {
		uint64_t field = type->names[i].field;

		if (!field || (field & (field - 1)) || (uint64_t)type->names[i].value != field)
			return false;
	}
	return true;
}

static void render_bitset(struct outbuf *out, const struct type *type, uint64_t bits)
{
	const char *before = "";
	uint64_t left = bits;

	for (uint32_t i = 0; i < type->count; i++) {
		if (!is_in(&type->names[i], bits, left))
			continue;
		outbuf_text(out, before);
		escape_name(out, type->names[i].name);
		before = "|";
		left &= ~type->names[i].field;
	}
	if (left) {
		outbuf_text(out, before);
		(type->rest_in_octal ? outbuf_octal : outbuf_hex)(out, left);
	} else if (!*before && name_of_none(type)) {
		escape_name(out, name_of_none(type));
	} else if (!*before) {
		outbuf_char(out, '0');
	}
}

/* Renders the bits that are set or, with a ~ in front, those that are not. */
static void render_whole_bitset(struct outbuf *out, const struct type *type, uint64_t bits,
				unsigned size)
{
	if (!is_rather_full(type, bits, size)) {
		render_bitset(out, type, bits);
		return;
	}
	uint64_t missing = bits_of(~bits, size);
	bool is_list = (missing & (missing - 1)) != 0;

	outbuf_text(out, is_list ? "~(" : "~");
	render_bitset(out, type, missing);
	outbuf_text(out, is_list ? ")" : "");
}

static bool bit_at(const unsigned char *bytes, size_t number)
{
	return bytes[number / 8] >> number % 8 & 1;
}

void render_bits_of(struct outbuf *out, const unsigned char *bytes, size_t length)
{
	size_t set = 0;

	for (size_t i = 0; i < 8 * length; i++)
		set += bit_at(bytes, i);
	bool inverse = set > 4 * length;
	const char *before = inverse ? "~<" : "<";

	for (size_t i = 0; i < 8 * length; i++) {
		size_t first = i;

		if (bit_at(bytes, i) == inverse)
			continue;
		while (i + 1 < 8 * length && bit_at(bytes, i + 1) != inverse)
			i++;
		outbuf_text(out, before);
		outbuf_unsigned(out, first, 1, ' ');
		if (i > first) {
			outbuf_char(out, '-');
			outbuf_unsigned(out, i, 1, ' ');
		}
		before = ",";
	}
	if (*before != ',')
		outbuf_text(out, before);
	outbuf_char(out, '>');
}

void render_wide(struct outbuf *out, const unsigned char *bytes)
{
	static const char digits[] = "0123456789abcdef";
	unsigned count = 32;

	while (count > 1 && !(bytes[(count - 1) / 2] >> 4 * ((count - 1) % 2) & 15))
		count--;
	outbuf_text(out, count > 1 || bytes[0] ? "0x" : "");
	while (count--)
		outbuf_char(out, digits[bytes[count / 2] >> 4 * (count % 2) & 15]);
}

static void render_bit_vector(struct outbuf *out, uint64_t word, unsigned size)
{
	unsigned char bytes[sizeof word];

	for (unsigned i = 0; i < sizeof bytes; i++)
		bytes[i] = (unsigned char)(word >> 8 * i);
	render_bits_of(out, bytes, size && size < sizeof bytes ? size : sizeof bytes);
}

static void render_integer(struct outbuf *out, const struct type *type, uint64_t word,
			   unsigned size, bool utf8)
{
	switch (type->lens) {
	case LENS_CHAR:
		render_character(out, word, size, utf8);
		break;
	case LENS_BIN:
		render_binary(out, bits_of(word, size));
		break;
	case LENS_OCT:
		outbuf_octal(out, bits_of(word, size));
		break;
	case LENS_HEX:
		outbuf_hex(out, bits_of(word, size));
		break;
	case LENS_GUESS:
		render_guess(out, word, size, type->is_signed);
		break;
	case LENS_BOOL:
		outbuf_text(out, bits_of(word, size) ? "true" : "false");
		break;
	case LENS_BITVEC:
		render_bit_vector(out, word, size);
		break;
	case LENS_ENUM:
		render_enum(out, type, word, size);
		break;
	case LENS_BITSET:
		render_whole_bitset(out, type, bits_of(word, size), size);
		break;
	case LENS_STATUS:
		render_status(out, (uint32_t)word);
		break;
	default:
		render_decimal(out, word, size, type->is_signed);
	}
}

void render_bits(struct outbuf *out, const struct type *type, uint64_t word, unsigned size,
		 bool utf8)
{
	if (type->kind == TYPE_INT)
		render_integer(out, type, word, size, utf8);
	else if (type->kind == TYPE_POINTER && type->lens == LENS_BOOL)
		outbuf_text(out, bits_of(word, size) ? "true" : "false");
	else if (type->kind == TYPE_POINTER && type->lens == LENS_BITVEC)
		render_bit_vector(out, word, size);
	else if (type->kind == TYPE_POINTER || type->kind == TYPE_STRING ||
		 type->kind == TYPE_FORMAT)
		render_pointer(out, bits_of(word, size));
	else
		outbuf_hex(out, bits_of(word, size));
}

/*
 * Decodes the 80-bit format by hand, so that the result does not depend on the host's long double.
 */
static long double x87_number(const unsigned char *bytes)
{
	uint64_t mantissa = 0;
	unsigned exponent = bytes[8] | (bytes[9] & 0x7fU) << 8;

	for (int i = 7; i >= 0; i--)
		mantissa = mantissa << 8 | bytes[i];
	long double number = exponent == 0x7fff
				     ? (mantissa << 1 ? NAN : INFINITY)
				     : ldexpl((long double)mantissa,
					      (exponent ? (int)exponent : 1) - 16383 - 63);

	return bytes[9] & 0x80 ? -number : number;
}

/* Returns true if a program that keeps numbers in `size` bytes reads `text` as this number. */
static bool is_read_as(const char *text, long double number, unsigned size)
{
	long double again = size == sizeof(float)    ? (long double)strtof(text, NULL)
			    : size == sizeof(double) ? (long double)strtod(text, NULL)
						     : strtold(text, NULL);

	return isnan(number) || (again <= number && again >= number);
}

/*
 * How many decimal digits always survive conversion to a format of `size` bytes and back, and how
 * many are enough for every number.
 */
struct digits {
	int least, most;
	long double normal; /* numbers closer to zero have fewer digits */
};

static struct digits digits_of(unsigned size)
{
	switch (size) {
	case sizeof(float):
		return (struct digits){FLT_DIG, FLT_DECIMAL_DIG, FLT_MIN};
	case sizeof(double):
		return (struct digits){DBL_DIG, DBL_DECIMAL_DIG, DBL_MIN};
	default:
		return (struct digits){LDBL_DIG, LDBL_DECIMAL_DIG, LDBL_MIN};
	}
}

/*
 * Formats with six digits behind the point, like printf's %f and ltrace, if these distinguish the
 * number from all others of its size; otherwise with the fewest digits that do. From 18 digits
 * before the point on, %e is used in place of %f.
 */
static void format_float(char *text, size_t room, long double number, unsigned size)
{
	const bool is_long = number >= 1e18L || number <= -1e18L;
	const struct digits can = digits_of(size);
	int digits = fabsl(number) < can.normal ? 1 : can.least;

	snprintf(text, room, is_long ? "%Le" : "%Lf", number);
	for (; !is_read_as(text, number, size) && digits <= can.most; digits++)
		snprintf(text, room, "%.*Lg", digits, number);
}

/*
 * Writes a number that is a multiple of 1/64, as most numbers in programs are: it has at most six
 * digits behind the point. Such numbers need no search for the digits, and stdio would take several
 * times as long. Returns false for other numbers.
 */
static bool put_64ths(struct outbuf *out, long double number)
{
	const long double parts = number * 64;

	if (!(parts < 1e15L && parts > -1e15L))
		return false;
	const int64_t count = (int64_t)parts;
	const uint64_t distance = count < 0 ? -(uint64_t)count : (uint64_t)count;

	if ((long double)count < parts || (long double)count > parts)
		return false;
	if (signbit(number))
		outbuf_char(out, '-');
	outbuf_unsigned(out, distance / 64, 1, ' ');
	outbuf_char(out, '.');
	outbuf_unsigned(out, distance % 64 * 15625, 6, '0');
	return true;
}

bool render_load_float(uint64_t word, unsigned size, const unsigned char *bytes,
		       long double *number)
{
	const uint32_t low = (uint32_t)word;
	float single;
	double twice;

	if (size == sizeof single) {
		memcpy(&single, &low, sizeof single);
		*number = single;
	} else if (size == sizeof twice) {
		memcpy(&twice, &word, sizeof twice);
		*number = twice;
	} else if (bytes) {
		*number = x87_number(bytes);
	}
	return size == sizeof single || size == sizeof twice || bytes;
}

/*
 * Rounds a number to the width of its type, and returns that width in bytes. i386 returns every
 * floating-point number in 80 bits, with more digits than are left when the caller stores it in a
 * float or a double.
 */
static unsigned narrow_float(const struct type *type, unsigned size, long double *number)
{
	if (type->kind != TYPE_FLOAT || size <= sizeof(double))
		return size;
	switch (type->width) {
	case WIDTH_FLOAT:
		*number = (float)*number;
		return sizeof(float);
	case WIDTH_DOUBLE:
		*number = (double)*number;
		return sizeof(double);
	default:
		return size;
	}
}

void render_float(struct outbuf *out, const struct type *type, uint64_t word, unsigned size,
		  const unsigned char *bytes)
{
	long double number;
	char text[64];

	if (type->lens == LENS_BITVEC && size <= sizeof word) {
		render_bit_vector(out, word, size);
		return;
	}
	if (type->lens == LENS_BITVEC && bytes) {
		render_bits_of(out, bytes, size);
		return;
	}
	if (!render_load_float(word, size, bytes, &number)) {
		outbuf_char(out, '?');
		return;
	}
	size = narrow_float(type, size, &number);
	if (type->lens != LENS_HEX && put_64ths(out, number))
		return;
	if (type->lens == LENS_HEX)
		snprintf(text, sizeof text, "%a", (double)number);
	else
		format_float(text, sizeof text, number, size);
	outbuf_text(out, text);
}

void render_text(struct outbuf *out, const unsigned char *bytes, size_t count, unsigned size,
		 bool is_cut, bool utf8)
{
	if (is_cut && utf8)
		count -= escape_unfinished(bytes, count, size);
	outbuf_text(out, size > 1 ? "L\"" : "\"");
	if (size == 1)
		escape_bytes(out, bytes, count, utf8);
	else
		escape_wide(out, bytes, count, size, utf8);
	outbuf_text(out, is_cut ? "\"..." : "\"");
}

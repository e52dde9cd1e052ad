/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions whose parameters are, or may be, elsewhere than the ABI has them. Those called e_usual_*
 * never are.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#ifdef __i386__
#define IN_REGISTERS __attribute__((regparm(3)))
#define OTHER __attribute__((fastcall))
#else
#define IN_REGISTERS
#define OTHER __attribute__((ms_abi))
#endif

struct large {
	long a, b, c;
};

struct word {
	int a;
};

struct pair {
	int a, b;
};

struct two {
	long a;
	double b;
};

struct mixed {
	float first;
	double number;
};

struct larger {
	long a, b, c, d, e;
	double f;
};

struct words {
	long a;
	int b;
};

volatile int looked_at;
volatile double sum_of_all;

void look_at(int *number);
static struct larger larger = {1, 2, 3, 4, 5, 1.5};

#define KEPT __attribute__((noinline))

KEPT void look_at(int *number)
{
	__asm__ volatile("" : : "r"(number) : "memory");
}

/* Nobody looks at the first. */
KEPT static int e_dropped(int unused, const char *text, int number)
{
	(void)unused;
	return text[0] + number;
}

KEPT static int e_static(const char *text, int number)
{
	__asm__ volatile("");
	return text[0] + number;
}

/* It needs its parameters after a call. */
KEPT static int e_moved(int number, const char *text, int last)
{
	char *copy = strdup(text);
	int sum = number + copy[0] + last;

	free(copy);
	return sum;
}

/* The second is always the same. */
KEPT static int e_constant(int number, int mode, const char *text)
{
	for (int i = 0; i < number; i++)
		number += text[i % 4] * mode;
	return number;
}

/* One is always the same, and what is passed is where it would be. */
KEPT static double e_fixed(struct larger other, float number, float scale)
{
	sum_of_all = other.f + number + scale;
	return sum_of_all;
}

KEPT static double e_fixed_number(int first, struct larger other, double number)
{
	sum_of_all = other.f + first + number;
	return sum_of_all;
}

/* On i386 clang aligns it to 8, and it is told where by an offset from the stack pointer only. */
KEPT static double e_aligned(float first, double number)
{
	sum_of_all = first + number + looked_at;
	return sum_of_all;
}

KEPT static double e_aligned_within(struct mixed object)
{
	sum_of_all = object.first + object.number + looked_at;
	return sum_of_all;
}

/* Where the result shall go is in a register, and what follows a word further in front. */
KEPT static struct large e_hidden(double number, float last)
{
	return (struct large){(long)(number + looked_at), (long)last, 0};
}

KEPT static double _Complex e_hidden_number(double number, float last)
{
	return number + looked_at + last;
}

/* It is put into memory only because its address is needed. */
KEPT static int e_copied(struct pair object)
{
	look_at(&object.a);
	return object.b;
}

/* So are these, which gcc passes in registers on i386. */
KEPT static int e_stored(struct word object)
{
	__asm__ volatile("" : : "r"(&object) : "memory");
	return object.a;
}

KEPT static int e_stored_text(const char *text)
{
	__asm__ volatile("" : : "r"(&text) : "memory");
	return text[0];
}

/* Called by their addresses. */
KEPT static double e_usual_callback_aligned(float first, double number, char last)
{
	sum_of_all = first + number + looked_at + last;
	return sum_of_all;
}

KEPT static int e_usual_callback_compared(const char *first, const char *second)
{
	return *first - *second;
}

/* Half of the object is not looked at. */
KEPT static double e_half(double number, struct words object)
{
	for (int i = 0; i < object.b; i++)
		number *= number;
	return number;
}

KEPT static double e_other_half(double number, struct words object)
{
	for (int i = 0; i < object.a; i++)
		number *= number;
	return number;
}

/* Only a byte is looked at, in memory, of what is always the same. */
KEPT static long e_touched(long number)
{
	looked_at = *(volatile unsigned char *)&number;
	return 77;
}

/* What is passed is not looked at. */
KEPT static double e_assigned(double scale, int number)
{
	number = looked_at;
	while (number-- > 0)
		scale *= number;
	return scale;
}

/* Nobody looks at what it returns, so nobody looks at the first. */
KEPT static int e_format(int number, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	strchr(format, va_arg(list, int))[0]++;
	va_end(list);
	return number;
}

/* Who knows all callers knows that two are always the same; others do not. */
KEPT int e_usual_constants(struct pair object, char unit, double scale, const char *text)
{
	int sum = 0;

	for (int i = 0; i < object.a; i++)
		sum += (int)(text[i % 4] * scale) + unit;
	return sum + object.b;
}

KEPT int e_usual_last(int a, int b, int c, int d, int e, int f, struct large other, double g,
		      int last)
{
	for (int i = 0; i < last; i++)
		other.a += (long)((double)other.b * g) + a + b + c + d + e + f;
	return (int)(other.a + other.c);
}

/* Called by its address, so that nothing is known of callers. */
KEPT static int e_usual_callback(int unused, const char *text, int changed)
{
	int before = changed;

	(void)unused;
	changed = text[1];
	return abs(text[0] - before) + changed;
}

KEPT IN_REGISTERS int e_registers(int first, const char *text, int number)
{
	__asm__ volatile("");
	return first + text[0] + number;
}

KEPT OTHER int e_other(int first, const char *text, int number)
{
	__asm__ volatile("");
	return first + text[0] + number;
}

KEPT struct large e_usual_large(int first, const char *text)
{
	__asm__ volatile("");
	return (struct large){first, text[0], first};
}

KEPT struct two e_usual_two(int first, const char *text)
{
	__asm__ volatile("");
	return (struct two){first, text[0]};
}

KEPT double e_usual_mixed(double a, int b, float c, const char *text, char d)
{
	__asm__ volatile("");
	return a + b + c + text[0] + d;
}

KEPT long e_usual_behind(struct two object, const char *text, struct large other, int last)
{
	__asm__ volatile("");
	return object.a + (long)object.b + text[0] + other.a + other.b + other.c + last;
}

KEPT int e_usual_many(int a, int b, int c, int d, int e, int f, const char *text, int h)
{
	__asm__ volatile("");
	return a + b + c + d + e + f + text[0] + h;
}

KEPT int e_usual_register(register int a, register int b, register const char *text)
{
	__asm__ volatile("");
	return b + text[0] + a;
}

/* No argument is a constant, which compilers would not pass. */
int main(int count, char **arguments)
{
	const struct large large = {count, count + 1, count + 2};
	const struct two two = {count + 3, count + 4};
	const char *text = arguments[0] + strlen(arguments[0]) - 4;
	int sum = e_dropped(count, text, count + 4) + e_static(text, count + 5);

	int (*volatile callback)(int, const char *, int) = e_usual_callback;

	sum += e_moved(count, text, count + 9) + e_constant(count, 2, text) +
	       callback(count, text, count + 10);
	sum += e_registers(count, text, count + 6) + e_other(count, text, count + 7);
	const struct large made = e_usual_large(count, text);
	const struct two both = e_usual_two(count, text);

	sum += (int)(made.a + made.b + made.c + both.a) + (int)both.b;
	sum += (int)e_usual_mixed(count + 0.5, count, (float)count + 1.5F, text,
				  (char)(count + 'c'));
	sum += (int)e_usual_behind(two, text, large, count + 8);
	sum += e_usual_many(count, count + 1, count + 2, 4, 5, count, text, count + 6);
	sum += e_usual_register(count, count + 1, text);

	const struct pair pair = {count + 1, count + 2};
	char letters[] = "letters";

	sum += e_usual_constants(pair, 'm', 2.5, text) + e_usual_constants(pair, 'm', 2.5, text);
	sum += e_usual_last(1, 2, 3, 4, 5, 6, large, 2.5, count + 6);
	e_format(count, letters, 'e');

	const struct words words = {count + 4, count + 5};

	looked_at = count;
	sum += (int)e_fixed(larger, (float)count + 0.5F, 2.5F);
	sum += (int)e_fixed_number(76, larger, count + 0.5);
	const struct mixed mixed = {(float)count + 0.5F, count + 1};

	sum += (int)(e_aligned((float)count + 0.5F, count + 1) + e_aligned_within(mixed));
	sum += (int)e_hidden(count, 2.5F * (float)count).a;
	sum += (int)__real__ e_hidden_number(count, 2.5F * (float)count);
	sum += e_copied(pair) + e_stored((struct word){count + 7}) + e_stored_text(text);
	double (*volatile aligned)(float, double, char) = e_usual_callback_aligned;
	int (*volatile compared)(const char *, const char *) = e_usual_callback_compared;

	sum += (int)aligned((float)count + 0.5F, count + 1, 'x') + compared(text, text);
	sum += (int)(e_half(count, words) + e_other_half(count, words));
	sum += (int)e_assigned(count, count + 6);
	e_touched(-5);
	e_touched(-5);
	return sum ? EXIT_SUCCESS : EXIT_FAILURE;
}

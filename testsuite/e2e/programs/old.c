/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Definitions in the way of C before 1989: arguments are promoted for them. */
#define KEPT __attribute__((noinline))

KEPT float o_numbers(a, b, c, d)
float a;
char b;
double c;
short d;
{
	__asm__ volatile("");
	return a + b + c + d;
}

KEPT int o_text(text, number, last) const char *text;
float number;
int last;
{
	__asm__ volatile("");
	return text[0] + (int)number + last;
}

/* With a prototype before it, arguments are what that says. */
KEPT int o_declared(float number, int last);

int o_declared(number, last)
float number;
int last;
{
	__asm__ volatile("");
	return (int)number + last;
}

KEPT int o_new(float number, int last)
{
	__asm__ volatile("");
	return (int)number + last;
}

int main(int count, char **arguments)
{
	float sum = o_numbers(count + 0.5F, 'k', count + 1.5, -count);

	sum += o_text(arguments[0] + 1, count + 2.5F, count + 4) +
	       o_declared(count + 5.5F, count + 6);
	sum += o_new(count + 7.5F, count + 8);
	return !(int)sum;
}

// SPDX-License-Identifier: GPL-2.0-or-later
// Objects of classes without data by value: nothing is passed, and what is behind them moves up.
struct nothing {
};

struct around {
	nothing inner;
};

struct derived : nothing {
};

#define KEPT extern "C" __attribute__((noinline))

KEPT int m_between(int first, nothing, int second)
{
	__asm__ volatile("");
	return first + second;
}

KEPT int m_several(nothing, const char *text, around, derived, double number, int last)
{
	__asm__ volatile("");
	return text[0] + static_cast<int>(number) + last;
}

KEPT int m_stack(int a, int b, int c, int d, int e, nothing, int f, int g, nothing, int h)
{
	__asm__ volatile("");
	return a + b + c + d + e + f + g * h;
}

KEPT nothing m_result(int number)
{
	__asm__ volatile("" : : "r"(number));
	return nothing();
}

int main(int count, char **)
{
	const nothing empty = nothing();

	m_between(count, empty, count + 1);
	m_several(empty, "text", around(), derived(), count + 1.5, count + 2);
	m_stack(count, 2, 3, 4, 5, empty, 6, 7, empty, 8);
	m_result(count + 8);
	return 0;
}

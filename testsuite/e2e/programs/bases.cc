/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects with parts that are of empty classes, on which other parts may lie. */
#include <optional>
#include <utility>

struct empty {
};
struct other {
};
struct nested : empty, other {
};
struct with_virtual {
	virtual int get()
	{
		return 1;
	}
};

struct derived : empty {
	int number;
	const char *text;
};
struct floats : nested {
	float a, b;
	double c;
};
struct marked {
	[[no_unique_address]] empty nothing;
	long number;
	[[no_unique_address]] other again;
	double fraction;
};
struct first_is_empty {
	empty nothing;
	short number;
};
struct counted : with_virtual, empty {
	int number;
};

#define KEPT extern "C" __attribute__((noinline))

KEPT int b_pair(std::pair<int, double> pair, int last)
{
	return pair.first + (int)pair.second + last;
}

KEPT int b_texts(std::pair<int, const char *> pair, int last)
{
	return pair.first + pair.second[0] + last;
}

KEPT derived b_derived(derived object, int last)
{
	object.number += last;
	return object;
}

KEPT int b_floats(floats object, double last)
{
	return (int)(object.a + object.b + object.c + last);
}

KEPT int b_marked(marked object, int last)
{
	return (int)(object.number + object.fraction) + last;
}

KEPT int b_pointer(const marked *object, int last)
{
	return (int)(object->number + object->fraction) + last;
}

KEPT int b_first(first_is_empty object, int last)
{
	return object.number + last;
}

KEPT int b_counted(counted object, int last)
{
	return object.number + last;
}

KEPT int b_perhaps(std::optional<int> object, int last)
{
	return object.value_or(0) + last;
}

KEPT int b_perhaps_float(std::optional<double> object, int last)
{
	return (int)object.value_or(0) + last;
}

int main()
{
	derived derived;
	floats floats;
	marked marked;
	counted counted;

	derived.number = 5;
	derived.text = "derived";
	floats.a = 1.5;
	floats.b = 2.5;
	floats.c = 3.5;
	marked.number = 6;
	marked.fraction = 7.5;
	counted.number = 8;
	return !(b_pair({1, 2.5}, 21) + b_texts({3, "pair"}, 22) + b_derived(derived, 23).number +
		 b_floats(floats, 24.5) + b_marked(marked, 25) + b_pointer(&marked, 26) +
		 b_first({{}, 9}, 27) + b_counted(counted, 28) +
		 b_perhaps(10, 29) + b_perhaps_float(11.5, 30));
}

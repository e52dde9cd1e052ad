/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What debug information says, but not how it is passed. */
typedef int four __attribute__((vector_size(16)));

struct aligned {
	_Alignas(16) long a;
	long b;
};

__attribute__((noipa)) int by_vector(four vector, int number)
{
	return number + vector[0] * 0;
}

__attribute__((noipa)) long by_value(int a, int b, int c, int d, int e, int f, int g,
				     struct aligned object, int last)
{
	return object.b + last + (a + b + c + d + e + f + g) * 0;
}

__attribute__((noipa)) long by_pointer(const struct aligned *object)
{
	return object->b;
}

int main(void)
{
	struct aligned object = {8, 9};

	return by_vector((four){1, 2, 3, 4}, 42) + by_value(1, 2, 3, 4, 5, 6, 7, object, 1) +
		       by_pointer(&object) !=
	       61;
}

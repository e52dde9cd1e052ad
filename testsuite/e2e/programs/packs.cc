/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions with parameter packs, which have any number of parameters. */
#define KEPT __attribute__((noinline, visibility("default")))

template <class... T> KEPT int p_pack(const char *first, T...)
{
	__asm__ volatile("");
	return first[0] + sizeof...(T);
}

template <class... T> KEPT int p_between(int first, T..., const char *last)
{
	__asm__ volatile("");
	return first + last[0];
}

struct object {
	int number;
	template <class... T> KEPT static int p_static(T... all)
	{
		__asm__ volatile("");
		return (0 + ... + all);
	}
	template <class... T> KEPT int p_member(T &&...)
	{
		__asm__ volatile("");
		return number + sizeof...(T);
	}
};

int main()
{
	object object = {7};

	return !(p_pack("none") + p_pack("pre", 1, "two", 3.5) +
		 p_between<double, int>(4, 5.5, 6, "last") + object::p_static(1, 2, 3) +
		 object.p_member(8, "nine"));
}

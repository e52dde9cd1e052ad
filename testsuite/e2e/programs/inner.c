/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions inside of others, as gcc has them. */
int main(int count, char **arguments)
{
	int i_nested(int number, const char *text)
	{
		int i_deeper(const char *first, int last)
		{
			return first[0] + last + count;
		}
		return i_deeper(text, number + 1) + count;
	}
	int (*volatile pointer)(int, const char *) = i_nested;

	(void)arguments;
	return !(i_nested(3, "direct") + pointer(4, "pointer"));
}

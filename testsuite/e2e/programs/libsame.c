/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions with the names of the C library's, and one with an older version that takes something else. */
struct same_item {
	int id;
	const char *name;
};

int remove(struct same_item *list, double key);
double index(int a, int b);
int same_old(int a);
int same_new(const char *text, double number);

int remove(struct same_item *list, double key)
{
	return list->id + (int)key;
}

double index(int a, int b)
{
	return a * 1.5 + b;
}

int same_old(int a)
{
	return a;
}

int same_new(const char *text, double number)
{
	return text[0] + (int)number;
}

__asm__(".symver same_old, same_versions@OLD");
__asm__(".symver same_new, same_versions@@NEW");

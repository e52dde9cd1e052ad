/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls libsame.c, and a function of its own that has a name of the C library's. */
struct same_item {
	int id;
	const char *name;
};

int remove(struct same_item *list, double key);
double index(int a, int b);
int same_versions(const char *text, double number);
int error(const char *message, double value);

__attribute__((noinline)) int error(const char *message, double value)
{
	return message[0] + (int)value;
}

int main(void)
{
	struct same_item item = {7, "nm"};

	return remove(&item, 2.5) + (int)index(3, 4) + same_versions("s", 1.5) + error("e", 2.5) == 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls what libchosen.c has. */
struct chosen {
	int number;
	const char *name;
};

int chosen_told(const char *text, struct chosen *chosen);
int chosen_by_typedef(const char *text, struct chosen *chosen);
int chosen_untold(const char *text, struct chosen *chosen);

int main(void)
{
	struct chosen chosen = {3, "three"};

	return chosen_told("a", &chosen) + chosen_by_typedef("b", &chosen) + chosen_untold("c", &chosen) == 303 ? 0 : 1;
}

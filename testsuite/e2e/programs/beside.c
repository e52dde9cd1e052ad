/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A function that is called twice, by a register, beside strings and calls that are relative to the GOT as well: built
 * for i386 by clang's large model, bytes of these look like references to slots.
 */
char *getenv(const char *name);
int beside_one(const char *text, int a, int b) __asm__("abs");
int beside_two(const char *text, int a, int b) __asm__("labs");

volatile int beside_sum;

int main(void)
{
	beside_sum += getenv("A") ? 1 : 0;
	beside_sum += getenv("B") ? 1 : 0;
	if (beside_sum != 7)
		return 0;
	beside_sum += beside_one("x", beside_sum, beside_sum);
	beside_sum += beside_two("x", beside_sum, beside_sum);
	return 0;
}

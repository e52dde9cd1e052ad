// SPDX-License-Identifier: GPL-2.0-or-later
// Calls functions that tell where they return to: how often that was not here.
#include <stdint.h>
#include <stdio.h>

extern uintptr_t caller_plain(int number);
extern uintptr_t caller_framed(int number);
extern char __executable_start, etext;

static int is_elsewhere(uintptr_t address)
{
	return address < (uintptr_t)&__executable_start || address >= (uintptr_t)&etext;
}

int main(void)
{
	int wrong = 0;

	for (int i = 0; i < 100; i++)
		wrong += is_elsewhere(caller_plain(i % 7)) + is_elsewhere(caller_framed(i % 7));
	printf("wrong %d\n", wrong);
	return 0;
}

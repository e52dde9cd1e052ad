/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hands out pointers to memory that it may not read itself, of one word and of two, and to the word in front of it. */
#include <stddef.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

__attribute__((noipa)) int at_two(const int *two)
{
	return two != NULL;
}

__attribute__((noipa)) int at_text(const char *text, int length)
{
	return text != NULL && length;
}

int main(void)
{
	char *page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *end = page + PAGE;

	((int *)end)[-1] = 7;
	((int *)end)[0] = 8;
	end[-5] = 'a';
	if (page == MAP_FAILED || mprotect(end, PAGE, PROT_NONE))
		return 1;
	at_two((int *)end - 2);
	at_two((int *)end - 1);
	at_two((int *)end);
	at_text(end - 5, 6);
	at_text(end, 4);
	return 0;
}

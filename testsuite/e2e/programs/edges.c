/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usage: edges
 * Passes strings and data that lie at each distance from the end of a page behind which there is none: some end there, some
 * go on. Prints how many there were.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, LONGEST = 44 };

__attribute__((noipa)) int edge_text(const char *text)
{
	return text != NULL;
}

__attribute__((noipa)) int edge_data(const char *data, long length)
{
	return data && length;
}

int main(void)
{
	char *pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int calls = 0;

	if (pages == MAP_FAILED || munmap(pages + 2 * PAGE, PAGE) != 0)
		return 1;
	/* Over the border of two pages that are there, and up to the end of the second one. */
	for (int place = 0; place < 2; place++)
		for (int length = 0; length < LONGEST; length++)
			for (int behind = 0; behind < 10; behind++) {
				char *end = pages + (place + 1) * PAGE - behind;

				memset(pages, 'x', 2 * PAGE);
				for (int i = 0; i < length; i++)
					end[i - length] = (char)('a' + i % 26);
				if (place == 0 || behind)
					*end = 0;
				calls += edge_text(end - length);
				calls += edge_data(end - length, length + behind);
			}
	printf("%d\n", calls);
	return 0;
}

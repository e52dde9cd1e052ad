/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prepares statements of libkept, says what their texts are by its own word, waits for a line, and runs them. */
#include <stdio.h>

struct statement;
struct statement *kept_prepare(const char *text);
const char *kept_text(struct statement *statement);
const char *kept_other_text(struct statement *statement);
int kept_step(struct statement *statement);
int kept_other_step(struct statement *statement);

int main(int argc, char **argv)
{
	struct statement *statement = kept_prepare(argc > 1 ? argv[1] : "SELECT 1");
	struct statement *none = kept_prepare(NULL);

	printf("text %s\nother %s\nready\n", kept_text(statement), kept_other_text(statement));
	fflush(stdout);
	getchar();
	printf("steps %d\n", kept_step(statement));
	printf("none %d\n", kept_step(none));
	printf("null %d\n", kept_step(NULL));
	printf("other %d\n", kept_other_step(statement));
	return 0;
}

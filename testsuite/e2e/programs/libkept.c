/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Statements that keep their text where only the library knows: MEMBERS, given when it is built, come before it.
 */
#include <stdlib.h>

#ifndef MEMBERS
#define MEMBERS 5
#endif

struct statement {
	const char *before[MEMBERS];
	const char *text;
	int steps;
};

struct statement *kept_prepare(const char *text)
{
	struct statement *statement = calloc(1, sizeof *statement);

	statement->before[0] = "\1\2no text";
	statement->text = text;
	return statement;
}

/* What tells where the text is, by its code. */
const char *kept_text(struct statement *statement)
{
	return statement ? statement->text : NULL;
}

/* It depends on more than that. */
const char *kept_other_text(struct statement *statement)
{
	return statement->steps > 1 ? "other" : statement->text;
}

int kept_step(struct statement *statement)
{
	return statement ? ++statement->steps : -1;
}

int kept_other_step(struct statement *statement)
{
	return ++statement->steps;
}

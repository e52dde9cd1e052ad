/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits for a query: one_query SOCKET QUERY. The client library's header is not needed. */
#include <stdio.h>
#include <string.h>

extern void *mysql_init(void *);
extern void *mysql_real_connect(void *, const char *, const char *, const char *, const char *, unsigned, const char *,
				unsigned long);
extern int mysql_real_query(void *, const char *, unsigned long);

__attribute__((noinline)) int ask(void *connection, const char *query)
{
	const unsigned long length = strlen(query);
	const int failed = mysql_real_query(connection, query, length);

	if (failed)
		printf("%s, %lu bytes, on %p\n", query, length, connection);
	return failed;
}

int main(int count, char **words)
{
	void *connection = mysql_init(NULL);

	if (count < 3 || !mysql_real_connect(connection, NULL, "root", NULL, NULL, 0, words[1], 0))
		return 1;
	puts("ready");
	fflush(stdout);
	return ask(connection, words[2]);
}

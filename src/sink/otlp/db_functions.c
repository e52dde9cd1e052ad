/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which functions send statements to which databases, and which argument is the statement.
 *
 * The names of databases are the values that OpenTelemetry's semantic conventions for database
 * client spans give db.system.name. A client library may talk to a server of another maker (MariaDB
 * and MySQL, PostgreSQL and what speaks its protocol): the library is what is known here.
 *
 * A new function is a row of the table. Rows are sorted by name; of several with one name, the
 * first whose module fits is taken. Arguments are numbered as in the installed .conf files, which
 * also define the spans among the names.
 */
#include "sink/otlp/db_functions.h"

#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const struct db_function table[] = {
	{"PQexec", NULL, "postgresql", 2},
	{"PQexecParams", NULL, "postgresql", 2},
	{"PQexecPrepared", NULL, "postgresql", 0},
	{"PQprepare", NULL, "postgresql", 3},
	{"PQsendPrepare", NULL, "postgresql", 3},
	{"PQsendQuery", NULL, "postgresql", 2},
	{"PQsendQueryParams", NULL, "postgresql", 2},
	{"PQsendQueryPrepared", NULL, "postgresql", 0},
	{"mariadb_stmt_execute_direct", NULL, "mariadb", 2},
	{"memcached_delete", NULL, "memcached", 0},
	{"memcached_get", NULL, "memcached", 0},
	{"memcached_mget", NULL, "memcached", 0},
	{"memcached_set", NULL, "memcached", 0},
	{"mysql2_query", "libmariadb", "mariadb", 2},
	{"mysql2_query", NULL, "mysql", 2},
	{"mysql_prepared_query", "libmariadb", "mariadb", 2},
	{"mysql_prepared_query", NULL, "mysql", 2},
	{"mysql_query", "libmariadb", "mariadb", 2},
	{"mysql_query", NULL, "mysql", 2},
	{"mysql_real_query", "libmariadb", "mariadb", 2},
	{"mysql_real_query", NULL, "mysql", 2},
	{"mysql_send_query", "libmariadb", "mariadb", 2},
	{"mysql_send_query", NULL, "mysql", 2},
	{"mysql_stmt_execute", "libmariadb", "mariadb", 0},
	{"mysql_stmt_execute", NULL, "mysql", 0},
	{"mysql_stmt_prepare", "libmariadb", "mariadb", 2},
	{"mysql_stmt_prepare", NULL, "mysql", 2},
	{"mysqlnd_async_query", NULL, "mysql", 2},
	{"mysqlnd_prepared_query", NULL, "mysql", 2},
	{"mysqlnd_query", NULL, "mysql", 2},
	{"mysqlnd_sent_query", NULL, "mysql", 2},
	{"mysqlnd_stmt_execute", NULL, "mysql", 0},
	{"mysqlnd_stmt_prepare", NULL, "mysql", 2},
	{"pq_params_query", NULL, "postgresql", 2},
	{"pq_prepared_query", NULL, "postgresql", 3},
	{"pq_query", NULL, "postgresql", 2},
	{"pq_sent_prepared_query", NULL, "postgresql", 3},
	{"redisAppendCommand", NULL, "redis", 2},
	{"redisAppendCommandArgv", NULL, "redis", 0},
	{"redisAppendFormattedCommand", NULL, "redis", 0},
	{"redisAsyncCommand", NULL, "redis", 0},
	{"redisAsyncCommandArgv", NULL, "redis", 0},
	{"redisAsyncFormattedCommand", NULL, "redis", 0},
	{"redisCommand", NULL, "redis", 2},
	{"redisCommandArgv", NULL, "redis", 0},
	{"sqlite3_exec", NULL, "sqlite", 2},
	{"sqlite3_prepare", NULL, "sqlite", 2},
	{"sqlite3_prepare_v2", NULL, "sqlite", 2},
	{"sqlite3_prepare_v3", NULL, "sqlite", 2},
	{"sqlite3_query", NULL, "sqlite", 1},
	{"sqlite3_step", NULL, "sqlite", 0},
};
/* clang-format on */

static int compare(const void *key, const void *row)
{
	return strcmp(key, ((const struct db_function *)row)->name);
}

const struct db_function *db_functions_find(const struct probe_info *probe)
{
	const struct db_function *const end = table + sizeof table / sizeof *table;
	const struct db_function *row = bsearch(probe->name, table, (size_t)(end - table),
						sizeof *table, compare);

	while (row && row > table && !strcmp(row[-1].name, probe->name))
		row--;
	for (; row && row < end && !strcmp(row->name, probe->name); row++)
		if (!row->module || !strncmp(probe->module, row->module, strlen(row->module)))
			return row;
	return NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of MariaDB's client library, of each type; it connects to nothing. */
#include <mysql.h>
#include <stddef.h>

int main(void)
{
	MYSQL *mysql = mysql_init(NULL);
	unsigned seconds = 7, protocol = MYSQL_PROTOCOL_TCP, number;
	my_bool yes = 1;
	char *text;

	mysql_options(mysql, MYSQL_OPT_CONNECT_TIMEOUT, &seconds);
	mysql_options(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
	mysql_options(mysql, MYSQL_OPT_RECONNECT, &yes);
	mysql_options(mysql, MYSQL_OPT_PROTOCOL, &protocol);
	mysql_options(mysql, MYSQL_OPT_COMPRESS, NULL);
	mysql_options4(mysql, MYSQL_OPT_CONNECT_ATTR_ADD, "key", "value");
	mysql_optionsv(mysql, MYSQL_OPT_CONNECT_ATTR_ADD, "other", "one");
	mysql_optionsv(mysql, MYSQL_OPT_COMPRESS);
	mysql_optionsv(mysql, MARIADB_OPT_USER, "me");
	mysql_optionsv(mysql, MARIADB_OPT_PASSWORD, "secret");
	mysql_get_option(mysql, MYSQL_SET_CHARSET_NAME, &text);
	mysql_get_option(mysql, MYSQL_OPT_CONNECT_TIMEOUT, &number);
	mysql_get_option(mysql, MYSQL_OPT_PROTOCOL, &protocol);
	return 0;
}

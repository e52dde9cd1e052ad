// SPDX-License-Identifier: GPL-2.0-or-later
/* Calls that belong together: queries of two connections, statements that are prepared and executed, rows. */
#include <unistd.h>

int s_send(int connection, const char *text);
int s_receive(int connection);
int s_prepare(int statement, const char *text);
int s_execute(int statement);
int s_step(int statement);
int s_close(int statement);
int s_open(int number);
int s_shut(int number);

static int received[3], executed[9], steps[5];

#define KEEP(value) __asm__ volatile("" : : "r"(value) : "memory")

__attribute__((noinline)) int s_send(int connection, const char *text)
{
	KEEP(text);
	return connection;
}

__attribute__((noinline)) int s_receive(int connection)
{
	return connection * 10 + received[connection]++;
}

__attribute__((noinline)) int s_prepare(int statement, const char *text)
{
	KEEP(text);
	return statement;
}

__attribute__((noinline)) int s_execute(int statement)
{
	return statement * 10 + executed[statement]++;
}

/* Two rows, and the end. */
__attribute__((noinline)) int s_step(int statement)
{
	return ++steps[statement] < 3 ? 100 : 101;
}

__attribute__((noinline)) int s_close(int statement)
{
	KEEP(statement);
	return 0;
}

__attribute__((noinline)) int s_open(int number)
{
	KEEP(number);
	return number;
}

__attribute__((noinline)) int s_shut(int number)
{
	KEEP(number);
	return number;
}

/* Far more that begin than end. */
static int many(void)
{
	for (int i = 0; i < 350000; i++)
		s_open(i);
	for (int i = 250000; i < 350000; i++)
		s_shut(i);
	s_shut(1);
	return 0;
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		return many();
	s_send(1, "first");
	s_send(2, "second");
	s_receive(1);
	s_receive(2);
	s_send(2, "third");
	s_receive(2);
	s_receive(2); /* without a begin */
	s_send(1, "lost");
	s_send(1, "sent again");
	s_receive(1);
	s_send(2, "never answered");

	s_execute(6); /* was prepared before anybody looked */
	s_prepare(7, "statement seven");
	s_prepare(8, "statement eight");
	s_execute(7);
	s_execute(8);
	s_execute(7);
	s_prepare(7, "seven anew");
	s_execute(7);

	s_step(3);
	usleep(500000);
	s_step(3);
	s_step(3);
	s_step(4);
	s_close(4);
	s_close(4);
	return 0;
}

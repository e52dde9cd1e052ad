/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls what a tracer watches for itself, as often as it is asked to by lines of stdin:
 *
 *	actions N	changes dispositions of signals, as PHP and Perl do at each request
 *	traps N		and that of SIGTRAP, which a tracer has to know about
 *	jumps N		leaves functions by longjmp()
 *	ping N		calls target_ping(N)
 *
 * "wrong" is how often the disposition was not what the program had made it, "got" how many of the
 * SIGTRAPs that it sent itself its handler got. The first line says where sigaction() and
 * longjmp() are.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile sig_atomic_t got;
static int wrong;
static jmp_buf place;

void target_ping(int number);

__attribute__((noinline)) void target_ping(int number)
{
	__asm__ volatile("" : : "r"(number));
}

static void on_signal(int signal)
{
	got += signal == SIGTRAP;
}

static void change(int signal, void (*handler)(int))
{
	struct sigaction now, action;

	memset(&action, 0, sizeof action);
	action.sa_handler = handler;
	sigaction(signal, &action, NULL);
	sigaction(signal, NULL, &now);
	wrong += now.sa_handler != handler;
}

static void trap(void)
{
	change(SIGTRAP, on_signal);
	raise(SIGTRAP);
	change(SIGTRAP, SIG_IGN);
	raise(SIGTRAP);
	change(SIGTRAP, SIG_DFL);
}

int leave(int number);

__attribute__((noinline)) int leave(int number)
{
	if (number >= 0)
		longjmp(place, 1);
	return number;
}

static void jump(int number)
{
	if (!setjmp(place))
		leave(number);
}

int main(void)
{
	char line[64], word[16];
	int count;

	printf("sigaction %p longjmp %p\nready\n", (void *)sigaction, (void *)longjmp);
	fflush(stdout);
	while (fgets(line, sizeof line, stdin) && sscanf(line, "%15s %d", word, &count) == 2) {
		for (int i = 0; i < count && !strcmp(word, "actions"); i++)
			change(i % 2 ? SIGUSR1 : SIGUSR2, i % 4 < 2 ? on_signal : SIG_IGN);
		for (int i = 0; i < count && !strcmp(word, "traps"); i++)
			trap();
		for (int i = 0; i < count && !strcmp(word, "jumps"); i++)
			jump(i);
		if (!strcmp(word, "ping"))
			target_ping(count);
		printf("wrong %d got %d\ndone\n", wrong, (int)got);
		fflush(stdout);
	}
	return 0;
}

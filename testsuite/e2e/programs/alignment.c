/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls with the processor checking alignment (the flag AC), while signals arrive, and says how
 * often that was so when the call was back.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

enum { CALLS = 3000, CALLS_A_SIGNAL = 5 };

static const char text[] __attribute__((aligned(16))) = "at any byte, as strings are";

#ifdef __x86_64__
#define ABOVE "sub $128, %%rsp\n\t"
#define BELOW "\n\tsub $-128, %%rsp"
#define TOP "(%%rsp)"
#else
#define ABOVE ""
#define BELOW ""
#define TOP "(%%esp)"
#endif

static void check_alignment(void)
{
	__asm__ volatile(ABOVE "pushf\n\torl $0x40000, " TOP "\n\tpopf" BELOW : : : "memory", "cc");
}

/* Not any more; whether it was so. */
static int checked_alignment(void)
{
	unsigned flags;

	__asm__ volatile(ABOVE "pushf\n\tmovl " TOP ", %0\n\tandl $~0x40000, " TOP "\n\tpopf" BELOW
			 : "=r"(flags)
			 :
			 : "memory", "cc");
	return flags >> 18 & 1;
}

__attribute__((noipa)) int both(const char *one, const char *other)
{
	return one != other;
}

static void count(int signal)
{
	(void)signal;
}

int main(void)
{
	/* Once, so that there is no signal without some calls, however slow they are. */
	const struct itimerval soon = {{0, 0}, {0, 5}};
	int checked = 0;

	signal(SIGALRM, count);
	for (int i = 0; i < CALLS; i++) {
		if (i % CALLS_A_SIGNAL == 0)
			setitimer(ITIMER_REAL, &soon, NULL);
		check_alignment();
		both(text + i % 7, text + 3);
		checked += checked_alignment();
	}
	printf("%d\n", checked);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flow.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

long flow_counted[FLOWS];
long flow_left[FLOWS];
unsigned long flow_sum;
int flow_report_last;

static const char *const names[FLOWS] = {
	"add",	"mark", "call",	 "jump", "tail",
	"hop", "spin", "raise", "wait", "switch", "leave", "throw", "keep",
};

long flow_add(long a, long b)
{
	return a + b;
}

void flow_mark(int around)
{
	__asm__ volatile("" : "+r"(around));
}

void flow_call(void (*callback)(void *), void *argument)
{
	callback(argument);
	__asm__ volatile("" ::: "memory"); /* no tail call */
}

long flow_keep(void (*callback)(void *), void *argument, long value)
{
	callback(argument);
	__asm__ volatile("" : "+r"(value));
	return value;
}

void flow_jump(jmp_buf where, int value)
{
	longjmp(where, value);
}

long flow_tail(long n)
{
	__asm__ volatile("" : "+r"(n));
	return COUNT(hop)(n + 1);
}

long flow_hop(long n)
{
	__asm__ volatile("" : "+r"(n));
	return COUNT(add)(n, 1);
}

void flow_spin(volatile int *inside)
{
	*inside = 1;
	for (;;)
		*inside = *inside + 1 & 0xffff | 1;
}

void flow_raise(int number)
{
	raise(number);
	__asm__ volatile("" ::: "memory");
}

void flow_wait(volatile int *inside)
{
	*inside = 1;
	for (;;)
		pause();
}

void flow_switch(void *from, void *to)
{
	swapcontext(from, to);
	__asm__ volatile("" ::: "memory");
}

void flow_leave(void *result)
{
	pthread_exit(result);
}

static int threads(void)
{
	DIR *directory = opendir("/proc/self/task");
	int count = -2; /* . and .. */

	while (directory && readdir(directory))
		count++;
	closedir(directory);
	return count;
}

void flow_alone(void)
{
	while (threads() > 1)
		usleep(200);
}

void flow_report(unsigned long checksum)
{
	for (int i = 0; i < FLOWS; i++)
		if (flow_counted[i])
			printf("counted flow_%s %ld\nunwound flow_%s %ld\n", names[i], flow_counted[i],
			       names[i], flow_left[i]);
	printf("checksum %lx\n", checksum);
	fflush(stdout);
}

void flow_ready(void)
{
	puts("ready");
	fflush(stdout);
	getchar();
}

static __attribute__((destructor)) void destruct(void)
{
	if (flow_report_last)
		flow_report(flow_sum);
}

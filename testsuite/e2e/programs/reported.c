// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls for a report: r_outer() calls r_inner() three times, in each of two threads one after the
 * other; r_slow() waits; texts that a page must not take for its own; r_end() does not return.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int r_inner(int number, const char *text);
int r_outer(int number);
int r_slow(int ms);
int r_say(const char *text);
void r_end(int status);

__attribute__((noinline)) int r_inner(int number, const char *text)
{
	__asm__ volatile("" : : "r"(text) : "memory");
	return number * 2;
}

__attribute__((noinline)) int r_outer(int number)
{
	int sum = 0;

	for (int i = 0; i < 3; i++)
		sum += r_inner(number + i, "an inner text");
	return sum;
}

__attribute__((noinline)) int r_slow(int ms)
{
	usleep((useconds_t)ms * 1000);
	return ms;
}

__attribute__((noinline)) int r_say(const char *text)
{
	__asm__ volatile("" : : "r"(text) : "memory");
	return (int)strlen(text);
}

__attribute__((noinline)) void r_end(int status)
{
	exit(status);
}

static void *work(void *argument)
{
	for (int i = 0; i < 20; i++)
		r_outer(i + *(int *)argument);
	return NULL;
}

int main(void)
{
	pthread_t thread;

	for (int i = 0; i < 2; i++) {
		pthread_create(&thread, NULL, work, &i);
		pthread_join(thread, NULL);
	}
	r_slow(30);
	r_slow(60);
	r_say("</script><script>document.title='taken over'</script>");
	r_say("<!--<script><img src=x onerror=\"document.title='taken over'\">");
	r_say("bytes \xff\xfe, a line\xe2\x80\xa8 separator, \xe2\x80\xae reversed");
	r_end(4);
	return 0;
}

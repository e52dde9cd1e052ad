/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of one to six bytes without padding, as gcc lays them out with -O1 and -Os, in many orders. What they return is
 * checked. They are called by several threads at once.
 * "forks": a child calls them, too. "fault": some of them are given memory that cannot be read, and the handler repairs
 * that. "before": one of them has code right behind it that calls. "slot": one has a call through a GOT slot right behind it.
 * "storm": three threads go on and on amid signals, until the input ends; where those find them is not looked at with another
 * argument.
 */
#define _GNU_SOURCE
#include "caught.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

enum { CALLS = 300, THREADS = 3 };

typedef long function(long, const int *);

/* name, its code, what it returns of n and a pointer to an int of value n + 7 */
#define FUNCTIONS(X)                                                                                                   \
	X(a4, "lea 1(%rdi), %eax\n ret", n + 1)                                                                        \
	X(b5, "lea 2(%rdi), %rax\n ret", n + 2)                                                                        \
	X(c3, "mov %edi, %eax\n ret", n)                                                                               \
	X(d1, "ret", 0)                                                                                                \
	X(e2, "xchg %eax, %edi\n ret", n)                                                                              \
	X(f3, "mov (%rsi), %eax\n ret", n + 7)                                                                         \
	X(g4, "lea 3(%rdi), %eax\n ret", n + 3)                                                                        \
	X(h4, "lea 4(%rdi), %eax\n ret", n + 4)                                                                        \
	X(i6, "mov %edi, %eax\n add $5, %eax\n ret", n + 5)                                                            \
	X(j1, "ret", 0)                                                                                                \
	X(k1, "ret", 0)                                                                                                \
	X(l2, "jmp s_i6", n + 5)                                                                                       \
	X(m2, "jmp s_c3", n)                                                                                           \
	X(n3, "mov (%rsi), %eax\n ret", n + 7)                                                                         \
	X(o3, "mov (%rsi), %eax\n ret", n + 7)                                                                         \
	X(p4, "mov 0(%rsi), %eax\n nop\n ret", n + 7)                                                                  \
	X(q6, "lea 6(%rdi), %rax\n nop\n ret", n + 6)                                                                  \
	X(r2, "xchg %eax, %edi\n ret", n)                                                                              \
	X(s4, "lea 7(%rdi), %eax\n ret", n + 7)                                                                        \
	X(t5, "lea 8(%rdi), %rax\n ret", n + 8)                                                                       \
	X(u3, "mov %edi, %eax\n ret", n)

#define DECLARE(name, code, result) long s_##name(long, const int *);
#define DEFINE(name, code, result)                                                                                     \
	__asm__(".globl s_" #name "\n"                                                                                 \
		".type s_" #name ", @function\n"                                                                       \
		"s_" #name ": " code "\n"                                                                              \
		".size s_" #name ", . - s_" #name "\n");
#define CHECK(name, code, result)                                                                                      \
	{                                                                                                              \
		const long got = s_##name(n, value);                                                                   \
		if (#name[1] != '1' && got != (result))                                                                \
			abort();                                                                                       \
	}

FUNCTIONS(DECLARE)
__asm__(".text\n .p2align 6\n");
FUNCTIONS(DEFINE)
/*
 * Right behind the last of them: it keeps its breakpoint, as it begins by reading the clock. Then two bytes, and what is no
 * symbol: that calls s_clock(), so there will be a breakpoint where it returns to.
 */
__asm__(".globl s_before, s_clock\n"
	".type s_clock, @function\n"
	"s_clock: rdtsc\n"
	"	mov $9, %eax\n"
	"	ret\n"
	".size s_clock, . - s_clock\n"
	".type s_before, @function\n"
	"s_before: xchg %eax, %edi\n"
	"	ret\n"
	".size s_before, . - s_before\n"
	".Lcalls: call *%rsi\n"
	"	pop %rdi\n"
	"	ret\n"
	".size .Lcalls, . - .Lcalls\n"
	".p2align 4\n"
	".type call_calls, @function\n"
	"call_calls: push %rdi\n"
	"	jmp .Lcalls\n"
	".size call_calls, . - call_calls\n");
long s_before(long), s_clock(void), call_calls(long, long (*)(void));
/* Three bytes, one of another function, and a call. */
__asm__(".globl s_beside, slot_calls\n"
	".p2align 4\n"
	".type s_beside, @function\n"
	"s_beside: mov %edi, %eax\n"
	"	ret\n"
	".size s_beside, . - s_beside\n"
	".type slot_calls, @function\n"
	"slot_calls: push %rbx\n"
	"	call *getppid@GOTPCREL(%rip)\n"
	"	pop %rbx\n"
	"	ret\n"
	".size slot_calls, . - slot_calls\n");
long s_beside(long);
int slot_calls(void);

static int good_value;

static void call_all(long n)
{
	const int holder = (int)n + 7, *value = &holder;

	FUNCTIONS(CHECK)
}

/* The pointer is the second argument. */
static void on_fault(int number, siginfo_t *info, void *context)
{
	(void)number;
	if (info->si_addr || pc_of(context) - (uintptr_t)__executable_start >= (uintptr_t)(etext - __executable_start))
		abort();
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RSI] = (greg_t)(uintptr_t)&good_value;
}

static void *call_often(void *calls)
{
	inside = 1;
	for (long i = 0; calls ? i < *(long *)calls : !stop; i++) {
		call_all(i % CALLS);
		if (!calls && i % 64 == 0 && s_clock() != 9)
			abort();
	}
	inside = 0;
	return NULL;
}

static void begin(pthread_t *threads, long *calls)
{
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, call_often, calls);
}

static void end(pthread_t *threads)
{
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static int storm(void)
{
	const struct itimerval often = {{0, 1000}, {0, 1000}};
	pthread_t threads[THREADS];
	sigset_t timer;
	char byte;

	begin(threads, NULL);
	sigemptyset(&timer);
	sigaddset(&timer, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &timer, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	stop = 1;
	end(threads);
	return 0;
}

/* Amid calls by other threads. */
static void fault(long calls)
{
	pthread_t threads[THREADS];

	good_value = 3;
	handle(SIGSEGV, on_fault);
	begin(threads, &calls);
	if (s_n3(1, NULL) != 3 || s_p4(1, NULL) != 3 || s_f3(1, NULL) != 3)
		abort();
	end(threads);
}

/* Some calls before the breakpoint is planted, and some behind it. */
static void call_before(void)
{
	for (int i = 0; i < CALLS; i++)
		if (s_before(i) != i || (i >= CALLS / 2 && call_calls(i, s_clock) != 9))
			abort();
}

static void call_beside(void)
{
	for (int i = 0; i < CALLS; i++)
		if (s_beside(i) != i || slot_calls() <= 0)
			abort();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long calls = CALLS;
	pthread_t threads[THREADS];

	strict = argc == 2;
	handle(SIGALRM, on_timer);
	if (!strcmp(what, "storm"))
		return storm();
	if (!strcmp(what, "fault")) {
		fault(calls);
	} else if (!strcmp(what, "before")) {
		call_before();
	} else if (!strcmp(what, "slot")) {
		call_beside();
	} else {
		begin(threads, &calls);
		end(threads);
	}
	puts("good");
	fflush(stdout);
	return strcmp(what, "forks") ? 0 : fork_all(CALLS);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program's own SIGTRAP, which it shares with breakpoints: sent to itself in every way, by
 * instructions of its own, handled, ignored, blocked; what is left of disposition and mask is told.
 */
#include "sig.h"

#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#ifdef __x86_64__
#define SP "rsp"
#else
#define SP "esp"
#endif

static _Atomic unsigned long traps[8]; /* by where they came from */
static unsigned long other_codes;
static _Atomic unsigned long values;

enum { BY_RAISE, BY_KILL, BY_QUEUE, BY_INT3, BY_STEP };

static void on_trap(int number, siginfo_t *info, void *context)
{
	(void)number;
	check_pc(context);
	switch (info->si_code) {
	case SI_TKILL:
		traps[BY_RAISE]++;
		break;
	case SI_USER:
		traps[BY_KILL]++;
		break;
	case SI_QUEUE:
		traps[BY_QUEUE]++;
		values += (unsigned long)info->si_value.sival_int;
		break;
	case SI_KERNEL:
		traps[BY_INT3]++;
		break;
	default:
		other_codes++;
	}
	sum((unsigned long)call_outer(7));
}

static void say(const char *when)
{
	struct sigaction action;
	sigset_t mask, pending;

	sigaction(SIGTRAP, NULL, &action);
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	sigpending(&pending);
	printf("%s: %s%s, blocked %d, pending %d, raised %lu, killed %lu, queued %lu (%lu), int3 %lu, other %lu\n",
	       when,
	       action.sa_handler == SIG_IGN	? "ignored"
	       : action.sa_handler == SIG_DFL	? "default"
	       : action.sa_sigaction == on_trap ? "handled"
						: "strange",
	       action.sa_flags & SA_RESTART ? " with SA_RESTART" : "", sigismember(&mask, SIGTRAP),
	       sigismember(&pending, SIGTRAP), traps[BY_RAISE], traps[BY_KILL], traps[BY_QUEUE], values,
	       traps[BY_INT3], other_codes);
}

/* All ways to send one to oneself. */
static void send_all(int times)
{
	for (int i = 0; i < times; i++) {
		raise(SIGTRAP);
		work(1);
		kill(getpid(), SIGTRAP);
		work(1);
		sigqueue(getpid(), SIGTRAP, (union sigval){.sival_int = i});
		work(1);
	}
}

static void own_int3(int times)
{
	for (int i = 0; i < times; i++) {
		unsigned kept = 12345;

		__asm__ volatile("int3" : "+b"(kept)::"memory");
		sum(kept);
		work(1);
	}
}

static void own_traps(const struct arguments *arguments)
{
	int times = arguments->number[0];
	sigset_t all, before, set = set_of(SIGTRAP);
	siginfo_t info;

	handle(SIGTRAP, on_trap, SA_RESTART, NULL);
	send_all(times);
	own_int3(times);
	say("handled");
	signal(SIGTRAP, SIG_IGN);
	send_all(times);
	say("ignored");
	handle(SIGTRAP, on_trap, 0, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	work(times);
	say("blocked");
	raise(SIGTRAP);
	say("blocked and raised");
	work(times);
	say("blocked and raised, after calls");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	say("let through");
	block(SIGTRAP, true);
	kill(getpid(), SIGTRAP);
	work(1);
	if (sigtimedwait(&set, &info, &(struct timespec){0}) == SIGTRAP)
		printf("waited for: code %d, own %d\n", info.si_code, info.si_pid == getpid());
	say("waited for");
	block(SIGTRAP, false);
	own_int3(times);
	say("again");
}

static void on_alarm(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	check_pc(context);
}

/*
 * Its own, while a timer interrupts everything: also where they are on the way to the handler. Flags that the
 * instruction behind an int3 takes from the stack are those that were put there.
 */
static void timed_traps(const struct arguments *arguments)
{
	struct itimerval timer = {{0, 300}, {0, 300}};
	const struct itimerval off = {{0, 0}, {0, 0}};

	handle(SIGTRAP, on_trap, SA_RESTART, NULL);
	handle(SIGALRM, on_alarm, SA_RESTART, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	send_all(arguments->number[0]);
	own_int3(arguments->number[0]);
	for (int i = 0; i < arguments->number[0]; i++)
		__asm__ volatile("sub $128, %%" SP "\n\tpushf\n\tint3\n\tpopf\n\tnop\n\tsub $-128, %%" SP ::: "memory", "cc");
	setitimer(ITIMER_REAL, &off, NULL);
	say("timed");
}

/* Disposition default, the signal blocked: what is left of the mask after calls. */
static void default_trap(const struct arguments *arguments)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	work(arguments->number[0]);
	say("blocked");
	raise(SIGTRAP);
	say("raised");
	work(arguments->number[0]);
	say("after calls");
	signal(SIGTRAP, SIG_IGN);
	say("ignored");
	work(arguments->number[0]);
	say("ignored, after calls");
	block(SIGTRAP, false);
	say("let through");
}

static void take_one(void)
{
	sigset_t set = set_of(SIGTRAP);
	siginfo_t info;

	if (sigtimedwait(&set, &info, &(struct timespec){0}) == SIGTRAP)
		printf("taken: code %d, own %d, value %d\n", info.si_code, info.si_pid == getpid(),
		       info.si_code == SI_QUEUE ? info.si_value.sival_int : 0);
}

/* Sent to the process and to the thread while it is blocked, before there is a handler and after. */
static void late_trap(const struct arguments *arguments)
{
	int times = arguments->number[0];
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	kill(getpid(), SIGTRAP);
	work(times);
	say("sent to the process");
	take_one();
	for (int i = 0; i < times; i++) {
		pthread_sigqueue(pthread_self(), SIGTRAP, (union sigval){.sival_int = i});
		work(1);
		kill(getpid(), SIGTRAP);
		raise(SIGTRAP);
		work(1);
		take_one();
		take_one();
	}
	say("taken");
	handle(SIGTRAP, on_trap, SA_RESTART, NULL);
	work(times);
	say("handled, blocked");
	kill(getpid(), SIGTRAP);
	raise(SIGTRAP);
	work(times);
	say("both sent");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	say("let through");
	block(SIGTRAP, true);
	work(times);
	say("blocked alone");
	block(SIGTRAP, false);
	work(times);
	raise(SIGTRAP);
	say("open");
}

/* One waits for the thread and one for the process, until the next line comes: tracers come and go. */
static void pending_traps(const struct arguments *arguments)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	(void)arguments;
	handle(SIGTRAP, on_trap, SA_RESTART, NULL);
	block(SIGTRAP, true);
	kill(getpid(), SIGTRAP);
	raise(SIGTRAP);
	say("pending");
	fflush(stdout);
	while (poll(&input, 1, 2) == 0)
		work(1);
	say("at the end");
	block(SIGTRAP, false);
	say("let through");
}

/* ---- the program steps itself through code that calls what is traced ---- */

enum { TRAP_FLAG = 0x100 };

static unsigned long steps;

/* si_code is mostly TRAP_TRACE, but not always so in a virtual machine, traced or not. */
static void on_step(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	check_pc(context);
	steps++;
}

#ifdef __x86_64__
#define FLIP "pushfq\n\txorq $0x100, (%%rsp)\n\tpopfq"
#else
#define FLIP "pushfl\n\txorl $0x100, (%%esp)\n\tpopfl"
#endif

static void own_steps(const struct arguments *arguments)
{
	unsigned long before;

	handle(SIGTRAP, on_step, 0, NULL);
	for (int i = 0; i < arguments->number[0]; i++)
		for (unsigned k = 0; k < SLOTS; k++) {
			int result;

			before = steps;
			__asm__ volatile(FLIP ::: "memory", "cc");
			result = call_slot(k, i);
			__asm__ volatile(FLIP ::: "memory", "cc");
			sum((unsigned long)result);
			if (i == 0)
				printf("slot %u: %lu steps\n", k, steps - before);
		}
	printf("steps %lu\n", steps);
}

const struct verb trap_verbs[] = {
	{"own-traps", own_traps}, {"timed-traps", timed_traps}, {"default-trap", default_trap}, {"late-trap", late_trap}, {"pending-traps", pending_traps}, {"own-steps", own_steps}, {0}};

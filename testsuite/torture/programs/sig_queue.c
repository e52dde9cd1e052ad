/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Real-time signals: none is lost, those of one number in the order in which they were sent, lower
 * numbers first; taken by handlers, sigwaitinfo(), a signalfd and ppoll(). And a flood of signals from
 * another process into calls of traced functions.
 */
#include "sig.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NUMBERS = 5 };

static int next_value[NUMBERS], out_of_order, wrong_number_first, highest;

static void take(int number, int value)
{
	int k = number - SIGRTMIN;

	if (value != next_value[k]++)
		out_of_order++;
	if (k < highest)
		wrong_number_first++;
	highest = k;
	sum((unsigned long)call_slot((unsigned)k, value) + (unsigned long)call_outer(value));
}

static void on_queued(int number, siginfo_t *info, void *context)
{
	check_pc(context);
	if (info->si_code != SI_QUEUE)
		out_of_order++;
	take(number, info->si_value.sival_int);
}

static void send_them(pid_t to, int count)
{
	for (int i = 0; i < count; i++)
		for (int k = NUMBERS; k-- > 0;)
			while (sigqueue(to, SIGRTMIN + k, (union sigval){.sival_int = i}))
				if (errno != EAGAIN)
					die("sigqueue");
}

static void restart_numbers(void)
{
	highest = 0;
	for (int k = 0; k < NUMBERS; k++)
		next_value[k] = 0;
}

static void all_came(const char *how, int count)
{
	int missing = 0;

	for (int k = 0; k < NUMBERS; k++)
		missing += count - next_value[k];
	printf("%s: missing %d, out of order %d, wrong number first %d\n", how, missing, out_of_order,
	       wrong_number_first);
	restart_numbers();
}

static void queues(const struct arguments *arguments)
{
	int count = arguments->number[1];
	sigset_t set;

	sigemptyset(&set);
	for (int k = 0; k < NUMBERS; k++)
		sigaddset(&set, SIGRTMIN + k);
	int fd = signalfd(-1, &set, SFD_CLOEXEC);

	for (int round = 0; round < arguments->number[0]; round++) {
		siginfo_t info;
		struct signalfd_siginfo from_fd;

		/* All are blocked while one is handled: the order is that of the queue. */
		for (int k = 0; k < NUMBERS; k++)
			handle(SIGRTMIN + k, on_queued, 0, &set);
		sigprocmask(SIG_BLOCK, &set, NULL);
		send_them(getpid(), count);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		all_came("handlers", count);
		sigprocmask(SIG_BLOCK, &set, NULL);
		send_them(getpid(), count);
		for (int i = 0; i < NUMBERS * count && sigwaitinfo(&set, &info) > 0; i++)
			take(info.si_signo, info.si_value.sival_int);
		all_came("sigwaitinfo", count);
		send_them(getpid(), count);
		for (int i = 0; i < NUMBERS * count && read(fd, &from_fd, sizeof from_fd) > 0; i++)
			take((int)from_fd.ssi_signo, from_fd.ssi_int);
		all_came("signalfd", count);
		/* From a child, taken where ppoll() lets them in. */
		pid_t self = getpid(), child = fork();

		if (!child) {
			for (int i = 0; i < count; i++)
				sigqueue(self, SIGRTMIN, (union sigval){.sival_int = i});
			_exit(0);
		}
		sigset_t none;

		sigemptyset(&none);
		while (next_value[0] < count)
			if (ppoll(NULL, 0, NULL, &none) != -1 || errno != EINTR)
				die("ppoll");
		printf("ppoll: out of order %d\n", out_of_order);
		restart_numbers();
		waitpid(child, NULL, 0);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		work(1);
	}
}

/* ---- a thread that waits for signals, while others call what is traced ---- */

static _Atomic bool done;

static void *waiter(void *count)
{
	sigset_t set;
	siginfo_t info;

	sigfillset(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	for (int i = 0; i < *(int *)count; i++) {
		if (sigwaitinfo(&set, &info) != SIGRTMIN || info.si_value.sival_int != i)
			out_of_order++;
		call_outer(i);
	}
	done = true;
	return NULL;
}

static void *worker(void *rounds)
{
	work(*(int *)rounds);
	return NULL;
}

static void waiting(const struct arguments *arguments)
{
	int rounds = arguments->number[0], count = arguments->number[1];
	pthread_t threads[4];

	block(SIGRTMIN, true);
	pthread_create(&threads[0], NULL, waiter, &count);
	for (int i = 1; i < 4; i++)
		pthread_create(&threads[i], NULL, worker, &rounds);
	for (int i = 0; i < count; i++) {
		while (sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = i}))
			;
		work(1);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("waited for, out of order %d\n", out_of_order);
}

/* ---- a flood ---- */

static struct flood {
	_Atomic long sent, handled;
	_Atomic bool over;
} *flood;

static void on_flood(int number, siginfo_t *info, void *context)
{
	(void)info;
	check_pc(context);
	sum((unsigned long)number);
	flood->handled++;
	if (flood->handled <= 50)
		call_tick(1);
}

/* From a process of its own: each signal as soon as the one before has been handled. */
static void send_flood(pid_t to)
{
	for (long i = 0; !flood->over; i++) {
		kill(to, SIGUSR1);
		flood->sent++;
		while (flood->handled < flood->sent && !flood->over)
			;
	}
	_exit(0);
}

static void floods(const struct arguments *arguments)
{
	pid_t self = getpid();

	flood = mmap(NULL, sizeof *flood, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	handle(SIGUSR1, on_flood, 0, NULL);
	unsigned long before = counters->checksum;
	pid_t child = fork();

	if (!child)
		send_flood(self);
	work(arguments->number[0]);
	while (flood->handled < 50)
		;
	flood->over = true;
	waitpid(child, NULL, 0);
	/* One may be on its way still: it comes before kill() of oneself returns. */
	kill(self, SIGUSR1);
	signal(SIGUSR1, SIG_IGN);
	printf("flooded %d\n", flood->handled >= flood->sent);
	counters->checksum = before; /* their number is not the same each time */
	work(arguments->number[0]);
}

const struct verb queue_verbs[] = {{"queues", queues}, {"waiting", waiting}, {"floods", floods}, {0}};

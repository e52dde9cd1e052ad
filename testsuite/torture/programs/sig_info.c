/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What handlers, sigwaitinfo() and signalfd are told of a signal: who, why, with which value. */
#include "sig.h"

#include <pthread.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t self, child;
static volatile sig_atomic_t seen;

static const char *who(pid_t pid)
{
	return pid == self ? "self" : pid && pid == child ? "child" : pid ? "somebody" : "nobody";
}

/* printf() in a handler: they only come while the program waits for them. */
static void tell(const char *how, const siginfo_t *info)
{
	printf("%s: %s code %d", how, sigabbrev_np(info->si_signo), info->si_code);
	if (info->si_signo == SIGCHLD && info->si_code > 0)
		printf(" pid %s uid %d status %d", who(info->si_pid), info->si_uid == getuid(), info->si_status);
	else if (info->si_code == SI_TIMER)
		printf(" value %d", info->si_value.sival_int);
	else if (info->si_code <= 0)
		printf(" pid %s uid %d value %d", who(info->si_pid), info->si_uid == getuid(),
		       info->si_code == SI_QUEUE || info->si_code == SI_MESGQ ? info->si_value.sival_int : 0);
	printf(" errno %d\n", info->si_errno);
}

static void on_any(int number, siginfo_t *info, void *context)
{
	check_pc(context);
	sum((unsigned long)call_outer(number));
	tell("handler", info);
	seen++;
}

/* Waits for one signal that comes from outside of this thread. */
static void await(int count)
{
	sigset_t none;

	sigemptyset(&none);
	while (seen < count)
		sigsuspend(&none);
	seen = 0;
}

static void timer(int clock)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct itimerspec value = {.it_value = {0, 1000}};
	timer_t id;

	event.sigev_value.sival_int = 4321;
	if (timer_create(clock, &event, &id) || timer_settime(id, 0, &value, NULL))
		die("timer");
	await(1);
	timer_delete(id);
}

static void by_child(int how)
{
	child = fork();
	if (!child) {
		if (how == 0)
			kill(self, SIGUSR1);
		else if (how == 1)
			sigqueue(self, SIGRTMIN + 1, (union sigval){.sival_int = 99});
		else if (how == 2)
			raise(SIGKILL);
		else if (how == 3)
			raise(SIGSEGV);
		_exit(how == 4 ? 33 : 0);
	}
}

static void each_source(void)
{
	sigset_t all, before;
	int numbers[] = {SIGUSR1, SIGUSR2, SIGALRM, SIGRTMIN + 1};

	/* They come only where they are waited for. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	for (int i = 0; i < 4; i++)
		handle(numbers[i], on_any, 0, &all);
	kill(self, SIGUSR1);
	await(1);
	raise(SIGUSR2);
	await(1);
	sigqueue(self, SIGUSR2, (union sigval){.sival_int = -5});
	await(1);
	pthread_sigqueue(pthread_self(), SIGRTMIN + 1, (union sigval){.sival_int = 17});
	await(1);
	timer(CLOCK_MONOTONIC);
	timer(CLOCK_REALTIME);
	setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {0, 1000}}, NULL);
	await(1);
	for (int how = 0; how < 5; how++) {
		/* Those of the children before are forgotten. */
		signal(SIGCHLD, SIG_DFL);
		if (how > 1)
			handle(SIGCHLD, on_any, 0, &all);
		by_child(how);
		await(1);
		waitpid(child, NULL, 0);
	}
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* The same through sigwaitinfo() and a signalfd. */
static void waited(void)
{
	sigset_t set;
	siginfo_t info;
	struct signalfd_siginfo read_info;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGRTMIN + 1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	int fd = signalfd(-1, &set, SFD_CLOEXEC);

	kill(self, SIGUSR1);
	if (sigwaitinfo(&set, &info) > 0)
		tell("sigwaitinfo", &info);
	sigqueue(self, SIGRTMIN + 1, (union sigval){.sival_int = 3});
	sigqueue(self, SIGRTMIN + 1, (union sigval){.sival_int = 4});
	sigtimedwait(&set, &info, &(struct timespec){1, 0});
	tell("sigtimedwait", &info);
	if (read(fd, &read_info, sizeof read_info) == sizeof read_info)
		printf("signalfd: %d code %d pid %s value %d\n", (int)read_info.ssi_signo - SIGRTMIN, read_info.ssi_code,
		       who((pid_t)read_info.ssi_pid), read_info.ssi_int);
	by_child(1);
	if (read(fd, &read_info, sizeof read_info) == sizeof read_info)
		printf("signalfd: %d code %d pid %s value %d\n", (int)read_info.ssi_signo - SIGRTMIN, read_info.ssi_code,
		       who((pid_t)read_info.ssi_pid), read_info.ssi_int);
	close(fd);
	waitpid(child, NULL, 0);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void infos(const struct arguments *arguments)
{
	setvbuf(stdout, NULL, _IOFBF, 1 << 20);
	self = getpid();
	for (int i = 0; i < arguments->number[0]; i++) {
		each_source();
		waited();
		work(1);
	}
}

const struct verb info_verbs[] = {{"infos", infos}, {0}};

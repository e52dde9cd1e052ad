/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls that a signal comes into: which go on (SA_RESTART), which end with EINTR, as signal(7) has
 * it. A child of the program sends the signal once the program sleeps in the call, and then what lets a
 * call that went on end.
 */
#include "sig.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t handled;
static int ends[2]; /* the program's, the child's */
static int epoll_fd, semaphores;
static struct shared {
	_Atomic int stage;
	sem_t semaphore;
	_Atomic int word;
} *shared;

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)info;
	check_pc(context);
	sum((unsigned long)call_outer(number));
	handled++;
}

static long do_read(void)
{
	char c;

	return read(ends[0], &c, 1);
}

static long do_receive(void)
{
	char c;

	return recv(ends[0], &c, 1, 0);
}

static long do_receive_timed(void)
{
	struct timeval limit = {100, 0};
	char c;

	setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	long result = recv(ends[0], &c, 1, 0);

	setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){0}, sizeof limit);
	return result;
}

static long do_poll(void)
{
	struct pollfd fd = {ends[0], POLLIN, 0};

	return poll(&fd, 1, 100000);
}

static long do_ppoll(void)
{
	struct pollfd fd = {ends[0], POLLIN, 0};
	sigset_t none;

	sigemptyset(&none);
	return ppoll(&fd, 1, &(struct timespec){100, 0}, &none);
}

static long do_select(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(ends[0], &set);
	return select(ends[0] + 1, &set, NULL, NULL, &(struct timeval){100, 0});
}

static long do_epoll(void)
{
	struct epoll_event event;

	return epoll_wait(epoll_fd, &event, 1, 100000);
}

static long do_nanosleep(void)
{
	struct timespec left = {0, 0};
	long result = nanosleep(&(struct timespec){100, 0}, &left);
	int error = errno;

	if (left.tv_sec < 1 || left.tv_sec > 100) /* with the slack of timers it may be more than asked for */
		return 77;
	errno = error;
	return result;
}

static long do_sem_wait(void)
{
	return sem_wait(&shared->semaphore);
}

static long do_futex(void)
{
	return syscall(SYS_futex, &shared->word, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static long do_pause(void)
{
	return pause();
}

static long do_sigtimedwait(void)
{
	sigset_t set = set_of(SIGUSR2);

	return sigtimedwait(&set, NULL, &(struct timespec){100, 0});
}

/* A function that begins with the system call: traced, it is made from an out-of-line slot. */
__asm__(".text\n.globl traced_system_call\n.type traced_system_call, @function\ntraced_system_call:\n.cfi_startproc\n"
#ifdef __x86_64__
	"syscall\n"
#else
	"int $0x80\n"
#endif
	"ret\n.cfi_endproc\n.size traced_system_call, . - traced_system_call\n");

static long do_read_in_slot(void)
{
	char c;
	long result;

	counters->calls[SYSTEM_CALL]++;
#ifdef __x86_64__
	__asm__ volatile("sub $128, %%rsp\ncall traced_system_call\nadd $128, %%rsp"
			 : "=a"(result)
			 : "a"(SYS_read), "D"(ends[0]), "S"(&c), "d"(1)
			 : "rcx", "r11", "memory", "cc");
#else
	__asm__ volatile("call traced_system_call"
			 : "=a"(result)
			 : "a"(SYS_read), "b"(ends[0]), "c"(&c), "d"(1)
			 : "memory", "cc");
#endif
	errno = result < 0 ? (int)-result : 0;
	return result < 0 ? -1 : result;
}

static long do_wait(void)
{
	return waitpid(getpid() /* no child: see below */, NULL, 0);
}

static const struct call {
	const char *name;
	long (*make)(void);
} calls[] = {
	{"read", do_read},	   {"recv", do_receive},   {"recv with a time-out", do_receive_timed},
	{"poll", do_poll},	   {"ppoll", do_ppoll},	   {"select", do_select},
	{"epoll_wait", do_epoll},  {"nanosleep", do_nanosleep}, {"sem_wait", do_sem_wait},
	{"futex", do_futex},	   {"pause", do_pause},	   {"sigtimedwait", do_sigtimedwait},
	{"waitpid", do_wait},	   {"read in a slot", do_read_in_slot},
};
enum { CALLS = sizeof calls / sizeof *calls };

/* In the child: sends the signal when the program sleeps; if the call goes on after that, lets it end. */
static void disturb(pid_t target, int number)
{
	wait_asleep(target, target);
	kill(target, number);
	while (shared->stage == 0)
		sched_yield();
	if (shared->stage == 1)
		wait_asleep(target, target);
	shared->word = 1;
	syscall(SYS_futex, &shared->word, FUTEX_WAKE, 1, NULL, NULL, 0);
	sem_post(&shared->semaphore);
	if (write(ends[1], "x", 1) != 1)
		_exit(1);
	_exit(0);
}

/* The handler has run: it says so to the child. */
static void on_announced(int number, siginfo_t *info, void *context)
{
	on_signal(number, info, context);
	shared->stage = 1;
}

static void one(const struct call *call, int flags)
{
	pid_t self = getpid();
	char drained[8];

	handle(SIGUSR1, on_announced, flags, NULL);
	handled = 0;
	shared->stage = 0;
	shared->word = 0;
	sem_init(&shared->semaphore, 1, 0);
	pid_t child = fork();

	if (!child)
		disturb(self, SIGUSR1);
	errno = 0;
	long result = call->make == do_wait ? waitpid(child, NULL, 0) == child : call->make();
	int error = errno;

	shared->stage = 2;
	printf("%s%s: %ld, %s, handled %d\n", call->name, flags & SA_RESTART ? " with SA_RESTART" : "", result,
	       result == -1 ? strerrorname_np(error) : "no error", (int)handled);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	while (recv(ends[0], drained, sizeof drained, MSG_DONTWAIT) > 0)
		;
}

/* Calls that would go on for ever without somebody to end them. */
static bool endless(const struct call *call)
{
	return call->make == do_pause || call->make == do_nanosleep || call->make == do_sigtimedwait;
}

static void restarts(const struct arguments *arguments)
{
	setvbuf(stdout, NULL, _IOFBF, 1 << 20);
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		die("socketpair");
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	epoll_ctl(epoll_fd, EPOLL_CTL_ADD, ends[0], &(struct epoll_event){.events = EPOLLIN});
	block(SIGUSR2, true);
	for (int i = 0; i < arguments->number[0]; i++)
		for (int k = 0; k < CALLS; k++) {
			one(&calls[k], 0);
			one(&calls[k], SA_RESTART);
			work(1);
		}
}

/* ---- signals that are ignored, and stops, end no call ---- */

static void ignored(const struct arguments *arguments)
{
	static const int numbers[] = {SIGWINCH, SIGURG, SIGCONT, SIGUSR1};

	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		die("socketpair");
	setvbuf(stdout, NULL, _IOFBF, 1 << 20);
	signal(SIGUSR1, SIG_IGN);
	for (int i = 0; i < arguments->number[0]; i++)
		for (int k = 0; k < CALLS; k++) {
			pid_t self = getpid();

			if (endless(&calls[k]) || calls[k].make == do_wait)
				continue;
			shared->word = 0;
			sem_init(&shared->semaphore, 1, 0);
			pid_t child = fork();

			if (!child) {
				for (int n = 0; n < 4; n++) {
					wait_asleep(self, self);
					kill(self, numbers[n]);
				}
				shared->stage = 1;
				disturb(self, SIGWINCH);
			}
			errno = 0;
			long result = calls[k].make();

			printf("%s: %ld, %s\n", calls[k].name, result, result == -1 ? strerrorname_np(errno) : "no error");
			waitpid(child, NULL, 0);
			if (calls[k].make == do_poll || calls[k].make == do_ppoll || calls[k].make == do_select ||
			    calls[k].make == do_epoll || calls[k].make == do_sem_wait || calls[k].make == do_futex)
				do_read();
			work(1);
		}
}

/* ---- threads that sleep, each in another call, while tracers come and go ---- */

static _Atomic int interrupted_calls;

static void *sleeper(void *argument)
{
	const struct call *call = argument;

	counters->calls[LEAF]++;
	traced_leaf(1);
	if (call->make() == -1 && errno == EINTR) {
		printf("%s: EINTR\n", call->name);
		interrupted_calls++;
	}
	counters->calls[LEAF]++;
	traced_leaf(2);
	return NULL;
}

static long do_semop(void)
{
	struct sembuf operation = {0, -1, 0};

	return semop(semaphores, &operation, 1);
}

static const struct call sleeping[] = {
	{"recv with a time-out", do_receive_timed}, {"epoll_wait", do_epoll}, {"semop", do_semop},
	{"sigtimedwait", do_sigtimedwait},	    {"futex", do_futex},      {"poll", do_poll},
};
enum { SLEEPERS = sizeof sleeping / sizeof *sleeping };

/* Says "asleep"; at the next line of stdin all are woken. */
static void sleepers(const struct arguments *arguments)
{
	pthread_t threads[SLEEPERS];
	struct sembuf operation = {0, 1, 0};
	char c;

	(void)arguments;
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	epoll_ctl(epoll_fd, EPOLL_CTL_ADD, ends[0], &(struct epoll_event){.events = EPOLLIN});
	semaphores = semget(IPC_PRIVATE, 1, 0600);
	block(SIGUSR2, true);
	for (int i = 0; i < SLEEPERS; i++)
		pthread_create(&threads[i], NULL, sleeper, (void *)&sleeping[i]);
	puts("asleep");
	fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		;
	shared->word = 1;
	syscall(SYS_futex, &shared->word, FUTEX_WAKE, 1, NULL, NULL, 0);
	semop(semaphores, &operation, 1);
	pthread_kill(threads[3], SIGUSR2);
	if (write(ends[1], "xxx", 3) != 3)
		die("write");
	for (int i = 0; i < SLEEPERS; i++)
		pthread_join(threads[i], NULL);
	semctl(semaphores, 0, IPC_RMID);
	printf("interrupted %d\n", interrupted_calls);
}

const struct verb restart_verbs[] = {{"restarts", restarts}, {"ignored", ignored}, {"sleepers", sleepers}, {0}};

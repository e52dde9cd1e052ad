/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes system calls. Those that a test is to look at come behind close(-111) and before close(-222).
 *   syscalls MODE
 * `serve` is for a Target: it answers lines of its stdin.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/netlink.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

__attribute__((noinline)) int target_ping(int n)
{
	__asm__ volatile("" ::: "memory"); /* so that calls of it stay */
	return n;
}

static void mark(int number)
{
	syscall(SYS_close, -number);
}

static void plain(void)
{
	char buffer[16];
	int pipes[2];

	syscall(SYS_openat, AT_FDCWD, "/nonexistent/file", O_RDONLY | O_CLOEXEC);
	syscall(SYS_pipe2, pipes, O_CLOEXEC);
	syscall(SYS_write, pipes[1], "hello\n", 6L);
	syscall(SYS_read, pipes[0], buffer, (long)sizeof buffer);
	syscall(1000);
	syscall(SYS_getppid);
}

/* Calls of i386 made by a program of any kind: the pointer has to be one of 32 bits. */
static int call_i386(int number, long first, const char *text, long length)
{
	int result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(first), "c"(text), "d"(length)
			 : "memory");
	return result;
}

static void unknown(void)
{
	for (int i = 0; i < 2; i++) {
		syscall(0x3e7, 1L, -2L, 3L, 0x10000L, 5L, 6L);
		syscall(0x1388, 0L);
		syscall(0x40000000 | 5, 0L); /* x86_64: of the x32 ABI, where the kernel has it */
		syscall(-1, 0L);
	}
}

/* A number of 64 bits as an argument: one register, or two. */
#ifdef __i386__
#define WIDE(number) (long)(uint32_t)(number), (long)((uint64_t)(number) >> 32)
#define HALVES(number) WIDE(number)
#define TRUNCATE SYS_ftruncate64
#define ADVISE SYS_fadvise64
#else
#define WIDE(number) (long)(number)
#define HALVES(number) (long)(number), 0L
#define TRUNCATE SYS_ftruncate
#define ADVISE SYS_fadvise64
#endif

/* Offsets beyond 4 GiB, and negative ones. */
static void wide(void)
{
	char buffer[] = "abc";
	struct iovec vector = {buffer, 3};
	long fd = syscall(SYS_memfd_create, "wide", 0L);

	syscall(TRUNCATE, fd, WIDE(0x123456789LL));
	syscall(SYS_pwrite64, fd, buffer, 3L, WIDE(0x123456789LL));
	syscall(SYS_pread64, fd, buffer, 3L, WIDE(0x123456789LL));
	syscall(SYS_pread64, fd, buffer, 3L, WIDE(-2LL));
	syscall(SYS_pwritev, fd, &vector, 1L, HALVES(0x180000000LL));
	syscall(SYS_preadv, fd, &vector, 1L, HALVES(0x180000000LL));
	syscall(SYS_preadv2, fd, &vector, 1L, HALVES(0x180000000LL), 1L);
	syscall(SYS_fallocate, fd, 1L, WIDE(0x100000000LL), WIDE(4096LL));
	syscall(ADVISE, fd, WIDE(0x100000000LL), 4096L, 3L);
	syscall(SYS_sync_file_range, -1L, WIDE(0x100000001LL), WIDE(0x200000002LL), 2L);
	syscall(SYS_readahead, -1L, WIDE(0x100000001LL), 5L);
	syscall(SYS_fanotify_mark, -1L, 1L, WIDE(0x100000001LL), (long)AT_FDCWD, "/");
}

#ifdef __i386__
static long socketcall(int which, ...)
{
	long words[6];
	va_list list;

	va_start(list, which);
	for (int i = 0; i < 6; i++)
		words[i] = va_arg(list, long);
	va_end(list);
	return syscall(SYS_socketcall, which, words);
}

static void packed(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	char buffer[] = "abc";
	long long place = 0;
	long pairs[2], queue, segment, at;
	long map[] = {0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0};
	struct timeval none = {0};
	long choice[] = {0, 0, 0, 0, (long)&none};
	long message[] = {(long)buffer, 5};

	socketcall(8, AF_UNIX, SOCK_STREAM, 0, pairs, 0, 0);
	socketcall(9, pairs[0], buffer, 3, MSG_NOSIGNAL, 0, 0);
	socketcall(10, pairs[1], buffer, 3, MSG_PEEK, 0, 0);
	socketcall(4, -1, 5, 0, 0, 0, 0);
	socketcall(11, -1, "xyz", 3, 0, &address, 0);
	socketcall(77, 0, 0, 0, 0, 0, 0);
	syscall(SYS_socketcall, 3, 16);
	queue = syscall(SYS_ipc, 13, 0, 0600);
	syscall(SYS_ipc, 14, queue, 0, 0, 0);
	syscall(SYS_ipc, 12, -1, 3, 2, message);
	segment = syscall(SYS_ipc, 23, 0, 4096, 0600);
	syscall(SYS_ipc, 21, segment, 0, &at, 0);
	syscall(SYS_ipc, 22, 0, 0, 0, at);
	syscall(SYS_ipc, 24, segment, 0, 0, 0);
	syscall(SYS_ipc, 99, 1, 2, 3, 4);
	syscall(SYS_mmap, map);
	syscall(SYS_select, choice);
	queue = syscall(SYS_memfd_create, "far", 0L);
	syscall(SYS__llseek, queue, 1, 2, &place, SEEK_SET);
}
#endif

static socklen_t name_unix(struct sockaddr_un *address, const char *name, size_t length)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(address->sun_path, name, length);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
}

/* Names of sockets, none of which is in use, by functions of the C library. */
static void addresses(void)
{
	struct sockaddr_in inet = {.sin_family = AF_INET, .sin_port = htons(3306)};
	struct sockaddr_in6 inet6 = {.sin6_family = AF_INET6,
				     .sin6_port = htons(80),
				     .sin6_flowinfo = htonl(5),
				     .sin6_scope_id = 7};
	struct sockaddr_nl netlink = {.nl_family = AF_NETLINK, .nl_pid = 9, .nl_groups = 0x11};
	struct sockaddr any = {.sa_family = 99, .sa_data = "what"};
	struct sockaddr_un local;

	inet_pton(AF_INET, "127.0.0.1", &inet.sin_addr);
	inet_pton(AF_INET6, "fe80::1", &inet6.sin6_addr);
	connect(-1, (void *)&inet, sizeof inet);
	connect(-1, (void *)&inet, 7);
	connect(-1, (void *)&inet, 1);
	connect(-1, (void *)&inet, -1);
	connect(-1, (void *)16, 16);
	connect(-1, NULL, 16);
	connect(-1, (void *)&inet6, sizeof inet6);
	connect(-1, (void *)&inet6, 24);
	bind(-1, (void *)&local, name_unix(&local, "/run/\"x\"", 9));
	bind(-1, (void *)&local, name_unix(&local, "\0abs\0tract", 10));
	bind(-1, (void *)&local, name_unix(&local, "", 0));
	bind(-1, (void *)&netlink, sizeof netlink);
	bind(-1, &any, 6);
	sendto(-1, "abc", 3, 0, (void *)&inet, sizeof inet);
}

/* What the kernel fills in: two sockets that find each other, without a name on disk. */
static void names_of_sockets(void)
{
	struct sockaddr_un local;
	struct sockaddr_in inet = {.sin_family = AF_INET};
	char room[128] = "", byte;
	socklen_t length = name_unix(&local, "\0tracer-test-XXXXXX", 19);
	int first = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int second = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(local.sun_path + 13, 7, "%06d", (int)getpid() % 1000000);
	bind(first, (void *)&local, length);
	listen(first, 1);
	connect(second, (void *)&local, length);
	length = sizeof room;
	accept4(first, (void *)room, &length, SOCK_NONBLOCK);
	length = sizeof room;
	getpeername(second, (void *)room, &length);
	getsockname(second, (void *)room, (void *)8);
	accept(-1, NULL, NULL);
	inet_pton(AF_INET, "127.0.0.1", &inet.sin_addr);
	first = socket(AF_INET, SOCK_DGRAM, IPPROTO_UDP);
	bind(first, (void *)&inet, sizeof inet);
	length = sizeof inet;
	getsockname(first, (void *)&inet, &length);
	sendto(first, "x", 1, 0, (void *)&inet, length);
	memset(&inet, 0, sizeof inet);
	recvfrom(first, &byte, 1, 0, (void *)&inet, &length);
}

#ifdef SYS_fcntl64
#define CONTROL SYS_fcntl64
#else
#define CONTROL SYS_fcntl
#endif

/* One argument says what another one is. */
static void named(void)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_END, .l_start = -5, .l_len = 7};
	struct msghdr message = {.msg_name = &(struct sockaddr_in){.sin_family = AF_INET},
				 .msg_namelen = 16,
				 .msg_iov = &(struct iovec){"abc", 3},
				 .msg_iovlen = 1};
	long moment[2] = {0, 1000};
	int one = 1, word = 5, pipes[2], read[2] = {0};
	socklen_t length = sizeof word;
	long status[64];

	syscall(SYS_socket, AF_INET, SOCK_DGRAM, IPPROTO_UDP);
	syscall(SYS_socket, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	syscall(SYS_setsockopt, 3, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	syscall(SYS_getsockopt, 3, SOL_SOCKET, SO_TYPE, &word, &length);
	syscall(SYS_setsockopt, -1, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	syscall(SYS_setsockopt, -1, IPPROTO_TCP, TCP_CONGESTION, "reno", 5L);
	syscall(SYS_setsockopt, -1, 99, 5, "ab", 2L);
	syscall(SYS_setsockopt, 3, SOL_SOCKET, SO_LINGER, (int[]){1, 9}, 8L);
	length = sizeof read;
	syscall(SYS_getsockopt, 3, SOL_SOCKET, SO_LINGER, read, &length);
	/* Other things of the same number. */
	syscall(SYS_setsockopt, -1, IPPROTO_TCP, SO_LINGER, "cubic", 5L);
	syscall(SYS_setsockopt, -1, SOL_SOCKET, 20L, moment, sizeof moment);
	syscall(SYS_sendmsg, -1, &message, MSG_DONTWAIT);
	syscall(SYS_pipe2, pipes, 0);
	syscall(CONTROL, 5, F_SETFD, FD_CLOEXEC);
	syscall(CONTROL, 5, F_GETFD);
	syscall(CONTROL, 6, F_SETFL, O_NONBLOCK);
	syscall(CONTROL, 6, F_GETFL);
	syscall(CONTROL, 6, F_DUPFD, 9);
	syscall(SYS_fcntl, -1, F_SETLK, &lock);
	syscall(SYS_ioctl, 5, FIONREAD, &word);
	syscall(SYS_ioctl, 5, FIONBIO, &one);
	syscall(SYS_ioctl, -1, TIOCGPTN, &word);
	syscall(SYS_ioctl, -1, TIOCSPTLCK, &one);
	syscall(SYS_ioctl, -1, FIOCLEX);
	syscall(SYS_ioctl, -1, TCGETS, 0L);
	syscall(SYS_ioctl, -1, 0xfedcbaL, 5L);
	syscall(SYS_futex, &word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1L);
	syscall(SYS_futex, &one, FUTEX_WAIT, 1L, moment);
	syscall(SYS_prctl, PR_SET_NAME, "named");
	syscall(SYS_statx, AT_FDCWD, "/", 0L, STATX_MODE, NULL);
	syscall(SYS_statx, AT_FDCWD, "/dev/null", 0L, STATX_MODE, status);
	syscall(SYS_chmod, "/nonexistent/file", 04755);
}

/* By the C library's functions, which glibc makes the system calls for. */
static void signals_and_waits(void)
{
	int status, pipes[2];
	sigset_t set, old;

	sigfillset(&set);
	sigdelset(&set, SIGTERM);
	sigprocmask(SIG_SETMASK, &set, &old);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGRTMIN + 1);
	sigprocmask(SIG_SETMASK, &set, NULL);
	sigaction(SIGUSR1, &(struct sigaction){.sa_handler = SIG_IGN, .sa_flags = SA_RESTART, .sa_mask = set}, NULL);
	pid_t child = fork();

	if (!child) {
		kill(getpid(), SIGKILL);
		_exit(1);
	}
	waitpid(child, &status, WUNTRACED);
	pipe(pipes);
	write(pipes[1], "x", 1);
	poll(&(struct pollfd){.fd = pipes[0], .events = POLLIN | POLLPRI}, 1, 1000);
	access("/nonexistent", R_OK | X_OK);
	close(open("/dev/null", O_RDONLY | O_CLOEXEC));
	open("/nonexistent/file", O_CREAT | O_WRONLY, 0640);
}

#ifdef __i386__
#define SELECT SYS__newselect
#define STATFS64 SYS_statfs64, "/", (long)sizeof(struct statfs64)
#define OFD_LOCK struct flock64
#else
#define SELECT SYS_select
#define STATFS64 SYS_statfs, "/"
#define OFD_LOCK struct flock
#endif

/* Objects that lie differently in programs of 32 bits, or that are called differently there. */
static void objects(void)
{
	struct flock lock = {.l_type = F_WRLCK, .l_start = 5, .l_len = 7};
	OFD_LOCK wide = {.l_type = F_RDLCK, .l_start = 9, .l_len = 3};
	int fd = (int)syscall(SYS_memfd_create, "locks", 0L), pipes[2];
	struct statfs narrow;
	struct statfs64 files;

	syscall(CONTROL, fd, F_SETLK, &lock);
	syscall(SYS_fcntl, fd, F_SETLKW, &lock);
	syscall(CONTROL, fd, F_GETLK, &lock);
	syscall(CONTROL, -1, F_OFD_SETLK, &wide);
#ifdef __i386__
	wide.l_start += 1LL << 32;
	syscall(CONTROL, fd, F_SETLK64, &wide);
#endif
	pipe(pipes);
	write(pipes[1], "x", 1);
	dup2(pipes[0], 70);
	fd_set in, out;
	struct timeval moment = {0};

	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_SET(pipes[0], &in);
	FD_SET(70, &in);
	FD_SET(1, &out);
	FD_SET(pipes[1], &out);
	syscall(SELECT, pipes[1] + 1, &in, &out, NULL, &moment);
	FD_SET(70, &in);
	syscall(SELECT, 71, &in, &out, NULL, &moment);
	syscall(SYS_fstatfs, fd, &narrow);
	syscall(STATFS64, &files);
}

/* What wait4(2) and waitpid() say of children. */
static void children(void)
{
	int status;
	pid_t child;

	for (int code = 0; code < 256; code += 3 + 249 * (code == 3)) {
		child = fork();
		if (!child)
			_exit(code);
		waitpid(child, &status, 0);
	}
	for (int number = SIGKILL; number <= SIGRTMIN + 2; number += SIGRTMIN + 2 - SIGKILL) {
		child = fork();
		if (!child) {
			raise(number);
			_exit(0);
		}
		waitpid(child, &status, 0);
	}
	child = fork();
	if (!child) {
		raise(SIGSTOP);
		pause();
	}
	waitpid(child, &status, WUNTRACED);
	status = 0x200;
	waitpid(child, &status, WNOHANG);
	kill(child, SIGCONT);
	waitpid(child, &status, WCONTINUED);
	kill(child, SIGTERM);
	wait(&status);
	waitpid(child, NULL, 0);
	waitpid(child, &status, 0);
}

static char other_stack[1 << 16];

/* Of these the C library's function is the system call, or is not shown otherwise. */
static void structures(void)
{
	stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof other_stack}, before;
	struct rusage usage;
	cpu_set_t set;
	struct timeval moment = {0};
	fd_set in;
	int status, processor = 0;

	FD_ZERO(&in);
	FD_SET(0, &in);
	FD_SET(3, &in);
	select(3, &in, NULL, NULL, &moment);
	sigaltstack(&stack, &before);
	sigaltstack(NULL, &before);
	getrusage(RUSAGE_SELF, &usage);
	sched_getaffinity(0, sizeof set, &set);
	while (!CPU_ISSET(processor, &set))
		processor++;
	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	sched_setaffinity(0, sizeof set, &set);
	sched_getaffinity(0, sizeof set, &set);
	pid_t child = fork();

	if (!child)
		_exit(3);
	wait4(child, &status, 0, &usage);
}

/* System V's: of i386 packed in ipc(2), or not, as the C library does it. */
static void between_processes(void)
{
	struct sembuf operations[] = {{0, -1, IPC_NOWAIT}, {1, 2, SEM_UNDO}};
	int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | IPC_EXCL | 0600);

	shmdt(shmat(id, NULL, SHM_RDONLY));
	shmat(-1, NULL, SHM_RND);
	shmctl(id, IPC_RMID, NULL);
	id = semget(IPC_PRIVATE, 2, IPC_CREAT | 0640);
	semctl(id, 0, SETVAL, 5);
	semctl(id, 0, GETVAL);
	semop(id, operations, 2);
	semctl(id, 0, IPC_RMID);
	id = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
	msgsnd(-1, &id, 0, IPC_NOWAIT);
	msgrcv(-1, &id, 0, 5, IPC_NOWAIT | MSG_NOERROR);
	msgctl(id, IPC_RMID, NULL);
}

/* Functions whose result is how much there would have been. */
static void cut(void)
{
	char room[] = "-------------";
	struct tm day = {.tm_year = 99};
	int pair[2];

	socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
	for (int i = 0; i < 4; i++)
		send(pair[0], "hello world", i < 3 ? 11 : 2, 0);
	recv(pair[1], room, 4, MSG_TRUNC);
	recvfrom(pair[1], room, 5, MSG_TRUNC, NULL, NULL);
	recv(pair[1], room, 0, MSG_TRUNC);
	recv(pair[1], room, 13, MSG_TRUNC);
	snprintf(room, 0, "%d-%s", 12, "abc");
	snprintf(room, 4, "%d-%s", 12, "abc");
	snprintf(room, sizeof room, "%d-%s", 12, "abc");
	snprintf(NULL, 0, "%d", pair[0]);
	strftime(room, 0, "%Y", &day);
	strftime(room, sizeof room, "%Y", &day);
}

/* What is read goes to several buffers, which had something in them. */
static void scattered(void)
{
	char first[] = "AAA", second[] = "SECRET", third[] = "more";
	struct iovec parts[] = {{first, 3}, {second, 6}, {third, 4}};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 3};
	int pair[2];

	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	send(pair[0], "hello", 5, 0);
	readv(pair[1], parts, 3);
	send(pair[0], "w", 1, 0);
	recvmsg(pair[1], &message, 0);
	shutdown(pair[0], SHUT_WR);
	readv(pair[1], parts, 2);
	writev(pair[1], parts, 3);
}

static void failing(void)
{
	char buffer[16];
	int pipes[2];
	long time[2] = {-1, 5};

	syscall(SYS_read, -1, buffer, (long)sizeof buffer);
	syscall(SYS_pipe2, pipes, 1);
	syscall(SYS_nanosleep, time, NULL);
}

static void inside(void)
{
	work_add(1, 2);
	write(-1, "x", 1); /* the function is a library call, the system call is inside it */
	work_add(3, 4);
}

static void *in_thread(void *unused)
{
	(void)unused;
	syscall(SYS_getppid);
	return NULL;
}

static void tasks(const char *self)
{
	pthread_t thread;
	int status;

	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, NULL);
	pid_t child = fork();

	if (!child) {
		syscall(SYS_getpgid, 0);
		_exit(3);
	}
	waitpid(child, &status, 0);
	child = vfork();
	if (!child) {
		execl(self, self, "plain", NULL);
		_exit(1);
	}
	waitpid(child, &status, 0);
}

static void *exec_from_here(void *self)
{
	execl(self, self, "plain", NULL);
	return NULL;
}

static void exec_from_thread(char *self)
{
	pthread_t thread;

	pthread_create(&thread, NULL, exec_from_here, self);
	pthread_join(thread, NULL);
}

static void on_signal(int number)
{
	(void)number;
}

static int epoll_on_stdin(void)
{
	struct epoll_event event = {.events = EPOLLIN};
	int fd = epoll_create1(EPOLL_CLOEXEC);

	epoll_ctl(fd, EPOLL_CTL_ADD, 0, &event);
	return fd;
}

/* All signals are blocked, so a breakpoint that is met here has the tracer stop all threads of the process for a moment. */
static void *block_and_call(void *unused)
{
	sigset_t all;

	(void)unused;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	work_add(5, 6);
	return NULL;
}

static void *wait_and_block(void *pipe)
{
	pthread_t thread;
	char byte;

	read(*(int *)pipe, &byte, 1);
	for (;;) {
		/* Until the main thread waits in its system call. */
		char path[64], state[128] = "";

		snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
		int fd = open(path, O_RDONLY);

		read(fd, state, sizeof state - 1);
		close(fd);
		if (strstr(state, ") S "))
			break;
	}
	pthread_create(&thread, NULL, block_and_call, NULL);
	pthread_join(thread, NULL);
	work_add(7, 8);
	return NULL;
}

static volatile unsigned long turns;

static void *turn(void *unused)
{
	(void)unused;
	for (;;) {
		if (syscall(SYS_getppid) != getppid() || syscall(SYS_getpgid, -1) != -1)
			abort();
		turns++;
	}
}

/* Some more turns have been made. */
static void wait_for_turns(void)
{
	unsigned long goal = turns + 50;

	while (turns < goal)
		usleep(100);
}

static void answer(char *line)
{
	static int pipes[2];
	struct sigaction action = {.sa_handler = on_signal};
	int number;
	char word[16];
	struct epoll_event event;

	if (sscanf(line, "ping %d", &number) == 1) {
		target_ping(number);
	} else if (sscanf(line, "handle %d", &number) == 1) {
		action.sa_flags = number ? SA_RESTART : 0;
		sigaction(SIGUSR1, &action, NULL);
	} else if (!strcmp(line, "read")) {
		puts("reading");
		printf("read %zd\n", read(0, word, 5));
	} else if (!strcmp(line, "turn")) {
		pthread_t thread;

		for (int i = 0; i < 3; i++)
			pthread_create(&thread, NULL, turn, NULL);
	} else if (!strcmp(line, "progress")) {
		wait_for_turns();
	} else if (!strcmp(line, "epoll")) {
		int fd = epoll_on_stdin();

		puts("waiting");
		printf("epoll %d\n", epoll_wait(fd, &event, 1, -1));
		close(fd);
	} else if (!strncmp(line, "disturb ", 8)) {
		struct pollfd input = {.events = POLLIN};
		pthread_t thread;

		pipe(pipes);
		pthread_create(&thread, NULL, wait_and_block, &pipes[0]);
		write(pipes[1], "x", 1);
		if (!strcmp(line + 8, "poll"))
			poll(&input, 1, -1);
		read(0, word, 5);
		puts("disturbed");
		pthread_join(thread, NULL);
	}
	puts("done");
}

/* Without stdio, which would read ahead. */
static void serve(void)
{
	char line[64];
	size_t length = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	while (length < sizeof line - 1 && read(0, line + length, 1) == 1) {
		if (line[length++] != '\n')
			continue;
		line[length - 1] = '\0';
		answer(line);
		length = 0;
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	mark(111);
	if (!strcmp(mode, "plain"))
		plain();
	else if (!strcmp(mode, "unknown"))
		unknown();
	else if (!strcmp(mode, "addresses"))
		addresses();
	else if (!strcmp(mode, "names"))
		names_of_sockets();
	else if (!strcmp(mode, "named"))
		named();
	else if (!strcmp(mode, "signals"))
		signals_and_waits();
	else if (!strcmp(mode, "scattered"))
		scattered();
	else if (!strcmp(mode, "cut"))
		cut();
	else if (!strcmp(mode, "children"))
		children();
	else if (!strcmp(mode, "objects"))
		objects();
	else if (!strcmp(mode, "structures"))
		structures();
	else if (!strcmp(mode, "ipc"))
		between_processes();
	else if (!strcmp(mode, "wide"))
		wide();
#ifdef __i386__
	else if (!strcmp(mode, "packed"))
		packed();
#endif
	else if (!strcmp(mode, "many"))
		for (int i = 0; i < 17000; i++)
			syscall(0x10000 + i);
	else if (!strcmp(mode, "failing"))
		failing();
	else if (!strcmp(mode, "inside"))
		inside();
	else if (!strcmp(mode, "i386"))
		call_i386(4, -1, NULL, 5);
	else if (!strcmp(mode, "tasks"))
		tasks(argv[0]);
	else if (!strcmp(mode, "exec"))
		exec_from_thread(argv[0]);
	else if (!strcmp(mode, "serve"))
		serve();
	mark(222);
	return 7;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes system calls of which the kernel looks at objects, or fills them: between close(-111) and
 * close(-222). By syscall(2), as the C library would make others of some.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/netlink.h>
#include <linux/openat2.h>
#include <mqueue.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/fanotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

/* Of the kernel's own. */
struct mmsg {
	struct msghdr head;
	unsigned length;
};

struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

static void files(int file)
{
	struct timespec times[2] = {{1, 2}, {0, UTIME_NOW}};
	struct timeval both[2] = {{3, 4}, {5, 6}};
	struct utimbuf old = {7, 8};
	struct open_how how = {O_RDONLY, 0, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
	long offset = 0;

	syscall(SYS_utimensat, file, NULL, times, 0);
	syscall(SYS_utimes, "/nonexistent/file", both);
	syscall(SYS_utime, "/nonexistent/file", &old);
	syscall(SYS_openat2, AT_FDCWD, "/nonexistent/file", &how, sizeof how);
	syscall(SYS_mknod, "/nonexistent/file", S_IFIFO | 0644, 0);
	syscall(SYS_fsetxattr, -1, "user.x", "val", 3, 1);
	syscall(SYS_sendfile, -1, file, &offset, 10);
	syscall(SYS_fanotify_mark, -1, FAN_MARK_ADD | FAN_MARK_MOUNT,
		(uint64_t)(FAN_OPEN | FAN_ONDIR), AT_FDCWD, "/x");
	syscall(SYS_move_mount, -1, "", -1, "", 5);
}

static void rights(void)
{
	struct landlock_ruleset_attr rules = {LANDLOCK_ACCESS_FS_EXECUTE |
					      LANDLOCK_ACCESS_FS_READ_DIR};
	uid_t user[3];
	gid_t groups[2];
	char name[16];
	int parent;

	syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 8);
	syscall(SYS_setns, -1, CLONE_NEWNET | CLONE_NEWNS);
#ifdef __i386__
	uint16_t users[3], group[2];

	syscall(SYS_getresuid, users, users + 1, users + 2);
	syscall(SYS_getgroups, 0, group);
	syscall(SYS_getresuid32, user, user + 1, user + 2);
	syscall(SYS_getgroups32, 0, groups);
#else
	syscall(SYS_getresuid, user, user + 1, user + 2);
	syscall(SYS_getgroups, 0, groups);
#endif
	syscall(SYS_prctl, PR_SET_NAME, "objects");
	syscall(SYS_prctl, PR_GET_NAME, name);
	syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGUSR1);
	syscall(SYS_prctl, PR_GET_PDEATHSIG, &parent);
	syscall(SYS_prctl, PR_SET_PDEATHSIG, 0);
	syscall(SYS_prctl, PR_CAPBSET_READ, 12);
	syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static void time_and_scheduling(void)
{
	struct tms used;
	struct itimerval timer = {{0, 0}, {100, 0}}, before;
	struct itimerspec wait = {{0, 0}, {50, 0}}, was;
	struct sigevent none = {.sigev_notify = SIGEV_NONE};
	struct timex clock = {.modes = 0};
	struct sched_param parameter = {0};
	struct attributes attributes;
	int number;

	syscall(SYS_times, &used);
	syscall(SYS_setitimer, ITIMER_REAL, &timer, NULL);
	timer.it_value.tv_sec = 0;
	syscall(SYS_setitimer, ITIMER_REAL, &timer, &before);
	syscall(SYS_timer_create, CLOCK_MONOTONIC, &none, &number);
	syscall(SYS_timer_settime, number, 0, &wait, NULL);
	syscall(SYS_timer_settime, number, TIMER_ABSTIME, &wait, &was);
	syscall(SYS_adjtimex, &clock);
	syscall(SYS_sched_setscheduler, 0, SCHED_BATCH | SCHED_RESET_ON_FORK, &parameter);
	syscall(SYS_sched_getscheduler, 0);
	syscall(SYS_sched_getparam, 0, &parameter);
	syscall(SYS_sched_getattr, 0, &attributes, 48, 0);
	syscall(SYS_sched_get_priority_max, SCHED_OTHER);
	syscall(SYS_ioprio_set, 1, 0, 2 << 13 | 4);
	syscall(SYS_ioprio_get, 1, 0);
}

static void signals(void)
{
	uint64_t set = 1 << (SIGUSR1 - 1);
	siginfo_t info;
	struct timespec soon = {0, 2000};
	unsigned priority;
	pid_t child = (pid_t)syscall(SYS_fork);

	if (!child)
		syscall(SYS_exit_group, 7);
	syscall(SYS_waitid, P_PID, child, &info, WEXITED | WNOWAIT, NULL);
	syscall(SYS_wait4, child, NULL, 0, NULL);
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, NULL, sizeof set);
	syscall(SYS_kill, getpid(), SIGUSR1);
	syscall(SYS_rt_sigtimedwait, &set, &info, NULL, sizeof set);
	/* What is filled comes before what is read, of calls that fail. */
	syscall(SYS_rt_sigtimedwait, &set, &info, &soon, sizeof set);
	syscall(SYS_epoll_pwait, -1, &info, 1, 0, &set, sizeof set);
	syscall(SYS_mq_timedreceive, -1, &info, sizeof info, &priority, &soon);
#ifdef SYS_recvfrom
	struct sockaddr_in from = {.sin_family = AF_INET};
	socklen_t length = sizeof from;

	syscall(SYS_recvfrom, -1, &info, sizeof info, MSG_PEEK, &from, &length);
#endif
#ifdef __i386__
	unsigned long old = 1 << (SIGUSR2 - 1);
	struct {
		void *handler;
		unsigned long mask, flags;
		void *restorer;
	} action = {SIG_IGN, 1 << (SIGINT - 1), SA_RESTART, NULL};

	syscall(SYS_sigprocmask, SIG_SETMASK, &old, &old);
	syscall(SYS_sigaction, SIGUSR2, &action, NULL);
	syscall(SYS_signal, SIGUSR2, SIG_DFL);
#endif
}

static void messages(int file)
{
	int ends[2];
	char first[8], second[8];
	struct iovec out[2] = {{"ab", 2}, {"cd", 2}}, in[2] = {{first, 8}, {second, 8}};
	struct mmsg sent[2] = {{{.msg_iov = out, .msg_iovlen = 2}, 0},
			       {{.msg_iov = out + 1, .msg_iovlen = 1}, 0}};
	struct mmsg got[2] = {{{.msg_iov = in, .msg_iovlen = 1}, 0},
			      {{.msg_iov = in + 1, .msg_iovlen = 1}, 0}};
	struct iovec here = {first, 4}, there = {second, 4};
	struct mq_attr queue = {.mq_maxmsg = 5, .mq_msgsize = 100};

	socketpair(AF_UNIX, SOCK_DGRAM, 0, ends);
	syscall(SYS_sendmmsg, ends[0], sent, 2, 0);
	syscall(SYS_recvmmsg, ends[1], got, 2, 0, NULL);
	syscall(SYS_process_vm_readv, getpid(), &here, 1, &there, 1, 0);
	syscall(SYS_mq_open, "tracer/none", O_RDWR | O_CREAT, 0600, &queue);
	syscall(SYS_mq_open, "tracer/none", O_RDWR, 0600, &queue);
	syscall(SYS_close, file);
}

#ifdef SYS_fcntl64
#define CONTROL SYS_fcntl64
#else
#define CONTROL SYS_fcntl
#endif

static void controls(int socket)
{
	int file = (int)syscall(SYS_memfd_create, "seals", MFD_ALLOW_SEALING);
	/* As the C library passes an int: with its sign. */
	const long flags = (int)(SA_RESETHAND | SA_NODEFER | SA_INTERRUPT);
	const struct {
		void *handler;
		long flags;
		void *restorer;
		uint64_t mask;
	} action = {(void *)SIG_IGN, flags, NULL, 0};

	syscall(CONTROL, file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
	syscall(CONTROL, file, F_GET_SEALS);
	syscall(CONTROL, -1, F_SETOWN, -1);
	syscall(CONTROL, socket, F_GETOWN);
	syscall(CONTROL, socket, F_SETSIG, SIGIO);
	syscall(CONTROL, socket, F_GETSIG);
	syscall(CONTROL, -1, F_SETLEASE, F_UNLCK);
	syscall(CONTROL, file, F_GETLEASE);
	syscall(CONTROL, -1, F_SETPIPE_SZ, 4096);
	syscall(CONTROL, -1, F_GETPIPE_SZ);
	syscall(SYS_rt_sigaction, SIGUSR1, &action, NULL, 8);
}

/* Text and objects that have a length beside them. */
static void lengths(int unix_socket)
{
	struct f_owner_ex owner = {F_OWNER_PID, getpid()};
	struct {
		long type;
		char text[20];
	} message = {7, "a\0bc"};
	char text[16];
	socklen_t length = sizeof(struct ucred);
	int queue = (int)syscall(SYS_msgget, IPC_PRIVATE, 0600);
	int tcp = socket(AF_INET, SOCK_STREAM, 0);
	struct statfs status;

	syscall(CONTROL, unix_socket, F_SETOWN_EX, &owner);
	syscall(CONTROL, unix_socket, F_GETOWN_EX, &owner);
	syscall(SYS_msgsnd, queue, &message, 4, 0);
	syscall(SYS_msgrcv, queue, &message, sizeof message.text, 0, 0);
	syscall(SYS_msgctl, queue, IPC_RMID, NULL);
	syscall(SYS_getsockopt, unix_socket, SOL_SOCKET, SO_PEERCRED, text, &length);
	syscall(SYS_setsockopt, -1, IPPROTO_TCP, TCP_CONGESTION, "reno", 4L);
	syscall(SYS_setsockopt, -1, SOL_SOCKET, SO_BINDTODEVICE, "eth0", 4L);
	syscall(SYS_setsockopt, tcp, IPPROTO_TCP, TCP_CONGESTION, "reno", 4L);
	length = sizeof text;
	syscall(SYS_getsockopt, tcp, IPPROTO_TCP, TCP_CONGESTION, text, &length);
	syscall(SYS_setsockopt, -1, SOL_NETLINK, NETLINK_EXT_ACK, &length, 4L);
	syscall(SYS_getsockopt, -1, SOL_NETLINK, NETLINK_GET_STRICT_CHK, text, &length);
	syscall(SYS_fstatfs, tcp, &status);
}

/* Terminals, and interfaces of the network. */
static void devices(int tcp)
{
	struct termios settings = {
		.c_iflag = ICRNL | IXON,
		.c_oflag = OPOST | ONLCR | TAB3,
		.c_cflag = B115200 | CS8 | CREAD,
		.c_lflag = ISIG | ICANON,
	};
	struct ifreq interface = {.ifr_name = "lo"};
	int lines = TIOCM_DTR | TIOCM_RTS;

	syscall(SYS_ioctl, -1, TCSETSW, &settings);
	syscall(SYS_ioctl, -1, TCFLSH, TCIOFLUSH);
	syscall(SYS_ioctl, -1, TIOCMBIS, &lines);
	syscall(SYS_ioctl, tcp, SIOCGIFINDEX, &interface);
	syscall(SYS_ioctl, tcp, SIOCGIFFLAGS, &interface);
	interface.ifr_mtu = 1500;
	syscall(SYS_ioctl, -1, SIOCGIFMTU, &interface);
	syscall(SYS_ioctl, open("/dev/ptmx", O_RDWR | O_NOCTTY), TCGETS, &settings);
}

int main(void)
{
	int file = memfd_create("file", 0);

	close(-111);
	files(file);
	rights();
	time_and_scheduling();
	signals();
	messages(file);
	controls(4);
	lengths(4);
	devices(6);
	close(-222);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See guardian.h.
 *
 * Tracer and guardian are connected by a socket pair. The tracer sends the descriptor of each
 * journal when it creates one; the guardian only reads messages. When the tracer has ended, the
 * guardian reads the messages that are left, then end of file, so no journal is missed. A tracer
 * that ends normally sends ORDER_DISMISS.
 *
 * Signals to a whole terminal or process group must not reach the guardian, so it has a session of
 * its own and ignores what can be ignored. It is forked twice: the tracer, which waits for any
 * child, must have no child that it does not know. It closes all other descriptors: otherwise a
 * process that reads the tracer's output from a pipe would not see its end.
 *
 * The guardian also watches the tracer (watchdog.h). A tracer that waits for a page that does not
 * come can neither continue nor release the processes it has stopped, and cannot end the wait. The
 * guardian kills it and then restores the tracees. (If a FUSE server has the request, SIGKILL takes
 * effect only when that server answers or ends.) The guardian has no stderr of its own; it opens
 * the tracer's when it has to print something.
 *
 * After the start, the tracer never waits for the guardian. A message that does not fit into the
 * socket is dropped, and its process is then guarded only by the SIGTRAP handler in it (rescue.h).
 */
#include "recovery/guardian.h"

#include "base/diag.h"
#include "base/map.h"
#include "base/vec.h"
#include "base/xalloc.h"
#include "tracee/journal.h"
#include "tracee/proc.h"
#include "tracee/tracee.h"
#include "tracee/watchdog.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DUTY_SECONDS = 30, LOOK_MS = 1000, AWAIT_MS = 3000, URGENT = -20 };

/* The guardian's file descriptors besides the standard ones. */
enum { SOCKET = 3, TRACER_FD = 4 };

enum order { ORDER_HOLD, ORDER_FORGET, ORDER_DISMISS };

struct message {
	enum order order;
	uint64_t number;
};

struct guardian {
	int socket;
	uint64_t last; /* last number given out */
	struct watchdog *watchdog;
};

/* The guardian's view of its tracer. */
struct ward {
	pid_t pid;
	/* pidfd; -1: the kernel has none, and the tracer is not watched. */
	int fd;
	struct watchdog *watchdog; /* NULL: not watched either */
};

static const char guardian_name[] = "tracer-guardian";

/* ------------------------------------------------------------------ the guardian's side */

/*
 * Receives a message and the descriptor that came with it (-1: none). Returns false at end of file.
 */
static bool receive(int socket, struct message *message, int *fd)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec data = {message, sizeof *message};
	struct msghdr envelope = {.msg_iov = &data,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof control};
	ssize_t n;

	*fd = -1;
	do
		n = recvmsg(socket, &envelope, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n != sizeof *message)
		return false;
	const struct cmsghdr *header = CMSG_FIRSTHDR(&envelope);

	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(header), sizeof *fd);
	return true;
}

/* Opens the tracer's stderr: by pidfd_getfd(2) if permitted, else by /proc. -1: neither works. */
static int open_stderr(const struct ward *ward)
{
	char path[64];
	int fd = (int)syscall(SYS_pidfd_getfd, ward->fd, STDERR_FILENO, 0);

	if (fd >= 0)
		return fd;
	/* Yama forbids pidfd_getfd(2). O_NONBLOCK: do not wait for a reader of a FIFO. */
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)ward->pid, STDERR_FILENO);
	return open(path, O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
}

/*
 * Prints the reason, then kills the tracer. So the reason is there when the tracer's parent returns
 * from wait(2).
 */
static void give_up(const struct ward *ward)
{
	long pid = proc_status_number(atomic_load(&ward->watchdog->tid), "Tgid");
	struct pollfd place = {.fd = open_stderr(ward), .events = POLLOUT};

	if (syscall(SYS_pidfd_send_signal, ward->fd, 0, NULL, 0) == 0 && place.fd >= 0 &&
	    poll(&place, 1, 0) > 0 && dup2(place.fd, STDERR_FILENO) >= 0) {
		diag("waited in vain for memory of process %ld; the tracer is killed, what it traced goes on",
		     pid);
		dup2(STDIN_FILENO, STDERR_FILENO);
	}
	syscall(SYS_pidfd_send_signal, ward->fd, SIGKILL, NULL, 0);
	if (place.fd >= 0)
		close(place.fd);
}

/*
 * Waits for a message and checks the watchdog meanwhile. A tracer that sends messages is not stuck,
 * so the check happens only when no message comes for LOOK_MS.
 */
static void await_message(const struct ward *ward)
{
	struct pollfd place = {.fd = SOCKET, .events = POLLIN};
	struct watchdog_check look = {0};

	if (ward->fd < 0 || !ward->watchdog)
		return;
	for (;;) {
		int ready = poll(&place, 1, LOOK_MS);

		if (ready > 0 || (ready < 0 && errno != EINTR))
			return;
		if (!ready &&
		    watchdog_check(ward->watchdog, &look, ward->pid) == GUARDIAN_PATIENCE_S + 1)
			give_up(ward);
	}
}

/*
 * Keeps journals (number → descriptor + 1) until the tracer is gone. Returns false if the tracer
 * has dismissed the guardian.
 */
static bool keep_journals(const struct ward *ward, struct map *journals)
{
	struct message message;
	int fd;

	for (;;) {
		await_message(ward);
		if (!receive(SOCKET, &message, &fd))
			return true;
		if (message.order == ORDER_DISMISS)
			return false;
		if (message.order == ORDER_HOLD && fd >= 0) {
			map_put(journals, message.number, (void *)(intptr_t)(fd + 1));
		} else if (message.order == ORDER_FORGET) {
			int held = (int)(intptr_t)map_remove(journals, message.number);

			if (held)
				close(held - 1);
		}
	}
}

/*
 * Closes all descriptors but these two, which are moved to their fixed numbers. Standard
 * descriptors are redirected to /dev/null.
 */
static void keep_descriptors(int socket, int tracer_fd)
{
	int kept = fcntl(socket, F_DUPFD, TRACER_FD + 1);
	int ward = tracer_fd < 0 ? -1 : fcntl(tracer_fd, F_DUPFD, TRACER_FD + 1);
	int null = open("/dev/null", O_RDWR);

	if (kept < 0 || null < 0 || (ward < 0 && tracer_fd >= 0) || dup2(null, 0) < 0 ||
	    dup2(null, 1) < 0 || dup2(null, 2) < 0 || dup2(kept, SOCKET) < 0 ||
	    (ward >= 0 && dup2(ward, TRACER_FD) < 0))
		_exit(1);
	unsigned first = ward >= 0 ? TRACER_FD + 1 : TRACER_FD;

	if (syscall(SYS_close_range, first, ~0U, 0U) != 0)
		for (int fd = (int)first; fd < 65536; fd++)
			close(fd);
}

/* Leaves the tracer's terminal, process group, directory and files. */
static void go_apart(int socket, struct ward *ward)
{
	static const int ignored[] = {SIGHUP,  SIGINT,	SIGQUIT, SIGTERM, SIGPIPE,
				      SIGTSTP, SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2};
	sigset_t none;

	setsid();
	prctl(PR_SET_NAME, guardian_name);
	for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGALRM, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* A restore must be fast. Only a privileged process may raise its priority. */
	setpriority(PRIO_PROCESS, 0, URGENT);
	if (chdir("/") != 0)
		_exit(1);
	keep_descriptors(socket, ward->fd);
	ward->fd = ward->fd < 0 ? -1 : TRACER_FD;
}

static void stand_guard(int socket, struct ward ward, guardian_duty *duty)
{
	struct map journals = {0};
	struct vec left = VEC_OF(int);
	size_t cursor = 0;
	void *value;

	go_apart(socket, &ward);
	if (!keep_journals(&ward, &journals))
		_exit(0);
	close(SOCKET); /* tells is_reading() that all journals have been received */
	alarm(DUTY_SECONDS);
	while (map_next(&journals, &cursor, NULL, &value)) {
		int fd = (int)(intptr_t)value - 1;

		vec_push(&left, &fd);
	}
	duty(left.items, left.count);
	_exit(0);
}

/* ------------------------------------------------------------------ for a tracer that attaches */

/*
 * Returns true if the tracer of a guardian has ended or is about to. The guardian holds a pidfd of
 * it; /proc/PID/fdinfo says if that process has ended (proc(5)).
 */
static bool is_on_duty(pid_t guardian)
{
	long tracer = proc_pidfd_target(guardian, TRACER_FD);

	return tracer < 0 || (tracer > 0 && proc_is_exiting((pid_t)tracer));
}

static bool holds_journal(pid_t guardian, pid_t pid)
{
	char name[JOURNAL_NAME];
	char path[64];
	char wanted[JOURNAL_NAME + 16];
	char link[sizeof wanted] = "";
	struct dirent *entry;
	bool found = false;

	journal_name(pid, name);
	snprintf(wanted, sizeof wanted, "/memfd:%s (", name);
	snprintf(path, sizeof path, "/proc/%d/fd", (int)guardian);
	DIR *files = opendir(path);

	while (files && !found && (entry = readdir(files)))
		found = readlinkat(dirfd(files), entry->d_name, link, sizeof link - 1) > 0 &&
			!strncmp(link, wanted, strlen(wanted));
	if (files)
		closedir(files);
	return found;
}

/* Returns true if a guardian has not read yet all messages that its tracer sent. */
static bool is_reading(pid_t guardian)
{
	char path[64];
	char link[16] = "";

	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)guardian, SOCKET);
	return readlink(path, link, sizeof link - 1) > 0 && !strncmp(link, "socket:", 7);
}

/* Returns true if a guardian restores `pid`, is about to, or may still receive its journal. */
static bool is_being_put_right(pid_t pid)
{
	DIR *tasks = opendir("/proc");
	struct dirent *entry;
	bool found = false;

	while (tasks && !found && (entry = readdir(tasks))) {
		pid_t other = (pid_t)strtol(entry->d_name, NULL, 10);
		char name[16] = "";

		if (other > 0)
			proc_name(other, name);
		/* The order of the tests is that of the guardian's own steps. */
		found = !strcmp(name, guardian_name) && is_on_duty(other) &&
			(is_reading(other) || holds_journal(other, pid));
	}
	if (tasks)
		closedir(tasks);
	return found;
}

void guardian_await(pid_t pid)
{
	for (int i = 0; i < AWAIT_MS && is_being_put_right(pid); i++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* ------------------------------------------------------------------ the tracer's side */

/*
 * Waits until the guardian has closed the descriptors it does not keep. By then it has set the name
 * that guardian_await() looks for.
 */
static void await_end(int pipe)
{
	char byte;

	while (read(pipe, &byte, sizeof byte) < 0 && errno == EINTR)
		;
}

struct guardian *guardian_start(guardian_duty *duty)
{
	int ends[2];
	int ready[2];

	if (pipe2(ready, O_CLOEXEC) < 0)
		return NULL;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
		close(ready[0]);
		close(ready[1]);
		return NULL;
	}
	struct ward ward = {.pid = getpid(), .watchdog = watchdog_create()};

	ward.fd = (int)syscall(SYS_pidfd_open, ward.pid, 0);
	pid_t between = fork();

	if (between == 0) {
		close(ends[0]);
		pid_t pid = fork();

		if (pid == 0)
			stand_guard(ends[1], ward, duty);
		close(ready[1]);
		await_end(ready[0]);
		_exit(pid < 0);
	}
	close(ends[1]);
	close(ready[0]);
	close(ready[1]);
	if (ward.fd >= 0)
		close(ward.fd);
	int status = -1;

	while (between > 0 && waitpid(between, &status, 0) < 0 && errno == EINTR)
		;
	if (between < 0 || status != 0) {
		close(ends[0]);
		watchdog_destroy(ward.watchdog);
		return NULL;
	}
	struct guardian *guardian = xcalloc(1, sizeof *guardian);

	guardian->socket = ends[0];
	guardian->watchdog = ward.watchdog;
	return guardian;
}

struct watchdog *guardian_watchdog(struct guardian *guardian)
{
	return guardian ? guardian->watchdog : NULL;
}

static void send_message(struct guardian *guardian, enum order order, uint64_t number, int fd)
{
	struct message message = {order, number};
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = {.space = {0}};
	struct iovec data = {&message, sizeof message};
	struct msghdr envelope = {.msg_iov = &data, .msg_iovlen = 1};

	if (fd >= 0) {
		envelope.msg_control = &control;
		envelope.msg_controllen = sizeof control;
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof fd);
		memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
	}
	sendmsg(guardian->socket, &envelope, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void forget(struct guardian *guardian, uint64_t number)
{
	if (guardian && number)
		send_message(guardian, ORDER_FORGET, number, -1);
}

void guardian_hold(struct guardian *guardian, struct space *space, pid_t pid)
{
	struct journal_subject *subject = journal_subject(space->journal);

	subject->pid = pid;
	subject->tracer = getpid();
	subject->start_time = proc_start_time(pid);
	subject->elf_machine = space->arch->elf_machine;
	subject->elf_class = space->arch->elf_class;
	space->guardian = guardian;
	space->guardian_number = 0;
	space->guardian_forget = forget;
	if (!guardian)
		return;
	space->guardian_number = ++guardian->last;
	send_message(guardian, ORDER_HOLD, space->guardian_number, journal_fd(space->journal));
}

void guardian_dismiss(struct guardian *guardian)
{
	if (!guardian)
		return;
	send_message(guardian, ORDER_DISMISS, 0, -1);
	close(guardian->socket);
	watchdog_destroy(guardian->watchdog);
	free(guardian);
}

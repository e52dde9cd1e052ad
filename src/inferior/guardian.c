/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See guardian.h.
 *
 * Tracer and guardian are the ends of a socket pair. The tracer sends each journal's descriptor
 * when it makes one; the guardian does nothing but read messages. When the tracer is gone, the read
 * ends: all messages that were sent are still there before that, so no journal is missed. The
 * tracer says goodbye first when it ends by itself.
 *
 * Killing all of a terminal's or a process group's processes must not reach it, so it has a session
 * of its own and ignores what can be ignored. It is forked twice, so that the tracer, which waits
 * for any child, has none that it did not ask for. Every other descriptor is closed: whoever reads
 * the tracer's output from a pipe would wait for its end otherwise.
 *
 * It also watches the tracer (pulse.h). One that waits for a page that does not come can neither go
 * on nor let go of the processes it has stopped, and has nothing to end the wait with. It is
 * killed, and after that they are put right as after any other death. (Where the request is in the
 * hands of a FUSE server, SIGKILL waits, too, until that answers or ends.) The guardian holds no
 * stderr itself; it takes the tracer's when there is something to be said.
 *
 * Once it is there, the tracer never waits for the guardian: a message that does not fit is not
 * sent, and the process that it was about is then guarded by the handler in it alone (rescue.h).
 */
#include "inferior/guardian.h"

#include "base/diag.h"
#include "base/map.h"
#include "base/vec.h"
#include "base/xalloc.h"
#include "inferior/journal.h"
#include "inferior/proc.h"
#include "inferior/pulse.h"

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

/* The guardian's descriptors behind the standard ones. */
enum { SOCKET = 3, TRACER_FD = 4 };

enum order { ORDER_HOLD, ORDER_FORGET, ORDER_DISMISS };

struct message {
	enum order order;
	uint64_t number;
};

struct guardian {
	int socket;
	uint64_t last; /* number given out */
	struct pulse *pulse;
};

/* What the guardian knows of its tracer. */
struct ward {
	pid_t pid;
	int fd;		     /* pidfd; -1: the kernel has none, and it is not watched */
	struct pulse *pulse; /* NULL: as above */
};

static const char guardian_name[] = "tracer-guardian";

/* ------------------------------------------------------------------ the guardian's side */

/* Receives a message and the descriptor that came with it (or -1). False at the end. */
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

/* The tracer's stderr: the very same where we may take it, or what is behind it. -1: none. */
static int open_stderr(const struct ward *ward)
{
	char path[64];
	int fd = (int)syscall(SYS_pidfd_getfd, ward->fd, STDERR_FILENO, 0);

	if (fd >= 0)
		return fd;
	/* Yama keeps us from that one. No waiting for whoever reads from a FIFO. */
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)ward->pid, STDERR_FILENO);
	return open(path, O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
}

/* Says so before it does so: who waits for the tracer's end finds the reason there. */
static void give_up(const struct ward *ward)
{
	long pid = proc_status_number(atomic_load(&ward->pulse->tid), "Tgid");
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
 * Waits for something to be read, and watches the tracer meanwhile: who sends us messages is awake.
 */
static void await_message(const struct ward *ward)
{
	struct pollfd place = {.fd = SOCKET, .events = POLLIN};
	struct pulse_look look = {0};

	if (ward->fd < 0 || !ward->pulse)
		return;
	for (;;) {
		int ready = poll(&place, 1, LOOK_MS);

		if (ready > 0 || (ready < 0 && errno != EINTR))
			return;
		if (!ready && pulse_look(ward->pulse, &look, ward->pid) == GUARDIAN_PATIENCE_S + 1)
			give_up(ward);
	}
}

/*
 * Keeps journals (number → descriptor + 1) until the tracer is gone; false when it was dismissed.
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
 * Lets go of all descriptors but these: they get their places, and the standard ones lead nowhere.
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

/* Away from the tracer's terminal, process group, directory and files. */
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
	/* When it is needed, moments count. Only root may ask for that. */
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
	close(SOCKET); /* whoever looks knows now that it holds all it will ever hold */
	alarm(DUTY_SECONDS);
	while (map_next(&journals, &cursor, NULL, &value)) {
		int fd = (int)(intptr_t)value - 1;

		vec_push(&left, &fd);
	}
	duty(left.items, left.count);
	_exit(0);
}

/* ------------------------------------------------------------------ who attaches */

/*
 * A guardian whose tracer has ended, or is about to: a dead one is held by its pidfd, and tells so
 * there (proc(5)).
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

/* It has not read yet all that its tracer has sent. */
static bool is_reading(pid_t guardian)
{
	char path[64];
	char link[16] = "";

	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)guardian, SOCKET);
	return readlink(path, link, sizeof link - 1) > 0 && !strncmp(link, "socket:", 7);
}

/* Some guardian has this process to put right, or is about to, or may find that it has. */
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
		/* In this order, as it goes from one to the next. */
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
 * Until the guardian has closed what it does not keep: it has its name then, by which
 * guardian_await() knows it.
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
	struct ward ward = {.pid = getpid(), .pulse = pulse_create()};

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
		pulse_destroy(ward.pulse);
		return NULL;
	}
	struct guardian *guardian = xcalloc(1, sizeof *guardian);

	guardian->socket = ends[0];
	guardian->pulse = ward.pulse;
	return guardian;
}

struct pulse *guardian_pulse(struct guardian *guardian)
{
	return guardian ? guardian->pulse : NULL;
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

void guardian_hold(struct guardian *guardian, int journal_fd, uint64_t *number)
{
	*number = 0;
	if (!guardian)
		return;
	*number = ++guardian->last;
	send_message(guardian, ORDER_HOLD, *number, journal_fd);
}

void guardian_forget(struct guardian *guardian, uint64_t number)
{
	if (guardian && number)
		send_message(guardian, ORDER_FORGET, number, -1);
}

void guardian_dismiss(struct guardian *guardian)
{
	if (!guardian)
		return;
	send_message(guardian, ORDER_DISMISS, 0, -1);
	close(guardian->socket);
	pulse_destroy(guardian->pulse);
	free(guardian);
}

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
 * of its own and ignores what can be ignored. It is forked twice, so that the tracer, which waits for
 * any child, has none that it did not ask for. Every other descriptor is closed: whoever reads the
 * tracer's output from a pipe would wait for its end otherwise.
 *
 * The tracer never waits for the guardian: a message that does not fit is not sent, and the process
 * that it was about is then guarded by the handler in it alone (rescue.h).
 */
#include "inferior/guardian.h"

#include "base/map.h"
#include "base/vec.h"
#include "base/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DUTY_SECONDS = 30 };

enum order { ORDER_HOLD, ORDER_FORGET, ORDER_DISMISS };

struct message {
	enum order order;
	uint64_t number;
};

struct guardian {
	int socket;
	uint64_t last; /* number given out */
};

const char guardian_name[] = "tracer-guardian";

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

/* Keeps journals (number → descriptor + 1) until the tracer is gone; false when it was dismissed. */
static bool keep_journals(int socket, struct map *journals)
{
	struct message message;
	int fd;

	while (receive(socket, &message, &fd)) {
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
	return true;
}

/* Away from the tracer's terminal, process group, directory and files. */
static void go_apart(int socket)
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
	if (chdir("/") != 0)
		_exit(1);
	/* The socket becomes 3, everything else but the standard descriptors goes. */
	int kept = fcntl(socket, F_DUPFD, 4);
	int null = open("/dev/null", O_RDWR);

	if (kept < 0 || null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0 ||
	    dup2(kept, 3) < 0)
		_exit(1);
	if (syscall(SYS_close_range, 4U, ~0U, 0U) != 0)
		for (int fd = 4; fd < 65536; fd++)
			close(fd);
}

static void stand_guard(int socket, guardian_duty *duty)
{
	struct map journals = {0};
	struct vec left = VEC_OF(int);
	size_t cursor = 0;
	void *value;

	go_apart(socket);
	if (!keep_journals(3, &journals))
		_exit(0);
	alarm(DUTY_SECONDS);
	while (map_next(&journals, &cursor, NULL, &value)) {
		int fd = (int)(intptr_t)value - 1;

		vec_push(&left, &fd);
	}
	duty(left.items, left.count);
	_exit(0);
}

/* ------------------------------------------------------------------ the tracer's side */

struct guardian *guardian_start(guardian_duty *duty)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return NULL;
	pid_t between = fork();

	if (between == 0) {
		close(ends[0]);
		pid_t pid = fork();

		if (pid == 0)
			stand_guard(ends[1], duty);
		_exit(pid < 0);
	}
	close(ends[1]);
	int status = -1;

	while (between > 0 && waitpid(between, &status, 0) < 0 && errno == EINTR)
		;
	if (between < 0 || status != 0) {
		close(ends[0]);
		return NULL;
	}
	struct guardian *guardian = xcalloc(1, sizeof *guardian);

	guardian->socket = ends[0];
	return guardian;
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
	free(guardian);
}

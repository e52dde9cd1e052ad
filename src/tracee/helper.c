/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The expendable process, and the thread that minds it.
 *
 * The helper is a fork, so it has all data already. As in prefault.c, its parent is a thread with
 * no other work, since the tracing thread waits for all of its own children and takes them for
 * tracees. The helper asks to be killed when that thread ends, which is when the tracer ends at the
 * latest.
 *
 * Questions and answers go through a socket pair: the length in 4 bytes, then the bytes. The death
 * of the helper shows as end of file. Malicious data may take control of the helper, not only crash
 * it; so the helper is confined (confine.c) and has none of the tracer's rights. A crash is not
 * reported and leaves no core dump: it is no fault of the tracer's, and the user cannot do anything
 * about it.
 *
 * Memory and processor time are limited, so that answers do not depend on what else the machine
 * does. Elapsed time is limited as well, but generously, for a helper that waits for a file that
 * never comes.
 */
#include "tracee/helper.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "tracee/clock.h"
#include "tracee/confine.h"
#include "tracee/tracee.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

struct helper {
	helper_answer *answer;
	void *context;
	pthread_t minder;
	pthread_mutex_t lock; /* while held, a pid that is not 0 is the helper's */
	sem_t made;	      /* posted when the helper exists or cannot be created */
	pid_t owner, pid;
	int error;
	int socket, childs_socket; /* -1: closed */
};

/* ------------------------------------------------------------------ in the helper */

/*
 * Copies of the tracer's descriptors would keep pipes open whose other end waits for the tracer to
 * end.
 */
static void close_descriptors_but(int kept)
{
	if (syscall(SYS_close_range, 0U, (unsigned)kept - 1, 0U) == 0 &&
	    syscall(SYS_close_range, (unsigned)kept + 1, ~0U, 0U) == 0)
		return;
	for (int fd = 0; fd < 1024; fd++)
		if (fd != kept)
			close(fd);
}

static void limit_memory(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");
	struct rlimit limit;

	if (!file)
		return;
	int fields = fscanf(file, "%lu", &pages);

	fclose(file);
	if (fields != 1 || getrlimit(RLIMIT_AS, &limit))
		return;
	rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) +
		      ((rlim_t)HELPER_MEMORY_MAX << 20);

	if (most < limit.rlim_cur) {
		limit.rlim_cur = most;
		setrlimit(RLIMIT_AS, &limit);
	}
}

/* SIGXCPU kills the helper when it has used HELPER_CPU_S more from now on. */
static void limit_time(void)
{
	struct rlimit limit;
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) || getrlimit(RLIMIT_CPU, &limit))
		return;
	rlim_t most = (rlim_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + 1 + HELPER_CPU_S;

	if (most < limit.rlim_max) {
		limit.rlim_cur = most;
		setrlimit(RLIMIT_CPU, &limit);
	}
}

/* A crash kills the helper, without the tracer's handlers and without a core dump. */
static void expect_crashes(void)
{
	static const int deadly[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU};
	struct rlimit none = {0, 0};
	sigset_t set;

	setrlimit(RLIMIT_CORE, &none);
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) {
		signal(deadly[i], SIG_DFL);
		sigaddset(&set, deadly[i]);
	}
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static bool receive_all(int fd, void *bytes, size_t length)
{
	for (size_t done = 0; done < length;) {
		ssize_t got = read(fd, (char *)bytes + done, length - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

/*
 * Sends without SIGPIPE. `plainly`: for the helper, which may call nothing but write(2), and may be
 * killed by SIGPIPE.
 */
static bool send_all(int fd, const void *bytes, size_t length, bool plainly)
{
	for (size_t done = 0; done < length;) {
		const char *at = (const char *)bytes + done;
		ssize_t sent = plainly ? write(fd, at, length - done)
				       : send(fd, at, length - done, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return false;
		done += (size_t)sent;
	}
	return true;
}

static bool send_text(int fd, const char *text, size_t length, bool plainly)
{
	uint32_t size = (uint32_t)length;

	return send_all(fd, &size, sizeof size, plainly) && send_all(fd, text, length, plainly);
}

static void serve(const struct helper *helper)
{
	const int fd = helper->childs_socket;
	_cleanup_free_ char *question = xmalloc(HELPER_BYTES_MAX + 1);
	struct strbuf answer = {0};
	uint32_t length;

	while (receive_all(fd, &length, sizeof length) && length <= HELPER_BYTES_MAX &&
	       receive_all(fd, question, length)) {
		question[length] = '\0';
		strbuf_clear(&answer);
		limit_time();
		helper->answer(helper->context, question, length, &answer);
		if (answer.length > HELPER_BYTES_MAX ||
		    !send_text(fd, answer.text ? answer.text : "", answer.length, true))
			break;
	}
	strbuf_deinit(&answer);
}

static void live(const struct helper *helper)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != helper->owner)
		return; /* the tracer ended before prctl() took effect */
	close_descriptors_but(helper->childs_socket);
	prctl(PR_SET_NAME, "tracer-helper");
	expect_crashes();
	limit_memory();
	confine_to_computing();
	serve(helper);
}

/* ------------------------------------------------------------------ the minder */

static void *mind(void *context)
{
	struct helper *helper = context;
	pid_t pid = fork();
	siginfo_t info;

	if (pid == 0) {
		live(helper);
		_exit(0);
	}
	helper->error = pid < 0 ? -errno : 0;
	helper->pid = pid < 0 ? 0 : pid;
	close(take_fd(&helper->childs_socket));
	sem_post(&helper->made);
	if (pid < 0)
		return NULL;
	/*
	 * The pid is not reused until the helper is waited for, so helper_kill() hits no other
	 * process.
	 */
	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | __WALL) < 0 && errno == EINTR)
		;
	pthread_mutex_lock(&helper->lock);
	helper->pid = 0;
	pthread_mutex_unlock(&helper->lock);
	waitpid(pid, NULL, __WALL);
	return NULL;
}

/* Minder and helper block all signals: those sent to the tracer are not for them. */
static int start_minder(struct helper *helper)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(&helper->minder, NULL, mind, helper);

	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error)
		return -error;
	while (sem_wait(&helper->made) < 0 && errno == EINTR)
		;
	if (helper->error)
		pthread_join(helper->minder, NULL);
	return helper->error;
}

static void helper_kill(struct helper *helper)
{
	pthread_mutex_lock(&helper->lock);
	if (helper->pid)
		kill(helper->pid, SIGKILL);
	pthread_mutex_unlock(&helper->lock);
}

/* ------------------------------------------------------------------ the tracer's side */

static void helper_free(struct helper *helper)
{
	if (helper->socket >= 0)
		close(helper->socket);
	if (helper->childs_socket >= 0)
		close(helper->childs_socket);
	sem_destroy(&helper->made);
	pthread_mutex_destroy(&helper->lock);
	free(helper);
}

int helper_create(helper_answer *answer, void *context, struct helper **out)
{
	int sockets[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
		return -errno;
	struct helper *helper = xcalloc(1, sizeof *helper);

	helper->answer = answer;
	helper->context = context;
	helper->owner = getpid();
	helper->socket = sockets[0];
	helper->childs_socket = sockets[1];
	pthread_mutex_init(&helper->lock, NULL);
	sem_init(&helper->made, 0, 0);
	int error = start_minder(helper);

	if (error)
		helper_free(helper);
	else
		*out = helper;
	return error;
}

void helper_destroy(struct helper *helper)
{
	if (!helper)
		return;
	helper_kill(helper);
	pthread_join(helper->minder, NULL);
	helper_free(helper);
}

/* Returns true if an answer begins within HELPER_WAIT_S. */
static bool wait_for_answer(const struct helper *helper)
{
	const uint64_t deadline = clock_now() + (uint64_t)HELPER_WAIT_S * 1000000000;
	struct pollfd socket = {.fd = helper->socket, .events = POLLIN};

	for (;;) {
		uint64_t now = clock_now();
		int left = now < deadline ? (int)((deadline - now) / 1000000) : 0;
		int ready = poll(&socket, 1, left);

		if (ready > 0)
			return true;
		if (!left || (ready < 0 && errno != EINTR))
			return false;
	}
}

static bool receive_text(const struct helper *helper, struct strbuf *text)
{
	uint32_t length;

	if (!wait_for_answer(helper) || !receive_all(helper->socket, &length, sizeof length) ||
	    length > HELPER_BYTES_MAX)
		return false;
	_cleanup_free_ char *bytes = xmalloc(length + (size_t)1);

	if (!receive_all(helper->socket, bytes, length))
		return false;
	strbuf_add_bytes(text, bytes, length);
	return true;
}

int helper_send(struct helper *helper, const char *question, size_t length)
{
	if (length <= HELPER_BYTES_MAX && send_text(helper->socket, question, length, false))
		return 0;
	helper_kill(helper);
	return -EPIPE;
}

int helper_receive(struct helper *helper, struct strbuf *answer)
{
	if (receive_text(helper, answer))
		return 0;
	helper_kill(helper);
	return -EPIPE;
}

int helper_ask(struct helper *helper, const char *question, size_t length, struct strbuf *answer)
{
	const int error = helper_send(helper, question, length);

	return error ? error : helper_receive(helper, answer);
}

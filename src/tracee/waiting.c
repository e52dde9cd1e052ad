/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two ways of waiting: sleep until the kernel wakes the tracer, or poll for at most LOOK_NS and
 * sleep only then. Of every ROUND short waits, TRIALS are made in the way that seems slower, to
 * notice when that changes; the others in the faster way. Long waits say nothing about the way.
 * After IDLE_MAX long waits in a row the tracee is rarely stopped, and polling would only waste
 * processor time.
 *
 * The kernel forgets a status when it is collected: a task that is stopped at a signal, with its
 * status collected, goes on without the signal if the tracer dies. If the signal is that of a
 * breakpoint, the task would go on in the middle of an instruction. So stops at signals are read
 * without being collected (WNOWAIT); the kernel then delivers the signal if the tracer dies.
 */
#include "tracee/waiting.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

enum {
	WAIT_FLAGS = __WALL | __WNOTHREAD, /* tracees belong to the tracing thread */
};

enum {
	SLEEPING,
	LOOKING,
	LOOK_NS = 60000,
	SHORT_NS = 400000, /* longer waits are the tracee's own time */
	ROUND = 256,
	TRIALS = 6,   /* waits of each round in the way that seems slower */
	IDLE_MAX = 4, /* after so many long waits in a row, do not poll */
	WEIGHT = 8    /* weight of the mean so far, against one new time */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static int choose(const struct waiting *waiting)
{
	unsigned place = waiting->count % ROUND;
	int better = waiting->cost[LOOKING] < waiting->cost[SLEEPING] ? LOOKING : SLEEPING;

	if (waiting->idle >= IDLE_MAX)
		return SLEEPING;
	return place < TRIALS ? !better : better;
}

/* How long to poll: not much longer than a sleeping wait takes, as polling gains nothing then. */
static uint64_t look_limit(const struct waiting *waiting)
{
	uint64_t limit = waiting->cost[SLEEPING] + waiting->cost[SLEEPING] / 4;

	return limit < LOOK_NS ? limit : LOOK_NS;
}

static void learn(struct waiting *waiting, int way, uint64_t took)
{
	if (took > SHORT_NS) {
		waiting->idle += waiting->idle < IDLE_MAX;
		return;
	}
	waiting->idle = 0;
	waiting->count++;
	waiting->cost[way] = (waiting->cost[way] * (WEIGHT - 1) + took) / WEIGHT;
}

bool waiting_take(pid_t tid, int *status)
{
	return waitpid(tid, status, WAIT_FLAGS | WNOHANG) > 0;
}

/* One wait: returns a tid, 0 for nothing, or -1 with errno. */
static pid_t look(idtype_t whose, pid_t tid, int flags, int *status)
{
	siginfo_t info;

	info.si_pid = 0;
	if (waitid(whose, (id_t)tid, &info, WEXITED | WSTOPPED | WNOWAIT | WAIT_FLAGS | flags) < 0)
		return -1;
	if (!info.si_pid)
		return 0;
	/*
	 * A ptrace event is in the bits above the signal number: at a stop for a signal they are 0.
	 */
	if (info.si_code == CLD_TRAPPED && !(info.si_status >> 8)) {
		*status = info.si_status << 8 | 0x7f;
		return info.si_pid;
	}
	return waitpid(info.si_pid, status, WAIT_FLAGS | WNOHANG);
}

bool waiting_is_due(void)
{
	siginfo_t info = {0};

	return waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | WAIT_FLAGS) == 0 &&
	       info.si_pid;
}

pid_t waiting_poll(pid_t tid, int *status)
{
	return look(P_PID, tid, WNOHANG, status);
}

pid_t waiting_next(struct waiting *waiting, bool block, int *status)
{
	pid_t tid = 0;

	if (block) {
		int way = choose(waiting);
		uint64_t limit = look_limit(waiting);
		uint64_t start = now_ns();

		if (way == LOOKING)
			do
				tid = look(P_ALL, 0, WNOHANG, status);
			while (!tid && now_ns() - start < limit);
		/* The status may have changed before it is collected: a stop has become an end. */
		while (!tid)
			tid = look(P_ALL, 0, 0, status);
		int error = errno;

		learn(waiting, way, now_ns() - start);
		errno = error;
	} else {
		tid = look(P_ALL, 0, WNOHANG, status);
	}
	return tid < 0 ? -errno : tid;
}

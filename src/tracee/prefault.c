/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The expendable process that touches pages of tracees, and the thread that minds it.
 *
 * A read of another process's memory waits in the kernel for a page that is not present: with
 * userfaultfd(2) for the process that handles the faults, in a file mapping for the file system,
 * which with FUSE is a process, too. Only SIGKILL ends this wait, and it would end the tracer. A
 * thread is no solution, as SIGKILL is for all threads of a process. So it has to be a process. It
 * uses process_vm_readv(2), the only way that does not hold the lock of the tracee's memory map
 * during the wait, and can be killed; /proc/PID/mem waits uninterruptibly.
 *
 * The parent of the process is the *minder*, a thread with no other work. The tracing thread waits
 * for its own children only (waiting.c), so it does not see this one. The child asks to be killed
 * when the thread that created it ends (PR_SET_PDEATHSIG), which is when the tracer ends at the
 * latest. The child is a fork: with CLONE_VM the page tables would not be copied, but the child
 * would also share thread-local storage with the minder, which would have to be suspended
 * (CLONE_VFORK), and valgrind does not support that.
 *
 * Requests and answers go through a shared page. Contents of the tracee's memory do not: the
 * tracing thread reads them afterwards, when the pages are present.
 *
 * A child that does not answer in time is killed and retired with its minder, and the next request
 * creates a new pair. Some children cannot be killed (a FUSE server has the request): such a child
 * stays until the server goes away. Up to RETIRED_MAX of these are tolerated; after that, absent
 * pages count as unreadable. They do not keep the tracer from ending, and do not hold its
 * descriptors open.
 *
 * A budget, which recovers with time, limits what waiting in vain may cost: a tracee can create bad
 * mappings faster than the tracer finds out. Slow is not the same as blocked: a child that the
 * scheduler has not run is given more time.
 */
#include "tracee/prefault.h"

#include "base/xalloc.h"
#include "tracee/clock.h"
#include "tracee/proc.h"
#include "tracee/tracee.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	PAGE = 4096,
	RETIRED_MAX = 4,   /* retired children that do not die */
	RECOVERY = 20,	   /* the budget recovers by 1/RECOVERY of the time that passes */
	END_MS = 100,	   /* how long to wait for a killed child when the tracer ends */
	STARVED_ROUNDS = 8 /* how often the limit is extended for a runnable child */
};

/* Memory shared by the child and the tracing thread. */
struct exchange {
	atomic_uint asked; /* number of the last request; the child waits on this futex */
	/* Number of the last answer; the tracing thread waits on this futex. */
	atomic_uint answered;
	atomic_int pid; /* pid of the child, 0: not started yet, -1: gone */
	pid_t owner;	/* pid of the tracer */
	pid_t tid;
	uint64_t address;
	size_t count;
	int result;
};

/* A child and its minder. */
struct reader {
	pthread_t minder;
	pthread_mutex_t lock; /* while held, a pid > 0 is the child's */
	struct exchange *exchange;
};

struct prefault {
	struct reader *reader; /* NULL: none was needed yet, or the last one was retired */
	struct reader *retired[RETIRED_MAX];
	uint64_t budget_ms;
	uint64_t counted_ms; /* when budget_ms was updated */
};

static long futex(atomic_uint *word, int operation, unsigned value, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, operation, value, timeout, NULL, 0);
}

/* ------------------------------------------------------------------ in the child */

/*
 * Copies of the tracer's descriptors would keep pipes open whose other end waits for the tracer to
 * end.
 */
static void close_descriptors(void)
{
	if (syscall(SYS_close_range, 0U, ~0U, 0U) == 0)
		return;
	for (int fd = 0; fd < 1024; fd++)
		close(fd);
}

static int touch(const struct exchange *exchange)
{
	struct iovec pages[PREFAULT_PAGES_MAX];
	char bytes[PREFAULT_PAGES_MAX];
	struct iovec local = {bytes, exchange->count};

	for (size_t i = 0; i < exchange->count; i++)
		pages[i] = (struct iovec){(void *)(uintptr_t)(exchange->address + i * PAGE), 1};
	ssize_t got = process_vm_readv(exchange->tid, &local, 1, pages, exchange->count, 0);

	if (got >= 0)
		return (int)got;
	return errno == EFAULT ? 0 : -errno;
}

static void serve(struct exchange *exchange)
{
	unsigned done = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != exchange->owner)
		return; /* the tracer ended before prctl() took effect */
	close_descriptors();
	prctl(PR_SET_NAME, "tracer-reader");
	atomic_store(&exchange->pid, getpid());
	for (;;) {
		while (atomic_load(&exchange->asked) == done)
			futex(&exchange->asked, FUTEX_WAIT, done, NULL);
		exchange->result = touch(exchange);
		atomic_store(&exchange->answered, ++done);
		futex(&exchange->answered, FUTEX_WAKE, 1, NULL);
	}
}

/* ------------------------------------------------------------------ the minder */

static void *mind(void *context)
{
	struct reader *reader = context;
	struct exchange *exchange = reader->exchange;
	pid_t pid = fork();
	siginfo_t info;

	if (pid == 0) {
		serve(exchange);
		_exit(0);
	}
	/*
	 * The pid is not reused until the child is waited for, so reader_kill() hits no other
	 * process.
	 */
	if (pid > 0)
		while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | __WALL) < 0 &&
		       errno == EINTR)
			;
	pthread_mutex_lock(&reader->lock);
	atomic_store(&exchange->pid, -1);
	pthread_mutex_unlock(&reader->lock);
	if (pid > 0)
		waitpid(pid, NULL, __WALL);
	/* There will be no answer: wakes the waiting thread. */
	atomic_store(&exchange->answered, ~0U);
	futex(&exchange->answered, FUTEX_WAKE, 1, NULL);
	return NULL;
}

static void reader_free(struct reader *reader)
{
	munmap(reader->exchange, sizeof *reader->exchange);
	pthread_mutex_destroy(&reader->lock);
	free(reader);
}

/* Minder and child block all signals: those sent to the tracer are not for them. */
static int start_minder(struct reader *reader)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(&reader->minder, NULL, mind, reader);

	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -error;
}

static int reader_create(struct reader **out)
{
	void *shared = mmap(NULL, sizeof(struct exchange), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		return -errno;
	struct reader *reader = xcalloc(1, sizeof *reader);

	pthread_mutex_init(&reader->lock, NULL);
	reader->exchange = shared;
	reader->exchange->owner = getpid();
	int error = start_minder(reader);

	if (error) {
		reader_free(reader);
		return error;
	}
	*out = reader;
	return 0;
}

static void reader_kill(struct reader *reader)
{
	pthread_mutex_lock(&reader->lock);
	pid_t pid = atomic_load(&reader->exchange->pid);

	if (pid > 0)
		kill(pid, SIGKILL);
	pthread_mutex_unlock(&reader->lock);
}

/* Frees a killed reader if it ends within `timeout_ms`. */
static void join_retired(struct reader **place, unsigned timeout_ms)
{
	struct timespec deadline;

	clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_nsec += (long)timeout_ms * 1000000;
	deadline.tv_sec += deadline.tv_nsec / 1000000000;
	deadline.tv_nsec %= 1000000000;
	if (!*place || pthread_timedjoin_np((*place)->minder, NULL, &deadline) != 0)
		return;
	reader_free(*place);
	*place = NULL;
}

/* Returns a place for another retired reader; NULL if all have children that do not die. */
static struct reader **sweep(struct prefault *prefault)
{
	struct reader **free_place = NULL;

	for (size_t i = 0; i < RETIRED_MAX; i++) {
		join_retired(&prefault->retired[i], 0);
		if (!prefault->retired[i])
			free_place = &prefault->retired[i];
	}
	return free_place;
}

/* ------------------------------------------------------------------ the tracing thread */

static uint64_t now_ms(void)
{
	return clock_now() / 1000000;
}

struct prefault *prefault_create(void)
{
	struct prefault *prefault = xcalloc(1, sizeof *prefault);

	prefault->budget_ms = PREFAULT_BUDGET_MS;
	prefault->counted_ms = now_ms();
	return prefault;
}

void prefault_destroy(struct prefault *prefault)
{
	if (!prefault)
		return;
	if (prefault->reader) {
		/*
		 * The child sleeps or is about to, so it can be killed as soon as its pid is known.
		 */
		while (!atomic_load(&prefault->reader->exchange->pid))
			sched_yield();
		reader_kill(prefault->reader);
		pthread_join(prefault->reader->minder, NULL);
		reader_free(prefault->reader);
	}
	for (size_t i = 0; i < RETIRED_MAX; i++)
		join_retired(&prefault->retired[i], END_MS);
	free(prefault);
}

static unsigned limit_ms(struct prefault *prefault)
{
	uint64_t now = now_ms();
	uint64_t budget = prefault->budget_ms + (now - prefault->counted_ms) / RECOVERY;

	prefault->budget_ms = budget < PREFAULT_BUDGET_MS ? budget : PREFAULT_BUDGET_MS;
	prefault->counted_ms = now;
	uint64_t limit = prefault->budget_ms / 2;

	if (limit < PREFAULT_LEAST_MS)
		return PREFAULT_LEAST_MS;
	return limit < PREFAULT_LIMIT_MS ? (unsigned)limit : PREFAULT_LIMIT_MS;
}

/* Waits for an answer until `deadline` (ms). Returns false if there is none. */
static bool wait_answer(struct exchange *exchange, unsigned number, uint64_t deadline)
{
	while (atomic_load(&exchange->answered) != number) {
		uint64_t now = now_ms();

		if (now >= deadline || atomic_load(&exchange->pid) < 0)
			return false;
		uint64_t left = deadline - now;
		struct timespec timeout = {.tv_sec = (time_t)(left / 1000),
					   .tv_nsec = (long)(left % 1000) * 1000000};

		futex(&exchange->answered, FUTEX_WAIT, number - 1, &timeout);
	}
	return true;
}

/* Returns true if the child waits for nothing but the processor. */
static bool is_starved(struct exchange *exchange)
{
	pid_t pid = atomic_load(&exchange->pid);

	return pid == 0 || (pid > 0 && proc_state(pid) == 'R');
}

/* Makes one request. Returns its result; -ETIMEDOUT; -EPIPE if the child is gone. */
static int request(struct prefault *prefault, pid_t tid, uint64_t address, size_t count)
{
	struct exchange *exchange = prefault->reader->exchange;
	unsigned number = atomic_load(&exchange->asked) + 1;
	unsigned limit = limit_ms(prefault);
	uint64_t start = now_ms();

	exchange->tid = tid;
	exchange->address = address;
	exchange->count = count;
	atomic_store(&exchange->asked, number);
	futex(&exchange->asked, FUTEX_WAKE, 1, NULL);
	for (unsigned round = 0; round < STARVED_ROUNDS; round++) {
		if (wait_answer(exchange, number, now_ms() + limit))
			return exchange->result;
		if (atomic_load(&exchange->pid) < 0)
			return -EPIPE;
		if (!is_starved(exchange))
			break;
	}
	uint64_t waited = now_ms() - start;

	prefault->budget_ms -= waited < prefault->budget_ms ? waited : prefault->budget_ms;
	return -ETIMEDOUT;
}

static void retire(struct prefault *prefault, struct reader **place)
{
	reader_kill(prefault->reader);
	*place = prefault->reader;
	prefault->reader = NULL;
}

void prefault_start(struct prefault *prefault)
{
	if (!prefault->reader)
		(void)reader_create(&prefault->reader);
}

int prefault_pages(struct prefault *prefault, pid_t tid, uint64_t address, size_t count)
{
	int result = -EPIPE;

	if (count > PREFAULT_PAGES_MAX)
		count = PREFAULT_PAGES_MAX;
	/* Two attempts, as another process may have killed the child. */
	for (unsigned attempt = 0; attempt < 2 && result == -EPIPE; attempt++) {
		struct reader **place = sweep(prefault);

		if (!place)
			return -EBUSY;
		if (!prefault->reader)
			result = reader_create(&prefault->reader);
		if (!prefault->reader)
			return result;
		result = request(prefault, tid, address, count);
		if (result == -ETIMEDOUT || result == -EPIPE)
			retire(prefault, place);
	}
	return result;
}

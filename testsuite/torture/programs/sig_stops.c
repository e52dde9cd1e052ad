/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stopped and continued: a child with several threads that call what is traced, and its parent, which
 * stops it, makes sure that it stands still, and lets it go on. The child is to be traced as well (-f).
 * And a job for a terminal: see job().
 */
#include "sig.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4 };

static struct progress {
	_Atomic unsigned long done[THREADS]; /* rounds */
	_Atomic unsigned long allowed;	     /* of each thread */
	_Atomic bool over;
	_Atomic unsigned long continued; /* SIGCONT handlers run */
} *progress;

static void *worker(void *number)
{
	_Atomic unsigned long *mine = &progress->done[*(int *)number];

	while (!progress->over) {
		if (*mine == progress->allowed) {
			sched_yield();
			continue;
		}
		work(1);
		++*mine;
	}
	return NULL;
}

static void on_continue(int number, siginfo_t *info, void *context)
{
	(void)info;
	check_pc(context);
	sum((unsigned long)call_leaf(number));
	progress->continued++;
}

static void child(int threads)
{
	pthread_t ids[THREADS];
	static int numbers[THREADS] = {0, 1, 2, 3};

	for (int i = 1; i < threads; i++)
		if (pthread_create(&ids[i], NULL, worker, &numbers[i]))
			die("pthread_create");
	worker(&numbers[0]);
	for (int i = 1; i < threads; i++)
		pthread_join(ids[i], NULL);
	_exit(strange_pcs() != 0);
}

static unsigned long all_done(void)
{
	unsigned long total = 0;

	for (int i = 0; i < THREADS; i++)
		total += progress->done[i];
	return total;
}

static void await_rounds(int threads, unsigned long rounds)
{
	for (int i = 0; i < threads; i++)
		while (progress->done[i] < rounds)
			sched_yield();
}

/* stops ROUNDS THREADS KILLED: each time in the middle of three rounds of work */
static void stops(const struct arguments *arguments)
{
	static const int numbers[] = {SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};
	int moved = 0, wrong = 0, status = 0, threads = arguments->number[1];

	progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	handle(SIGCONT, on_continue, SA_RESTART, NULL);
	pid_t pid = fork();

	/* In a group of its own, which is not an orphaned one: there the terminal's signals stop nobody. */
	setpgid(pid, pid);
	if (!pid)
		child(threads);
	for (int i = 0; i < arguments->number[0]; i++) {
		int number = numbers[i % 4];

		progress->allowed += 3;
		await_rounds(threads, progress->allowed - 2);
		kill(pid, number);
		if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status) || WSTOPSIG(status) != number)
			wrong++;
		unsigned long before = all_done(), calls = counters->calls[OUTER];

		for (int k = 0; k < 200; k++)
			sched_yield();
		if (all_done() != before || counters->calls[OUTER] != calls)
			moved++;
		if (waitpid(pid, &status, WUNTRACED | WCONTINUED | WNOHANG) != 0)
			wrong++;
		kill(pid, SIGCONT);
		if (waitpid(pid, &status, WCONTINUED) != pid || !WIFCONTINUED(status))
			wrong++;
		await_rounds(threads, progress->allowed);
		while (progress->continued <= (unsigned long)i)
			sched_yield();
	}
	/* Stopped, and killed while it is. */
	progress->over = arguments->number[2] == 0;
	if (arguments->number[2]) {
		kill(pid, SIGSTOP);
		waitpid(pid, &status, WUNTRACED);
		kill(pid, SIGKILL);
	}
	waitpid(pid, &status, 0);
	printf("moved %d, wrong %d, continued %lu, status %x\n", moved, wrong, progress->continued, (unsigned)status);
}

/* ---- job control ---- */

static volatile sig_atomic_t stopped, resumed;

/* As editors do: put things in order, then stop for real. */
static void on_terminal_stop(int number, siginfo_t *info, void *context)
{
	sigset_t set = set_of(SIGTSTP), before;

	(void)info;
	check_pc(context);
	call_leaf(number);
	stopped++;
	signal(SIGTSTP, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &set, &before);
	raise(SIGTSTP);
	sigprocmask(SIG_SETMASK, &before, NULL);
	handle(SIGTSTP, on_terminal_stop, SA_RESTART, NULL);
	call_leaf(number);
}

static void on_resume(int number, siginfo_t *info, void *context)
{
	(void)info;
	check_pc(context);
	call_leaf(number);
	resumed++;
}

/*
 * job HOW THREADS: works until its stdin has a line for it ("end"), which it cannot read in the
 * background; HOW 0: SIGTSTP's default, 1: a handler, 2: ignored. Each line that it reads it answers.
 */
static void job(const struct arguments *arguments)
{
	static int numbers[THREADS] = {0, 1, 2, 3};
	pthread_t id;
	char line[64];

	progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (arguments->number[0] == 1)
		handle(SIGTSTP, on_terminal_stop, SA_RESTART, NULL);
	if (arguments->number[0] == 2)
		signal(SIGTSTP, SIG_IGN);
	handle(SIGCONT, on_resume, SA_RESTART, NULL);
	/* Handlers run in the first thread, which cannot go on before they are done. */
	block(SIGTSTP, true);
	block(SIGCONT, true);
	for (int i = 1; i < arguments->number[1]; i++)
		pthread_create(&id, NULL, worker, &numbers[i]);
	block(SIGTSTP, false);
	block(SIGCONT, false);
	puts("working");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin) && strcmp(line, "end\n")) {
		progress->allowed++;
		work(1);
		progress->done[0]++;
		await_rounds(arguments->number[1], progress->allowed);
		line[strlen(line) - 1] = '\0';
		printf("did %s, stopped %d, resumed %d\n", line, (int)stopped, (int)resumed);
		fflush(stdout);
	}
	progress->over = true;
}

const struct verb stop_verbs[] = {{"stops", stops}, {"job", job}, {0}};

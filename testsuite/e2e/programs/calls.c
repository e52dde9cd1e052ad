/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does what it is told: words of the command line, one after the other; with none, or from the word
 * `serve` on, the words of each line of stdin, which it answers with "done". Each verb says what came
 * of it, so that a test can tell a tracee that was traced from one that was disturbed.
 */
#define _GNU_SOURCE
#include "outer.h"
#include "work.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static char **words; /* those still to be obeyed; NULL behind the last one */
static void *plugin;
static void *plugin_address;

static void say(const char *format, ...)
{
	char line[512];
	va_list list;

	va_start(list, format);
	vsnprintf(line, sizeof line - 1, format, list);
	va_end(list);
	strcat(line, "\n");
	if (write(STDOUT_FILENO, line, strlen(line)) < 0)
		_exit(99);
}

static char *next(void)
{
	if (!*words) {
		say("word missing");
		_exit(98);
	}
	return *words++;
}

static int number(void)
{
	return atoi(next());
}

__attribute__((noinline)) int target_ping(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

static void ping(void)
{
	target_ping(number());
}

/* ---- plain calls ---- */

static void add(void)
{
	int a = number();

	say("add %d", work_add(a, number()));
}

static void square(void)
{
	say("square %d", work_square(number()));
}

static void many(void)
{
	int sum = 0, n = number();

	for (int i = 0; i < n; i++)
		sum += work_add(i, 1) - i;
	say("many %d", sum);
}

static void factorial(void)
{
	say("factorial %d", work_factorial(number()));
}

static void tail(void)
{
	say("tail %d", work_tail(number()));
}

static void hidden(void)
{
	say("hidden %d", work_hidden(number()));
}

static void ifunc(void)
{
	say("ifunc %d", work_ifunc(number()));
}

static void out(void)
{
	int a = number();

	say("outer %d", outer_add(a, number()));
}

static void out_ifunc(void)
{
	say("outer-ifunc %d", outer_ifunc(number()));
}

static void echo(void)
{
	say("echo %s", work_echo(next()));
}

static void raw(void)
{
	work_echo("tab\there\nbell\007 esc\033[1m quote\" back\\ high\377 end");
}

static void length(void)
{
	say("length %d", (int)strlen(next()));
}

static void nap(void)
{
	say("sleep %d", work_sleep(number()));
}

static void table_call(void)
{
	say("table %d", work_table_call(number()));
}

static void fill(void)
{
	work_fill();
	say("filled");
}

static void late_call(void)
{
	say("late %d", work_late_call(number()));
}

static void constructed(void)
{
	say("constructed %d %d", work_constructed, outer_constructed);
}

/* ---- calls that do not return, or return late ---- */

static jmp_buf jump_target;

static void call_jump(void *unused)
{
	(void)unused;
	work_add(1, 2);
	work_jump(jump_target, 5);
}

static void jump(void)
{
	static volatile int left, jumps;

	left = number();
	jumps = 0;
	while (left-- > 0) {
		if (setjmp(jump_target) == 0)
			work_call(call_jump, NULL);
		else
			jumps++;
	}
	say("jump %d", jumps);
}

static void call_add(void *unused)
{
	(void)unused;
	work_add(20, 22);
}

static void nested(void)
{
	work_call(call_add, NULL);
	say("nested");
}

static void call_pthread_exit(void *unused)
{
	(void)unused;
	pthread_exit((void *)7);
}

static void *exiting_thread(void *unused)
{
	work_call(call_pthread_exit, unused);
	return NULL;
}

static void thread_exit(void)
{
	pthread_t thread;
	void *result = NULL;

	pthread_create(&thread, NULL, exiting_thread, NULL);
	pthread_join(thread, &result);
	say("thread-exit %d", (int)(intptr_t)result);
}

static void *sleeping_thread(void *unused)
{
	(void)unused;
	work_sleep(1000000);
	return NULL;
}

static void thread_cancel(void)
{
	pthread_t thread;
	void *result = NULL;

	pthread_create(&thread, NULL, sleeping_thread, NULL);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	say("thread-cancel %d", result == PTHREAD_CANCELED);
}

/* ---- threads ---- */

static void *counting_thread(void *argument)
{
	int n = *(int *)argument, sum = 0;

	for (int i = 0; i < n; i++)
		sum += work_add(i, 1) - i;
	return (void *)(intptr_t)sum;
}

static void threads(void)
{
	int count = number(), each = number(), sum = 0;
	pthread_t thread[64];
	void *result;

	for (int i = 0; i < count; i++)
		pthread_create(&thread[i], NULL, counting_thread, &each);
	for (int i = 0; i < count; i++) {
		pthread_join(thread[i], &result);
		sum += (int)(intptr_t)result;
	}
	say("threads %d", sum);
}

static pthread_t busy_thread[64];
static int busy_count;
static atomic_bool busy_stop;
static atomic_long busy_calls, busy_wrong;

static void *busy_loop(void *unused)
{
	(void)unused;
	for (int i = 0; !atomic_load(&busy_stop); i = (i + 1) % 1000) {
		if (work_add(i, 3) != i + 3 || work_square(i) != i * i || outer_add(i, 1) != i + 1)
			atomic_fetch_add(&busy_wrong, 1);
		atomic_fetch_add(&busy_calls, 3);
	}
	return NULL;
}

static void busy(void)
{
	busy_count = number();
	atomic_store(&busy_stop, false);
	for (int i = 0; i < busy_count; i++)
		pthread_create(&busy_thread[i], NULL, busy_loop, NULL);
	say("busy");
}

/* Says whether the busy threads get on: waits until each had time for some more calls. */
static void progress(void)
{
	long before = atomic_load(&busy_calls);

	while (atomic_load(&busy_calls) < before + 3000)
		usleep(1000);
	say("progress");
}

static void stop(void)
{
	atomic_store(&busy_stop, true);
	for (int i = 0; i < busy_count; i++)
		pthread_join(busy_thread[i], NULL);
	say("stopped %ld", atomic_load(&busy_wrong));
}

static atomic_bool breed_stop;

static void *breeding_thread(void *unused)
{
	while (!atomic_load(&breed_stop)) {
		pthread_t thread;
		int one = 1;

		if (pthread_create(&thread, NULL, counting_thread, &one) == 0)
			pthread_join(thread, NULL);
	}
	return unused;
}

/* Threads that come and go all the time. */
static void breed(void)
{
	atomic_store(&breed_stop, false);
	busy_count = number();
	for (int i = 0; i < busy_count; i++)
		pthread_create(&busy_thread[i], NULL, breeding_thread, NULL);
	say("breeding");
}

static void breed_end(void)
{
	atomic_store(&breed_stop, true);
	for (int i = 0; i < busy_count; i++)
		pthread_join(busy_thread[i], NULL);
	say("bred");
}

/* ---- signals ---- */

static volatile sig_atomic_t caught[65];

static void handler(int signal_number)
{
	caught[signal_number]++;
	work_add(signal_number, 900);
}

static void catch(void)
{
	int n = number();
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

	sigaction(n, &action, NULL);
	say("catching %d", n);
}

static void send(void)
{
	int n = number();

	kill(getpid(), n);
	say("sent %d", n);
}

static void caught_number(void)
{
	int n = number();

	say("caught %d", (int)caught[n]);
}

/* Waits until a signal that was asked for with `catch` has come. */
static void await(void)
{
	int n = number();

	while (caught[n] == 0)
		usleep(1000);
	say("caught %d", (int)caught[n]);
}

/* A timer's signal every 300 µs while three threads call. */
static void storm(void)
{
	int n = number();
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
	struct itimerspec every = {{0, 300000}, {0, 300000}};
	timer_t timer;
	int each = n;
	pthread_t thread[3];
	void *result;
	int sum = 0;

	sigaction(SIGRTMIN, &action, NULL);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &every, NULL);
	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, counting_thread, &each);
	for (int i = 0; i < 3; i++) {
		pthread_join(thread[i], &result);
		sum += (int)(intptr_t)result;
	}
	timer_delete(timer);
	say("storm %d", sum);
}

/* ---- processes ---- */

static void say_end(const char *what, pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status))
		say("%s exited %d", what, WEXITSTATUS(status));
	else
		say("%s killed %d", what, WTERMSIG(status));
}

/* The child obeys the next words up to `exit N`, or lines of stdin; the parent waits for it. */
static void do_fork(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		say("child %d", (int)getpid());
		return;
	}
	say_end("child", pid);
	while (*words && strcmp(*words, "exit") != 0)
		words++;
	if (*words)
		words += 2;
}

/* As fork, but the parent does not wait. */
static void fork_on(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		say("child %d", (int)getpid());
		work_add(600, 6);
		_exit(4);
	}
	say("forked");
}

static void reap(void)
{
	say_end("child", -1);
}

static void do_vfork(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		work_add(300, 3);
		_exit(work_square(3));
	}
	say_end("vfork", pid);
}

static void vfork_exec(void)
{
	char *path = next();
	char *argv[] = {path, "add", "400", "4", "exit", "6", NULL};
	pid_t pid = vfork();

	if (pid == 0) {
		work_add(300, 3);
		execv(path, argv);
		_exit(9);
	}
	say_end("vfork-exec", pid);
}

static void spawn(void)
{
	char *path = next();
	char *argv[] = {path, "add", "400", "4", "exit", "6", NULL};
	pid_t pid = 0;

	if (posix_spawn(&pid, path, NULL, NULL, argv, environ) != 0)
		_exit(97);
	say_end("spawn", pid);
}

static int clone_child(void *unused)
{
	(void)unused;
	work_add(700, 7);
	syscall(SYS_exit, 8);
	return 0;
}

static void do_clone(int flags, const char *what)
{
	static char stack[65536] __attribute__((aligned(64)));
	pid_t pid = clone(clone_child, stack + sizeof stack, flags, NULL);

	if (pid < 0)
		_exit(96);
	say_end(what, pid);
}

static void clone_plain(void)
{
	do_clone(SIGCHLD, "clone");
}

static void clone_vm(void)
{
	do_clone(CLONE_VM | SIGCHLD, "clone-vm");
}

static void exec(void)
{
	char **argv = words;

	execvp(argv[0], argv);
	_exit(95);
}

static void *exec_thread(void *unused)
{
	exec();
	return unused;
}

/* exec from a thread other than the first, while others are busy. */
static void exec_in_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, exec_thread, NULL);
	pthread_join(thread, NULL);
}

static void do_exit(void)
{
	exit(number());
}

/* ---- dlopen ---- */

static void open_plugin(void)
{
	int (*run)(int);

	plugin = dlopen(next(), RTLD_NOW);
	if (!plugin) {
		say("%s", dlerror());
		_exit(94);
	}
	run = (int (*)(int))dlsym(plugin, "plugin_run");
	say("opened %s", (void *)run == plugin_address ? "at the same address" : "elsewhere");
	plugin_address = (void *)run;
}

static void open_namespace(void)
{
	plugin = dlmopen(LM_ID_NEWLM, next(), RTLD_NOW);
	if (!plugin) {
		say("%s", dlerror());
		_exit(94);
	}
	say("opened");
}

static void run_plugin(void)
{
	int (*run)(int) = (int (*)(int))dlsym(plugin, "plugin_run");

	say("plugin %d", run(number()));
}

static void close_plugin(void)
{
	say("closed %d", dlclose(plugin));
}

/* Takes the place where the plugin was, so that it must go elsewhere next time. */
static void block(void)
{
	void *place = (void *)((uintptr_t)plugin_address & ~(uintptr_t)4095);
	void *got = mmap(place, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	say(got == place ? "blocked" : "not blocked");
}

/* ---- the language ---- */

static void serve(void);

static const struct verb {
	const char *name;
	void (*run)(void);
} verbs[] = {
	{"ping", ping},
	{"add", add},
	{"square", square},
	{"many", many},
	{"factorial", factorial},
	{"tail", tail},
	{"hidden", hidden},
	{"ifunc", ifunc},
	{"outer", out},
	{"outer-ifunc", out_ifunc},
	{"echo", echo},
	{"raw", raw},
	{"length", length},
	{"sleep", nap},
	{"table", table_call},
	{"fill", fill},
	{"late", late_call},
	{"constructed", constructed},
	{"jump", jump},
	{"nested", nested},
	{"thread-exit", thread_exit},
	{"thread-cancel", thread_cancel},
	{"threads", threads},
	{"busy", busy},
	{"progress", progress},
	{"stop", stop},
	{"breed", breed},
	{"breed-end", breed_end},
	{"catch", catch},
	{"send", send},
	{"caught", caught_number},
	{"await", await},
	{"storm", storm},
	{"fork", do_fork},
	{"fork-on", fork_on},
	{"reap", reap},
	{"vfork", do_vfork},
	{"vfork-exec", vfork_exec},
	{"spawn", spawn},
	{"clone", clone_plain},
	{"clone-vm", clone_vm},
	{"exec", exec},
	{"thread-exec", exec_in_thread},
	{"exit", do_exit},
	{"dlopen", open_plugin},
	{"dlmopen", open_namespace},
	{"run", run_plugin},
	{"dlclose", close_plugin},
	{"block", block},
	{"serve", serve},
};

static void obey(void)
{
	while (*words) {
		const char *word = next();
		size_t i = 0;

		while (i < sizeof verbs / sizeof verbs[0] && strcmp(verbs[i].name, word) != 0)
			i++;
		if (i == sizeof verbs / sizeof verbs[0]) {
			say("what is %s?", word);
			_exit(93);
		}
		verbs[i].run();
	}
}

/* Byte by byte: a forked child must find the next line where the parent left it. */
static bool read_line(char *line, size_t size)
{
	size_t length = 0;
	char c;

	while (read(STDIN_FILENO, &c, 1) == 1) {
		if (c == '\n') {
			line[length] = '\0';
			return true;
		}
		if (length < size - 1)
			line[length++] = c;
	}
	return false;
}

static void serve(void)
{
	char line[1024];
	char *list[64];

	say("ready");
	while (read_line(line, sizeof line)) {
		size_t count = 0;

		for (char *word = strtok(line, " "); word && count < 63; word = strtok(NULL, " "))
			list[count++] = word;
		list[count] = NULL;
		words = list;
		obey();
		say("done");
	}
	exit(0);
}

int main(int argc, char **argv)
{
	words = argv + 1;
	if (argc == 1)
		serve();
	obey();
	return 0;
}

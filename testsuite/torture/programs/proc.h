/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of proc.c share: scenarios, and the tally of calls that all processes keep. */
#ifndef PROC_H
#define PROC_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What a scenario does before "ready" (it may be NULL), and what it does after "go"; the latter's
 * result is the exit status.
 */
struct scenario {
	const char *name;
	void (*prepare)(void);
	int (*work)(void);
};

/* Tables of scenarios, the last one without a name. */
extern const struct scenario children_scenarios[], exec_scenarios[], debugger_scenarios[],
	seccomp_scenarios[], world_scenarios[];

/*
 * Who makes a call: the process itself; one below it, which only -f traces; one that has a
 * debugger of its own, which nobody else can trace.
 */
enum who { OWN, BELOW, APART };

extern char *program_path;  /* of this very program */
extern char **program_args; /* those behind the scenario's name */

/* Traced calls, counted; they stop the program when the result is wrong. */
void add(enum who who, int times);
void square(enum who who, int times);

/* Adds to the checksum. */
void note(uint64_t value);

/* Writes a line to stdout; `format` as in printf. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, and the end of the program. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Waits for a child, adds what came of it to the checksum, and fails unless it exited so. */
void expect_exit(int pid, int status);

/* The number behind the scenario's name, `otherwise` when there is none. */
int argument(int index, int otherwise);

/* Answers lines of stdin up to "go". */
void serve(void);
/* Says what was counted. For those that exit in a way of their own. */
void say_tally(void);

/* Runs `body` in so many threads, each with its number, and waits for them. */
void in_threads(int count, void *(*body)(void *));

/* execs this program again, to run the named scenario's work at once; the tally goes along. */
void again(const char *scenario, int first, int second) __attribute__((noreturn));
/* The same command as a NULL-terminated list, for posix_spawn. Not for several threads at once. */
char **again_words(const char *scenario, int first, int second, char *words[8]);

#endif

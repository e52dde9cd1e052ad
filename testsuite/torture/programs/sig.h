/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of the program of signals.test share: functions to be traced (their names begin with
 * traced_), which are called through the wrappers here so that each call is counted; the checksum; and
 * what a signal handler was told.
 */
#ifndef SIG_H
#define SIG_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <ucontext.h>

enum name { LEAF, INNER, OUTER, CALLBACK, TICK, LAST, SYSTEM_CALL, NAMES };
enum { SLOTS = 16 };

/* Counters: they may lie in memory shared with a child. */
struct counters {
	_Atomic unsigned long calls[NAMES], left[NAMES], slots[SLOTS], checksum;
};
extern struct counters *counters;

int traced_leaf(int n);	 /* n + 1 */
int traced_inner(int n); /* 2 n */
int traced_outer(int n); /* calls inner; 2 n + 1 */
void traced_callback(void (*function)(void *), void *argument);
int traced_tick(int n); /* n; called by handlers of timers */
int traced_last(int n); /* n; called once, when the work is done */

/* Functions whose first instruction cannot be emulated: it runs out of line. All give n + its number. */
typedef int slot_function(int n);
extern slot_function *const slot_functions[SLOTS];

static inline int call_leaf(int n)
{
	counters->calls[LEAF]++;
	return traced_leaf(n);
}

static inline int call_outer(int n)
{
	counters->calls[OUTER]++;
	return traced_outer(n);
}

static inline void call_back(void (*function)(void *), void *argument)
{
	counters->calls[CALLBACK]++;
	traced_callback(function, argument);
}

static inline int call_tick(int n)
{
	counters->calls[TICK]++;
	return traced_tick(n);
}

static inline int call_slot(unsigned k, int n)
{
	counters->slots[k]++;
	return slot_functions[k](n);
}

void sum(unsigned long value); /* adds to the checksum, whatever the order */

/* Work of `rounds` times all slot functions and a nested call; its sum goes into the checksum. */
void work(int rounds);

/* Tells all that is counted, and the checksum. */
void report_counts(void);

/* The handler for `number`, with flags besides SA_SIGINFO; signals of `mask` are blocked in it (or NULL). */
typedef void handler(int number, siginfo_t *info, void *context);
void handle(int number, handler *function, int flags, const sigset_t *mask);
void block(int number, bool on);
sigset_t set_of(int number);

uintptr_t context_pc(const void *context);
void context_set_pc(void *context, uintptr_t pc);
uintptr_t context_sp(const void *context);

/* Learns which memory is the program's: mapped from files; before anyone can have added to it. */
void mappings_read(void);
/* Whether a pc is in code of the program. */
bool mappings_have(uintptr_t pc);
/* Counts pcs that are not, for strange_pcs(). Can be called by handlers. */
void check_pc(const void *context);
unsigned long strange_pcs(void);

/* The state letter of a thread in /proc, and waiting until it sleeps in a system call. */
char thread_state(pid_t pid, pid_t tid);
void wait_asleep(pid_t pid, pid_t tid);

pid_t own_tid(void);
void die(const char *what);

/* The numbers of the command line. */
struct arguments {
	int number[6];
	const char *word;
};

struct verb {
	const char *name;
	void (*run)(const struct arguments *arguments);
};

extern const struct verb handler_verbs[], timer_verbs[], fault_verbs[], trap_verbs[], info_verbs[],
	restart_verbs[], queue_verbs[], stop_verbs[], mask_verbs[];

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names and meanings of signals, by the numbers that the kernel has for them. */
#include "sink/render/signame.h"

#include <signal.h>
#include <stddef.h>

/* The kernel's limits. The C library reserves the first two signals: its SIGRTMIN is 34. */
enum { KERNEL_SIGRTMIN = 32, KERNEL_SIGRTMAX = 64 };

static const struct signal_text {
	const char *name;
	const char *meaning;
} signals[] = {
	[SIGHUP] = {"SIGHUP", "Hangup"},
	[SIGINT] = {"SIGINT", "Interrupt"},
	[SIGQUIT] = {"SIGQUIT", "Quit"},
	[SIGILL] = {"SIGILL", "Illegal instruction"},
	[SIGTRAP] = {"SIGTRAP", "Trace/breakpoint trap"},
	[SIGABRT] = {"SIGABRT", "Aborted"},
	[SIGBUS] = {"SIGBUS", "Bus error"},
	[SIGFPE] = {"SIGFPE", "Floating point exception"},
	[SIGKILL] = {"SIGKILL", "Killed"},
	[SIGUSR1] = {"SIGUSR1", "User defined signal 1"},
	[SIGSEGV] = {"SIGSEGV", "Segmentation fault"},
	[SIGUSR2] = {"SIGUSR2", "User defined signal 2"},
	[SIGPIPE] = {"SIGPIPE", "Broken pipe"},
	[SIGALRM] = {"SIGALRM", "Alarm clock"},
	[SIGTERM] = {"SIGTERM", "Terminated"},
	[SIGSTKFLT] = {"SIGSTKFLT", "Stack fault"},
	[SIGCHLD] = {"SIGCHLD", "Child exited"},
	[SIGCONT] = {"SIGCONT", "Continued"},
	[SIGSTOP] = {"SIGSTOP", "Stopped (signal)"},
	[SIGTSTP] = {"SIGTSTP", "Stopped"},
	[SIGTTIN] = {"SIGTTIN", "Stopped (tty input)"},
	[SIGTTOU] = {"SIGTTOU", "Stopped (tty output)"},
	[SIGURG] = {"SIGURG", "Urgent I/O condition"},
	[SIGXCPU] = {"SIGXCPU", "CPU time limit exceeded"},
	[SIGXFSZ] = {"SIGXFSZ", "File size limit exceeded"},
	[SIGVTALRM] = {"SIGVTALRM", "Virtual timer expired"},
	[SIGPROF] = {"SIGPROF", "Profiling timer expired"},
	[SIGWINCH] = {"SIGWINCH", "Window changed"},
	[SIGIO] = {"SIGIO", "I/O possible"},
	[SIGPWR] = {"SIGPWR", "Power failure"},
	[SIGSYS] = {"SIGSYS", "Bad system call"},
};

static const struct signal_text *find(int64_t number)
{
	if (number < 0 || (uint64_t)number >= sizeof signals / sizeof *signals)
		return NULL;
	return signals[number].name ? &signals[number] : NULL;
}

static bool is_real_time(int64_t number)
{
	return number >= KERNEL_SIGRTMIN && number <= KERNEL_SIGRTMAX;
}

void signame_put(struct outbuf *out, int64_t number)
{
	const struct signal_text *known = find(number);

	if (known) {
		outbuf_text(out, known->name);
	} else if (number == KERNEL_SIGRTMIN) {
		outbuf_text(out, "SIGRTMIN");
	} else if (is_real_time(number)) {
		outbuf_text(out, "SIGRT_");
		outbuf_signed(out, number - KERNEL_SIGRTMIN);
	} else {
		outbuf_text(out, "SIG");
		outbuf_signed(out, number);
	}
}

void signame_put_meaning(struct outbuf *out, int64_t number)
{
	const struct signal_text *known = find(number);

	if (known) {
		outbuf_text(out, known->meaning);
	} else if (is_real_time(number)) {
		outbuf_text(out, "Real-time signal ");
		outbuf_signed(out, number - KERNEL_SIGRTMIN);
	} else {
		outbuf_text(out, "Unknown signal ");
		outbuf_signed(out, number);
	}
}

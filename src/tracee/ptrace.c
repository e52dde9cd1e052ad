/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wrappers of ptrace(2), one for each request. Requests newer than the supported libc headers are
 * defined here by their numbers.
 */
#include "tracee/ptrace.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>

static int request(enum __ptrace_request what, pid_t tid, uintptr_t address, uintptr_t data)
{
	errno = 0;
	long result = ptrace(what, tid, (void *)address, (void *)data);

	return result == -1 && errno ? -errno : 0;
}

int pt_seize(pid_t tid, unsigned long options)
{
	return request(PTRACE_SEIZE, tid, 0, options);
}

int pt_set_options(pid_t tid, unsigned long options)
{
	return request(PTRACE_SETOPTIONS, tid, 0, options);
}

int pt_interrupt(pid_t tid)
{
	return request(PTRACE_INTERRUPT, tid, 0, 0);
}

int pt_continue(pid_t tid, int signal)
{
	return request(PTRACE_CONT, tid, 0, (uintptr_t)signal);
}

int pt_step(pid_t tid, int signal)
{
	return request(PTRACE_SINGLESTEP, tid, 0, (uintptr_t)signal);
}

int pt_to_syscall(pid_t tid, int signal)
{
	return request(PTRACE_SYSCALL, tid, 0, (uintptr_t)signal);
}

enum { GET_SYSCALL_INFO = 0x420e }; /* linux/ptrace.h, since Linux 5.3 */

int pt_get_syscall(pid_t tid, struct pt_syscall *call)
{
	memset(call, 0, sizeof *call);
	errno = 0;
	long length = ptrace((enum __ptrace_request)GET_SYSCALL_INFO, tid, (void *)sizeof *call,
			     call);

	return length < 0 && errno ? -errno : 0;
}

int pt_listen(pid_t tid)
{
	return request(PTRACE_LISTEN, tid, 0, 0);
}

int pt_detach(pid_t tid, int signal)
{
	return request(PTRACE_DETACH, tid, 0, (uintptr_t)signal);
}

int pt_event_message(pid_t tid, unsigned long *message)
{
	return request(PTRACE_GETEVENTMSG, tid, 0, (uintptr_t)message);
}

int pt_get_siginfo(pid_t tid, siginfo_t *info)
{
	return request(PTRACE_GETSIGINFO, tid, 0, (uintptr_t)info);
}

bool pt_signal_is_fault(pid_t tid)
{
	siginfo_t info;

	return pt_get_siginfo(tid, &info) == 0 && info.si_code > 0;
}

int pt_get_filter(pid_t tid, unsigned number, struct sock_filter *code, size_t room)
{
	long count = ptrace(PTRACE_SECCOMP_GET_FILTER, tid, (uintptr_t)number, NULL);

	if (count < 0)
		return -errno;
	if (!code || (size_t)count > room)
		return (int)count;
	count = ptrace(PTRACE_SECCOMP_GET_FILTER, tid, (uintptr_t)number, code);
	return count < 0 ? -errno : (int)count;
}

int pt_set_siginfo(pid_t tid, const siginfo_t *info)
{
	return request(PTRACE_SETSIGINFO, tid, 0, (uintptr_t)info);
}

int pt_peek(pid_t tid, uint64_t address, uint64_t *word)
{
	errno = 0;
	long result = ptrace(PTRACE_PEEKDATA, tid, (void *)(uintptr_t)address, NULL);

	*word = (unsigned long)result;
	return result == -1 && errno ? -errno : 0;
}

/* Returns true if the thread's own queue has `signal` with an si_code of at least `lowest`. */
static bool is_queued(pid_t tid, int signal, int lowest)
{
	struct __ptrace_peeksiginfo_args arguments = {.off = 0, .flags = 0, .nr = 32};
	siginfo_t queued[32];

	memset(queued, 0, sizeof queued); /* valgrind does not know that the request fills it */
	long count = ptrace(PTRACE_PEEKSIGINFO, tid, &arguments, queued);

	for (long i = 0; i < count; i++)
		if (queued[i].si_signo == signal && queued[i].si_code >= lowest)
			return true;
	return false;
}

bool pt_signal_pending(pid_t tid, int signal)
{
	return is_queued(tid, signal, INT_MIN);
}

int pt_get_sigmask(pid_t tid, uint64_t *mask)
{
	*mask = 0; /* valgrind does not know that the kernel writes it */
	return request(PTRACE_GETSIGMASK, tid, sizeof *mask, (uintptr_t)mask);
}

int pt_set_sigmask(pid_t tid, uint64_t mask)
{
	return request(PTRACE_SETSIGMASK, tid, sizeof mask, (uintptr_t)&mask);
}

/* linux/ptrace.h, since Linux 6.4 */
enum { GET_DISPATCH = 0x4211, SET_DISPATCH = 0x4210 };

int pt_get_dispatch(pid_t tid, struct pt_dispatch *dispatch)
{
	memset(dispatch, 0, sizeof *dispatch);
	return request((enum __ptrace_request)GET_DISPATCH, tid, sizeof *dispatch,
		       (uintptr_t)dispatch);
}

int pt_set_dispatch(pid_t tid, const struct pt_dispatch *dispatch)
{
	return request((enum __ptrace_request)SET_DISPATCH, tid, sizeof *dispatch,
		       (uintptr_t)dispatch);
}

static uintptr_t debug_register_offset(unsigned index)
{
	return offsetof(struct user, u_debugreg) +
	       index * sizeof(((struct user *)NULL)->u_debugreg[0]);
}

int pt_set_debug_register(pid_t tid, unsigned index, uint64_t value)
{
	return request(PTRACE_POKEUSER, tid, debug_register_offset(index), (uintptr_t)value);
}

int pt_get_debug_register(pid_t tid, unsigned index, uint64_t *value)
{
	errno = 0;
	long result = ptrace(PTRACE_PEEKUSER, tid, (void *)debug_register_offset(index), NULL);

	if (result == -1 && errno)
		return -errno;
	*value = (unsigned long)result;
	return 0;
}

static bool blocks_trap(pid_t tid)
{
	uint64_t mask;

	return pt_get_sigmask(tid, &mask) == 0 && mask & UINT64_C(1) << (SIGTRAP - 1);
}

bool pt_trap_pending(pid_t tid)
{
	return pt_signal_pending(tid, SIGTRAP) && !blocks_trap(tid);
}

bool pt_hit_pending(pid_t tid)
{
	return is_queued(tid, SIGTRAP, 1) && !blocks_trap(tid);
}

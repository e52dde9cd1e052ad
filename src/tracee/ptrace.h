/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ptrace(2) with a uniform error rule: each function returns 0 or -errno. The thread must be
 * stopped, except for seize and interrupt. -ESRCH means that the thread was killed while stopped;
 * its exit status follows by wait.
 */
#ifndef TRACER_TRACEE_PTRACE_H
#define TRACER_TRACEE_PTRACE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

int pt_seize(pid_t tid, unsigned long options);
/* Replaces the options of a stopped thread. */
int pt_set_options(pid_t tid, unsigned long options);
int pt_interrupt(pid_t tid);
int pt_continue(pid_t tid, int signal);
int pt_step(pid_t tid, int signal);
/* Continues to the next entry to or exit from a system call. */
int pt_to_syscall(pid_t tid, int signal);
/*
 * The system call of a thread at STOP_SYSCALL, at its entry or exit: the kernel's struct
 * ptrace_syscall_info (ptrace(2)).
 */
enum pt_syscall_op { PT_SYSCALL_NONE, PT_SYSCALL_ENTRY, PT_SYSCALL_EXIT, PT_SYSCALL_SECCOMP };

struct sock_filter;

struct pt_syscall {
	uint8_t op; /* enum pt_syscall_op */
	uint8_t reserved[3];
	uint32_t arch; /* ABI of the call, not of the program: AUDIT_ARCH_… (linux/audit.h) */
	uint64_t pc, sp;
	union {
		struct {
			uint64_t number;
			uint64_t arguments[6];
		} entry;
		struct {
			int64_t result; /* -errno if it failed */
			uint8_t failed;
		} exit;
		uint64_t room[8];
	};
};

/* Fails with -EIO before Linux 5.3. */
int pt_get_syscall(pid_t tid, struct pt_syscall *call);
/* Leaves a group-stopped thread stopped, but lets SIGCONT through. */
int pt_listen(pid_t tid);
int pt_detach(pid_t tid, int signal);
int pt_event_message(pid_t tid, unsigned long *message);
int pt_get_siginfo(pid_t tid, siginfo_t *info);
/*
 * Returns true if the signal that the thread is stopped at was made by the kernel, by its si_code.
 */
bool pt_signal_is_fault(pid_t tid);
/*
 * Reads seccomp(2) filter `number`; 0 is the newest. Returns its number of instructions, and copies
 * them if there is `room`. -ENOENT: there is no such filter; -EACCES: needs CAP_SYS_ADMIN.
 */
int pt_get_filter(pid_t tid, unsigned number, struct sock_filter *code, size_t room);
/* Sets the siginfo of the signal that is delivered from this stop. */
int pt_set_siginfo(pid_t tid, const siginfo_t *info);
/* Reads 8 bytes of a stopped thread's memory; cheaper than process_vm_readv(2) for one word. */
int pt_peek(pid_t tid, uint64_t address, uint64_t *word);
/* Returns true if `signal` is pending in the thread's own queue. */
bool pt_signal_pending(pid_t tid, int signal);

/*
 * Returns true if a SIGTRAP is pending for the thread that may be a breakpoint's. A SIGTRAP that is
 * pending because the thread blocks it is the program's own: a breakpoint's is never blocked.
 */
bool pt_trap_pending(pid_t tid);
/* Like pt_trap_pending(), but only for a SIGTRAP made by the kernel, by its si_code. */
bool pt_hit_pending(pid_t tid);
int pt_get_sigmask(pid_t tid, uint64_t *mask);
int pt_set_sigmask(pid_t tid, uint64_t mask);

/*
 * Syscall user dispatch of a thread, which turns system calls into SIGSYS: the kernel's struct
 * ptrace_sud_config. Both requests fail before Linux 6.4.
 */
struct pt_dispatch {
	uint64_t mode; /* 0: off */
	uint64_t selector, offset, length;
};

int pt_get_dispatch(pid_t tid, struct pt_dispatch *dispatch);
int pt_set_dispatch(pid_t tid, const struct pt_dispatch *dispatch);
/* Debug register `index` (0-3 addresses, 6 status, 7 control; Intel SDM vol. 3, 18.2). */
int pt_set_debug_register(pid_t tid, unsigned index, uint64_t value);
int pt_get_debug_register(pid_t tid, unsigned index, uint64_t *value);

#endif

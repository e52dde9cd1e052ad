/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds a seccomp filter (seccomp(2)) in classic BPF. It tests the number of the system call and,
 * for some calls, the first argument. The program is generated from a table, with two instructions
 * for each plain call.
 *
 * Another ABI of the same processor has other system-call numbers (i386 on x86-64), so the ABI is
 * tested first. The low 32 bits of an argument are compared, which is enough for a pid.
 */
#include "tracee/confine.h"

#include "base/arch.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Not every host has both of these calls. */
#ifndef SYS_mmap2
#define SYS_mmap2 SYS_mmap
#endif

static const unsigned plain_calls[] = {
	SYS_read,      SYS_write,    SYS_mmap,	  SYS_mmap2,	  SYS_munmap,
	SYS_mremap,    SYS_brk,	     SYS_madvise, SYS_futex,	  SYS_getpid,
	SYS_getrusage, SYS_mprotect, SYS_exit,	  SYS_exit_group, SYS_rt_sigreturn,
};

enum { PLAIN = sizeof plain_calls / sizeof *plain_calls, AT_MOST = 4 + 2 * PLAIN + 2 * 5 + 1 };

/* A BPF program under construction. */
struct program {
	struct sock_filter code[AT_MOST];
	unsigned short length;
};

static void add(struct program *program, unsigned short code, uint32_t operand, uint8_t if_true,
		uint8_t if_false)
{
	program->code[program->length++] = (struct sock_filter){code, if_true, if_false, operand};
}

static void load(struct program *program, size_t offset)
{
	add(program, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void answer(struct program *program, uint32_t action)
{
	add(program, BPF_RET | BPF_K, action, 0, 0);
}

/* Allows a call. The accumulator holds the number of the call before and after. */
static void allow(struct program *program, unsigned call)
{
	add(program, BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1);
	answer(program, SECCOMP_RET_ALLOW);
}

/*
 * Allows a call if its first argument is `argument`. If it is another call, the accumulator keeps
 * its number.
 */
static void allow_for(struct program *program, unsigned call, uint32_t argument)
{
	add(program, BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4);
	load(program, offsetof(struct seccomp_data, args));
	add(program, BPF_JMP | BPF_JEQ | BPF_K, argument, 0, 1);
	answer(program, SECCOMP_RET_ALLOW);
	answer(program, SECCOMP_RET_ERRNO | EPERM);
}

static void drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}, {0}};

	syscall(SYS_capset, &header, none);
}

int confine_to_computing(void)
{
	struct program program = {.length = 0};
	struct sock_fprog filter = {.filter = program.code};

	drop_capabilities();
	load(&program, offsetof(struct seccomp_data, arch));
	add(&program, BPF_JMP | BPF_JEQ | BPF_K, host_audit_arch(), 1, 0);
	answer(&program, SECCOMP_RET_ERRNO | EPERM);
	load(&program, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < PLAIN; i++)
		allow(&program, plain_calls[i]);
	allow_for(&program, SYS_prlimit64, 0);
	allow_for(&program, SYS_process_vm_readv, (uint32_t)getpid());
	answer(&program, SECCOMP_RET_ERRNO | EPERM);
	filter.len = program.length;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		return -errno;
	return 0;
}

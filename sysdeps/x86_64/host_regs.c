/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers of a stopped thread, for an x86_64 tracer on an x86_64 kernel. One ptrace request loads
 * them, and one stores them, for 64-bit and 32-bit threads: the kernel fills the same structure for
 * both, including the segment bases.
 *
 * For a register of a 32-bit thread the kernel may keep more than 32 bits (the sign of an error
 * number while the thread leaves a system call). struct regs has such registers cut to 32 bits; a
 * store puts back what the kernel had, unless the value was changed in struct regs. So a load
 * followed by a store changes nothing.
 */
#include "x86/x86.h"

#include <errno.h>
#include <linux/audit.h>
#include <string.h>
#include <sys/ptrace.h>

enum { USER32_CS = 0x23 };

bool regs_is_32bit(const struct regs *regs)
{
	return regs->host.cs == USER32_CS;
}

/* Copies the kernel's general registers to their encoding order. */
static void from_host(const struct user_regs_struct *host, uint64_t r[REG_COUNT])
{
	r[REG_AX] = host->rax;
	r[REG_CX] = host->rcx;
	r[REG_DX] = host->rdx;
	r[REG_BX] = host->rbx;
	r[REG_SP] = host->rsp;
	r[REG_BP] = host->rbp;
	r[REG_SI] = host->rsi;
	r[REG_DI] = host->rdi;
	r[8] = host->r8;
	r[9] = host->r9;
	r[10] = host->r10;
	r[11] = host->r11;
	r[12] = host->r12;
	r[13] = host->r13;
	r[14] = host->r14;
	r[15] = host->r15;
}

static void to_host(const uint64_t r[REG_COUNT], struct user_regs_struct *host)
{
	host->rax = r[REG_AX];
	host->rcx = r[REG_CX];
	host->rdx = r[REG_DX];
	host->rbx = r[REG_BX];
	host->rsp = r[REG_SP];
	host->rbp = r[REG_BP];
	host->rsi = r[REG_SI];
	host->rdi = r[REG_DI];
	host->r8 = r[8];
	host->r9 = r[9];
	host->r10 = r[10];
	host->r11 = r[11];
	host->r12 = r[12];
	host->r13 = r[13];
	host->r14 = r[14];
	host->r15 = r[15];
}

int regs_load(pid_t tid, struct regs *regs)
{
	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs->host) < 0)
		return -errno;
	from_host(&regs->host, regs->r);
	regs->pc = regs->host.rip;
	regs->host.eflags &= ~(unsigned long)X86_RESUME_FLAG;
	regs->flags = regs->host.eflags;
	regs->fs_base = regs->host.fs_base;
	regs->gs_base = regs->host.gs_base;
	regs->is_partial = false;
	regs->syscall = regs->host.orig_rax;
	if (regs_is_32bit(regs)) {
		for (int i = 0; i < REG_COUNT; i++)
			regs->r[i] = (uint32_t)regs->r[i];
		regs->pc = (uint32_t)regs->pc;
	}
	return 0;
}

int regs_store_unmarked(pid_t tid, const struct regs *regs)
{
	struct user_regs_struct host = regs->host;
	uint64_t r[REG_COUNT];

	if (regs_is_32bit(regs)) {
		from_host(&host, r);
		for (int i = 0; i < REG_COUNT; i++)
			if ((uint32_t)r[i] != regs->r[i])
				r[i] = regs->r[i];
		to_host(r, &host);
	} else {
		to_host(regs->r, &host);
	}
	host.rip = regs->pc;
	host.eflags = regs->flags;
	host.orig_rax = regs->syscall;
	return ptrace(PTRACE_SETREGS, tid, NULL, &host) < 0 ? -errno : 0;
}

int fp_regs_load(pid_t tid, struct fp_regs *regs)
{
	struct user_fpregs_struct host;

	if (ptrace(PTRACE_GETFPREGS, tid, NULL, &host) < 0)
		return -errno;
	memcpy(regs->xmm, host.xmm_space, sizeof regs->xmm);
	memset(regs->st, 0, sizeof regs->st);
	for (size_t i = 0; i < sizeof regs->st / sizeof *regs->st; i++)
		memcpy(regs->st[i], &host.st_space[4 * i], 10);
	return 0;
}

uint32_t host_audit_arch(void)
{
	return AUDIT_ARCH_X86_64;
}

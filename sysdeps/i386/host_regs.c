/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers of a stopped thread, for an i386 tracer, which traces only i386 processes. The kernel's
 * structure does not have the bases of fs and gs. They are asked for if a selector is in use;
 * 32-bit programs use gs for their thread pointer.
 */
#include "x86/x86.h"

#include <asm/ldt.h>
#include <errno.h>
#include <linux/audit.h>
#include <string.h>
#include <sys/ptrace.h>

bool regs_is_32bit(const struct regs *regs)
{
	(void)regs;
	return true;
}

/* The base of a selector's thread-local segment; 0 for flat segments, and on failure. */
static uint64_t segment_base(pid_t tid, long selector)
{
	struct user_desc descriptor;
	long index = (selector & 0xffff) >> 3;

	if (!index || ptrace(PTRACE_GET_THREAD_AREA, tid, (void *)index, &descriptor) < 0)
		return 0;
	return descriptor.base_addr;
}

int regs_load(pid_t tid, struct regs *regs)
{
	struct user_regs_struct *host = &regs->host;

	if (ptrace(PTRACE_GETREGS, tid, NULL, host) < 0)
		return -errno;
	memset(regs->r, 0, sizeof regs->r);
	regs->r[REG_AX] = (uint32_t)host->eax;
	regs->r[REG_CX] = (uint32_t)host->ecx;
	regs->r[REG_DX] = (uint32_t)host->edx;
	regs->r[REG_BX] = (uint32_t)host->ebx;
	regs->r[REG_SP] = (uint32_t)host->esp;
	regs->r[REG_BP] = (uint32_t)host->ebp;
	regs->r[REG_SI] = (uint32_t)host->esi;
	regs->r[REG_DI] = (uint32_t)host->edi;
	regs->pc = (uint32_t)host->eip;
	host->eflags &= ~X86_RESUME_FLAG;
	regs->flags = (uint32_t)host->eflags;
	regs->syscall = (uint64_t)(int64_t)host->orig_eax;
	regs->fs_base = segment_base(tid, host->xfs);
	regs->gs_base = segment_base(tid, host->xgs);
	regs->is_partial = false;
	return 0;
}

int regs_store_unmarked(pid_t tid, const struct regs *regs)
{
	struct user_regs_struct host = regs->host;

	host.eax = (long)regs->r[REG_AX];
	host.ecx = (long)regs->r[REG_CX];
	host.edx = (long)regs->r[REG_DX];
	host.ebx = (long)regs->r[REG_BX];
	host.esp = (long)regs->r[REG_SP];
	host.ebp = (long)regs->r[REG_BP];
	host.esi = (long)regs->r[REG_SI];
	host.edi = (long)regs->r[REG_DI];
	host.eip = (long)regs->pc;
	host.eflags = (long)regs->flags;
	host.orig_eax = (long)regs->syscall;
	return ptrace(PTRACE_SETREGS, tid, NULL, &host) < 0 ? -errno : 0;
}

int fp_regs_load(pid_t tid, struct fp_regs *regs)
{
	struct user_fpxregs_struct host;

	if (ptrace(PTRACE_GETFPXREGS, tid, NULL, &host) < 0)
		return -errno;
	memcpy(regs->xmm, host.xmm_space, sizeof host.xmm_space);
	memset(regs->st, 0, sizeof regs->st);
	for (size_t i = 0; i < sizeof regs->st / sizeof *regs->st; i++)
		memcpy(regs->st[i], &host.st_space[4 * i], 10);
	return 0;
}

uint32_t host_audit_arch(void)
{
	return AUDIT_ARCH_I386;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The mark that regs_store() leaves in a thread's flags (base/arch.h): RF, on both hosts. */
#include "x86/x86.h"

#include <sys/ptrace.h>

int regs_store(pid_t tid, const struct regs *regs)
{
	struct regs marked = *regs;

	marked.flags |= X86_RESUME_FLAG;
	return regs_store_unmarked(tid, &marked);
}

bool regs_are_marked(pid_t tid)
{
	struct user_regs_struct host;

	return ptrace(PTRACE_GETREGS, tid, NULL, &host) == 0 && (host.eflags & X86_RESUME_FLAG);
}

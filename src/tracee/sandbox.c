/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Evaluates the seccomp(2) filters of a process.
 *
 * Most processes in containers have a filter that answers a forbidden call with an error: trying
 * the call does no harm. Sandboxes kill instead. The filters tell: they are classic BPF programs
 * (PTRACE_SECCOMP_GET_FILTER), which are run here as the kernel runs them (seccomp_check_filter()
 * lists what they may contain; Documentation/userspace-api/seccomp_filter.rst). One filter that
 * kills is enough.
 *
 * With SECCOMP_RET_TRAP the program may make the call itself, but it is killed if it has no
 * handler. The supervisor behind SECCOMP_RET_USER_NOTIF may not answer. Both count as killing.
 */
#include "tracee/sandbox.h"

#include "base/xalloc.h"
#include "tracee/proc.h"
#include "tracee/ptrace.h"
#include "tracee/tracee.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { FILTERS_MAX = 256, SOME_ADDRESS = 4096 };

/* ------------------------------------------------------------------ classic BPF */

struct machine {
	const struct seccomp_data *data;
	uint32_t a, x, memory[BPF_MEMWORDS];
};

static uint32_t load(const struct machine *machine, const struct sock_filter *insn)
{
	uint32_t word = 0;

	switch (BPF_MODE(insn->code)) {
	case BPF_ABS:
		if (insn->k <= sizeof *machine->data - sizeof word)
			memcpy(&word, (const char *)machine->data + insn->k, sizeof word);
		return word;
	case BPF_MEM:
		return insn->k < BPF_MEMWORDS ? machine->memory[insn->k] : 0;
	case BPF_LEN:
		return sizeof *machine->data;
	default:
		return insn->k;
	}
}

static uint32_t compute(uint16_t code, uint32_t a, uint32_t b)
{
	switch (BPF_OP(code)) {
	case BPF_ADD:
		return a + b;
	case BPF_SUB:
		return a - b;
	case BPF_MUL:
		return a * b;
	case BPF_DIV:
		return b ? a / b : 0;
	case BPF_OR:
		return a | b;
	case BPF_AND:
		return a & b;
	case BPF_XOR:
		return a ^ b;
	case BPF_LSH:
		return b < 32 ? a << b : 0;
	case BPF_RSH:
		return b < 32 ? a >> b : 0;
	default:
		return -a;
	}
}

static bool is_taken(uint16_t code, uint32_t a, uint32_t b)
{
	switch (BPF_OP(code)) {
	case BPF_JEQ:
		return a == b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	default:
		return a & b;
	}
}

static void keep(struct machine *machine, const struct sock_filter *insn)
{
	if (insn->k < BPF_MEMWORDS)
		machine->memory[insn->k] = BPF_CLASS(insn->code) == BPF_ST ? machine->a
									   : machine->x;
}

/* Runs a filter and returns its answer. Jumps only go forward, so it terminates. */
static uint32_t run(const struct sock_filter *code, size_t count, const struct seccomp_data *data)
{
	struct machine machine = {.data = data};

	for (size_t at = 0; at < count; at++) {
		const struct sock_filter *insn = &code[at];
		const uint32_t operand = BPF_SRC(insn->code) == BPF_X ? machine.x : insn->k;

		switch (BPF_CLASS(insn->code)) {
		case BPF_LD:
			machine.a = load(&machine, insn);
			break;
		case BPF_LDX:
			machine.x = load(&machine, insn);
			break;
		case BPF_ST:
		case BPF_STX:
			keep(&machine, insn);
			break;
		case BPF_ALU:
			machine.a = compute(insn->code, machine.a, operand);
			break;
		case BPF_JMP:
			at += BPF_OP(insn->code) == BPF_JA		 ? insn->k
			      : is_taken(insn->code, machine.a, operand) ? insn->jt
									 : insn->jf;
			break;
		case BPF_RET:
			return BPF_RVAL(insn->code) == BPF_A ? machine.a : insn->k;
		default:
			if (BPF_MISCOP(insn->code) == BPF_TAX)
				machine.x = machine.a;
			else
				machine.a = machine.x;
		}
	}
	return SECCOMP_RET_KILL_PROCESS;
}

/* ------------------------------------------------------------------ calls */

static struct seccomp_data call_of(const struct arch *arch, enum rescue_call call)
{
	struct seccomp_data data = {.nr = arch->rescue_calls[call], .arch = arch->audit_arch};

	if (call == RESCUE_OPENAT) {
		data.args[0] = (uint32_t)AT_FDCWD;
		data.args[1] = SOME_ADDRESS;
		data.args[2] = O_RDWR | O_CLOEXEC;
	} else if (call == RESCUE_MPROTECT) {
		data.args[0] = data.args[1] = SOME_ADDRESS;
		data.args[2] = PROT_READ | PROT_WRITE | PROT_EXEC;
	}
	return data;
}

static bool is_harmless(uint32_t answer)
{
	const uint32_t action = answer & SECCOMP_RET_ACTION_FULL;

	return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG ||
	       action == SECCOMP_RET_ERRNO || action == SECCOMP_RET_TRACE;
}

/* Returns true if one of the calls may kill the stopped thread. */
static bool any_may_kill(pid_t tid, const struct seccomp_data *calls, size_t call_count)
{
	const long mode = proc_status_number(tid, "Seccomp");
	bool found = mode == SECCOMP_MODE_STRICT;

	if (mode != SECCOMP_MODE_FILTER)
		return found;
	struct sock_filter *code = xcalloc(BPF_MAXINSNS, sizeof *code);

	for (unsigned i = 0; i < FILTERS_MAX && !found; i++) {
		const int count = pt_get_filter(tid, i, code, BPF_MAXINSNS);

		if (count == -ENOENT)
			break;
		found = count < 0 || count > BPF_MAXINSNS;
		for (size_t j = 0; j < call_count && !found; j++)
			found = !is_harmless(run(code, (size_t)count, &calls[j]));
	}
	free(code);
	return found;
}

bool sandbox_may_kill(const struct thread *thread)
{
	struct seccomp_data calls[RESCUE_CALLS];

	for (enum rescue_call call = 0; call < RESCUE_CALLS; call++)
		calls[call] = call_of(thread->process->space->arch, call);
	return any_may_kill(thread->tid, calls, RESCUE_CALLS);
}

bool sandbox_may_kill_for_restart(pid_t tid, const struct arch *arch)
{
	const struct seccomp_data call = {.nr = (int)arch->sys_restart_syscall,
					  .arch = arch->audit_arch};

	return any_may_kill(tid, &call, 1);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* i386: System V Intel386 psABI, Linux system calls through int 0x80. */
#include "base/arch.h"
#include "x86/x86.h"

#include <elf.h>
#include <linux/audit.h>
#include <string.h>

static const struct abi abi_i386 = {
	.word = 4,
	.int_args = 0,
	.fp_args = 0,
	.stack_first = 4,
	.fp_result_in_st0 = true,
	.preserved = {REG_BX, REG_BP, REG_SI, REG_DI},
	.preserved_count = 4,
};

static int displace(struct decoder *decoder, const uint8_t *bytes, size_t length, uint64_t address,
		    struct displaced *out)
{
	return x86_displace(decoder, &arch_i386, X86_MODE_32, bytes, length, address, out);
}

/* call rel32, jmp rel32 */
static bool calls_by_distance(uint8_t opcode)
{
	return opcode == 0xe8 || opcode == 0xe9;
}

static void insn_effect(const uint8_t *bytes, size_t length, struct insn_effect *effect)
{
	x86_insn_effect(X86_MODE_32, bytes, length, effect);
}

static bool insn_change(const uint8_t *bytes, size_t length, struct insn_change *change)
{
	return x86_insn_change(X86_MODE_32, bytes, length, change);
}

static bool insn_move(const uint8_t *bytes, size_t length, struct insn_move *move)
{
	return x86_insn_move(X86_MODE_32, bytes, length, move);
}

static bool slot_call(const uint8_t *bytes, uint64_t address, uint64_t got, uint64_t *slot)
{
	return x86_slot_call(X86_MODE_32, bytes, address, got, slot);
}

/* call get_pc_thunk; add $got-., %register */
static bool loads_got(const uint8_t *bytes, uint64_t address, uint64_t *got)
{
	bool short_form = bytes[5] == 0x05; /* add to %eax */
	uint32_t distance;

	if (bytes[0] != 0xe8 || (!short_form && (bytes[5] != 0x81 || (bytes[6] & 0xf8) != 0xc0)))
		return false;
	memcpy(&distance, bytes + (short_form ? 6 : 7), sizeof distance);
	*got = (uint32_t)(address + 5 + distance);
	return true;
}

static bool plt_slot(const uint8_t *bytes, size_t length, uint64_t address, uint64_t got,
		     uint64_t *slot)
{
	return x86_plt_slot(X86_MODE_32, bytes, length, address, got, slot);
}

static const struct remote_stub remote_stub = {
	.code = {0xcd, 0x80,				   /* int $0x80 */
		 0xb9, 0,    0,	   0,	 2,		   /* mov $1 << 25, %ecx */
		 0xf3, 0x90, 0xe2, 0xfc,		   /* 1: pause; loop 1b */
		 0xb8, 175,  0,	   0,	 0,		   /* mov $rt_sigprocmask, %eax */
		 0xbb, 2,    0,	   0,	 0,		   /* mov $SIG_SETMASK, %ebx */
		 0x8d, 0x4c, 0x24, 0x20,		   /* lea 32(%esp), %ecx */
		 0xba, 0,    0,	   0,	 0,		   /* mov $0, %edx */
		 0xbe, 8,    0,	   0,	 0,		   /* mov $8, %esi */
		 0xcd, 0x80,				   /* int $0x80 */
		 0x58, 0x5b, 0x59, 0x5a, 0x5e, 0x5f, 0x5d, /* pop %eax, %ebx, … %edi, %ebp */
		 0xc2, 0x00, 0x02},			   /* ret $512 */
	.length = 47,
	.pops = 37,
	.saved = {REG_AX, REG_BX, REG_CX, REG_DX, REG_SI, REG_DI, REG_BP},
	.saved_count = 7,
	.gap = 512,
};

static const char *const syscall_names[] = {
#include "i386/syscall_names.inc"
};

static const uint8_t rescue_code[] = {
#include "i386/rescue_code.inc"
};

enum {
	/* socketcall: accept, send, recv, sendto, recvfrom, sendmsg, recvmsg, accept4, recvmmsg */
	SOCKETCALLS = 1 << 5 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 12 | 1 << 16 | 1 << 17 | 1 << 18 |
		      1 << 19,
	IPCS = 1 << 1 | 1 << 4 /* semop, semtimedop */
};

/* read, readv, accept4, sendto, sendmsg, recvfrom, recvmsg, recvmmsg, socketcall; ipc, semtimedop;
 * rt_sigtimedwait; io_getevents, io_pgetevents; epoll_wait, epoll_pwait, epoll_pwait2 */
static const struct restarted_call retried[] = {
	{3, 0},	  {145, 0}, {364, 0},		{369, 0},    {370, 0}, {371, 0}, {372, 0},
	{337, 0}, {417, 0}, {102, SOCKETCALLS}, {117, IPCS}, {420, 0}, {177, 0}, {421, 0},
	{247, 0}, {385, 0}, {256, 0},		{319, 0},    {441, 0}, {426, 0},
};

const struct arch arch_i386 = {
	.name = "i386",
	.elf_machine = EM_386,
	.elf_class = ELFCLASS32,
	.abi = &abi_i386,
	.breakpoint = {0xcc},
	.breakpoint_length = 1,
	.long_breakpoint = {0xcd, 3},
	.breakpoint_pc_offset = 1,
	.remote_stub = &remote_stub,
	.syscall_insn = {0xcd, 0x80},
	.sys_restart_syscall = 0,
	.rescue_code = rescue_code,
	.rescue_length = sizeof rescue_code,
	.rescue_calls = {[RESCUE_OPENAT] = 295,
			 [RESCUE_PREAD] = 180,
			 [RESCUE_PWRITE] = 181,
			 [RESCUE_CLOSE] = 6,
			 [RESCUE_GETTID] = 224,
			 [RESCUE_MPROTECT] = 125,
			 [RESCUE_READV] = 347,
			 [RESCUE_WRITEV] = 348,
			 [RESCUE_NANOSLEEP] = 162},
	.sys_mmap = 192,
	.sys_munmap = 91,
	.sys_exit = 1,
	.sys_exit_group = 252,
	.sys_rt_sigaction = 174,
	.sys_rt_sigprocmask = 175,
	.sys_sigaltstack = 186,
	.retried = retried,
	.retried_count = sizeof retried / sizeof *retried,
	.syscall_arg = {REG_BX, REG_CX, REG_DX, REG_SI, REG_DI, REG_BP},
	.audit_arch = AUDIT_ARCH_I386,
	.syscall_names = syscall_names,
	.syscall_count = sizeof syscall_names / sizeof *syscall_names,
	.load_number_opcode = X86_LOAD_AX_OPCODE,
	.signal_frame = {8, 4, 0x23, 12, {64, 220}},
	.load_first_opcode = X86_LOAD_BX_OPCODE,
	/* call *%gs:0x10, where glibc and musl have the vDSO's entry; int $0x80 */
	.syscall_insns = {{7, {0x65, 0xff, 0x15, 0x10, 0, 0, 0}}, {2, {0xcd, 0x80}}},
	.jump_buffer =
		{.sp = 4, .pc = 5, .arguments = 16, .rotate = 9, .guard = 0x18, .thread_fs = false},
	.displace = displace,
	.ends_with_call = x86_ends_with_call,
	.condition_holds = x86_condition_holds,
	.emit_jump = x86_emit_jump_relative, /* addresses wrap around: every jump reaches */
	.plt_slot = plt_slot,
	.thunk_opcode = X86_THUNK_OPCODE,
	.is_thunk = x86_is_thunk,
	.insn_effect = insn_effect,
	.insn_change = insn_change,
	.insn_move = insn_move,
	.dwarf_sp = 4,
	.dwarf_bp = 5,
	.dwarf_return = 8,
	.dwarf_general = {REG_AX, REG_CX, REG_DX, REG_BX, REG_SP, REG_BP, REG_SI, REG_DI},
	/*
	 * mov $173, %eax; int $0x80: above sp are signal, siginfo, ucontext.
	 * pop %eax; mov $119, %eax; int $0x80: above sp is the signal, then the sigcontext.
	 */
	.signal_returns = {{.length = 7,
			    .code = {0xb8, 173, 0, 0, 0, 0xcd, 0x80},
			    .offset = 8,
			    .by_pointer = true,
			    .registers = 20},
			   {.length = 8,
			    .code = {0x58, 0xb8, 119, 0, 0, 0, 0xcd, 0x80},
			    .offset = 4}},
	/* <sys/ucontext.h>: gs, fs, es, ds, di, si, bp, sp, bx, dx, cx, ax, trap, error, ip */
	.signal_words = {11, 10, 9, 8, 7, 6, 5, 4, 14},
	/* <sys/procfs.h>, <sys/user.h>; ax, cx, dx, bx, sp, bp, si, di */
	.core = {.status_size = 144,
		 .tid = 24,
		 .registers = 72,
		 .general = {6, 1, 2, 0, 15, 5, 3, 4},
		 .general_count = 8,
		 .pc = 12,
		 .flags = 14,
		 .syscall = 11,
		 .info_size = 124,
		 .uid = 8,
		 .uid_size = 2,
		 .pid = 12,
		 .name = 28,
		 .fault = 12},
	.call_arguments = 1U << EFFECT_STACK,
	.call_clobbers = 1U << REG_AX | 1U << REG_CX | 1U << REG_DX,
	.slot_call_opcode = X86_SLOT_CALL_OPCODE,
	.slot_call = slot_call,
	.slot_by_got = true,
	.word_load_opcode = X86_LOAD_AX_OPCODE,
	.loads_got = loads_got,
	.context_register = REG_CX,
	.context_flags = 84, /* 20 + 4 * REG_EFL */
	.step_flag = 0x100,
	.r_jump_slot = R_386_JMP_SLOT,
	.r_glob_dat = R_386_GLOB_DAT,
	.r_distance = R_386_PC32,
	.calls_by_distance = calls_by_distance,
	.r_irelative = R_386_IRELATIVE,
	.r_relative = R_386_RELATIVE,
	.r_address = R_386_32,
};

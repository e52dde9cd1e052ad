/* SPDX-License-Identifier: GPL-2.0-or-later */
/* x86_64: System V AMD64 psABI, Linux system calls. Not x32, which has ELF class 32. */
#include "base/arch.h"
#include "x86/x86.h"
#include "x86_64/agent.h"

#include <elf.h>
#include <linux/audit.h>
#include <string.h>

static const struct abi abi_x86_64 = {
	.word = 8,
	.int_args = 6,
	.int_arg = {REG_DI, REG_SI, REG_DX, REG_CX, 8, 9},
	.fp_args = 8,
	.counts_vectors = true,
	.stack_first = 8,
	.fp_result_in_st0 = false,
	.preserved = {REG_BX, REG_BP, 12, 13, 14, 15},
	.preserved_count = 6,
};

static const struct abi abi_go = {
	.word = 8,
	.int_args = 9,
	.int_arg = {REG_AX, REG_BX, REG_CX, REG_DI, REG_SI, 8, 9, 10, 11},
	.fp_args = 15,
	.stack_first = 8,
	.is_go = true,
	.goroutine = 14,
};

static int displace(struct decoder *decoder, const uint8_t *bytes, size_t length, uint64_t address,
		    struct displaced *out)
{
	return x86_displace(decoder, &arch_x86_64, X86_MODE_64, bytes, length, address, out);
}

static void insn_effect(const uint8_t *bytes, size_t length, struct insn_effect *effect)
{
	x86_insn_effect(X86_MODE_64, bytes, length, effect);
}

static bool insn_change(const uint8_t *bytes, size_t length, struct insn_change *change)
{
	return x86_insn_change(X86_MODE_64, bytes, length, change);
}

static bool insn_move(const uint8_t *bytes, size_t length, struct insn_move *move)
{
	return x86_insn_move(X86_MODE_64, bytes, length, move);
}

static bool slot_call(const uint8_t *bytes, uint64_t address, uint64_t got, uint64_t *slot)
{
	return x86_slot_call(X86_MODE_64, bytes, address, got, slot);
}

static bool plt_slot(const uint8_t *bytes, size_t length, uint64_t address, uint64_t got,
		     uint64_t *slot)
{
	return x86_plt_slot(X86_MODE_64, bytes, length, address, got, slot);
}

/* jmp rel32 if `to` is in reach, else jmp *0(%rip) with the address behind it. */
static size_t emit_jump(uint64_t from, uint64_t to, uint8_t *out)
{
	static const uint8_t jump_indirect[6] = {0xff, 0x25};
	int64_t distance = (int64_t)(to - (from + 5));

	if (distance == (int32_t)distance)
		return x86_emit_jump_relative(from, to, out);
	memcpy(out, jump_indirect, sizeof jump_indirect);
	memcpy(out + sizeof jump_indirect, &to, sizeof to);
	return sizeof jump_indirect + sizeof to;
}

/* Only moves, which do not change flags; the system calls preserve all other registers. */
static const struct remote_stub remote_stub = {
	.code = {0x0f, 0x05,			     /* syscall */
		 0xb9, 0,    0,	   0,	 2,	     /* mov $1 << 25, %ecx */
		 0xf3, 0x90, 0xe2, 0xfc,	     /* 1: pause; loop 1b */
		 0xb8, 14,   0,	   0,	 0,	     /* mov $rt_sigprocmask, %eax */
		 0xbf, 2,    0,	   0,	 0,	     /* mov $SIG_SETMASK, %edi */
		 0x48, 0x8d, 0x74, 0x24, 0x50,	     /* lea 80(%rsp), %rsi */
		 0xba, 0,    0,	   0,	 0,	     /* mov $0, %edx */
		 0x41, 0xba, 8,	   0,	 0,    0,    /* mov $8, %r10d */
		 0x0f, 0x05,			     /* syscall */
		 0x58, 0x5f, 0x5e, 0x5a,	     /* pop %rax, %rdi, %rsi, %rdx */
		 0x41, 0x5a, 0x41, 0x58, 0x41, 0x59, /* pop %r10, %r8, %r9 */
		 0x59, 0x41, 0x5b,		     /* pop %rcx, %r11 */
		 0xc2, 0x00, 0x02},		     /* ret $512 */
	.length = 55,
	.pops = 39,
	.saved = {REG_AX, REG_DI, REG_SI, REG_DX, 10, 8, 9, REG_CX, 11},
	.saved_count = 9,
	.gap = 512,
};

static const char *const syscall_names[] = {
#include "x86_64/syscall_names.inc"
};

static const uint8_t rescue_code[] = {
#include "x86_64/rescue_code.inc"
};

/* read, readv, accept, sendto, recvfrom, sendmsg, recvmsg, accept4, recvmmsg; semop, semtimedop;
 * rt_sigtimedwait; io_getevents, io_pgetevents; epoll_wait, epoll_pwait, epoll_pwait2 */
static const struct restarted_call retried[] = {
	{0, 0},	 {19, 0},  {43, 0},  {44, 0},  {45, 0},	 {46, 0},  {47, 0},  {288, 0}, {299, 0},
	{65, 0}, {220, 0}, {128, 0}, {208, 0}, {333, 0}, {232, 0}, {281, 0}, {441, 0}, {426, 0},
};

/* movabs $number: a REX prefix with W set, and with or without B. */
static bool wide_load(const uint8_t *bytes, int64_t *number)
{
	memcpy(number, bytes + WIDE_LOAD_BYTES - sizeof *number, sizeof *number);
	return (bytes[0] & 0xfe) == 0x48 && (bytes[1] & 0xf8) == X86_LOAD_AX_OPCODE;
}

/* mod 0, r/m 5: relative to the next instruction, by 32 bits. */
static bool is_relative(uint8_t modrm)
{
	return (modrm & 0xc7) == 0x05;
}

/* pinsrq: 0f 3a 22 /r with an immediate byte; also with a VEX prefix (c4, two bytes, 22 /r). */
static unsigned behind_displacement(const uint8_t *displacement)
{
	return displacement[-2] == 0x22 &&
	       ((displacement[-3] == 0x3a && displacement[-4] == 0x0f) || displacement[-5] == 0xc4);
}

const struct arch arch_x86_64 = {
	.name = "x86_64",
	.elf_machine = EM_X86_64,
	.elf_class = ELFCLASS64,
	.abi = &abi_x86_64,
	.go = &abi_go,
	.breakpoint = {0xcc},
	.breakpoint_length = 1,
	.long_breakpoint = {0xcd, 3},
	.breakpoint_pc_offset = 1,
	.remote_stub = &remote_stub,
	.syscall_insn = {0x0f, 0x05},
	.sys_restart_syscall = 219,
	.rescue_code = rescue_code,
	.rescue_length = sizeof rescue_code,
	.rescue_restores = true,
	.rescue_calls = {[RESCUE_OPENAT] = 257,
			 [RESCUE_PREAD] = 17,
			 [RESCUE_PWRITE] = 18,
			 [RESCUE_CLOSE] = 3,
			 [RESCUE_GETTID] = 186,
			 [RESCUE_MPROTECT] = 10,
			 [RESCUE_READV] = 310,
			 [RESCUE_WRITEV] = 311,
			 [RESCUE_NANOSLEEP] = 35},
	.sys_mmap = 9,
	.sys_munmap = 11,
	.sys_exit = 60,
	.sys_exit_group = 231,
	.sys_rt_sigaction = 13,
	.sys_rt_sigprocmask = 14,
	.sys_sigaltstack = 131,
	.retried = retried,
	.retried_count = sizeof retried / sizeof *retried,
	.syscall_arg = {REG_DI, REG_SI, REG_DX, 10, 8, 9},
	.audit_arch = AUDIT_ARCH_X86_64,
	.syscall_names = syscall_names,
	.syscall_count = sizeof syscall_names / sizeof *syscall_names,
	.load_number_opcode = X86_LOAD_AX_OPCODE,
	.signal_frame = {8, 16, 0x33, -8, {176}},
	.load_first_opcode = X86_LOAD_DI_OPCODE,
	.syscall_insns = {{2, {0x0f, 0x05}}},
	.jump_buffer = {.sp = 6, .pc = 7, .rotate = 17, .guard = 0x30, .thread_fs = true},
	.displace = displace,
	.ends_with_call = x86_ends_with_call,
	.condition_holds = x86_condition_holds,
	.emit_jump = emit_jump,
	.plt_slot = plt_slot,
	.thunk_opcode = X86_THUNK_OPCODE,
	.is_thunk = x86_is_thunk,
	.insn_effect = insn_effect,
	.insn_change = insn_change,
	.insn_move = insn_move,
	.dwarf_sp = 7,
	.dwarf_bp = 6,
	.dwarf_return = 16,
	.dwarf_general = {REG_AX, REG_DX, REG_CX, REG_BX, REG_SI, REG_DI, REG_BP, REG_SP, 8, 9, 10,
			  11, 12, 13, 14, 15},
	/* mov $15, %rax; syscall: sp is at the ucontext */
	.signal_returns = {{.length = 9,
			    .code = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05},
			    .registers = 40}},
	/* <sys/ucontext.h>: r8 … r15, di, si, bp, bx, dx, ax, cx, sp, ip */
	.signal_words = {13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7, 16},
	/* <sys/procfs.h>, <sys/user.h> */
	.core = {.status_size = 336,
		 .tid = 32,
		 .registers = 112,
		 .general = {10, 11, 12, 5, 19, 4, 13, 14, 9, 8, 7, 6, 3, 2, 1, 0},
		 .general_count = 16,
		 .pc = 16,
		 .flags = 18,
		 .syscall = 15,
		 .fs_base = 21,
		 .gs_base = 22,
		 .info_size = 136,
		 .uid = 16,
		 .uid_size = 4,
		 .pid = 24,
		 .name = 40,
		 .fault = 16},
	.call_arguments = 1U << REG_DI | 1U << REG_SI | 1U << REG_DX | 1U << REG_CX | 0x300,
	.call_clobbers = 1U << REG_AX | 1U << REG_CX | 1U << REG_DX | 1U << REG_SI | 1U << REG_DI |
			 0xf00,
	.slot_call_opcode = X86_SLOT_CALL_OPCODE,
	.word_load_opcode = X86_LOAD_AX_OPCODE,
	.wide_load = wide_load,
	.is_relative = is_relative,
	.behind_displacement = behind_displacement,
	.slot_call = slot_call,
	.context_register = REG_DX,
	.context_flags = 176, /* 40 + 8 * REG_EFL */
	.step_flag = 0x100,
	.agent = &x86_64_agent,
	.r_jump_slot = R_X86_64_JUMP_SLOT,
	.r_glob_dat = R_X86_64_GLOB_DAT,
	.r_irelative = R_X86_64_IRELATIVE,
	.r_relative = R_X86_64_RELATIVE,
	.r_address = R_X86_64_64,
};

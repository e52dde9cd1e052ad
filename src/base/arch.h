/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The architecture interface. Everything that differs between the traced instruction sets is
 * reached through one const `struct arch` per ABI (sysdeps/x86_64, sysdeps/i386). Both are linked
 * in and selected per process at run time, as one amd64 tracer traces both.
 *
 * To port: fill in every member below, and add the table to arch_at(). No code in src/ may ask
 * which architecture it runs on.
 */
#ifndef TRACER_BASE_ARCH_H
#define TRACER_BASE_ARCH_H

#include "base/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

/*
 * General registers, by their numbers in the instruction encoding (x86: ax cx dx bx sp bp si di r8
 * … r15). i386 uses the first eight, zero-extended. `host` keeps what the kernel returned, so that
 * storing registers changes only those that were modified here.
 */
enum { REG_AX, REG_CX, REG_DX, REG_BX, REG_SP, REG_BP, REG_SI, REG_DI, REG_COUNT = 16 };

struct regs {
	uint64_t r[REG_COUNT];
	uint64_t pc;
	uint64_t flags;
	uint64_t fs_base;
	uint64_t gs_base;
	/* orig_ax: number of the system call that is being left, or (uint64_t)-1. */
	uint64_t syscall;
	/* Only pc, sp, syscall and the arguments of the system call are known: sleeper.h. */
	bool is_partial;
	struct user_regs_struct host;
};

/* Registers with floating-point arguments and results; read only if a plan needs them. */
struct fp_regs {
	uint8_t xmm[16][16]; /* i386: the first 8 */
	/* st(0) and st(1): 10 bytes of x87 extended precision each, padded with zeros. */
	uint8_t st[2][16];
};

/* Where arguments and results of a C function are: System V AMD64 psABI 3.2.3, i386 psABI 2.2. */
struct abi {
	unsigned word;	       /* size of a pointer, a long and a stack word */
	unsigned int_args;     /* number of integer arguments in registers */
	uint8_t int_arg[9];    /* the numbers of these registers, in order */
	unsigned fp_args;      /* number of floating-point arguments in xmm registers */
	unsigned stack_first;  /* offset of the first stack argument from sp at entry */
	bool fp_result_in_st0; /* float and double are returned in st(0), not in xmm0 */
	/* An integer wider than a word uses two registers, low half first; else the stack. */
	bool wide_in_pairs;
	/* In calls of variadic functions, al is the maximum number of xmm registers used. */
	bool counts_vectors;
	uint8_t preserved[6]; /* callee-saved registers except sp */
	unsigned preserved_count;
	/*
	 * The convention of Go's compiler: arguments and results are decomposed into numbers and
	 * pointers, each in a register of its own, in the same register order for both. An argument
	 * for which not enough registers are left goes to the stack as a whole. `goroutine` is the
	 * register that points to the running goroutine.
	 */
	bool is_go;
	uint8_t goroutine;
};

enum { ARCH_JUMP_MAX = 16 };
enum { ARCH_CALL_MAX = 8 };    /* arch.ends_with_call */
enum { THUNK_BYTES = 6 };      /* arch.is_thunk */
enum { WIDE_LOAD_BYTES = 10 }; /* arch.wide_load */

/*
 * Code that makes one system call and then restores the thread by itself: it waits for some 10^7
 * iterations, in which the guardian may move the thread, sets the signal mask to the one on the
 * stack, pops the registers, and returns with sp as it was before. Words on the stack, from sp up:
 * the registers in `saved`, in that order, the pc, then the mask (8 bytes).
 */
enum { REMOTE_STUB_MAX = 56, REMOTE_STUB_SAVED = 9 };

struct remote_stub {
	uint8_t code[REMOTE_STUB_MAX];
	unsigned length;
	unsigned pops;			  /* offset of the instruction that pops the first word */
	uint8_t saved[REMOTE_STUB_SAVED]; /* register numbers */
	unsigned saved_count;
	unsigned gap; /* how far sp is moved beyond the popped words: the red zone */
};

/*
 * Where a jmp_buf has the stack pointer and the pc for longjmp(). glibc stores them rotated left
 * and xored with a secret of the process (setjmp/setjmp.S, PTR_MANGLE), musl as they are.
 */
struct jump_buffer {
	unsigned sp; /* index of its word */
	unsigned pc; /* index of the word with setjmp()'s return address, stored in the same way */
	/*
	 * Size of setjmp()'s arguments, as padded by compilers, that are on the stack when it
	 * returns and may be removed before the next call.
	 */
	unsigned arguments;
	unsigned rotate; /* in bits */
	unsigned guard;	 /* offset of the secret from the thread pointer */
	bool thread_fs;	 /* the thread pointer is the base of fs; else of gs */
};

/* A system call that can be restarted after EINTR: see tracee/syscall_restart.c. */
struct restarted_call {
	uint16_t number;
	uint32_t which; /* set of values of its first argument, as bits, for which it can; 0: all */
};

/* The encoding of an instruction. */
struct insn_bytes {
	uint8_t length;
	uint8_t bytes[7];
};

/*
 * What an instruction does with places that may hold the address of a function: general registers,
 * by their numbers, and these places.
 */
enum {
	EFFECT_STACK = 16, /* any word of the stack */
	EFFECT_ELSEWHERE,  /* all other memory */
	EFFECT_VECTOR,	   /* all vector registers */
	EFFECT_MEMORY,	   /* the memory operand: see `base` and `displacement` */
	EFFECT_TOP,	   /* the word that is pushed or popped */
	EFFECT_NONE = -1,
	EFFECT_UNKNOWN = -2
};

enum { EFFECT_UNKNOWN_CHANGE = INT32_MIN };

struct insn_effect {
	uint32_t killed; /* set of places that have other contents after the instruction */
	uint32_t joined; /* set of places whose contents may be exchanged, or are compared */
	bool compared;	 /* `joined` places are compared: nothing is stored */
	/* Set of registers in the address of the memory operand; 0: other addressing. */
	uint32_t base;
	bool is_indexed;      /* one register of `base` is scaled */
	bool is_address;      /* the address is computed, but memory is not accessed (lea) */
	bool pc_relative;     /* the address is relative to the next instruction */
	int64_t displacement; /* added to the registers in `base` */
	int64_t sp_change;    /* what is added to the stack pointer, or EFFECT_UNKNOWN_CHANGE */
	uint32_t mixed;	      /* set of places from which the contents of `mixed_to` are computed */
	int8_t mixed_to;      /* or EFFECT_NONE */
	bool by_bits;	      /* computed by bit operations, which may restore an address */
	uint32_t subtracted;  /* those of `mixed` that are subtracted */
	int8_t from, to;      /* `to` gets the contents of `from`; or EFFECT_NONE */
	int8_t memory_to;     /* place that gets what is read from memory */
	int8_t immediate_to;  /* place that gets the immediate operand */
};

/*
 * What an instruction changes, for those who must not believe in a value that is gone: what is not
 * listed keeps its contents. (struct insn_effect tells the opposite.)
 */
enum insn_change_kind {
	CHANGE_OTHER,	/* the registers in `written` get some contents */
	CHANGE_COPY,	/* to = from, of which the low `width` bytes count */
	CHANGE_LOAD,	/* to = the `width` bytes at the memory operand, and anything above them */
	CHANGE_STORE,	/* the memory operand gets the low `width` bytes of from */
	CHANGE_ADD,	/* to = from + addend */
	CHANGE_ADDRESS, /* to = the address of the memory operand, a word */
	CHANGE_SUM,	/* to = to + from, words */
	CHANGE_NUMBER,	/* to = addend, a word */
	CHANGE_PUSH,	/* pushes from, or what is no register (-1) */
	CHANGE_POP,	/* pops to `to` */
	CHANGE_LEAVE	/* sp = bp, then pops bp */
};

/* `stored` of an instruction that writes to any number of bytes from the memory operand on. */
enum { STORED_MANY = UINT16_MAX };

struct insn_change {
	uint8_t kind;	  /* enum insn_change_kind */
	int8_t to, from;  /* numbers of general registers, or -1 */
	uint8_t width;	  /* in bytes */
	uint32_t written; /* set of registers with other contents; not sp of a push, pop or leave */
	uint32_t read;	  /* set of registers that operands, but for addresses, name */
	uint32_t leaked;  /* set of registers that may be copied to other places than these */
	int64_t addend;
	/* The memory operand; a read or write by an implied pointer counts as one. */
	bool has_memory;
	uint16_t stored; /* bytes of it that may be written; 0: none */
	/*
	 * base + displacement is its address; base -1: displacement alone; MOVE_BASE_PC: relative
	 * to the next instruction. is_exact false: something else is added.
	 */
	bool is_exact;
	int8_t base, index; /* index: -1, or the scaled register */
	uint8_t scale;
	int64_t displacement;
	bool ends; /* the next instruction is not run */
};

/* The effect of a plain move: the instructions that simple accessor functions consist of. */
enum insn_move_kind {
	MOVE_COPY,     /* to = base */
	MOVE_ADDRESS,  /* to = base + displacement */
	MOVE_LOAD,     /* to = the word at base + displacement */
	MOVE_LOAD_TLS, /* to = the word at the thread pointer + base + displacement */
	MOVE_TEST,     /* sets flags so that the condition "equal" tells whether base is 0 */
	MOVE_PUSH,     /* pushes base */
	MOVE_POP       /* pops to `to` */
};

/* Values of `base` that are no registers. */
enum { MOVE_BASE_NONE = -1, MOVE_BASE_PC = -2 };

struct insn_move {
	uint8_t kind; /* enum insn_move_kind */
	int8_t to;    /* number of a general register, or -1 */
	/*
	 * Number of a general register; MOVE_BASE_NONE: 0; MOVE_BASE_PC: the next instruction's
	 * address.
	 */
	int8_t base;
	bool changes_flags; /* else the flags are kept */
	bool by_segment; /* its memory is in another segment; also told of what is no plain move */
	int64_t displacement;
};

/*
 * The code by which a signal handler returns to the kernel, and where the registers that the signal
 * interrupted are then: words of a struct sigcontext, as the kernel lays it out.
 */
struct signal_return {
	uint8_t length;
	uint8_t code[9];
	uint8_t offset;	   /* from sp to the context, or to a pointer to it */
	bool by_pointer;   /* there is a pointer to it */
	uint8_t registers; /* offset of the registers in the context */
};

enum { SIGNAL_RETURNS = 2 };

/*
 * Notes of a core dump (core(5)), as the kernel lays out struct elf_prstatus, elf_prpsinfo and
 * siginfo_t. Offsets are in bytes; numbers of registers count the words at `registers`.
 */
struct core_layout {
	uint16_t status_size;	    /* of NT_PRSTATUS */
	uint8_t tid, registers;	    /* in NT_PRSTATUS */
	uint8_t general[REG_COUNT]; /* register numbers; those behind `general_count` are 0 */
	uint8_t general_count;
	uint8_t pc, flags, syscall;   /* register numbers */
	uint8_t fs_base, gs_base;     /* register numbers; 0: not among them */
	uint8_t info_size, pid, name; /* of NT_PRPSINFO; in it */
	uint8_t uid, uid_size;	      /* in NT_PRPSINFO */
	uint8_t fault;		      /* of the address in NT_SIGINFO */
};

struct agent_arch;

/* How a displaced instruction is executed: see code/relocate.h. */
struct displaced;

/*
 * A decoder of instructions for all architectures of the host's sysdeps. Slow to create, fast to
 * use, so code that displaces instructions keeps one. Not thread-safe. NULL if the decoder library
 * does not work.
 */
struct decoder;
struct decoder *decoder_create(void);
void decoder_destroy(struct decoder *decoder);

/* System calls that the SIGTRAP handler in a tracee makes to remove breakpoints. */
enum rescue_call {
	RESCUE_OPENAT,
	RESCUE_PREAD,
	RESCUE_PWRITE,
	RESCUE_CLOSE,
	RESCUE_GETTID,
	RESCUE_MPROTECT,
	RESCUE_READV, /* process_vm_readv(2), process_vm_writev(2) */
	RESCUE_WRITEV,
	RESCUE_NANOSLEEP,
	RESCUE_CALLS
};

struct arch {
	const char *name; /* "x86_64", "i386" */
	uint16_t elf_machine;
	uint8_t elf_class;
	const struct abi *abi;
	const struct abi *go; /* for Go functions since Go 1.17 (abi-internal.md); or NULL */

	/* The breakpoint instruction, and how far behind its beginning pc is at the stop. */
	uint8_t breakpoint[4];
	unsigned breakpoint_length;
	uint8_t long_breakpoint[2]; /* another encoding, found in programs only */
	unsigned breakpoint_pc_offset;

	/*
	 * At the first instruction of a signal handler with SA_SIGINFO: the register with the
	 * address of the ucontext, the offset of the interrupted flags in it, and the single-step
	 * flag among these.
	 */
	uint8_t context_register;
	unsigned context_flags;
	uint64_t step_flag;

	/* What a thread runs to make a remote call: see tracee/remote.c. */
	const struct remote_stub *remote_stub;
	uint8_t syscall_insn[2]; /* the stub begins with it; programs use it for their own calls */
	long sys_restart_syscall;
	/*
	 * The SIGTRAP handler for tracees (sysdeps/x86/rescue.c), compiled for this architecture.
	 * If `rescue_restores`, its signal frames return to RESCUE_RESTORER; else the kernel
	 * provides the return code.
	 */
	const uint8_t *rescue_code;
	size_t rescue_length;
	bool rescue_restores;
	/* Numbers of the system calls that the handler makes. */
	uint16_t rescue_calls[RESCUE_CALLS];

	long sys_mmap; /* the mmap with six register arguments (i386: mmap2, offset in pages) */
	long sys_munmap;
	long sys_exit; /* ends one thread */
	long sys_exit_group;
	long sys_rt_sigaction;
	long sys_rt_sigprocmask;
	long sys_sigaltstack;
	uint8_t syscall_arg[6]; /* registers of system-call arguments */
	/*
	 * The kernel's number of this system-call ABI (linux/audit.h), and the names of its calls
	 * by number, as of the kernel headers at build time. A name is NULL if no call has the
	 * number.
	 */
	uint32_t audit_arch;
	const char *const *syscall_names;
	unsigned syscall_count;
	/*
	 * How code makes a system call: load_number_opcode, followed by the number in 4 bytes, and
	 * then one of the syscall_insns (length 0: end of the list).
	 */
	uint8_t load_number_opcode;
	/* Loads the first argument, in 4 bytes. */
	uint8_t load_first_opcode;
	/*
	 * Layout of a signal frame, relative to the interrupted pc in it: offsets of the flags and
	 * of the code segment, the value of the latter, and the offset of the stack pointer.
	 * `restorers`: how far in front of the pc the handler's return address is, for each kind of
	 * frame (0: end of the list).
	 */
	struct {
		uint8_t flags, segment;
		uint16_t segment_value;
		int8_t sp;
		uint8_t restorers[2];
	} signal_frame;
	struct insn_bytes syscall_insns[2];

	const struct restarted_call *retried;
	unsigned retried_count;

	struct jump_buffer jump_buffer;

	/*
	 * Decodes the instruction at `address` (`bytes`, `length` of them readable) and determines
	 * how to displace it. 0, -EILSEQ (no instruction), -ENOTSUP (cannot be displaced).
	 */
	int (*displace)(struct decoder *decoder, const uint8_t *bytes, size_t length,
			uint64_t address, struct displaced *out);

	/* Returns true if a call instruction ends with the last of these bytes. */
	bool (*ends_with_call)(const uint8_t bytes[ARCH_CALL_MAX]);

	/* Evaluates the branch condition `condition` of a displaced instruction. */
	bool (*condition_holds)(const struct regs *regs, uint8_t condition);

	/*
	 * Writes a jump from `from` to `to` that changes nothing but pc. Returns its length, at
	 * most ARCH_JUMP_MAX.
	 */
	size_t (*emit_jump)(uint64_t from, uint64_t to, uint8_t *out);

	/*
	 * If `bytes` begin a PLT stub (an optional endbr, then an indirect jump through a GOT
	 * slot), stores the address of the slot and returns true. `got` is what i386 PIC stubs have
	 * in ebx (DT_PLTGOT). Addresses are those of the file.
	 */
	bool (*plt_slot)(const uint8_t *bytes, size_t length, uint64_t address, uint64_t got,
			 uint64_t *slot);

	/*
	 * Finds the GOT slot that an instruction calls or jumps through without a stub (-fno-plt):
	 * 6 bytes at `address`, the first of which is slot_call_opcode. `got` as in plt_slot().
	 */
	uint8_t slot_call_opcode;
	bool (*slot_call)(const uint8_t *bytes, uint64_t address, uint64_t got, uint64_t *slot);

	/*
	 * Returns true if these THUNK_BYTES bytes end a thunk for indirect calls by a register that
	 * prevents speculation (a retpoline).
	 */
	uint8_t thunk_opcode; /* the first of these bytes */
	bool (*is_thunk)(const uint8_t *bytes);

	/* Determines what the instruction at `bytes` does: enum EFFECT_… */
	void (*insn_effect)(const uint8_t *bytes, size_t length, struct insn_effect *effect);
	/*
	 * Determines what the instruction at `bytes`, `length` bytes long, may change, but for a
	 * call's callee. Returns false if it may be anything.
	 */
	bool (*insn_change)(const uint8_t *bytes, size_t length, struct insn_change *change);
	/*
	 * If the instruction, `length` bytes long, is a move of whole words without other effects,
	 * decodes it and returns true.
	 */
	bool (*insn_move)(const uint8_t *bytes, size_t length, struct insn_move *move);
	uint8_t dwarf_sp, dwarf_bp; /* the registers' numbers in call-frame information (psABI) */
	uint8_t dwarf_return;	    /* the number that stands for the return address there */
	/* The general register of each number below dwarf_return. */
	uint8_t dwarf_general[REG_COUNT];
	/* Kinds of signal frames (length 0: end of the list). */
	struct signal_return signal_returns[SIGNAL_RETURNS];
	/* The index of each register among the words of a signal frame, by its DWARF number. */
	uint8_t signal_words[REG_COUNT + 1];
	struct core_layout core;
	uint16_t call_clobbers;	 /* set of caller-saved registers (psABI) */
	uint32_t call_arguments; /* set of places with arguments */

	/*
	 * True if the 32-bit displacements by which instructions refer to GOT slots are relative to
	 * the GOT, or absolute; false if they are relative to the next instruction.
	 */
	bool slot_by_got;
	/*
	 * Returns true for a ModRM byte with a 32-bit displacement relative to the next
	 * instruction. NULL if there is none.
	 */
	bool (*is_relative)(uint8_t modrm);
	/*
	 * Returns the number of immediate bytes that follow such a displacement, if that may belong
	 * to a load. The 5 bytes before the displacement are readable. NULL if it does not matter.
	 */
	unsigned (*behind_displacement)(const uint8_t *displacement);
	/*
	 * If the instruction, WIDE_LOAD_BYTES long, loads a 64-bit number into a register, stores
	 * the number, which is the last 8 bytes, and returns true. The large code model refers to
	 * GOT slots in this way, relative to the GOT. NULL if there is no such model. The byte in
	 * front of such a number, and of any address loaded as an immediate, is one of the eight
	 * opcodes from word_load_opcode on.
	 */
	uint8_t word_load_opcode;
	bool (*wide_load)(const uint8_t *bytes, int64_t *number);
	/*
	 * If the code at `address` (11 bytes) computes the address of the GOT from its own address,
	 * stores it and returns true. NULL if that is not needed.
	 */
	bool (*loads_got)(const uint8_t *bytes, uint64_t address, uint64_t *got);

	const struct agent_arch *agent; /* engine/agent/agent_arch.h; NULL: there is no agent */

	/* Relocation types of .rel[a].plt and of .got slots. */
	uint32_t r_jump_slot, r_glob_dat, r_irelative, r_relative;
	uint32_t r_address; /* type of an absolute symbol address */
	/*
	 * The type of a relative displacement to a function, in code that is relocated; 0: linkers
	 * make none. calls_by_distance() returns true if the opcode in front of it is that of a
	 * call or a jump.
	 */
	uint32_t r_distance;
	bool (*calls_by_distance)(uint8_t opcode);
};

extern const struct arch arch_x86_64;
extern const struct arch arch_i386;

/* Returns the architecture for an ELF header's e_machine and EI_CLASS; NULL if not supported. */
const struct arch *arch_find(uint16_t elf_machine, uint8_t elf_class);
/* Returns the architecture with this audit_arch, or NULL. */
const struct arch *arch_find_calls(uint32_t audit_arch);
/* Enumerates the architectures: NULL behind the last. */
const struct arch *arch_at(unsigned index);

/*
 * Load and store the registers of stopped thread `tid`: 0 or -errno (-ESRCH: it died). Defined in
 * the host's sysdeps, like struct user_regs_struct.
 *
 * regs_store() marks the registers with RF, the flag that suppresses a hardware breakpoint at the
 * next instruction and is cleared behind it (Intel SDM, vol. 3, 18.3.1.1). Reason: if the tracer is
 * killed while a thread is stopped at a breakpoint's SIGTRAP, the thread gets the signal, even if
 * its pc was changed, and another breakpoint may lie just in front of the new pc. With RF set, the
 * thread has not hit that breakpoint; without RF, it has hit the one in front of pc, even if that
 * has been removed (sysdeps/x86/rescue.c, engine/trap/leave.c). regs_load() clears the mark in its
 * result. regs_are_marked() tests it.
 */
int regs_load(pid_t tid, struct regs *regs);
int regs_store(pid_t tid, const struct regs *regs);
bool regs_are_marked(pid_t tid);
/*
 * Stores without the mark: for a thread that gets the signal it is stopped at, whose handler must
 * see the registers as they were.
 */
int regs_store_unmarked(pid_t tid, const struct regs *regs);
int fp_regs_load(pid_t tid, struct fp_regs *regs);
/* Returns the kernel's number of the host's own ABI: AUDIT_ARCH_* in <linux/audit.h>. */
uint32_t host_audit_arch(void);
/* Executes one breakpoint instruction of the host, to measure what a stop costs. */
void host_breakpoint(void);
/* Returns true if the stopped thread runs in the 32-bit ABI, by its code segment. */
bool regs_is_32bit(const struct regs *regs);

#endif

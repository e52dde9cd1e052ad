/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The architecture contract. Everything that differs between the instruction sets we trace is
 * reached through one const `struct arch` per ABI (sysdeps/x86_64, sysdeps/i386); both are linked
 * in and chosen per process at run time, because one amd64 tracer traces both.
 *
 * Porting checklist: fill every member below; add the table to arch_find(); nothing in src/ may
 * ask which architecture it is on.
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
 * General registers, by the number instructions encode them with (x86: ax cx dx bx sp bp si di
 * r8 … r15). i386 uses the first eight, zero-extended. `host` keeps what the kernel gave, so that
 * storing changes nothing but what was changed here.
 */
enum { REG_AX, REG_CX, REG_DX, REG_BX, REG_SP, REG_BP, REG_SI, REG_DI, REG_COUNT = 16 };

struct regs {
	uint64_t r[REG_COUNT];
	uint64_t pc;
	uint64_t flags;
	uint64_t fs_base;
	uint64_t gs_base;
	uint64_t syscall; /* orig_ax: number of the system call being left, or (uint64_t)-1 */
	struct user_regs_struct host;
};

/* Registers that hold floating-point arguments and results; fetched only when a plan asks. */
struct fp_regs {
	uint8_t xmm[16][16]; /* i386: 8 */
	uint8_t st[2][16];   /* st(0) and st(1): 10 bytes of x87 extended each, the rest zero */
};

/* Where arguments and results of a C function lie: System V AMD64 psABI 3.2.3, i386 psABI 2.2. */
struct abi {
	unsigned word;	       /* bytes of a pointer, a long and a stack slot */
	unsigned int_args;     /* how many integer arguments go in registers */
	uint8_t int_arg[9];    /* their register numbers, in order */
	unsigned fp_args;      /* how many xmm registers take floating-point arguments */
	unsigned stack_first;  /* offset of the first stack argument from sp at entry */
	bool fp_result_in_st0; /* float and double come back in st(0), not xmm0 */
	/* an integer wider than a word takes two registers, the low half first; else stack */
	bool wide_in_pairs;
	bool counts_vectors;  /* calling variadic functions, al is how many xmm registers at most */
	uint8_t preserved[6]; /* registers that belong to the caller, sp aside */
	unsigned preserved_count;
	/*
	 * The convention of Go's compiler: arguments and results are taken apart into numbers and
	 * pointers, each of which has a register of its own, in the same order for both; what finds
	 * not as many registers as it needs goes to the stack as a whole. `goroutine` is the
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
 * Code that makes one system call and then finds back by itself: it waits for some 10^7 turns for
 * somebody who moves the thread, sets the signal mask to the one on the stack, pops the registers,
 * and returns with sp where it was. Words on the stack, from sp up: `saved` registers in that
 * order, the pc, then the mask (8 bytes).
 */
enum { LANDING_MAX = 56, LANDING_SAVED = 9 };

struct landing {
	uint8_t code[LANDING_MAX];
	unsigned length;
	unsigned pops;		      /* where in it the first word is popped */
	uint8_t saved[LANDING_SAVED]; /* register numbers */
	unsigned saved_count;
	unsigned gap; /* how far sp is moved beyond the popped words: past the red zone */
};

/*
 * Where a jmp_buf holds the stack pointer and the pc that longjmp() goes back to. glibc keeps them
 * rotated left and xored with a secret of the process (setjmp/setjmp.S, PTR_MANGLE), musl as they
 * are.
 */
struct jump_buffer {
	unsigned sp; /* number of its word */
	unsigned pc; /* and of that of setjmp()'s return address, kept in the same way */
	/*
	 * Bytes of setjmp()'s arguments, as padded by compilers, that are on the stack when it
	 * returns, and may be taken off before the next call is made.
	 */
	unsigned arguments;
	unsigned rotate; /* bits */
	unsigned guard;	 /* offset of the secret from the thread pointer */
	bool thread_fs;	 /* the thread pointer is the base of fs, else of gs */
};

/* A system call that can be made again after EINTR: see inferior/retry.c. */
struct retried_call {
	uint16_t number;
	uint32_t which; /* bits of the values of its first argument with which it can; 0: always */
};

/* Bytes of an instruction. */
struct insn_bytes {
	uint8_t length;
	uint8_t bytes[7];
};

/*
 * What an instruction does with places that may hold an address of a function: general registers by
 * their numbers, and some more.
 */
enum {
	EFFECT_STACK = 16, /* some word of the stack */
	EFFECT_ELSEWHERE,  /* all other memory */
	EFFECT_VECTOR,	   /* all of the vector registers */
	EFFECT_MEMORY,	   /* the operand in memory: see `base` and `displacement` */
	EFFECT_TOP,	   /* the word that is pushed or popped */
	EFFECT_NONE = -1,
	EFFECT_UNKNOWN = -2
};

enum { EFFECT_UNKNOWN_CHANGE = INT32_MIN };

struct insn_effect {
	uint32_t killed;      /* bits of places that hold something else behind it */
	uint32_t joined;      /* those that may exchange what they hold, or are compared */
	bool compared;	      /* that: nothing is stored */
	uint32_t base;	      /* registers that the operand in memory is found by; 0: others */
	bool is_indexed;      /* one of these is multiplied */
	bool is_address;      /* it is not accessed, its address is computed (lea) */
	bool pc_relative;     /* by what follows the instruction, that is */
	int64_t displacement; /* what is added to those */
	int64_t sp_change;    /* what it adds to the stack pointer, or EFFECT_UNKNOWN_CHANGE */
	uint32_t mixed;	      /* what `mixed_to` holds is computed of these */
	int8_t mixed_to;      /* or EFFECT_NONE */
	bool by_bits;	      /* that: an address may be made of it again */
	uint32_t subtracted;  /* one of these is taken from what `mixed_to` holds */
	int8_t from, to;      /* what `from` holds is copied to `to`; or EFFECT_NONE */
	int8_t memory_to;     /* where what it reads from memory gets to */
	int8_t immediate_to;  /* where its immediate operand gets to */
};

/* What a plain move does: one of those that functions which look something up are made of. */
enum insn_move_kind {
	MOVE_COPY,    /* to = base */
	MOVE_ADDRESS, /* to = base + displacement */
	MOVE_LOAD,    /* to = the word at base + displacement */
	MOVE_TEST,    /* flags: whether base is 0, as a condition of "equal" has it */
	MOVE_PUSH,    /* of base */
	MOVE_POP      /* to `to` */
};

/* `base` that is no register. */
enum { MOVE_BASE_NONE = -1, MOVE_BASE_PC = -2 };

struct insn_move {
	uint8_t kind;	    /* enum insn_move_kind */
	int8_t to;	    /* number of a general register, or -1 */
	int8_t base;	    /* the same, or MOVE_BASE_…: 0, or what follows the instruction */
	bool changes_flags; /* else they stay */
	int64_t displacement;
};

struct agent_arch;

/* How a displaced instruction is made to take effect: see image/relocate.h. */
struct displaced;

/*
 * A decoder of instructions, for every architecture the host's sysdeps know. Slow to make, fast to
 * use: whoever displaces instructions makes one and keeps it. Not to be used by two threads at
 * once. NULL when the library that decodes does not work.
 */
struct decoder;
struct decoder *decoder_create(void);
void decoder_destroy(struct decoder *decoder);

/* System calls that the SIGTRAP handler in a tracee makes to take breakpoints out. */
enum rescue_call {
	RESCUE_OPENAT,
	RESCUE_PREAD,
	RESCUE_PWRITE,
	RESCUE_CLOSE,
	RESCUE_GETTID,
	RESCUE_MPROTECT,
	RESCUE_READV, /* process_vm_readv(2), and its counterpart */
	RESCUE_WRITEV,
	RESCUE_NANOSLEEP,
	RESCUE_CALLS
};

struct arch {
	const char *name; /* "x86_64", "i386" */
	uint16_t elf_machine;
	uint8_t elf_class;
	const struct abi *abi;
	const struct abi *go; /* of Go's functions since Go 1.17 (abi-internal.md); or NULL */

	/* The breakpoint instruction and how far behind its start the pc is when it stops. */
	uint8_t breakpoint[4];
	unsigned breakpoint_length;
	uint8_t long_breakpoint[2]; /* another form, that only programs use */
	unsigned breakpoint_pc_offset;

	/*
	 * At the first instruction of a signal handler with SA_SIGINFO: the register that holds the
	 * address of its context (a ucontext), how far in there the flags are that the program had,
	 * and the one for single steps among them.
	 */
	uint8_t context_register;
	unsigned context_flags;
	uint64_t step_flag;

	/* What a thread runs to make a system call for us: see inferior/remote.c. */
	const struct landing *landing;
	uint8_t syscall_insn[2]; /* at its beginning, and in the program's own calls */
	long sys_restart_syscall;
	/*
	 * The SIGTRAP handler for tracees (sysdeps/x86/rescue.c), compiled for this architecture.
	 * Its signal frames return to RESCUE_RESTORER, or, if it does not restore, to where the
	 * kernel has them return by itself.
	 */
	const uint8_t *rescue_code;
	size_t rescue_length;
	bool rescue_restores;
	uint16_t rescue_calls[RESCUE_CALLS]; /* the numbers of those system calls that it makes */

	long sys_mmap; /* the mmap taking six register arguments (i386: mmap2, offset in pages) */
	long sys_munmap;
	long sys_exit; /* of one thread */
	long sys_exit_group;
	long sys_rt_sigaction;
	long sys_rt_sigprocmask;
	long sys_sigaltstack;
	uint8_t syscall_arg[6]; /* register numbers of system-call arguments */
	/*
	 * How the kernel names the ABI of these calls (linux/audit.h), and their names by number,
	 * as far as its headers knew them when this was built; NULL: a number that no call has.
	 */
	uint32_t audit_arch;
	const char *const *syscall_names;
	unsigned syscall_count;
	/*
	 * How code makes a system call: it loads the number, 4 bytes behind that opcode, and runs
	 * one of those instructions (length 0: there are no more).
	 */
	uint8_t load_number_opcode;
	/* The same for its first argument. */
	uint8_t load_first_opcode;
	/*
	 * In a signal frame: where flags and code segment are, as seen from the pc, and what is in
	 * there; the stack pointer; and, in front of the pc, the address that the handler returns
	 * to, for each kind of frame there is (0: no more).
	 */
	struct {
		uint8_t flags, segment;
		uint16_t segment_value;
		int8_t sp;
		uint8_t restorers[2];
	} signal_frame;
	struct insn_bytes syscall_insns[2];

	const struct retried_call *retried;
	unsigned retried_count;

	struct jump_buffer jump_buffer;

	/*
	 * Decodes the instruction at `address` (`bytes`, `length` of them readable) and says how
	 * to displace it. 0, -EILSEQ (not an instruction), -ENOTSUP (cannot be moved).
	 */
	int (*displace)(struct decoder *decoder, const uint8_t *bytes, size_t length,
			uint64_t address, struct displaced *out);

	/* Whether an instruction that calls ends with the last of those bytes. */
	bool (*ends_with_call)(const uint8_t bytes[ARCH_CALL_MAX]);

	/* Whether the branch condition `condition` of a displaced instruction holds. */
	bool (*condition_holds)(const struct regs *regs, uint8_t condition);

	/*
	 * Writes a jump from `from` to `to` that changes nothing but the pc; at most
	 * ARCH_JUMP_MAX bytes. Returns its length.
	 */
	size_t (*emit_jump)(uint64_t from, uint64_t to, uint8_t *out);

	/*
	 * When `bytes` begin a PLT stub, an optional endbr followed by an indirect jump through a
	 * GOT slot, stores the slot's address. `got` is the address i386 PIC stubs hold in ebx
	 * (DT_PLTGOT). Both addresses are in the file's own address space.
	 */
	bool (*plt_slot)(const uint8_t *bytes, size_t length, uint64_t address, uint64_t got,
			 uint64_t *slot);

	/*
	 * The slot that an instruction calls or jumps through directly, without a stub (-fno-plt):
	 * 6 bytes at `address`, the first of which is slot_call_opcode; `got` as above.
	 */
	uint8_t slot_call_opcode;
	bool (*slot_call)(const uint8_t *bytes, uint64_t address, uint64_t got, uint64_t *slot);

	/*
	 * Whether these bytes, THUNK_BYTES of them, end what compilers call functions through by a
	 * register, so that no speculation goes there (retpolines).
	 */
	uint8_t thunk_opcode; /* the first of them */
	bool (*is_thunk)(const uint8_t *bytes);

	/* What the instruction at `bytes` does: enum EFFECT_… */
	void (*insn_effect)(const uint8_t *bytes, size_t length, struct insn_effect *effect);
	/*
	 * Whether the instruction, `length` bytes long, is a move of whole words and does nothing
	 * else.
	 */
	bool (*insn_move)(const uint8_t *bytes, size_t length, struct insn_move *move);
	uint8_t dwarf_sp, dwarf_bp; /* what call-frame information calls these registers (psABI) */
	uint16_t call_clobbers;	    /* bits of the registers that a function may change (psABI) */
	uint32_t call_arguments;    /* bits of places that it is given arguments in */

	/*
	 * Whether the 32-bit displacements by which instructions refer to slots are relative to the
	 * GOT, or to nothing; else they are relative to what follows them.
	 */
	bool slot_by_got;
	/*
	 * Whether a byte is a ModRM that has such a displacement behind it, relative to what
	 * follows. NULL where they are not.
	 */
	bool (*is_relative)(uint8_t modrm);
	/*
	 * How many bytes of an operand stand behind such a displacement, where that may be one of a
	 * load; the 5 bytes before it can be read. NULL where it does not matter.
	 */
	unsigned (*behind_displacement)(const uint8_t *displacement);
	/*
	 * The number of 64 bits that an instruction loads into a register, WIDE_LOAD_BYTES long
	 * with it at its end: how code of the large model refers to slots, relative to the GOT.
	 * NULL where there is no such model. The byte in front of such a number, and of any
	 * address that is loaded so, is one of the eight opcodes from word_load_opcode on.
	 */
	uint8_t word_load_opcode;
	bool (*wide_load)(const uint8_t *bytes, int64_t *number);
	/*
	 * Where code finds out the address that slots are relative to, from its own: whether it
	 * does so at `address` (11 bytes). NULL where that is of no use.
	 */
	bool (*loads_got)(const uint8_t *bytes, uint64_t address, uint64_t *got);

	const struct agent_arch
		*agent; /* engine/agent/agent_arch.h; NULL: calls cannot be counted inside */

	/* Relocation types of .rel[a].plt and .got slots. */
	uint32_t r_jump_slot, r_glob_dat, r_irelative, r_relative;
	uint32_t r_address; /* of a symbol's address */
	/*
	 * The type of the distance to a function in code that is relocated itself, 0: linkers make
	 * none; and whether it is that of a call or a jump: the opcode ends in front of it.
	 */
	uint32_t r_distance;
	bool (*calls_by_distance)(uint8_t opcode);
};

extern const struct arch arch_x86_64;
extern const struct arch arch_i386;

/* The architecture of an ELF header's e_machine and EI_CLASS; NULL when it is not ours. */
const struct arch *arch_find(uint16_t elf_machine, uint8_t elf_class);
/* The one whose system calls the kernel names so, or NULL. */
const struct arch *arch_find_calls(uint32_t audit_arch);
/* Walks all of them: NULL behind the last. */
const struct arch *arch_at(unsigned index);

/*
 * Reads and writes the registers of stopped thread `tid`: 0 or -errno (-ESRCH: it died). Defined by
 * the host's sysdeps, as struct user_regs_struct is the host's.
 *
 * What is written is marked, by the flag that suppresses a breakpoint of the debug registers at
 * the next instruction and is gone behind that (RF: Intel SDM, vol. 3, 18.3.1.1). A thread that
 * is stopped at the SIGTRAP of a breakpoint gets that when the tracer is killed, also with
 * another pc, in front of which another breakpoint may be by chance: so one that is marked has
 * not hit it, and one that is not has, whatever stands there by then (sysdeps/x86/rescue.c,
 * engine/trap/leave.c). What is read has no mark.
 */
int regs_load(pid_t tid, struct regs *regs);
int regs_store(pid_t tid, const struct regs *regs);
bool regs_are_marked(pid_t tid);
/* Of a thread that gets the signal it is stopped at, whose handler is to find them as they were. */
int regs_store_unmarked(pid_t tid, const struct regs *regs);
int fp_regs_load(pid_t tid, struct fp_regs *regs);
/* What the kernel calls the host's own ABI: AUDIT_ARCH_* of <linux/audit.h>. */
uint32_t host_audit_arch(void);
/* Runs into one breakpoint instruction of the host's: for measuring what a stop costs. */
void host_breakpoint(void);
/* Whether the stopped thread runs in the 32-bit ABI (code segment). */
bool regs_is_32bit(const struct regs *regs);

#endif

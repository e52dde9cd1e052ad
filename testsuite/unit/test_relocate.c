/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Displaced instructions, compared with the processor. A traced child runs each instruction in
 * place by one single-step. Then the displaced form runs from the same start, in an XOL slot or
 * emulated. Registers, floating-point state and memory must be the same, and faults, too.
 *
 * All memory that an instruction accesses is in one shared mapping at a fixed low address, so that
 * the parent sees it, 32-bit code reaches it, and instructions can name it. 32-bit instructions run
 * in the same child, with the 32-bit code segment.
 *
 * For an x86_64 host. Instructions are text for the assembler, which chooses their encoding.
 */
#include "code/relocate.h"
#include "valgrind.h"

#include <asm/ldt.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum {
	REGION = 0x10000000, /* the instructions below name 0x10004000 */
	REGION_SIZE = 0x10000,
	CODE = REGION + 0x100,
	DATA = REGION + 0x4000,
	STACK = REGION + 0x8800,
	TOUCHED = 0x8000, /* DATA and the stack, adjacent */
	SLOT = REGION + 0xc000,
	FLAGS_HIDDEN = 0x10100, /* TF and RF: changed by the single-step itself */
	SEEDS = 32
};

struct machine {
	pid_t child;
	uint8_t *near; /* REGION */
	uint8_t *far;  /* a page out of the reach of 32-bit displacements */
	uint16_t gs;   /* selector of a segment at DATA, for 32-bit code */
	struct regs base;
	struct user_fpregs_struct fp;
	struct decoder *decoder;
};

/* The state after an instruction. */
struct outcome {
	struct regs regs;
	struct user_fpregs_struct fp;
	int signal; /* the signal that it raised, or 0 */
	uint8_t memory[TOUCHED];
};

/* An instruction under test. */
struct insn {
	const struct arch *arch;
	const char *text;
	uint8_t bytes[16];
	uint8_t length;
};

/* clang-format off */
/* --- lists of instructions: length, bytes, text; ended by a length of 0 --- */

#define LIST(name, mode) ".pushsection .rodata\n" mode "\n.globl " name "\n" name ":\n"
#define INSN(text) ".byte 2f-1f\n1: " text "\n2: .asciz \"" text "\"\n"
#define END ".byte 0\n.code64\n.popsection\n"

extern const uint8_t emulated_64[], copied_64[], emulated_32[], copied_32[];

__asm__(LIST("emulated_64", ".code64")
	INSN("nop") INSN("xchg %ax, %ax") INSN("pause") INSN("endbr64") INSN("endbr32")
	INSN("nopl (%rax)") INSN("nopw 0x100(%rax,%rax,1)")
	INSN(".byte 0x66,0x66,0x2e,0x0f,0x1f,0x84,0,0,0,0,0") INSN("nopl 0x4000(%rip)")
	INSN("jmp . + 0x20") INSN("jmp . - 0x20") INSN("jmp .") INSN("jmp . + 0x2000")
	INSN("jmp . - 0x2000") INSN(".byte 0xf2,0xe9,0,1,0,0") INSN(".byte 0xf2,0xeb,0x10")
	INSN("call . + 5") INSN("call . + 0x1000") INSN("call . - 0x80")
	INSN(".byte 0x67,0xe8,0,1,0,0") INSN(".byte 0x66,0x66,0x48,0xe8,0,1,0,0")
	INSN(".byte 0xf2,0xe8,0,1,0,0") INSN("call *%rax") INSN("call *%rsp") INSN("call *%r10")
	INSN("jmp *%rax") INSN("jmp *%r10") INSN("jmp *%rsp") INSN("jmp *0x3ffa(%rip)")
	INSN("call *0x3ffa(%rip)") INSN(".byte 0xf2; jmp *0x3ff9(%rip)")
	INSN(".byte 0x3e; jmp *0x3ff9(%rip)") INSN(".byte 0x48; jmp *0x3ff9(%rip)")
	INSN("jmp *0x3ff9(%eip)") INSN(".byte 0x66,0x48; call *0x3ff8(%rip)") INSN("call *(%rbx)")
	INSN("jmp *-8(%rbx)") INSN("jmp *0x100(%rbx)") INSN("jmp *(%r13)") INSN("jmp *8(%r13)")
	INSN("call *8(%rsp)") INSN("call *-8(%rsp)") INSN("call *(%rsp)") INSN("jmp *(%rbp)")
	INSN("jmp *0x10004000(%r12)") INSN("jmp *0x10(%rbx,%rdx,8)") INSN("jmp *(%rbx,%r9,2)")
	INSN("jmp *(%r13,%r9,4)") INSN("jmp *(%r8,%rbx)") INSN("jmp *0x10004000(,%rdx,8)")
	INSN("jmp *0x10004010") INSN("call *%fs:0x10") INSN("jmp *%gs:8(,%rdx,8)")
	INSN("call *%fs:(%rdx)") INSN("call *%fs:-0x20(%r9)")
	INSN(".byte 0x64,0x3e; call *8(%rdx)") INSN("jmp *(%ebx)") INSN("jmp *-0x10(%r11d)")
	INSN("jmp *8(%r15d)")
	INSN("jmp *0x10(%ebx,%edx,4)") INSN("ret") INSN("ret $16") INSN("ret $0xfff0")
	INSN(".byte 0xf3,0xc3") INSN(".byte 0xf2,0xc3")
	/* these fault in place */
	INSN("jmp *0x10") INSN("call *(%r14)") INSN("jmp *%r14") INSN("call *%r14")
	INSN("jmp *0x400(%rbx)")
	END);

__asm__(LIST("copied_64", ".code64")
	INSN("push %rbp") INSN("mov %rsp, %rbp") INSN("sub $0x28, %rsp")
	INSN("sub $0x12345678, %rsp") INSN("push %r15") INSN("pop %r15") INSN("push $0x55")
	INSN("push $0x12345678") INSN("push 0x4000(%rip)") INSN("pop 0x4000(%rip)")
	INSN("lea 0x4000(%rip), %rax") INSN("lea -0x10(%rip), %r11") INSN("mov 0x4000(%rip), %rax")
	INSN("mov 0x4000(%rip), %r15") INSN("mov %rcx, 0x4000(%rip)") INSN("mov %cl, 0x4001(%rip)")
	INSN("movb $0x11, 0x4000(%rip)") INSN("movw $0x1122, 0x4000(%rip)")
	INSN("movl $0x11223344, 0x4000(%rip)") INSN("movq $-5, 0x4000(%rip)")
	INSN("cmpb $7, 0x4000(%rip)") INSN("addl $8, 0x4000(%rip)")
	INSN("addq $0x11223344, 0x4000(%rip)") INSN("testl $0x80000000, 0x4000(%rip)")
	INSN("notq 0x4000(%rip)") INSN("mulq 0x4000(%rip)") INSN("imul $0x77, 0x4000(%rip), %rdx")
	INSN("imul $0x777777, 0x4000(%rip), %edx") INSN("shlq $3, 0x4000(%rip)")
	INSN("rorl %cl, 0x4000(%rip)") INSN("shld $5, %rdx, 0x4000(%rip)")
	INSN("btsl $3, 0x4000(%rip)") INSN("bt %rdx, 0x4000(%rip)") INSN("lock incq 0x4000(%rip)")
	INSN("lock cmpxchg %rdx, 0x4000(%rip)") INSN("xchg %rdx, 0x4000(%rip)")
	INSN("xadd %dl, 0x4000(%rip)") INSN("cmpxchg8b 0x4000(%rip)") INSN("incl 0x4000(%rip)")
	INSN("movzbl 0x4003(%rip), %eax") INSN("movslq 0x4000(%rip), %rdx")
	INSN("cmovne 0x4000(%rip), %rdx") INSN("sete 0x4000(%rip)") INSN("setg %r9b")
	INSN("bsf 0x4000(%rip), %rdx") INSN("popcnt 0x4000(%rip), %rdx")
	INSN("movbe 0x4000(%rip), %rdx") INSN("crc32b 0x4000(%rip), %edx") INSN("bswap %rdx")
	INSN("cqto") INSN("lahf") INSN("movups 0x4000(%rip), %xmm1")
	INSN("movdqu %xmm0, 0x4000(%rip)") INSN("cvtsi2sdq 0x4000(%rip), %xmm2")
	INSN("pinsrw $1, 0x4000(%rip), %xmm3") INSN("pinsrd $2, 0x4000(%rip), %xmm3")
	INSN("pmovzxbw 0x4000(%rip), %xmm4") INSN("roundss $1, 0x4000(%rip), %xmm5")
	INSN("pshufb 0x4000(%rip), %xmm5") INSN("pcmpistri $1, 0x4000(%rip), %xmm1")
	INSN("vmovdqu 0x4000(%rip), %ymm1") INSN("vpshufd $0x1b, 0x4000(%rip), %ymm1")
	INSN("vpaddd 0x4000(%rip), %ymm12, %ymm3") INSN("vpalignr $3, 0x4000(%rip), %ymm1, %ymm2")
	INSN("vzeroupper") INSN("vmovdqu64 0x4000(%rip), %zmm1")
	INSN("vpternlogd $0x96, 0x4000(%rip), %zmm1, %zmm2") INSN("vpxorq %xmm16, %xmm16, %xmm16")
	INSN("andn 0x4000(%rip), %rax, %rdx") INSN("rorx $3, 0x4000(%rip), %rdx")
	INSN("fldt 0x4000(%rip)") INSN("fldl 0x4000(%rip)") INSN("fld1") INSN("fwait")
	INSN("fnstcw 0x4000(%rip)") INSN("stmxcsr 0x4000(%rip)") INSN("prefetcht0 0x4000(%rip)")
	INSN("prefetchw 0x4000(%rip)") INSN("rep movsb") INSN("rep stosq") INSN("repe cmpsb")
	INSN("repne scasb") INSN("movsq") INSN("lodsb") INSN("xchg %r8, %rax") INSN("pushf")
	INSN("popf") INSN("enter $16, $1") INSN("leave") INSN("cld") INSN("lea 0x4000(%eip), %rax")
	INSN("mov 0x4000(%eip), %rax") INSN("movl $9, 0x4000(%eip)") INSN("mov %fs:0x10, %rax")
	INSN("mov %fs:0x28, %rdx") INSN("movabs 0x10004010, %rax")
	INSN("movabs $0x1122334455667788, %rdx") INSN("mov $0x11223344, %edi")
	INSN("mov 0x10004010, %edi") INSN("xor %eax, %eax") INSN("test %rdi, %rdi")
	INSN(".byte 0x66; lea 0x4000(%rip), %rdi") INSN("cmpl $0, 0x4000(%rip)")
	INSN("and $-16, %rsp") INSN("mov 8(%rsp), %r10") INSN("rdsspq %rax")
	/* these fault */
	INSN("ud2") INSN("hlt") INSN("mov 0x10, %eax") INSN("div %r12d") INSN("mov %rax, (%r14)")
	INSN("cli")
	END);

__asm__(LIST("emulated_32", ".code32")
	INSN("nop") INSN("xchg %ax, %ax") INSN("endbr32") INSN("nopw 0x100(%eax,%eax,1)")
	INSN("pause") INSN("jmp . + 0x20") INSN("jmp . - 0x20") INSN("jmp . + 0x2000")
	INSN("jmp .") INSN("call . + 5") INSN("call . + 0x1000") INSN("call . - 0x80")
	INSN(".byte 0xf2,0xe8,0,1,0,0") INSN("call *%eax") INSN("call *%esp") INSN("jmp *%edi")
	INSN("jmp *0x10004000") INSN("call *0x10004004") INSN("jmp *0x14(%ebx)")
	INSN("jmp *-4(%ebx)") INSN("call *(%ebx)") INSN("call *4(%esp)") INSN("call *-4(%esp)")
	INSN("jmp *(%ebp)") INSN("jmp *4(%ebx,%edx,4)") INSN("jmp *0x10004000(,%edx,8)")
	INSN("jmp *-0x10000000(%ebx,%ebx)") INSN("call *%gs:0x10") INSN("jmp *%gs:(%edx)")
	INSN(".byte 0x3e; jmp *(%ebx)") INSN(".byte 0xf2; jmp *0x14(%ebx)") INSN("ret")
	INSN("ret $8") INSN(".byte 0xf3,0xc3") INSN("jmp *0x10") INSN("call *0x10(%edx)")
	INSN("jmp *%ds:4(%ebx)")
	END);

__asm__(LIST("copied_32", ".code32")
	INSN("push %ebp") INSN("mov %esp, %ebp") INSN("sub $0x1c, %esp") INSN("push %ebx")
	INSN("pop %ebx") INSN("push $0x12345678") INSN("push 4(%ebx)") INSN("mov 0x10004000, %eax")
	INSN("mov %eax, 0x10004000") INSN("mov 0x10004000, %edx")
	INSN("movl $0x11223344, 0x10004008") INSN("lea 4(%esp), %ecx") INSN("and $-16, %esp")
	INSN("inc %eax") INSN("dec %edi") INSN("push %es") INSN("pusha") INSN("popa") INSN("daa")
	INSN("aam") INSN("mov %gs:0x14, %eax") INSN("addr16 lea 4(%bx,%si), %ax")
	INSN("mov 0x10(%esp), %eax") INSN("xor %eax, %eax") INSN("movups 0x10004000, %xmm1")
	INSN("fldl 0x10004008") INSN("fldt 4(%ebx)") INSN("rep movsl") INSN("rep stosb")
	INSN("vmovdqu 0x10004000, %ymm1") INSN("vpxor %xmm0, %xmm0, %xmm1")
	INSN("les 8(%ebx), %eax") INSN("leave") INSN("pushf") INSN("popf") INSN("ud2") INSN("hlt")
	INSN("mov 0x10, %eax") INSN("sti") INSN("bound %edx, (%ebx)")
	END);

/* clang-format on */

/* --- the child --- */

/*
 * Returns the selector of a segment at DATA. Only the 32-bit system call makes one; it needs a low
 * address.
 */
static uint16_t make_segment(void)
{
	struct user_desc *segment = (void *)(uintptr_t)REGION;
	long result = 243; /* set_thread_area */

	*segment = (struct user_desc){.entry_number = (unsigned)-1,
				      .base_addr = DATA,
				      .limit = 0xfffff,
				      .seg_32bit = 1,
				      .limit_in_pages = 1,
				      .useable = 1};
	__asm__ volatile("int $0x80"
			 : "+a"(result)
			 : "b"(segment)
			 : "memory", "r8", "r9", "r10", "r11");
	return result ? 0 : (uint16_t)(segment->entry_number << 3 | 3);
}

static _Noreturn void run_child(int report)
{
	uint16_t selector = make_segment();

	if (write(report, &selector, sizeof selector) != sizeof selector)
		_exit(1);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	for (;;)
		raise(SIGSTOP);
}

static void start_child(struct machine *machine)
{
	int report[2], status;

	assert_int_equal(pipe(report), 0);
	machine->child = fork();
	assert_true(machine->child >= 0);
	if (!machine->child)
		run_child(report[1]);
	close(report[1]);
	assert_int_equal(read(report[0], &machine->gs, sizeof machine->gs), sizeof machine->gs);
	close(report[0]);
	assert_int_equal(waitpid(machine->child, &status, 0), machine->child);
	assert_true(WIFSTOPPED(status));
	ptrace(PTRACE_SETOPTIONS, machine->child, NULL, PTRACE_O_EXITKILL);
	assert_int_equal(regs_load(machine->child, &machine->base), 0);
	assert_int_equal(ptrace(PTRACE_GETFPREGS, machine->child, NULL, &machine->fp), 0);
	machine->base.syscall = (uint64_t)-1;
}

static int set_up(void **state)
{
	static struct machine machine;
	int protection = PROT_READ | PROT_WRITE | PROT_EXEC, flags = MAP_SHARED | MAP_ANONYMOUS;

	machine.near = mmap((void *)(uintptr_t)REGION, REGION_SIZE, protection,
			    flags | MAP_FIXED_NOREPLACE, -1, 0);
	machine.far = mmap(NULL, 4096, protection, flags, -1, 0);
	machine.decoder = decoder_create();
	if ((uintptr_t)machine.near != REGION || machine.far == MAP_FAILED || !machine.decoder)
		return -1;
	start_child(&machine);
	*state = &machine;
	return 0;
}

static int tear_down(void **state)
{
	struct machine *machine = *state;

	kill(machine->child, SIGKILL);
	waitpid(machine->child, NULL, 0);
	decoder_destroy(machine->decoder);
	munmap(machine->near, REGION_SIZE);
	munmap(machine->far, 4096);
	return 0;
}

/*
 * Fills the memory as it is before each run: with words that are canonical addresses (except one),
 * and in which popf does not find TF or AC.
 */
static void fill_memory(struct machine *machine, const struct insn *insn)
{
	uint64_t word = 0x243f6a8885a308d3;

	for (size_t at = 0; at < TOUCHED; at += sizeof word) {
		uint64_t value;

		word = word * 6364136223846793005 + 1442695040888963407;
		value = 0x0000555500000000 | (word >> 32 & ~UINT64_C(0x40100));
		memcpy(machine->near + (DATA - REGION) + at, &value, sizeof value);
	}
	memset(machine->near + (DATA - REGION) + 0x1400, 0xab, 8);
	memset(machine->near + (CODE - REGION), 0x90, 32);
	memcpy(machine->near + (CODE - REGION), insn->bytes, insn->length);
}

/*
 * Sets the registers before a run: pointers into the region, small numbers, and values by the seed.
 */
static void start_regs(const struct machine *machine, const struct insn *insn, unsigned seed,
		       uint64_t counter, struct regs *regs)
{
	static const uint64_t values[REG_COUNT] = {
		CODE + 0x40,
		0,
		8,
		DATA + 0x1000,
		STACK,
		STACK + 0x100,
		DATA + 0x100,
		DATA + 0x900,
		0x20,
		8,
		CODE + 0x300,
		DATA + 0x80,
		0,
		DATA + 0x300,
		1ULL << 47,
		(7ULL << 32) + DATA + 0x500,
	};

	*regs = machine->base;
	memcpy(regs->r, values, sizeof values);
	regs->r[REG_CX] = counter;
	regs->pc = CODE;
	regs->flags = 0x202 | (seed & 1) | (seed & 2) << 1 | (seed & 12) << 4 | (seed & 16) << 7;
	regs->host.fs_base = regs->fs_base = DATA + 0x200;
	regs->host.gs_base = regs->gs_base = DATA + 0x400;
	if (insn->arch != &arch_i386)
		return;
	regs->host.cs = 0x23;
	regs->host.ds = regs->host.es = regs->host.ss = 0x2b;
	regs->host.gs = machine->gs;
	regs->host.gs_base = regs->gs_base = DATA;
	regs->r[REG_CX] = (uint32_t)counter;
	for (int i = 8; i < REG_COUNT; i++)
		regs->r[i] = 0;
}

/* Steps until the pc leaves [start, start + length), or once. Stores how the child stopped. */
static void step(struct machine *machine, struct regs *regs, uint64_t start, size_t length,
		 bool once, struct outcome *outcome)
{
	int status;

	regs->pc = start;
	assert_int_equal(regs_store(machine->child, regs), 0);
	assert_int_equal(ptrace(PTRACE_SETFPREGS, machine->child, NULL, &machine->fp), 0);
	do {
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, machine->child, NULL, NULL), 0);
		assert_int_equal(waitpid(machine->child, &status, 0), machine->child);
		assert_true(WIFSTOPPED(status));
		outcome->signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		assert_int_equal(regs_load(machine->child, &outcome->regs), 0);
	} while (!once && !outcome->signal && outcome->regs.pc - start < length);
	outcome->regs.flags &= ~(uint64_t)FLAGS_HIDDEN;
	assert_int_equal(ptrace(PTRACE_GETFPREGS, machine->child, NULL, &outcome->fp), 0);
	memcpy(outcome->memory, machine->near + (DATA - REGION), TOUCHED);
}

/* --- the parent's view of the child's memory --- */

static void read_ranges(void *context, struct memory_range *ranges, size_t count)
{
	(void)context;
	for (size_t i = 0; i < count; i++) {
		uint64_t offset = ranges[i].address - REGION;

		ranges[i].done = 0;
		if (offset >= REGION_SIZE || ranges[i].length > REGION_SIZE - offset)
			continue;
		memcpy(ranges[i].buffer, (void *)(uintptr_t)ranges[i].address, ranges[i].length);
		ranges[i].done = ranges[i].length;
	}
}

static int write_region(void *context, uint64_t address, const void *bytes, size_t length)
{
	(void)context;
	if (address - REGION >= REGION_SIZE - length)
		return -EIO;
	memcpy((void *)(uintptr_t)address, bytes, length);
	return 0;
}

/* --- comparing --- */

static void compare(const struct insn *insn, const struct outcome *expected,
		    const struct outcome *got)
{
	int count = insn->arch == &arch_i386 ? 8 : REG_COUNT;

	for (int i = 0; i < count; i++)
		if (expected->regs.r[i] != got->regs.r[i])
			fail_msg("%s: %s: register %d is %#lx, not %#lx", insn->arch->name,
				 insn->text, i, got->regs.r[i], expected->regs.r[i]);
	if (expected->signal != got->signal || expected->regs.pc != got->regs.pc ||
	    expected->regs.flags != got->regs.flags)
		fail_msg("%s: %s: signal %d pc %#lx flags %#lx, not %d %#lx %#lx", insn->arch->name,
			 insn->text, got->signal, got->regs.pc, got->regs.flags, expected->signal,
			 expected->regs.pc, expected->regs.flags);
	if (memcmp(expected->memory, got->memory, TOUCHED))
		fail_msg("%s: %s: memory differs", insn->arch->name, insn->text);
	if (memcmp(expected->fp.xmm_space, got->fp.xmm_space, sizeof got->fp.xmm_space) ||
	    memcmp(expected->fp.st_space, got->fp.st_space, sizeof got->fp.st_space))
		fail_msg("%s: %s: floating-point registers differ", insn->arch->name, insn->text);
}

/* Emulates on registers that are read from the child and written back, like in a tracer. */
static void run_emulated(struct machine *machine, const struct insn *insn,
			 const struct displaced *displaced, struct regs *regs,
			 const struct outcome *expected, struct outcome *got)
{
	const struct memory_source memory = {.readv = read_ranges};
	struct regs before = *regs;
	int err = displaced_emulate(displaced, regs, &memory, write_region, NULL);

	if (err != (expected->signal ? -EFAULT : 0))
		fail_msg("%s: %s: error %d, signal %d", displaced->arch->name, insn->text, err,
			 expected->signal);
	if (err)
		assert_memory_equal(&before, regs, sizeof before);
	assert_int_equal(regs_store(machine->child, regs), 0);
	assert_int_equal(regs_load(machine->child, &got->regs), 0);
	got->signal = expected->signal;
	got->fp = expected->fp;
	memcpy(got->memory, machine->near + (DATA - REGION), TOUCHED);
	/* a call to an invalid address may have pushed, below the stack pointer */
	if (expected->signal)
		memcpy(got->memory, expected->memory, TOUCHED);
}

/* Runs from an XOL slot. The pc at the stop is translated, like in a tracer. */
static void run_copied(struct machine *machine, const struct displaced *displaced, uint8_t *slot,
		       struct regs *regs, struct outcome *got)
{
	uint8_t code[DISPLACED_CODE_MAX];
	size_t length;

	assert_int_equal(displaced_emit(displaced, (uintptr_t)slot, code, &length), 0);
	assert_true(length <= sizeof code);
	memset(slot, 0xcc, sizeof code + 1);
	memcpy(slot, code, length);
	step(machine, regs, (uintptr_t)slot, length, false, got);
	got->regs.pc = displaced_program_pc(displaced, (uintptr_t)slot, got->regs.pc);
}

/* Restores memory and registers as they are before each run. */
static void prepare(struct machine *machine, const struct insn *insn, unsigned seed,
		    uint64_t counter, struct regs *regs)
{
	fill_memory(machine, insn);
	start_regs(machine, insn, seed, counter, regs);
}

/* Runs native and displaced from one start; in the far XOL slot, too, where that is possible. */
static void check_once(struct machine *machine, const struct insn *insn,
		       const struct displaced *displaced, unsigned seed, uint64_t counter)
{
	static struct outcome expected, got;
	bool emulated = displaced->kind == DISPLACED_EMULATE;
	bool far = insn->arch == &arch_x86_64 && displaced->rip_offset < 0;
	uint8_t *slots[] = {machine->near + (SLOT - REGION), machine->far};
	struct regs regs;

	prepare(machine, insn, seed, counter, &regs);
	step(machine, &regs, CODE, insn->length, emulated, &expected);
	for (int i = 0; i < (far && !emulated ? 2 : 1); i++) {
		prepare(machine, insn, seed, counter, &regs);
		if (emulated)
			run_emulated(machine, insn, displaced, &regs, &expected, &got);
		else
			run_copied(machine, displaced, slots[i], &regs, &got);
		compare(insn, &expected, &got);
	}
}

static void check_insn(struct machine *machine, const struct insn *insn, enum displaced_kind kind)
{
	static const uint64_t counters[] = {0,	     1,		 2,	   3,
					    0x10000, 0x10001,	 1u << 31, 1ULL << 32,
					    ~0ULL,   0xffffffff, 0x1ffff,  (1ULL << 32) + 1};
	struct displaced displaced;
	int err = insn->arch->displace(machine->decoder, insn->bytes, insn->length, CODE,
				       &displaced);

	if (err || displaced.kind != kind || displaced.length != insn->length)
		fail_msg("%s: %s: error %d kind %d length %d, not kind %d length %d",
			 insn->arch->name, insn->text, err, displaced.kind, displaced.length, kind,
			 insn->length);
	/* Without its last byte it is no instruction. */
	assert_int_equal(insn->arch->displace(machine->decoder, insn->bytes, insn->length - 1u,
					      CODE, &displaced),
			 -EILSEQ);
	insn->arch->displace(machine->decoder, insn->bytes, insn->length, CODE, &displaced);
	if (kind == DISPLACED_COPY) {
		/* Few starts, and counters with which a rep ends after few steps. */
		for (unsigned seed = 0; seed < 4; seed++)
			check_once(machine, insn, &displaced, seed * 10, seed);
		return;
	}
	for (unsigned seed = 0; seed < SEEDS; seed++)
		check_once(machine, insn, &displaced, seed,
			   counters[seed % (sizeof counters / sizeof *counters)]);
}

static void check_list(struct machine *machine, const struct arch *arch, const uint8_t *list,
		       enum displaced_kind kind)
{
	while (*list) {
		struct insn insn = {.arch = arch, .length = *list};

		memcpy(insn.bytes, list + 1, insn.length);
		insn.text = (const char *)list + 1 + insn.length;
		check_insn(machine, &insn, kind);
		list += 1 + insn.length + strlen(insn.text) + 1;
	}
}

/* --- tests --- */

static void test_emulated(void **state)
{
	check_list(*state, &arch_x86_64, emulated_64, DISPLACED_EMULATE);
	check_list(*state, &arch_i386, emulated_32, DISPLACED_EMULATE);
}

static void test_copied(void **state)
{
	check_list(*state, &arch_x86_64, copied_64, DISPLACED_COPY);
	check_list(*state, &arch_i386, copied_32, DISPLACED_COPY);
}

/* All sixteen conditions, short and near, and the counting jumps with each address size. */
static void test_conditions(void **state)
{
	const struct arch *archs[] = {&arch_x86_64, &arch_i386};

	for (int i = 0; i < 2; i++) {
		for (uint8_t condition = 0; condition < 16; condition++) {
			struct insn near = {archs[i], "jcc rel32", {0x0f, 0x80, 0, 1}, 6};
			struct insn brief = {archs[i], "jcc rel8", {0x70, 0xe0}, 2};
			struct insn hinted = {archs[i], "jcc,pn rel8", {0x2e, 0x70, 0x20}, 3};

			near.bytes[1] |= condition;
			brief.bytes[0] |= condition;
			hinted.bytes[1] |= condition;
			check_insn(*state, &near, DISPLACED_EMULATE);
			check_insn(*state, &brief, DISPLACED_EMULATE);
			check_insn(*state, &hinted, DISPLACED_EMULATE);
		}
		for (uint8_t which = 0; which < 4; which++) {
			struct insn plain = {archs[i], "loop or jcxz", {0xe0, 0x20}, 2};
			struct insn cut = {archs[i], "addr loop or jcxz", {0x67, 0xe0, 0xe0}, 3};

			plain.bytes[0] |= which;
			cut.bytes[1] |= which;
			check_insn(*state, &plain, DISPLACED_EMULATE);
			check_insn(*state, &cut, DISPLACED_EMULATE);
		}
	}
}

/* A system call from an XOL slot: the result, and where the thread is afterwards. */
static void check_syscall(struct machine *machine, const struct insn *insn, uint64_t number)
{
	static struct outcome got;
	struct displaced displaced;
	struct regs regs;

	assert_int_equal(
		insn->arch->displace(machine->decoder, insn->bytes, insn->length, CODE, &displaced),
		0);
	fill_memory(machine, insn);
	start_regs(machine, insn, 0, 0, &regs);
	regs.r[REG_AX] = number;
	run_copied(machine, &displaced, machine->near + (SLOT - REGION), &regs, &got);
	assert_int_equal(got.regs.r[REG_AX], machine->child);
	assert_int_equal(got.regs.pc, CODE + insn->length);
}

static void test_system_calls(void **state)
{
	check_syscall(*state, &(struct insn){&arch_x86_64, "syscall", {0x0f, 5}, 2}, SYS_getpid);
	check_syscall(*state, &(struct insn){&arch_i386, "int 0x80", {0xcd, 0x80}, 2}, 20);
	check_syscall(*state, &(struct insn){&arch_x86_64, "int 0x80", {0xcd, 0x80}, 2}, 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_emulated),
		cmocka_unit_test(test_copied),
		cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_system_calls),
	};

	/*
	 * valgrind does not support segments that a 64-bit program makes for 32-bit code:
	 * "skipped".
	 */
	if (under_valgrind())
		return 77;
	return cmocka_run_group_tests(tests, set_up, tear_down);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The architecture tables: they are found, agree with the ABIs, recognise PLT stubs, and read and
 * write the registers of a stopped child.
 */
#include "base/arch.h"
#include "valgrind.h"

#include <elf.h>
#include <errno.h>
#include <linux/audit.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void test_find(void **state)
{
	(void)state;
	assert_ptr_equal(arch_find(EM_X86_64, ELFCLASS64), &arch_x86_64);
	assert_ptr_equal(arch_find(EM_386, ELFCLASS32), &arch_i386);
	assert_null(arch_find(EM_X86_64, ELFCLASS32)); /* x32 */
	assert_null(arch_find(EM_386, ELFCLASS64));
	assert_null(arch_find(EM_AARCH64, ELFCLASS64));
	assert_null(arch_find(0, 0));
}

static void test_tables(void **state)
{
	static const uint8_t expected[] = {REG_DI, REG_SI, REG_DX, REG_CX, 8, 9};
	const struct arch *archs[] = {&arch_x86_64, &arch_i386};

	(void)state;
	assert_int_equal(arch_x86_64.abi->word, 8);
	assert_int_equal(arch_x86_64.abi->int_args, 6);
	assert_memory_equal(arch_x86_64.abi->int_arg, expected, sizeof expected);
	assert_int_equal(arch_i386.abi->word, 4);
	assert_int_equal(arch_i386.abi->int_args, 0);
	for (int i = 0; i < 2; i++) {
		/*
		 * At entry the return address is on top of the stack, the first stack argument
		 * behind it.
		 */
		assert_int_equal(archs[i]->abi->stack_first, archs[i]->abi->word);
		assert_int_equal(archs[i]->breakpoint[0], 0xcc);
		assert_int_equal(archs[i]->breakpoint_length, 1);
		assert_int_equal(archs[i]->breakpoint_pc_offset, 1);
	}
}

/* --- names of system calls --- */

static void test_calls(void **state)
{
	const struct arch *arch;

	(void)state;
	assert_ptr_equal(arch_find_calls(AUDIT_ARCH_X86_64), &arch_x86_64);
	assert_ptr_equal(arch_find_calls(AUDIT_ARCH_I386), &arch_i386);
	assert_null(arch_find_calls(AUDIT_ARCH_AARCH64));
	assert_string_equal(arch_x86_64.syscall_names[0], "read");
	assert_string_equal(arch_x86_64.syscall_names[257], "openat");
	assert_string_equal(arch_i386.syscall_names[0], "restart_syscall");
	assert_string_equal(arch_i386.syscall_names[295], "openat");
	/* The system calls with numbers in struct arch have the right names. */
	for (unsigned i = 0; (arch = arch_at(i)); i++) {
		assert_in_range(arch->syscall_count, 435, 10000); /* at least up to clone3 */
		assert_string_equal(arch->syscall_names[arch->sys_munmap], "munmap");
		assert_string_equal(arch->syscall_names[arch->sys_exit], "exit");
		assert_string_equal(arch->syscall_names[arch->sys_exit_group], "exit_group");
		assert_string_equal(arch->syscall_names[arch->sys_rt_sigaction], "rt_sigaction");
		assert_string_equal(arch->syscall_names[arch->sys_restart_syscall],
				    "restart_syscall");
	}
}

/* --- PLT stubs --- */

struct stub {
	const char *what;
	const struct arch *arch;
	uint8_t bytes[16];
	uint64_t slot; /* 0: not a stub */
};

enum { STUB = 0x1000, GOT = 0x4000 };

#define D32 0x00, 0x02, 0x00, 0x00 /* displacement 0x200 */
#define A32 0x10, 0x40, 0x00, 0x00 /* address 0x4010 */

static const struct stub stubs[] = {
	{"classic", &arch_x86_64, {0xff, 0x25, D32}, 0x1206},
	{"bnd", &arch_x86_64, {0xf2, 0xff, 0x25, D32}, 0x1207},
	{"notrack", &arch_x86_64, {0x3e, 0xff, 0x25, D32}, 0x1207},
	{"rex.W", &arch_x86_64, {0x48, 0xff, 0x25, D32}, 0x1207},
	{"addr32", &arch_x86_64, {0x67, 0xff, 0x25, D32}, 0x1207},
	{"endbr64", &arch_x86_64, {0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, D32}, 0x120a},
	{"endbr64, bnd", &arch_x86_64, {0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, D32}, 0x120b},
	{"endbr64, index",
	 &arch_x86_64,
	 {0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0xbb, 1, 0, 0, 0, 0xff, 0x25, D32},
	 0x1210},
	{"retpoline", &arch_x86_64, {0x4c, 0x8b, 0x1d, D32, 0xe8, 0, 0, 0, 0}, 0x1207},
	{"backwards", &arch_x86_64, {0xff, 0x25, 0xfa, 0xff, 0xff, 0xff}, 0x1000},
	{"lazy half", &arch_x86_64, {0xf3, 0x0f, 0x1e, 0xfa, 0x68, 1, 0, 0, 0, 0xe9}, 0},
	{"PLT0", &arch_x86_64, {0xff, 0x35, D32, 0xff, 0x25, D32}, 0},
	{"call", &arch_x86_64, {0xff, 0x15, D32}, 0},
	{"absolute", &arch_x86_64, {0xff, 0x24, 0x25, A32}, 0},
	{"through a register", &arch_x86_64, {0xff, 0xa3, D32}, 0},
	{"fs", &arch_x86_64, {0x64, 0xff, 0x25, D32}, 0},
	{"mov to rax", &arch_x86_64, {0x48, 0x8b, 0x05, D32}, 0},
	{"mov to r11d", &arch_x86_64, {0x44, 0x8b, 0x1d, D32}, 0},
	{"endbr32", &arch_x86_64, {0xf3, 0x0f, 0x1e, 0xfb, 0xff, 0x25, D32}, 0},
	{"i386", &arch_i386, {0xff, 0x25, A32}, 0x4010},
	{"i386 PIC", &arch_i386, {0xff, 0xa3, D32}, 0x4200},
	{"i386 PIC, below", &arch_i386, {0xff, 0xa3, 0xf0, 0xff, 0xff, 0xff}, 0x3ff0},
	{"i386 endbr32", &arch_i386, {0xf3, 0x0f, 0x1e, 0xfb, 0xff, 0x25, A32}, 0x4010},
	{"i386 endbr32 PIC", &arch_i386, {0xf3, 0x0f, 0x1e, 0xfb, 0xff, 0xa3, D32}, 0x4200},
	{"i386 index",
	 &arch_i386,
	 {0xf3, 0x0f, 0x1e, 0xfb, 0xb9, 1, 0, 0, 0, 0xff, 0xa3, D32},
	 0x4200},
	{"i386 retpoline", &arch_i386, {0x50, 0xa1, A32, 0xe8}, 0x4010},
	{"i386 PIC retpoline", &arch_i386, {0x50, 0x8b, 0x83, D32, 0xe8}, 0x4200},
	{"i386 push, jmp", &arch_i386, {0x50, 0xff, 0x25, A32}, 0},
	{"i386 mov", &arch_i386, {0xa1, A32}, 0},
	{"i386 esi", &arch_i386, {0xff, 0xa6, D32}, 0},
	{"i386 PLT0", &arch_i386, {0xff, 0xb3, 4, 0, 0, 0, 0xff, 0xa3, 8, 0, 0, 0}, 0},
	{"i386 gs", &arch_i386, {0x65, 0xff, 0x25, A32}, 0},
};

static void test_plt_stubs(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof stubs / sizeof *stubs; i++) {
		const struct stub *stub = &stubs[i];
		uint64_t slot = 0;
		bool found = stub->arch->plt_slot(stub->bytes, sizeof stub->bytes, STUB, GOT,
						  &slot);

		if (found != (stub->slot != 0) || (found && slot != stub->slot))
			fail_msg("%s: %d, slot %#lx", stub->what, found, (unsigned long)slot);
	}
}

/* A stub that is cut short is no stub, and nothing behind the end is read. */
static void test_cut_stubs(void **state)
{
	uint64_t slot;

	(void)state;
	for (size_t i = 0; i < sizeof stubs / sizeof *stubs; i++) {
		for (size_t length = 0; length < 6; length++) {
			uint8_t *exact = test_malloc(length ? length : 1);

			memcpy(exact, stubs[i].bytes, length);
			assert_false(stubs[i].arch->plt_slot(exact, length, STUB, GOT, &slot));
			test_free(exact);
		}
	}
}

/* --- registers of a stopped child --- */

static _Noreturn void run_child(void)
{
	static const uint8_t pattern[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	/* No clobber: a compiler without SSE does not know xmm7. */
	__asm__ volatile("movups %0, %%xmm7\n\tfldpi\n\tfld1" : : "m"(pattern));
	kill(getpid(), SIGSTOP);
	_exit(0);
}

static pid_t start_child(void)
{
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child)
		run_child();
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSTOPPED(status));
	ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_EXITKILL);
	return child;
}

static void end_child(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void test_regs(void **state)
{
	pid_t child = start_child();
	struct regs first, again;

	(void)state;
	memset(&first, 0, sizeof first);
	memset(&again, 0, sizeof again);
	assert_int_equal(regs_load(child, &first), 0);
	assert_int_equal(regs_is_32bit(&first), sizeof(void *) == 4);
	assert_int_equal(regs_store(child, &first), 0);
	assert_int_equal(regs_load(child, &again), 0);
	assert_memory_equal(&first, &again, sizeof first);

	/* Every register gets a value of its own, to see that each is in its place. */
	for (unsigned i = 0; i < (sizeof(void *) == 4 ? 8 : REG_COUNT); i++)
		first.r[i] = 0x10000 + i;
	first.pc = 0x20000;
	first.flags ^= 1;
	first.syscall = (uint64_t)-1;
	assert_int_equal(regs_store(child, &first), 0);
	assert_int_equal(regs_load(child, &again), 0);
	assert_memory_equal(first.r, again.r, sizeof first.r);
	assert_int_equal(again.pc, first.pc);
	assert_int_equal(again.flags, first.flags);
	assert_int_equal(again.syscall, first.syscall);
	assert_int_equal(again.fs_base, first.fs_base);
	end_child(child);
	assert_int_equal(regs_load(child, &first), -ESRCH);
	assert_int_equal(regs_store(child, &first), -ESRCH);
}

static void test_fp_regs(void **state)
{
	static const uint8_t one[16] = {0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f};
	static const uint8_t pi[16] = {0x35, 0xc2, 0x68, 0x21, 0xa2, 0xda, 0x0f, 0xc9, 0, 0x40};

	(void)state;
	if (under_valgrind())
		skip(); /* valgrind keeps the registers of its program in memory */
	pid_t child = start_child();
	struct fp_regs regs;

	memset(&regs, 0xff, sizeof regs);
	assert_int_equal(fp_regs_load(child, &regs), 0);
	for (uint8_t i = 0; i < 16; i++)
		assert_int_equal(regs.xmm[7][i], i + 1);
	assert_memory_equal(regs.st[0], one, sizeof one);
	assert_memory_equal(regs.st[1], pi, sizeof pi);
	end_child(child);
	assert_int_equal(fp_regs_load(child, &regs), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),	  cmocka_unit_test(test_tables),
		cmocka_unit_test(test_calls),	  cmocka_unit_test(test_plt_stubs),
		cmocka_unit_test(test_cut_stubs), cmocka_unit_test(test_regs),
		cmocka_unit_test(test_fp_regs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

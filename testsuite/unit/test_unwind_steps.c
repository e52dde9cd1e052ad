/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Steps through a program (testsuite/unwind/steps.c), compiled in different ways, and walks its
 * stack at each instruction: the walk must find the calls that the steps have made. These are known
 * exactly: a step that is a call leaves its return address on top of the stack.
 */
#include "../unwind/live.h"
#include "elf_fixture.h"
#include "object/elf_symbols.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <cmocka.h>

enum { DEPTH_MAX = 256, STEPS_MAX = 2000000, INSTRUCTION_MAX = 15, WRONG_MAX = 5 };

/* A frame that the thread is to come back to. */
struct expected {
	uint64_t pc;
	uint64_t place;	  /* where on the stack the return address is */
	bool interrupted; /* by a signal: the thread comes back with `sp` */
	uint64_t sp;
};

/* A function's code in the process. */
struct range {
	uint64_t start, size;
};

struct stepping {
	struct live live;
	const struct arch *arch;
	pid_t pid;
	struct regs regs;
	struct expected stack[DEPTH_MAX]; /* the outermost frame first */
	unsigned depth;
	struct range jumper, jumped; /* the functions that call longjmp() and setjmp() */
	bool jumps;		     /* between the two */
	bool only_inner;	     /* the callers of main are not looked at */
	unsigned steps, guessed, wrong_guesses, wrong;
};

static uint64_t word_at(struct stepping *run, uint64_t address)
{
	uint64_t word = 0;

	memory_read_word(&run->live.memory, address, run->arch->abi->word, &word);
	return word;
}

static void push_expected(struct stepping *run, const struct expected *expected)
{
	assert_true(run->depth < DEPTH_MAX);
	run->stack[run->depth++] = *expected;
}

/* Returns false if the thread has ended. *number: the signal that it is stopped at, or 0. */
static bool wait_for(struct stepping *run, int *number, bool *is_mark)
{
	siginfo_t info;
	int status;

	if (waitpid(run->pid, &status, __WALL) != run->pid || !WIFSTOPPED(status))
		return false;
	assert_int_equal(ptrace(PTRACE_GETSIGINFO, run->pid, NULL, &info), 0);
	assert_int_equal(regs_load(run->pid, &run->regs), 0);
	*is_mark = WSTOPSIG(status) == SIGTRAP && info.si_code == SI_KERNEL;
	*number = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	return true;
}

static struct range find_function(const struct unwind_module *module, const char *name)
{
	const struct elf_symbol *symbol = elf_find_symbol(module->file, name);

	assert_non_null(symbol);
	return (struct range){symbol->value + module->bias, symbol->size};
}

static bool is_in(const struct range *range, uint64_t address)
{
	return address - range->start < range->size;
}

/* The frames of the thread at its first mark: main and its callers. */
static void take_first(struct stepping *run)
{
	struct unwind_frame frames[DEPTH_MAX];
	enum unwind_end end;
	uint64_t offset;
	size_t count = unwinder_walk(run->live.unwinder, &run->regs, false, frames, DEPTH_MAX,
				     &end);

	assert_true(count >= 2);
	assert_string_equal(live_name(&frames[0], &offset), "main");
	run->jumper = find_function(&frames[0].module, "jumps");
	run->jumped = find_function(&frames[0].module, "jumps_away");
	if (run->only_inner)
		return;
	assert_string_equal(live_name(&frames[count - 1], &offset), "_start");
	assert_int_equal(end, UNWIND_END_OUTER);
	for (size_t i = count; --i;)
		push_expected(
			run, &(struct expected){.pc = frames[i].pc,
						.place = frames[i - 1].cfa - run->arch->abi->word});
}

static void drop_returned(struct stepping *run)
{
	uint64_t sp = run->regs.r[REG_SP];

	while (run->depth) {
		const struct expected *top = &run->stack[run->depth - 1];

		if (top->interrupted ? top->pc != run->regs.pc || top->sp != sp : top->place >= sp)
			break;
		run->depth--;
	}
}

/* Notes what the last step has done to the stack. `number`: the signal that it delivered, or 0. */
static void follow(struct stepping *run, const struct regs *before, int number)
{
	uint64_t sp = run->regs.r[REG_SP], top = word_at(run, sp);

	if (number) {
		push_expected(run, &(struct expected){.pc = before->pc,
						      .interrupted = true,
						      .sp = before->r[REG_SP]});
		push_expected(run, &(struct expected){.pc = top, .place = sp});
		return;
	}
	drop_returned(run);
	/* A call of the next instruction only reads the pc: code for i386 does that. */
	if (sp == before->r[REG_SP] - run->arch->abi->word &&
	    top - before->pc - 1 < INSTRUCTION_MAX && run->regs.pc != top)
		push_expected(run, &(struct expected){.pc = top, .place = sp});
}

static void complain(struct stepping *run, const struct unwind_frame *frames, size_t count,
		     enum unwind_end end)
{
	uint64_t offset;

	for (size_t i = 0; i < count || i <= run->depth; i++) {
		const struct expected *expected = i && i <= run->depth ? &run->stack[run->depth - i]
								       : NULL;
		const char *name = i < count ? live_name(&frames[i], &offset) : "";

		print_message("#%zu expected %#llx, found %#llx %s+%#llx\n", i,
			      expected ? (unsigned long long)expected->pc : 0,
			      i < count ? (unsigned long long)frames[i].pc : 0, name,
			      (unsigned long long)offset);
	}
	print_message("after %u steps; the walk ended: %s\n", run->steps, unwind_end_text(end));
}

/*
 * glibc describes longjmp() so that its caller is where it jumps to. That is right in a way, but not
 * what the steps have made.
 */
static bool is_jumping(struct stepping *run)
{
	for (unsigned i = 0; i < run->depth; i++)
		run->jumps |= is_in(&run->jumper, run->stack[i].pc - 1);
	if (!run->jumps || !is_in(&run->jumped, run->regs.pc))
		return run->jumps;
	run->jumps = false;
	/* The call that led to longjmp(), and those in it. */
	for (unsigned i = 0; i < run->depth; i++)
		if (is_in(&run->jumped, run->stack[i].pc - 1))
			run->depth = i;
	return false;
}

/* Compares a walk with what the steps have made. Only a guess may be wrong. */
static void check_walk(struct stepping *run)
{
	struct unwind_frame frames[DEPTH_MAX];
	enum unwind_end end;
	size_t count = unwinder_walk(run->live.unwinder, &run->regs, false, frames, DEPTH_MAX,
				     &end);
	bool is_right = frames[0].pc == run->regs.pc && count > run->depth &&
			(run->only_inner || (count == run->depth + 1 && end == UNWIND_END_OUTER));
	bool is_guess = !run->only_inner && end == UNWIND_END_LOST;

	for (size_t i = 0; i < count && i <= run->depth; i++) {
		is_guess |= frames[i].is_guessed;
		if (is_right && i)
			is_right = frames[i].pc == run->stack[run->depth - i].pc &&
				   frames[i].is_call != run->stack[run->depth - i].interrupted;
	}
	run->guessed += is_guess;
	if (is_right)
		return;
	run->wrong_guesses += is_guess;
	if (is_guess && getenv("SHOW_GUESSES"))
		complain(run, frames, count, end);
	run->wrong += !is_guess;
	if (!is_guess && run->wrong <= WRONG_MAX)
		complain(run, frames, count, end);
}

static void step_through(struct stepping *run)
{
	bool is_mark = false;
	int number = 0;

	while (!is_mark && run->steps++ < STEPS_MAX) {
		struct regs before = run->regs;
		int delivered = number;

		assert_int_equal(ptrace(PTRACE_SINGLESTEP, run->pid, NULL, (long)number), 0);
		assert_true(wait_for(run, &number, &is_mark));
		if (is_mark)
			break;
		/* A stop at a signal comes before the step; the thread has not moved. */
		if (number) {
			assert_true(number == SIGUSR1 || number == SIGUSR2);
			if (run->regs.pc == before.pc)
				continue;
		}
		follow(run, &before, delivered);
		if (!is_jumping(run))
			check_walk(run);
	}
	assert_true(is_mark);
}

static pid_t launch_program(const char *path)
{
	pid_t pid = fork();

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl(path, path, NULL);
		_exit(127);
	}
	assert_true(pid > 0);
	return pid;
}

static void run_program(const char *path, struct stepping *run)
{
	bool is_mark = false;
	int number;

	run->pid = launch_program(path);
	while (!is_mark) {
		assert_true(wait_for(run, &number, &is_mark));
		if (!is_mark)
			assert_int_equal(ptrace(PTRACE_CONT, run->pid, NULL, 0L), 0);
	}
	run->arch = regs_is_32bit(&run->regs) ? &arch_i386 : arch_at(0);
	assert_int_equal(live_open(&run->live, run->pid, run->arch), 0);
	take_first(run);
	step_through(run);
	kill(run->pid, SIGKILL);
	waitpid(run->pid, &number, __WALL);
	live_close(&run->live);
}

/* The compiler, its flags, and the sources, which are in the fixture's directory. */
struct way {
	const char *compiler, *flags;
	bool may_guess;
	unsigned wrong_guesses; /* how many walks may be wrong, but say that they are guessed */
	bool only_inner;	/* the C library's callers of main are not looked at */
};

static const char *c_compiler(void)
{
	const char *compiler = getenv("CC");

	return compiler && *compiler ? compiler : "cc";
}

/* Returns false if the compiler cannot make the program. */
static bool follow_program(struct fixture *fixture, const struct way *way)
{
	const char *compiler = way->compiler ? way->compiler : c_compiler(), *flags = way->flags;
	static struct stepping run;
	const char *source = getenv("top_srcdir");
	char command[4096], path[512];

	snprintf(command, sizeof command,
		 "cd '%s' && %s -I'%s/testsuite/unwind' %s -o steps >log 2>&1", fixture->directory,
		 compiler, source ? source : ".", flags);
	if (system(command)) {
		print_message("not made: %s %s\n", compiler, flags);
		return false;
	}
	run = (struct stepping){.only_inner = way->only_inner};
	run_program(fixture_path(fixture, path, sizeof path, "steps"), &run);
	print_message("%s %s: %u steps, %u guessed (%u of them wrong), %u wrong\n", compiler, flags,
		      run.steps, run.guessed, run.wrong_guesses, run.wrong);
	assert_int_equal(run.wrong, 0);
	assert_true(run.wrong_guesses <= way->wrong_guesses);
	assert_true(way->may_guess || !run.guessed);
	return true;
}

static void follow_all(struct fixture *fixture, const struct way *ways, size_t count, size_t least)
{
	size_t made = 0;

	for (size_t i = 0; i < count; i++)
		made += follow_program(fixture, &ways[i]);
	if (made < least)
		skip();
}

#define FOLLOW(fixture, ways, least) follow_all(fixture, ways, sizeof(ways) / sizeof *(ways), least)

#define STEPS " \"$top_srcdir/testsuite/unwind/steps.c\""
#define CODE " -DHAS_CODE" STEPS " \"$top_srcdir/testsuite/unwind/code.S\""

static void at_each_instruction(void **state)
{
	static const struct way ways[] = {
		{.flags = "-O2 -fomit-frame-pointer" STEPS},
		{.flags = "-O0" STEPS},
		{.flags = "-O2 -fno-omit-frame-pointer -no-pie -fno-pic" STEPS},
		{.flags = "-O2 -fcf-protection=full -Wl,-z,lazy" STEPS},
		{.flags = "-O2 -static" STEPS},
		{.flags = "-O1 -mno-red-zone -fno-plt" STEPS},
		{.flags = "-Os -Wl,--no-eh-frame-hdr" STEPS},
		{"clang", "-O2" STEPS, false, 0, false},
		{"clang", "-O0 -fno-omit-frame-pointer" STEPS, false, 0, false},
	};

	FOLLOW(*state, ways, 4);
}

/* The kernel's vDSO for i386 has no rows for its functions, and glibc's memcpy() has wrong ones. */
static void at_each_instruction_of_i386(void **state)
{
	static const struct way ways[] = {
		{.flags = "-O2 -m32 -fomit-frame-pointer -Wl,-z,lazy" STEPS, .may_guess = true},
		{.flags = "-O0 -m32 -fno-pic -no-pie" STEPS, .may_guess = true},
		{.flags = "-O2 -m32 -static" STEPS, .may_guess = true},
		{"clang", "-O2 -m32" STEPS, true, 0, false},
	};

	FOLLOW(*state, ways, 1);
}

/*
 * LLVM's linker writes no rows for PLTs, and code.S has none. Nor has musl, whose functions have no
 * frame pointers either: many walks from there are wrong, and must say that they are guessed.
 */
static void in_code_without_rows(void **state)
{
	static const struct way ways[] = {
		{.flags = "-O2" CODE, .may_guess = true},
		{.flags = "-O2 -m32" CODE, .may_guess = true},
		{.flags = "-O2 -fuse-ld=lld -Wl,-z,lazy" STEPS, .may_guess = true},
		{.flags = "-O2 -m32 -fuse-ld=lld -Wl,-z,lazy" STEPS, .may_guess = true},
		{"musl-gcc", "-O2" STEPS, true, STEPS_MAX, true},
		{"musl-gcc", "-O2 -static" STEPS, true, STEPS_MAX, true},
	};

	FOLLOW(*state, ways, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FIXTURE(at_each_instruction),
		WITH_FIXTURE(at_each_instruction_of_i386),
		WITH_FIXTURE(in_code_without_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

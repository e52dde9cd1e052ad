/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults inside traced functions, in their first instruction (which runs out of line when traced) and
 * further inside. The handler checks what it is told, and leaves by siglongjmp, skips the instruction, or
 * puts right what is wrong and has it done again.
 */
#include "sig.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef __x86_64__
#define POINTER "(%rdi)"
#define CONVENTION
#define MEMORY(name) #name "(%rip)"
#else
#define POINTER "(%eax)"
#define CONVENTION __attribute__((regparm(1)))
#define MEMORY(name) #name
#endif

typedef CONVENTION int fault_function(int *pointer);

/* NAME_at and NAME_behind: the faulting instruction. */
#define FAULT(name, before, instruction)                                                                               \
	__asm__(".text\n.p2align 4\n.globl traced_fault_" #name ", fault_" #name "_at, fault_" #name                   \
		"_behind\n.type traced_fault_" #name ", @function\ntraced_fault_" #name ":\n.cfi_startproc\n" before   \
		"fault_" #name "_at:\n" instruction "fault_" #name "_behind:\n"                                        \
		"mov $3, %eax\nret\n.cfi_endproc\n.size traced_fault_" #name ", . - traced_fault_" #name "\n");         \
	fault_function traced_fault_##name;                                                                            \
	extern char fault_##name##_at[], fault_##name##_behind[]

#define INSIDE "mov $1, %ecx\nxor %edx, %edx\n"

int fault_zero;
FAULT(read, "", "mov " POINTER ", %ecx\n");
FAULT(read_inside, INSIDE, "mov " POINTER ", %ecx\n");
FAULT(write, "", "movl $1, " POINTER "\n");
FAULT(write_inside, INSIDE, "movl $1, " POINTER "\n");
FAULT(divide, "", "divl " MEMORY(fault_zero) "\n");
FAULT(divide_inside, INSIDE, "divl " MEMORY(fault_zero) "\n");
FAULT(illegal, "", "ud2\n");
FAULT(illegal_inside, INSIDE, "ud2\n");
FAULT(halt, "", "hlt\n");
FAULT(halt_inside, INSIDE, "hlt\n");
FAULT(bus, "", "mov " POINTER ", %ecx\n");
FAULT(bus_inside, INSIDE, "mov " POINTER ", %ecx\n");

enum where { NOWHERE, AT_POINTER, AT_PC };

#define ROW(name, number, code, where)                                                                                 \
	{                                                                                                              \
		#name, traced_fault_##name, fault_##name##_at, fault_##name##_behind, number, code, where              \
	}

static const struct fault {
	const char *name;
	fault_function *function;
	char *at, *behind;
	int number, code;
	enum where where;
} faults[] = {
	ROW(read, SIGSEGV, SEGV_ACCERR, AT_POINTER),
	ROW(read_inside, SIGSEGV, SEGV_ACCERR, AT_POINTER),
	ROW(write, SIGSEGV, SEGV_ACCERR, AT_POINTER),
	ROW(write_inside, SIGSEGV, SEGV_ACCERR, AT_POINTER),
	ROW(divide, SIGFPE, FPE_INTDIV, AT_PC),
	ROW(divide_inside, SIGFPE, FPE_INTDIV, AT_PC),
	ROW(illegal, SIGILL, ILL_ILLOPN, AT_PC),
	ROW(illegal_inside, SIGILL, ILL_ILLOPN, AT_PC),
	ROW(halt, SIGSEGV, SI_KERNEL, NOWHERE),
	ROW(halt_inside, SIGSEGV, SI_KERNEL, NOWHERE),
	ROW(bus, SIGBUS, BUS_ADRERR, AT_POINTER),
	ROW(bus_inside, SIGBUS, BUS_ADRERR, AT_POINTER),
};
enum { FAULTS = sizeof faults / sizeof *faults };

static unsigned long calls[FAULTS], left[FAULTS];
static unsigned long handled, wrong_code, wrong_address, wrong_pc, wrong_state;
static enum { JUMP, RAW_JUMP, SKIP, RETRY } answer;
static void *raw_back[5];
static const struct fault *current;
static char *page, *hole; /* of no rights; behind the end of a file */
static int file;
static sigjmp_buf back;

static void repair(void)
{
	if (current->where == AT_PC)
		fault_zero = -1; /* unsigned: whatever edx is, the quotient fits */
	else if (current->number == SIGBUS)
		ftruncate(file, 4096);
	else
		mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void spoil(void)
{
	fault_zero = 0;
	ftruncate(file, 0);
	mprotect(page, 4096, PROT_NONE);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	const char *pointer = current->number == SIGBUS ? hole : page;
	const void *expected = current->where == AT_PC ? current->at : current->where == AT_POINTER ? pointer : NULL;

	handled++;
	check_pc(context);
	wrong_code += number != current->number || info->si_code != current->code;
	wrong_address += info->si_addr != expected;
	wrong_pc += context_pc(context) != (uintptr_t)current->at;
	sum((unsigned long)call_leaf(number));
	if (answer == RAW_JUMP) {
		left[current - faults]++;
		__builtin_longjmp(raw_back, 1);
	} else if (answer == JUMP) {
		left[current - faults]++;
		siglongjmp(back, 1);
	} else if (answer == SKIP) {
		context_set_pc(context, (uintptr_t)current->behind);
	} else {
		repair();
	}
}

static CONVENTION __attribute__((noinline)) int call_fault(int *pointer)
{
	calls[current - faults]++;
	return current->function(pointer);
}

static void once(const struct fault *fault)
{
	volatile int result = 0;

	current = fault;
	spoil();
	if (sigsetjmp(back, 1) == 0)
		result = call_fault((int *)(void *)(fault->number == SIGBUS ? hole : page));
	wrong_state += result != (answer == JUMP ? 0 : 3);
	sum((unsigned long)result);
}

/* faults ANSWER ROUNDS */
static void run_faults(const struct arguments *arguments)
{
	const int numbers[] = {SIGSEGV, SIGFPE, SIGILL, SIGBUS};

	answer = !strcmp(arguments->word, "jump") ? JUMP : !strcmp(arguments->word, "skip") ? SKIP : RETRY;
	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	file = memfd_create("hole", 0);
	hole = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
	for (int i = 0; i < 4; i++)
		handle(numbers[i], on_fault, 0, NULL);
	for (int i = 0; i < arguments->number[1]; i++) {
		for (int k = 0; k < FAULTS; k++) {
			bool lasting = faults[k].number == SIGILL || faults[k].where == NOWHERE;

			if (answer != RETRY || !lasting)
				once(&faults[k]);
		}
		work(1);
	}
	for (int k = 0; k < FAULTS; k++) {
		if (calls[k])
			printf("counted traced_fault_%s %lu\n", faults[k].name, calls[k]);
		if (left[k])
			printf("unwound traced_fault_%s %lu\n", faults[k].name, left[k]);
	}
	printf("handled %lu, wrong codes %lu, addresses %lu, pcs %lu, results %lu\n", handled, wrong_code,
	       wrong_address, wrong_pc, wrong_state);
}

/* ---- the same call again and again from one place, left by a jump each time ---- */

/*
 * again ROUNDS HOW: nothing differs from one call to the next, neither registers nor stack. HOW 1: not by
 * libc's siglongjmp(), but by a jump that nobody can see.
 */
static void again(const struct arguments *arguments)
{
	static int rounds;

	answer = arguments->number[1] ? RAW_JUMP : JUMP;
	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	handle(SIGSEGV, on_fault, SA_NODEFER, NULL);
	current = &faults[0];
	for (rounds = arguments->number[0]; rounds > 0; rounds--) {
		if (answer == RAW_JUMP && __builtin_setjmp(raw_back) == 0)
			call_fault((int *)(void *)page);
		else if (answer == JUMP && sigsetjmp(back, 1) == 0)
			call_fault((int *)(void *)page);
	}
	printf("counted traced_fault_read %lu\nunwound traced_fault_read %lu\nhandled %lu\n", calls[0], left[0],
	       handled);
}

/* ---- ends by a signal ---- */

static void *busy(void *unused)
{
	for (;;)
		call_leaf(3);
	return unused;
}

static void *ender(void *number)
{
	raise(*(int *)number);
	return NULL;
}

static void by_fault(void *argument)
{
	int number = *(int *)argument;

	if (number == SIGTRAP)
		__asm__ volatile("int3");
	current = faults;
	while (current->number != number)
		current++;
	call_fault((int *)(void *)(number == SIGBUS ? hole : page));
}

/* end NUMBER HOW: 0: raise, 1: kill, 2: one of four threads does it, 3: by a fault */
static void end(const struct arguments *arguments)
{
	int number = arguments->number[0];
	pthread_t thread;

	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	file = memfd_create("hole", 0);
	hole = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
	work(1);
	report_counts();
	switch (arguments->number[1]) {
	case 0:
		raise(number);
		break;
	case 1:
		kill(getpid(), number);
		break;
	case 2:
		for (int i = 0; i < 3; i++)
			pthread_create(&thread, NULL, busy, NULL);
		pthread_create(&thread, NULL, ender, &number);
		break;
	default:
		call_back(by_fault, &number);
	}
	for (;;)
		pause();
}

const struct verb fault_verbs[] = {{"faults", run_faults}, {"again", again}, {"end", end}, {0}};

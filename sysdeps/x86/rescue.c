/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The SIGTRAP handler that the tracer puts into tracees.
 *
 * While the tracer lives, no breakpoint reaches this code: the kernel reports each SIGTRAP of an
 * int3 to the tracer, which does not deliver it. If the tracer is killed, the next thread that hits
 * one of its breakpoints gets here. It puts all original bytes back through /proc/thread-self/mem,
 * which can write to read-only pages; then the instruction runs as it was. Several threads may do
 * this at a time without harm. The tracer keeps a table of addresses and bytes in read-only memory
 * behind this code (tracee/rescue_abi.h).
 *
 * Processes that have changed their user, as servers do, may not open that file. There the page is
 * made writable for a moment, which another thread may end at any time, so the byte is written by a
 * system call that fails in that case. This is slow, and all threads would wait for each other. So
 * only the breakpoint that was hit is removed, if the order allows it (RESCUE_LAST), and the
 * guardian removes the others.
 *
 * A process in a sandbox (seccomp(2), tracee/sandbox.h) may be killed for the first of these calls.
 * So its threads make none: they read the place until the guardian has put the byte back, after
 * some milliseconds. Only if that does not happen are the calls tried.
 *
 * Other signals that arrive here:
 *  - A thread was stopped at a breakpoint when the tracer died, and its registers had been set
 *    already to continue elsewhere. The signal is still delivered, and nothing has to be done. By
 *    chance a breakpoint of the tracer's may precede the new pc: the flags show this case
 *    (regs_store()).
 *  - A thread had hit a breakpoint that was removed before the kernel reported it.
 *  - A thread is about to do what is only safe after all other changes are undone: to unwind its
 *    stack, which may have return trampolines (RESCUE_WAIT). It waits for the guardian, some
 *    milliseconds. If the guardian does not come, or does not work any more, the thread continues
 *    as it is.
 *  - The trap of a single-step or of a watched word that the tracer did not live to see, or of one
 *    step more: a thread continues stepping if its tracer dies between a step and the next
 *    resumption. Only the tracer can have a word watched. A program that steps itself has its own
 *    handler, and TF in its registers, which the kernel hides there if a tracer has set it
 *    (handle_signal()).
 *  - The program's own: its int3, raise(SIGTRAP). It is passed on as the program wants it. A
 *    handler is jumped to with everything as from the kernel, so it finds no additional frame. For
 *    the default action the disposition is reset, and the signal sent again.
 *
 * The code runs on the stack that the kernel gives the handler, in an unknown program: it has no
 * library, no thread-local storage, no stack protector, and uses general registers only. It is
 * compiled once for each architecture, with its rescue_host.h, into one section without
 * relocations, whose bytes the build extracts.
 */
#include "rescue_host.h"
#include "tracee/rescue_abi.h"

#include <stdint.h>

enum {
	TRAP = 5,	       /* SIGTRAP */
	CODE_OFFSET = 8,       /* si_code in siginfo_t */
	CODE_KERNEL = 0x80,    /* SI_KERNEL */
	CODE_STEP = 2,	       /* TRAP_TRACE */
	CODE_WATCH = 4,	       /* TRAP_HWBKPT */
	TRACE_FLAG = 0x100,    /* TF of eflags */
	RESUME_FLAG = 0x10000, /* RF */
	BREAKPOINT = 0xcc,
	LONG_FIRST = 0xcd, /* the two-byte form of int3 */
	LONG_SECOND = 3,
	PAGE = 4096,
	OPEN_MEMORY = 02 | 02000000, /* O_RDWR | O_CLOEXEC */
	CURRENT_DIRECTORY = -100,    /* AT_FDCWD */
	READ_WRITE_EXECUTE = 7,
	READ_EXECUTE = 5,
	RESET_HANDLER = (int)0x80000000, /* SA_RESETHAND */
	MASK_BYTES = 8,
	FLAGS = RESCUE_LAST | RESCUE_GONE | RESCUE_WAIT,
	NOT_PERMITTED = 1, /* EPERM */
	NO_SUCH_CALL = 38, /* ENOSYS */
	TRIES = 1000,
	LOOKS = 2000, /* of LOOK_NS each, without a heartbeat of the guardian */
	LOOKS_MAX = 60000,
	LOOK_NS = 1000000,
	SPINS = 1 << 29 /* about ten seconds */
};

static uintptr_t word_at(const uint8_t *base, unsigned offset)
{
	return *(const uintptr_t *)(const void *)(base + offset);
}

static void set_word(uint8_t *base, unsigned offset, uintptr_t value)
{
	*(uintptr_t *)(void *)(base + offset) = value;
}

static long open_memory(void)
{
	/*
	 * "/proc/thread-self/mem", in the instructions themselves, as there is no data. "self"
	 * would be the leader, which may have exited.
	 */
	volatile uint64_t path[3];

	path[0] = 0x68742f636f72702f;
	path[1] = 0x6c65732d64616572;
	path[2] = 0x0000006d656d2f66;

	return host_call(SYS_OPENAT, (uintptr_t)CURRENT_DIRECTORY, (uintptr_t)path, OPEN_MEMORY, 0);
}

/* Copies one byte from or to `address` by a system call that does not fault: 1, or -errno. */
static long copy_byte(long number, uint8_t *byte, uintptr_t address)
{
	struct host_range here, there;

	here.start = (uintptr_t)byte;
	here.length = 1;
	there.start = address;
	there.length = 1;
	return host_copy(number, host_call(SYS_GETTID, 0, 0, 0, 0), &here, &there);
}

static int is_forbidden(long result)
{
	return result == -NOT_PERMITTED || result == -NO_SUCH_CALL;
}

/* Reads a byte of code that was just run. False: it is not there any more. */
static int read_code(long fd, uint8_t *byte, uintptr_t address)
{
	if (fd >= 0)
		return host_transfer(SYS_PREAD64, fd, byte, address) == 1;
	long result = copy_byte(SYS_PROCESS_VM_READV, byte, address);

	if (is_forbidden(result))
		*byte = *(volatile const uint8_t *)address;
	return result == 1 || is_forbidden(result);
}

/* True: another thread has made the page read-only meanwhile; try again. */
static int write_by_protection(uintptr_t address, uint8_t byte)
{
	uintptr_t page = address & ~(uintptr_t)(PAGE - 1);
	volatile uint8_t *place = (volatile uint8_t *)address;

	if (host_call(SYS_MPROTECT, page, PAGE, READ_WRITE_EXECUTE, 0) != 0)
		return 0;
	long result = copy_byte(SYS_PROCESS_VM_WRITEV, &byte, address);

	/* Only here is it certain that the page is mapped. */
	if (is_forbidden(result) && *place == BREAKPOINT)
		*place = byte;
	host_call(SYS_MPROTECT, page, PAGE, READ_EXECUTE, 0);
	return result != 1 && !is_forbidden(result);
}

/* Puts a byte back, if a breakpoint is there. */
static void heal_one(long fd, const struct rescue_entry *entry)
{
	uintptr_t address = (uintptr_t)entry->address;
	uint8_t before = (uint8_t)entry->before;
	uint8_t now = 0;

	if (fd >= 0 && (host_transfer(SYS_PREAD64, fd, &now, address) != 1 || now != BREAKPOINT ||
			host_transfer(SYS_PWRITE64, fd, &before, address) == 1))
		return;
	for (int i = 0; i < TRIES; i++) {
		long result = copy_byte(SYS_PROCESS_VM_READV, &now, address);

		if (!is_forbidden(result) && (result != 1 || now != BREAKPOINT))
			return;
		if (!write_by_protection(address, before))
			return;
	}
}

/* Removes breakpoints, the last planted first. */
static void heal_those(const struct rescue_head *head, long fd, uint64_t last)
{
	const struct rescue_table *table = &head->table;

	while (table) {
		for (uint64_t i = table->used; i-- > 0;)
			if (table->entries[i].address && (table->entries[i].before & FLAGS) == last)
				heal_one(fd, &table->entries[i]);
		table = (const struct rescue_table *)(uintptr_t)table->next;
	}
}

/* This takes milliseconds, and other threads run: see rescue_mark(). */
static void heal_all(const struct rescue_head *head, long fd)
{
	heal_those(head, fd, 0);
	heal_those(head, fd, RESCUE_LAST);
}

static const struct rescue_entry *find_entry(const struct rescue_head *head, uintptr_t address)
{
	const struct rescue_table *table = &head->table;

	while (table) {
		for (uint64_t i = 0; i < table->used; i++)
			if (table->entries[i].address == address)
				return &table->entries[i];
		table = (const struct rescue_table *)(uintptr_t)table->next;
	}
	return 0;
}

/*
 * Waits until the guardian has put the byte back, which is its last step, or another tracer has
 * taken over the place. Returns true if this happened.
 */
static int wait_for_guardian(const struct rescue_head *head, long fd,
			     const struct rescue_entry *entry)
{
	const volatile uint64_t *flags = &entry->before, *beats = &head->beats;
	uint64_t last = *beats;
	uint8_t now = BREAKPOINT;

	for (int i = 0, all = 0; i < LOOKS && all < LOOKS_MAX; i++, all++) {
		/* Written by code: a constant would need a place of its own. */
		volatile uintptr_t moment[2];

		moment[0] = 0;
		moment[1] = LOOK_NS;
		if (!read_code(fd, &now, (uintptr_t)entry->address) || now != BREAKPOINT ||
		    *flags & RESCUE_GONE)
			return 1;
		host_call(SYS_NANOSLEEP, (uintptr_t)moment, 0, 0, 0);
		if (*beats != last)
			i = 0;
		last = *beats;
	}
	return 0;
}

/* Like wait_for_guardian(), without system calls; the place was run a moment ago. */
static int wait_quietly(const struct rescue_entry *entry)
{
	const volatile uint8_t *place = (const volatile uint8_t *)(uintptr_t)entry->address;
	const volatile uint64_t *flags = &entry->before;

	for (int i = 0; i < SPINS; i++) {
		if (*place != BREAKPOINT || *flags & RESCUE_GONE)
			return 1;
		__builtin_ia32_pause();
	}
	return 0;
}

/*
 * Returns true if a breakpoint of the program's own ends there, without system calls. It was run a
 * moment ago, so its page is mapped, but the page before it may not be.
 */
static int is_own(uintptr_t address)
{
	const volatile uint8_t *place = (const volatile uint8_t *)address;

	return *place == BREAKPOINT ||
	       (*place == LONG_SECOND && (address & (PAGE - 1)) && place[-1] == LONG_FIRST);
}

static void put_right(const struct rescue_head *head, long fd, const struct rescue_entry *entry)
{
	if (fd < 0 && !(entry->before & (RESCUE_WAIT | RESCUE_LAST))) {
		heal_one(fd, entry);
	} else if (!(entry->before & RESCUE_WAIT)) {
		heal_all(head, fd);
	} else if (!wait_for_guardian(head, fd, entry)) {
		heal_all(head, fd);
		heal_those(head, fd, RESCUE_WAIT);
	}
}

static void set_default(void)
{
	volatile uint64_t action[4];

	for (unsigned i = 0; i < 4; i++)
		action[i] = 0;

	host_call(SYS_RT_SIGACTION, TRAP, (uintptr_t)action, 0, MASK_BYTES);
}

/* Passes the signal on. Returns the program's handler, to be jumped to, or 0 if it has none. */
static uintptr_t hand_on(const struct rescue_head *head, const uint8_t *info, int32_t code)
{
	int forced = code > 0; /* raised by an instruction: cannot be ignored */

	if (head->handler > 1) {
		if (head->flags & (uint32_t)RESET_HANDLER)
			set_default();
		return (uintptr_t)head->handler;
	}
	if (head->handler == 0 || forced) {
		set_default();
		host_call(SYS_RT_TGSIGQUEUEINFO, (uintptr_t)host_call(SYS_GETPID, 0, 0, 0, 0),
			  (uintptr_t)host_call(SYS_GETTID, 0, 0, 0, 0), TRAP, (uintptr_t)info);
	}
	return 0;
}

/* Returns true for the trap of a step or a watchpoint that is not the program's. */
static int is_tracers(const struct rescue_head *head, const uint8_t *context, int32_t code)
{
	return code == CODE_WATCH ||
	       (code == CODE_STEP &&
		(head->handler <= 1 || !(word_at(context, CONTEXT_FLAGS) & TRACE_FLAG)));
}

/* A thread that has made a step for the tracer gets its own signal mask back. */
static void give_own_mask(const struct rescue_step *step, uint8_t *context)
{
	/* The members may have half their natural alignment. */
	const uint32_t *held = (const uint32_t *)&step->held, *mask = (const uint32_t *)&step->mask;
	uint32_t *words = (uint32_t *)(void *)(context + CONTEXT_MASK);

	if (words[0] != held[0] || words[1] != held[1])
		return;
	words[0] = mask[0];
	words[1] = mask[1];
}

__attribute__((used)) uintptr_t rescue(int signal, const uint8_t *info, uint8_t *context,
				       const struct rescue_head *head);

/* Called by the entry. Returns the address of a handler that is to be run now, or 0. */
uintptr_t rescue(int signal, const uint8_t *info, uint8_t *context, const struct rescue_head *head)
{
	int32_t code = *(const int32_t *)(const void *)(info + CODE_OFFSET);
	uintptr_t before = word_at(context, CONTEXT_PC) - 1;
	uint8_t byte = BREAKPOINT, first = 0;

	(void)signal;
	/* In a sandbox the thread's mask alone has to identify it: gettid(2) may be forbidden. */
	if (head->step.tid &&
	    (head->filtered || head->step.tid == (uint64_t)host_call(SYS_GETTID, 0, 0, 0, 0)))
		give_own_mask(&head->step, context);
	if (is_tracers(head, context, code)) {
		set_word(context, CONTEXT_FLAGS,
			 word_at(context, CONTEXT_FLAGS) & ~(uintptr_t)TRACE_FLAG);
		return 0;
	}
	if (code != CODE_KERNEL)
		return hand_on(head, info, code);
	if (word_at(context, CONTEXT_FLAGS) & RESUME_FLAG) {
		set_word(context, CONTEXT_FLAGS,
			 word_at(context, CONTEXT_FLAGS) & ~(uintptr_t)RESUME_FLAG);
		return 0;
	}
	const struct rescue_entry *ours = find_entry(head, before);

	if (head->filtered && (ours ? wait_quietly(ours) : !is_own(before))) {
		set_word(context, CONTEXT_PC, before);
		return 0;
	}
	long fd = open_memory();

	if (ours)
		put_right(head, fd, ours);
	else if (!read_code(fd, &byte, before))
		byte = 0;
	if (byte == LONG_SECOND && !read_code(fd, &first, before - 1))
		first = 0;
	if (fd >= 0)
		host_call(SYS_CLOSE, (uintptr_t)fd, 0, 0, 0);
	if (!ours && (byte == BREAKPOINT || first == LONG_FIRST))
		return hand_on(head, info, code);
	set_word(context, CONTEXT_PC, before);
	return 0;
}

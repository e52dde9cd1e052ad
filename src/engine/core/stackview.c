/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads from a thread's registers, memory and kernel state what the matching of calls needs:
 * bounds of stacks, stack words, signal stacks, arguments, targets of longjmp().
 */
#include "engine/core/stackview.h"

#include "engine/core/engine.h"
#include "engine/core/thread_calls.h"
#include "tracee/journal.h"
#include "tracee/maps.h"
#include "tracee/remote.h"
#include "tracee/space.h"

#include <string.h>

enum {
	GUARD_MAX = 65536, /* maximum size of a stack's guard in bytes */
	/* glibc's malloc has other memory that looks guarded, at multiples of this. */
	ARENA_ALIGN = 64 << 20,
	ARENA_ALIGN_32 = 1 << 20,
	PAGE = 4096,
	SCRATCH = 256, /* bytes below sp: beyond the red zone */
	DISABLE = 2    /* SS_DISABLE; linux/signal.h */
};

static const uint32_t AUTODISARM = UINT32_C(1) << 31; /* SS_AUTODISARM */

static bool is_guard(const struct mapping *mapping)
{
	return mapping && !mapping->readable && !mapping->writable && !mapping->executable;
}

/*
 * Returns true if memory at a multiple of ARENA_ALIGN begins like a heap of glibc's malloc (struct
 * _heap_info in malloc/arena.c: arena, previous heap, present size). The low end of a stack was
 * never written to.
 */
static bool is_heap(const struct space *space, uint64_t start, uint64_t align)
{
	unsigned word = space->arch->abi->word;
	uint64_t arena;
	uint64_t size;

	return memory_read_word(&space->memory, start, word, &arena) && arena &&
	       memory_read_word(&space->memory, start + 2 * word, word, &size) && size &&
	       size <= align && size % PAGE == 0;
}

/*
 * Returns true if a mapping holds one stack only: there is a small inaccessible mapping below it.
 * The stacks of threads and of most fibers are made like that. The kernel itself marks the first
 * thread's stack.
 */
static bool is_one_stack(const struct space *space, const struct maps *maps,
			 const struct mapping *mapping)
{
	uint64_t align = space->arch->abi->word == 4 ? ARENA_ALIGN_32 : ARENA_ALIGN;
	const struct mapping *below = maps_find(maps, mapping->start - 1);
	const struct mapping *above = maps_find(maps, mapping->end);
	uint64_t end = is_guard(above) ? above->end : mapping->end;

	if (!strcmp(mapping->path, "[stack]"))
		return true;
	return is_guard(below) && below->end - below->start <= GUARD_MAX &&
	       (mapping->start % align != 0 || end % align != 0 ||
		!is_heap(space, mapping->start, align));
}

/*
 * Stores the bounds of the unmapped range around `sp`: a call that is reported afterwards may have
 * been on a fiber's stack that is unmapped by now. The range may have held several stacks.
 */
static void find_hole(const struct maps *maps, uint64_t sp, uint64_t *low, uint64_t *high)
{
	*low = 0;
	*high = UINT64_MAX;
	for (size_t i = 0; i < maps->count; i++) {
		if (maps->mappings[i].end <= sp)
			*low = maps->mappings[i].end;
		if (maps->mappings[i].start > sp && maps->mappings[i].start < *high)
			*high = maps->mappings[i].start;
	}
}

static bool thread_bounds(void *context, uint64_t sp, uint64_t *low, uint64_t *high, bool *single)
{
	const struct thread *thread = context;
	struct maps maps;

	if (maps_read(thread->tid, &maps) < 0)
		return false;
	const struct mapping *mapping = maps_find(&maps, sp);

	if (mapping) {
		*low = mapping->start;
		*high = mapping->end;
		*single = is_one_stack(thread->process->space, &maps, mapping);
	} else if (maps.count) {
		find_hole(&maps, sp, low, high);
		*single = false;
	}
	const bool is_known = maps.count != 0;

	maps_deinit(&maps);
	return is_known;
}

/*
 * Returns true if `found`, in a stack word that should hold `word`, is a return trampoline of a
 * tail call which the process may not have reported yet. Its report will tell what the word held
 * before. (`word` 0: no expectation, as for all calls that the process reports.)
 */
static bool is_stood_for(const struct space *space, uint64_t word, uint64_t found)
{
	return word && found != word && journal_in_agent(space->journal, found) &&
	       !journal_in_agent(space->journal, word);
}

static void thread_words(void *context, size_t count, const uint64_t *slots, uint64_t *words)
{
	const struct thread *thread = context;
	const struct space *space = thread->process->space;
	struct memory_range ranges[STACK_VIEW_WORDS];
	uint64_t read[STACK_VIEW_WORDS] = {0}; /* little-endian, as the tracee's */

	if (!space)
		return;
	for (size_t i = 0; i < count; i++)
		ranges[i] = (struct memory_range){
			.address = slots[i], .buffer = &read[i], .length = space->arch->abi->word};
	space->memory.readv(space->memory.context, ranges, count);
	for (size_t i = 0; i < count; i++)
		if (ranges[i].done == ranges[i].length && !is_stood_for(space, words[i], read[i]))
			words[i] = read[i];
}

/*
 * Reads the thread's signal stack from the kernel, at a safe stop. Returns false if there is none.
 */
static bool ask_signal_stack(struct thread *thread, uint32_t *flags, uint64_t *low, uint64_t *high)
{
	const struct space *space = thread->process->space;
	unsigned word = space->arch->abi->word;
	struct regs regs;
	uint64_t size;
	int64_t result;

	if (regs_load(thread->tid, &regs) != 0)
		return false;
	uint64_t place = (regs.r[REG_SP] - SCRATCH) & ~UINT64_C(15);
	uint64_t arguments[6] = {0, place};
	uint8_t before[3 * sizeof(uint64_t)];

	/* A small stack may end above the place, so its bytes are restored afterwards. */
	if (!memory_read_exact(&space->memory, place, before, 3 * word))
		return false;
	/* stack_t: address, flags (and padding to a word), size */
	bool known = remote_syscall(thread, space->arch->sys_sigaltstack, arguments, &result) ==
			     0 &&
		     !result && memory_read_word(&space->memory, place, word, low) &&
		     memory_read_exact(&space->memory, place + word, flags, sizeof *flags) &&
		     memory_read_word(&space->memory, place + 2 * word, word, &size);

	space_write(thread->process->space, place, before, 3 * word);
	if (!known)
		return false;
	*high = *low + size;
	return !(*flags & DISABLE) && *high > *low;
}

static bool thread_signal_stack(void *context, uint64_t sp, uint64_t *low, uint64_t *high)
{
	struct thread *thread = context;
	uint32_t flags;

	if (!thread->calls->signalled)
		return false;
	if (thread->calls->signal_stack.disarms) {
		*low = thread->calls->signal_stack.low;
		*high = thread->calls->signal_stack.high;
	} else if (!ask_signal_stack(thread, &flags, low, high)) {
		return false;
	}
	return sp >= *low && sp < *high;
}

void stackview_before_signal(struct thread *thread)
{
	uint64_t low;
	uint64_t high;
	uint32_t flags;
	bool again = thread->calls->signal_stack.again;

	thread->calls->signalled = true;
	thread->calls->signal_stack.again = false;
	if (again || !thread->calls->stacks || !callstacks_depth(thread->calls->stacks) ||
	    (thread->calls->signal_stack.asked && !thread->calls->signal_stack.disarms))
		return;
	thread->calls->signal_stack.asked = true;
	if (ask_signal_stack(thread, &flags, &low, &high) && flags & AUTODISARM) {
		thread->calls->signal_stack.disarms = true;
		thread->calls->signal_stack.low = low;
		thread->calls->signal_stack.high = high;
	}
	thread->calls->signal_stack.again = thread->stop != STOP_SIGNAL;
}

static size_t thread_read(void *context, uint64_t address, void *buffer, size_t length)
{
	const struct thread *thread = context;
	const struct space *space = thread->process->space;

	return space ? memory_read(&space->memory, address, buffer, length) : 0;
}

static bool thread_may_jump(void *context, uint64_t from, uint64_t to)
{
	const struct thread *thread = context;
	const struct engine_events *events = thread->calls->events;

	return !events || !events->may_jump || !thread->process->space ||
	       events->may_jump(events->context, thread->process->space, from, to);
}

const struct stack_view stackview_thread = {thread_bounds, thread_words, thread_read,
					    thread_signal_stack, thread_may_jump};

struct arrival stackview_arrival(const struct abi *abi, const struct regs *regs, uint64_t pc)
{
	return (struct arrival){.pc = pc, .sp = regs->r[REG_SP], .word = abi->word};
}

uint64_t stackview_argument(const struct space *space, const struct regs *regs, unsigned index)
{
	const struct abi *abi = space->arch->abi;
	uint64_t value = 0;

	if (index < abi->int_args)
		return regs->r[abi->int_arg[index]];
	memory_read_word(&space->memory,
			 regs->r[REG_SP] + abi->stack_first + (index - abi->int_args) * abi->word,
			 abi->word, &value);
	return value;
}

static uint64_t rotate_right(uint64_t value, unsigned bits, unsigned width)
{
	value = value >> bits | value << (width - bits);
	return width < 64 ? value & ((UINT64_C(1) << width) - 1) : value;
}

bool stackview_find_jump(const struct space *space, const struct regs *regs, bool mangled,
			 struct stack_jump *jump)
{
	const struct abi *abi = space->arch->abi;
	const struct jump_buffer *layout = &space->arch->jump_buffer;
	uint64_t sp = regs->r[REG_SP];
	uint64_t buffer;
	uint64_t guard;

	*jump = (struct stack_jump){.from = sp, .arguments = layout->arguments};
	if (abi->int_args)
		buffer = regs->r[abi->int_arg[0]];
	else if (!memory_read_word(&space->memory, sp + abi->stack_first, abi->word, &buffer))
		return false;
	if (!memory_read_word(&space->memory, buffer + layout->sp * abi->word, abi->word,
			      &jump->target) ||
	    !memory_read_word(&space->memory, buffer + layout->pc * abi->word, abi->word,
			      &jump->pc))
		return false;
	if (!mangled)
		return true;
	uint64_t thread_pointer = layout->thread_fs ? regs->fs_base : regs->gs_base;

	if (!memory_read_word(&space->memory, thread_pointer + layout->guard, abi->word, &guard))
		return false;
	jump->target = rotate_right(jump->target, layout->rotate, abi->word * 8) ^ guard;
	jump->pc = rotate_right(jump->pc, layout->rotate, abi->word * 8) ^ guard;
	return true;
}

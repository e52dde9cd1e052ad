/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rebuilds a space that another process has planted from its journal, as far as trap_leave() needs
 * it to restore the space; and finds out which threads are in code of the tracer. The only code
 * read from the tracee are the instructions under breakpoints: they have to be decoded again to
 * know where a thread in an XOL slot belongs.
 */
#include "engine/trap/adopt.h"

#include "base/vec.h"
#include "engine/trap/breakpoint.h"
#include "recovery/rescue.h"
#include "tracee/arena.h"
#include "tracee/arena_map.h"
#include "tracee/journal.h"
#include "tracee/rescue_abi.h"
#include "tracee/space.h"

#include <errno.h>
#include <string.h>

/*
 * A program that gets little processor time may have many nested signal handlers, of some KiB
 * each: hence STACK_SEEN.
 */
enum {
	PIECE = 4096,
	BEHIND_PC = 24, /* bytes of a signal frame behind its pc that are read */
	STACK_SEEN = 1 << 18,
	STACKS_SEEN = 4,
	RESTORER = 16,	    /* bytes of code read at a signal frame's return address */
	KERNEL_STACK = 512, /* bytes of stack that the vDSO uses at most */
	FLAG_ALWAYS_SET = 2,
	FLAGS_END = 1 << 22
};

/*
 * Returns true if the tracer's mapping at `address` exists. A mapping in the journal may never
 * have been made, and other memory may be there by now.
 */
static bool is_mapped(const struct space *space, uint64_t address)
{
	return arena_is_mapped(space, journal_subject(space->journal)->pid, address);
}

static bool is_mapped_by_us(const struct space *space, uint64_t address)
{
	for (size_t i = 0; i < journal_count(space->journal); i++) {
		const struct journal_entry *entry = journal_entry(space->journal, i);

		if (entry && entry->kind == JOURNAL_MAPPING && entry->address == address &&
		    entry->length == ARENA_BYTES)
			return is_mapped(space, address);
	}
	return false;
}

int trap_adopt(struct space *space)
{
	struct decoder *decoder = decoder_create();
	size_t count = journal_count(space->journal);

	if (!decoder)
		return -ENOTSUP;
	rescue_adopt(space, journal_subject(space->journal)->rescue, is_mapped_by_us);
	for (size_t i = 0; i < count; i++) {
		const struct journal_entry *entry = journal_entry(space->journal, i);

		if (entry && entry->kind == JOURNAL_MAPPING && entry->length == ARENA_BYTES &&
		    !rescue_owns(space, entry->address) && is_mapped(space, entry->address))
			arena_adopt(space->arena, entry->address);
		else if (entry && entry->kind == JOURNAL_MAPPING && entry->length != ARENA_BYTES)
			arena_add_region(space->arena, entry->address, entry->length);
	}
	for (size_t i = 0; i < count; i++)
		breakpoint_adopt(decoder, space, i);
	decoder_destroy(decoder);
	trap_space_of(space)->adopted = true;
	return 0;
}

static void heal_one(struct space *space, const struct journal_entry *entry)
{
	const struct arch *arch = space->arch;
	uint8_t now[sizeof entry->after];

	if (entry->kind == JOURNAL_BYTES && entry->length == arch->breakpoint_length &&
	    !memcmp(entry->after, arch->breakpoint, entry->length) &&
	    memory_read_exact(&space->memory, entry->address, now, entry->length) &&
	    !memcmp(now, arch->breakpoint, entry->length))
		space_write(space, entry->address, entry->before, entry->length);
}

/* Removes the breakpoints of one journal_when, in the reverse order of planting. */
static void heal_those(struct space *space, enum journal_when when)
{
	for (size_t i = journal_count(space->journal); i-- > 0;) {
		const struct journal_entry *entry = journal_entry(space->journal, i);

		if (entry && entry->when == when)
			heal_one(space, entry);
	}
}

void trap_heal(struct space *space, bool runs)
{
	const struct journal_subject *subject = journal_subject(space->journal);

	heal_those(space, JOURNAL_AT_ONCE);
	heal_those(space, JOURNAL_LAST);
	/* A thread that hits one of these waits in the SIGTRAP handler, if there is one. */
	if (!runs || !subject->guarded || !subject->rescue)
		heal_those(space, JOURNAL_STAYS);
}

struct range {
	uint64_t low, high;
};

static bool is_landing(const struct arch *arch, const struct journal_entry *entry)
{
	return entry->kind == JOURNAL_BYTES &&
	       (entry->length != arch->breakpoint_length ||
		memcmp(entry->after, arch->breakpoint, arch->breakpoint_length) != 0);
}

/* Collects where the tracer's code is, except breakpoints: its mappings and remote-call stubs. */
static void code_of_ours(const struct space *space, struct vec *ranges)
{
	for (size_t i = 0; i < journal_count(space->journal); i++) {
		const struct journal_entry *entry = journal_entry(space->journal, i);

		if (!entry || (entry->kind != JOURNAL_MAPPING && !is_landing(space->arch, entry)))
			continue;
		struct range range = {entry->address, entry->address + entry->length};

		vec_push(ranges, &range);
	}
}

static bool is_in(const struct vec *ranges, uint64_t address)
{
	for (size_t i = 0; i < ranges->count; i++) {
		const struct range *range = vec_at(ranges, i);

		if (address >= range->low && address < range->high)
			return true;
	}
	return false;
}

/*
 * Returns true if a thread in the vDSO was called there by the tracer's code: the stack near `sp`
 * holds an address in `ranges`.
 */
static bool is_there_for_us(const struct space *space, const struct vec *ranges, uint64_t pc,
			    uint64_t sp)
{
	uint64_t words[KERNEL_STACK / sizeof(uint64_t)];

	if (!space_has_kernel_code(space, pc))
		return false;
	size_t length = memory_read(&space->memory, sp, words, sizeof words);

	for (size_t i = 0; i < length / sizeof *words; i++)
		if (is_in(ranges, words[i]))
			return true;
	return false;
}

/*
 * Returns true if `word`, the pc in a signal frame at `address`, leads into the tracer's code or
 * into the vDSO for it.
 */
static bool leads_to_us(const struct space *space, const struct vec *ranges, uint64_t address,
			uint64_t word)
{
	uint64_t sp = 0;

	return is_in(ranges, word) ||
	       (space_has_kernel_code(space, word) &&
		memory_read_word(&space->memory, address + (uint64_t)space->arch->signal_frame.sp,
				 space->arch->abi->word, &sp) &&
		is_there_for_us(space, ranges, word, sp));
}

/* Returns true if `word` looks like the pc in a signal frame: segment and flags next to it fit. */
static bool is_frame_pc(const struct arch *arch, const uint8_t *word)
{
	uint16_t segment;
	uint32_t flags;

	memcpy(&segment, word + arch->signal_frame.segment, sizeof segment);
	memcpy(&flags, word + arch->signal_frame.flags, sizeof flags);
	return segment == arch->signal_frame.segment_value && flags & FLAG_ALWAYS_SET &&
	       flags < FLAGS_END;
}

/*
 * Returns true if the return address (restorer) of a signal frame leads to code that makes a
 * system call, as sigreturn(2) needs. `pc`: address of the frame's pc. Old frames fail this test:
 * on adjacent stacks of coroutines they are mostly half overwritten.
 */
static bool has_restorer(const struct space *space, uint64_t pc)
{
	const struct arch *arch = space->arch;
	uint8_t code[RESTORER];
	uint64_t restorer;

	for (size_t i = 0; i < 2 && arch->signal_frame.restorers[i]; i++) {
		if (!memory_read_word(&space->memory, pc - arch->signal_frame.restorers[i],
				      arch->abi->word, &restorer))
			continue;
		const size_t length = memory_read(&space->memory, restorer, code, sizeof code);

		for (size_t k = 0; k + sizeof arch->syscall_insn <= length; k++)
			if (!memcmp(code + k, arch->syscall_insn, sizeof arch->syscall_insn))
				return true;
	}
	return false;
}

/*
 * The stacks that are searched, as low addresses: a handler may run on a signal stack of its own,
 * and a nested one on another.
 */
struct looked {
	uint64_t low[STACKS_SEEN];
	size_t count;
};

static void note_stack(const struct space *space, struct looked *looked, uint64_t sp)
{
	sp &= ~(uint64_t)(space->arch->abi->word - 1);
	for (size_t i = 0; i < looked->count; i++)
		if (sp - looked->low[i] < STACK_SEEN)
			return;
	if (looked->count < STACKS_SEEN)
		looked->low[looked->count++] = sp;
}

/*
 * Returns true if the word at `address` is the pc of a signal frame that returns into the tracer's
 * code. Notes the stack that the frame returns to.
 */
static bool is_ours_there(const struct space *space, const struct vec *ranges, const uint8_t *word,
			  uint64_t address, struct looked *looked)
{
	uint64_t value = 0, sp;

	if (!is_frame_pc(space->arch, word) || !has_restorer(space, address))
		return false;
	memcpy(&value, word, space->arch->abi->word);
	if (memory_read_word(&space->memory, address + (uint64_t)space->arch->signal_frame.sp,
			     space->arch->abi->word, &sp))
		note_stack(space, looked, sp);
	return leads_to_us(space, ranges, address, value);
}

/* Searches one stack from `sp` upwards, STACK_SEEN bytes. */
static bool is_ours_above(const struct space *space, const struct vec *ranges, uint64_t sp,
			  struct looked *looked)
{
	unsigned word = space->arch->abi->word;
	uint8_t piece[PIECE + BEHIND_PC];
	size_t length = sizeof piece;
	bool found = false;

	for (uint64_t end = sp + STACK_SEEN; !found && length == sizeof piece && sp < end;
	     sp += PIECE) {
		length = memory_read(&space->memory, sp, piece, sizeof piece);
		for (size_t at = 0; !found && at + BEHIND_PC <= length; at += word)
			found = is_ours_there(space, ranges, piece + at, sp + at, looked);
	}
	return found;
}

bool trap_on_stack(const struct space *space, uint64_t sp)
{
	struct vec ranges = VEC_OF(struct range);
	struct looked looked = {.count = 0};
	bool found = false;

	code_of_ours(space, &ranges);
	note_stack(space, &looked, sp);
	for (size_t i = 0; i < looked.count && !found; i++)
		found = is_ours_above(space, &ranges, looked.low[i], &looked);
	vec_deinit(&ranges);
	return found;
}

bool trap_has_mapped(const struct space *space, uint64_t pc)
{
	struct vec ranges = VEC_OF(struct range);

	code_of_ours(space, &ranges);
	const bool found = is_in(&ranges, pc);

	vec_deinit(&ranges);
	return found;
}

bool trap_in_our_code(const struct space *space, uint64_t pc)
{
	const struct arch *arch = space->arch;
	uint64_t rescue = journal_subject(space->journal)->rescue;

	if (rescue && pc >= rescue && pc - rescue < RESCUE_CODE)
		return true;
	/*
	 * Bytes in the journal that are neither breakpoint nor entry jump are a remote-call stub.
	 */
	for (size_t i = 0; i < journal_count(space->journal); i++) {
		const struct journal_entry *entry = journal_entry(space->journal, i);

		if (entry && (entry->kind == JOURNAL_AGENT || is_landing(arch, entry)) &&
		    pc >= entry->address && pc - entry->address < entry->length)
			return true;
	}
	return false;
}

bool trap_runs_our_code(const struct space *space, const struct regs *regs)
{
	struct vec ranges = VEC_OF(struct range);
	bool runs = trap_in_our_code(space, regs->pc);

	if (runs || !space_has_kernel_code(space, regs->pc))
		return runs;
	code_of_ours(space, &ranges);
	runs = is_there_for_us(space, &ranges, regs->pc, regs->r[REG_SP]);
	vec_deinit(&ranges);
	return runs;
}

void trap_note_orphaned(struct space *space)
{
	trap_space_of(space)->was_orphaned = true;
}

bool trap_was_orphaned(const struct space *space)
{
	return space->trap && space->trap->was_orphaned;
}

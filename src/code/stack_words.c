/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See stack_words.h.
 *
 * A row of call-frame information gives the distance of the CFA from the stack pointer or the frame
 * pointer, for a range of instructions. So an operand that is addressed by that register without an
 * index has one fixed place in the frame, whatever is pushed in between. An operand may be any word
 * if it is addressed by a register that holds a computed address, or by the stack pointer where the
 * CFA rule uses the frame pointer.
 *
 * Call-frame information should be true at each instruction, but with gcc's
 * -fno-asynchronous-unwind-tables it is true at calls only, and nothing says which it is. If two
 * words were mistaken for one, calls would be missed. So the code is compared with the rows: the
 * CFA offset of the next row has to differ by what the instruction adds to the stack pointer.
 * Otherwise no words of that function are used.
 */
#include "code/stack_words.h"

#include "unwind/eh_rows.h"

void stack_words_init(struct stack_words *words, const struct arch *arch)
{
	words->arch = arch;
	vec_init(&words->rows, sizeof(struct eh_row));
}

void stack_words_deinit(struct stack_words *words)
{
	vec_deinit(&words->rows);
}

static void add_row(void *context, const struct eh_row *row)
{
	vec_push(&((struct stack_words *)context)->rows, row);
}

void stack_words_begin(struct stack_words *words, const struct elf_file *file,
		       const struct eh_function *function)
{
	vec_clear(&words->rows);
	words->row = 0;
	words->register_before = 0;
	words->is_sound = true;
	words->exposed = INT64_MAX;
	words->frame_count = 1;
	stack_words_clear(words);
	if (function->entry)
		eh_rows_for_each(file, function, add_row, words);
}

static const struct eh_row *row_at(struct stack_words *words, uint64_t address)
{
	for (; words->row < words->rows.count; words->row++) {
		const struct eh_row *row = vec_at(&words->rows, words->row);

		if (address < row->from)
			return NULL;
		if (address < row->to)
			return row;
	}
	return NULL;
}

/*
 * Notes what the next row has to be. The next row is checked only behind an instruction that
 * changes the register of the CFA rule: behind padding any row may come. After a change of the
 * frame pointer the next row must not use it.
 */
static void expect(struct stack_words *words, const struct eh_row *row,
		   const struct insn_effect *effect, bool goes_on)
{
	const bool by_stack = row->reg == words->arch->dwarf_sp;

	const bool changes = by_stack ? effect->sp_change : effect->killed & 1U << REG_BP;

	words->register_before = goes_on && changes ? row->reg : 0;
	words->expected = by_stack && effect->sp_change != EFFECT_UNKNOWN_CHANGE
				  ? row->offset - effect->sp_change
				  : INT64_MIN;
}

/*
 * Lowers `exposed` to the lowest frame address that the instruction computes, or to the lowest that
 * it accesses by an index.
 */
static void expose(struct stack_words *words, const struct eh_row *row,
		   const struct insn_effect *effect)
{
	const bool by_stack = row->reg == words->arch->dwarf_sp;
	const int reg = by_stack ? REG_SP : REG_BP;
	const bool by_memory = effect->base & 1U << reg;
	int64_t lowest = INT64_MAX;

	if (by_memory && (effect->is_address || effect->is_indexed))
		lowest = effect->displacement - row->offset;
	else if (effect->from == reg || (effect->mixed & 1U << reg) || (effect->joined & 1U << reg))
		lowest = by_stack ? -row->offset : INT64_MIN;
	/*
	 * Where the CFA rule uses the frame pointer, the stack pointer's distance from the CFA is
	 * unknown.
	 */
	if (!by_stack && ((effect->base | effect->mixed | effect->joined) & 1U << REG_SP ||
			  effect->from == REG_SP))
		lowest = INT64_MIN;
	if (lowest < words->exposed)
		words->exposed = lowest;
}

static unsigned frame_of(struct stack_words *words, const struct eh_row *row)
{
	for (unsigned i = 1; i < words->frame_count; i++)
		if (words->frames[i].reg == row->reg && words->frames[i].offset == row->offset)
			return i;
	if (words->frame_count == STACK_FRAMES_MAX)
		return 0;
	words->frames[words->frame_count] = *row;
	return words->frame_count++;
}

void stack_words_locate(struct stack_words *words, uint64_t address,
			const struct insn_effect *effect, bool goes_on, struct stack_access *access)
{
	const struct arch *arch = words->arch;
	const struct eh_row *row = row_at(words, address);

	*access = (struct stack_access){0};
	if (!row || (row->reg != arch->dwarf_sp && row->reg != arch->dwarf_bp)) {
		words->register_before = 0;
		if ((effect->base | effect->mixed) & (1U << REG_SP | 1U << REG_BP))
			words->exposed = INT64_MIN;
		return;
	}
	if (row->reg == words->register_before && row->offset != words->expected)
		words->is_sound = false;
	expect(words, row, effect, goes_on);
	expose(words, row, effect);

	const bool by_stack = row->reg == arch->dwarf_sp;
	const uint32_t base = 1U << (by_stack ? REG_SP : REG_BP);

	access->has_operand = effect->base == base && !effect->is_indexed;
	access->operand = effect->displacement - row->offset;
	access->frame = frame_of(words, row);
	access->has_top = by_stack;
	access->top = -row->offset - (effect->to == EFFECT_TOP ? arch->abi->word : 0);
}

void stack_words_clear(struct stack_words *words)
{
	words->count = 0;
}

uint64_t stack_words_at(const struct stack_words *words, int64_t offset)
{
	for (unsigned i = 0; i < words->count; i++)
		if (words->offsets[i] == offset)
			return 1ULL << i;
	return 0;
}

int stack_words_number(struct stack_words *words, int64_t offset)
{
	const uint64_t bit = stack_words_at(words, offset);

	if (bit)
		return __builtin_ctzll(bit);
	if (words->count == STACK_WORDS_MAX)
		return -1;
	words->offsets[words->count] = offset;
	return (int)words->count++;
}

bool stack_words_exposes(const struct stack_words *words, int64_t offset, unsigned width)
{
	return offset + (int64_t)width > words->exposed;
}

uint64_t stack_words_exposed(const struct stack_words *words)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < words->count; i++)
		if (stack_words_exposes(words, words->offsets[i], words->arch->abi->word))
			bits |= 1ULL << i;
	return bits;
}

uint64_t stack_words_within(const struct stack_words *words, int64_t offset, unsigned width)
{
	const int64_t word = words->arch->abi->word;
	uint64_t bits = 0;

	for (unsigned i = 0; i < words->count; i++)
		if (words->offsets[i] > offset - word && words->offsets[i] < offset + width)
			bits |= 1ULL << i;
	return bits;
}

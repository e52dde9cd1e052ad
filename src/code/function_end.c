/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides whether control can continue at an address behind a call.
 *
 * A compiler that knows that a call does not return (exit, abort, _Unwind_Resume, a Rust panic) may
 * end the function with it. Behind such a call may be padding, data, or another function. No call
 * returns there, so the tracer must not write a breakpoint there.
 *
 * .eh_frame, or else the size of its symbol, tells where a function ends. A compiler may split a
 * function into parts, each with its own entry in .eh_frame, and let one part fall through to the
 * next (Clang's basic-block sections). In that case the CFA rule at the beginning of the next part
 * equals the rule at the end of this part. At the beginning of another function, or of a part that
 * is jumped to, the rule is usually a different one.
 */
#include "code/function_end.h"

#include "object/elf_address.h"
#include "unwind/eh_frame.h"
#include "unwind/eh_rows.h"
#include "unwind/extent.h"

/* The CFA rule at one instruction. */
struct frame_at {
	uint64_t address;
	struct eh_row row;
	bool found;
};

static void look_at_row(void *context, const struct eh_row *row)
{
	struct frame_at *at = context;

	if (at->address < row->from || at->address >= row->to)
		return;
	at->row = *row;
	at->found = true;
}

static bool find_frame(struct elf_file *file, uint64_t start, struct frame_at *at)
{
	struct eh_function function;

	if (eh_frame_at(file, extent_entry(file, start), &function))
		eh_rows_for_each(file, &function, look_at_row, at);
	return at->found;
}

/*
 * Returns true if the part of a function that ends at `address` may fall through to one that begins
 * there.
 */
static bool may_fall_through(struct elf_file *file, uint64_t start, uint64_t address)
{
	struct frame_at before = {.address = address - 1};
	struct frame_at behind = {.address = address};

	if (!extent_entry(file, address))
		return false;
	if (!find_frame(file, start, &before) || !find_frame(file, address, &behind))
		return true;
	return before.row.reg == behind.row.reg && before.row.offset == behind.row.offset;
}

enum function_end function_end_at(struct elf_file *file, uint64_t address)
{
	uint64_t start;
	uint64_t size;

	if (extent_around(file, address, &start, &size) && start < address)
		return FUNCTION_GOES_ON;
	if (extent_around(file, address - 1, &start, &size))
		return may_fall_through(file, start, address) ? FUNCTION_MAY_GO_ON
							      : FUNCTION_IS_AT_ITS_END;
	return elf_symbol_ends_at(file, address) ? FUNCTION_IS_AT_ITS_END : FUNCTION_GOES_ON;
}

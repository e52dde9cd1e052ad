/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal frames that no call-frame information describes.
 *
 * A signal handler returns to a few instructions that make the system call sigreturn: the C
 * library's, the vDSO's, or those of a run-time system (Go). glibc and the vDSO describe theirs;
 * others do not. The code is known by its bytes, as gdb and libunwind know it, and the kernel's
 * frame has a fixed form.
 */
#include "unwind/unwind_signal.h"

#include <string.h>

/* Returns the kind of signal frame that the code at `pc` returns from, or NULL. */
static const struct signal_return *find_kind(struct unwind_view *view, uint64_t pc)
{
	const struct arch *arch = view->arch;
	uint8_t code[sizeof arch->signal_returns[0].code];

	for (unsigned i = 0; i < SIGNAL_RETURNS && arch->signal_returns[i].length; i++) {
		const struct signal_return *kind = &arch->signal_returns[i];

		if (unwind_view_code(view, pc, code, kind->length) &&
		    memcmp(code, kind->code, kind->length) == 0)
			return kind;
	}
	return NULL;
}

bool unwind_step_from_signal(struct unwind_view *view, struct unwind_registers *registers,
			     struct unwind_found *found)
{
	const struct arch *arch = view->arch;
	const struct signal_return *kind = find_kind(view, registers->values[arch->dwarf_return]);
	uint64_t context = registers->values[arch->dwarf_sp];
	struct unwind_registers interrupted = {.known = (UINT32_C(2) << arch->dwarf_return) - 1};

	if (!kind)
		return false;
	context += kind->offset;
	if (kind->by_pointer && !unwind_view_word(view, context, &context))
		return false;
	context += kind->registers;
	for (unsigned i = 0; i <= arch->dwarf_return; i++)
		if (!unwind_view_word(view, context + arch->signal_words[i] * arch->abi->word,
				      &interrupted.values[i]))
			return false;
	*registers = interrupted;
	*found = (struct unwind_found){.cfa = interrupted.values[arch->dwarf_sp],
				       .is_signal_frame = true,
				       .may_descend = true};
	return true;
}

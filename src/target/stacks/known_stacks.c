/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Most calls have a stack that was met before, and to name a frame takes several times as long as
 * to find it. So the number of a stack is kept by a hash of what the walk has found, and only
 * stacks with a new hash are named.
 *
 * The hash has all words of a script frame that tell its function and line, its code's content
 * among them (frame_hash.h), and of a native frame the address and the file that has its code. The
 * names of code that is in no file may change, as a compiler at run time writes new code there:
 * stacks with such frames are named each time.
 */
#include "target/stacks/known_stacks.h"

#include "unwind/stack_hash.h"

enum { KNOWN_MOST = 1 << 16 };

/* An address has 57 bits at most, and biases are multiples of a page. */
static uint64_t add_native(uint64_t key, const struct unwind_frame *frame)
{
	const uint64_t kind = frame->is_call + 2U * frame->is_signal_frame + 4U * frame->is_guessed;

	key = stack_hash_native(key, frame->pc ^ kind << 60);
	return stack_hash_add(key, (uintptr_t)frame->module.file ^ frame->module.bias << 16);
}

uint64_t known_stacks_key(const struct raw_stack *stack)
{
	uint64_t key = stack_hash_begin(stack->native_end);

	for (size_t i = 0; i < stack->part_count; i++) {
		const struct machine_frames *part = &stack->parts[i];

		key = stack_hash_add(key, (uintptr_t)part->machine);
		for (size_t j = 0; j < part->count; j++)
			key = stack_hash_script(key, &part->frames[j]);
	}
	key = stack_hash_add(key, stack->native_first);
	for (size_t i = 0; i < stack->native_count; i++) {
		if (!stack->native[i].module.file)
			return 0;
		key = add_native(key, &stack->native[i]);
	}
	return key;
}

uint32_t known_stacks_find(const struct modules *modules, uint64_t key)
{
	return key ? (uint32_t)(uintptr_t)map_get(&modules->known_stacks, key) : 0;
}

void known_stacks_add(struct modules *modules, uint64_t key, uint32_t number)
{
	if (!key || !number)
		return;
	if (modules->known_stacks.count >= KNOWN_MOST)
		map_deinit(&modules->known_stacks);
	map_put(&modules->known_stacks, key, (void *)(uintptr_t)number);
}

void known_stacks_forget(struct modules *modules)
{
	map_deinit(&modules->known_stacks);
}

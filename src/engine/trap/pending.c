/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See pending.h. Setting the word costs one store per call by breakpoint. Clearing it at each
 * return would need a count of all threads' calls, which unwinding, exec and the end of threads
 * change, too. So it is cleared only when a thread has stopped because of it.
 */
#include "engine/trap/pending.h"

#include "engine/core/callstack.h"
#include "engine/core/thread_calls.h"
#include "engine/trap/breakpoint.h"

void pending_add_word(struct space *space, uint32_t *word)
{
	*word = 1;
	vec_push(&trap_space_of(space)->pending_words, &word);
}

void pending_forget_words(struct space *space)
{
	if (space->trap)
		vec_clear(&space->trap->pending_words);
}

static void set_words(const struct space *space, uint32_t value)
{
	const struct vec *words = &space->trap->pending_words;

	for (size_t i = 0; i < words->count; i++)
		**(uint32_t *volatile *)vec_at(words, i) = value;
}

void pending_note(const struct space *space)
{
	set_words(space, 1);
}

static void look(void *context, const struct call *call)
{
	bool *is_pending = context;

	*is_pending |= !call->in_process;
}

static void look_at_thread(struct thread *thread, void *context)
{
	if (thread->calls->stacks)
		callstacks_each(thread->calls->stacks, look, context);
}

void pending_settle(struct tracees *tracees, struct space *space)
{
	bool is_pending = false;

	if (!space->trap || !space->trap->pending_words.count)
		return;
	space_each_thread(tracees, space, look_at_thread, &is_pending);
	if (!is_pending)
		set_words(space, 0);
}

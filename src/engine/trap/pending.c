/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Setting the word costs a store at each call by breakpoint. To take it back at each return would
 * need a count of all threads' calls, which unwinding, execs and deaths of threads change, too. So
 * it is taken back only where a thread has stopped because of it.
 */
#include "engine/trap/pending.h"

#include "engine/trap/breakpoint.h"
#include "engine/trap/callstack.h"

void pending_add_word(struct space *space, uint32_t *word)
{
	if (!space->trap)
		space->trap = trap_space_create();
	*word = 1;
	vec_push(&space->trap->pending_words, &word);
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
	if (thread->calls)
		callstacks_each(thread->calls, look, context);
}

void pending_settle(struct inferior *inferior, struct space *space)
{
	bool is_pending = false;

	if (!space->trap || !space->trap->pending_words.count)
		return;
	space_each_thread(inferior, space, look_at_thread, &is_pending);
	if (!is_pending)
		set_words(space, 0);
}

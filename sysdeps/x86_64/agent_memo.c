/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks of a stack that need not be made again.
 *
 * What a walk finds depends on nothing but the memory that it reads, a few registers, and what the
 * tracer has written. So a walk notes all words that it has read: as long as they are what they
 * were, another walk would come to the same frames. To compare them takes a tenth of the time of
 * the walk, because no comparison waits for another one, and most calls of a loop come from the
 * same stack. A thread keeps its last walks behind its ring.
 */
#include "x86_64/agent_memo.h"

static bool is_same(const struct memo_key *one, const struct memo_key *other)
{
	return one->thread == other->thread && one->place == other->place && one->pc == other->pc &&
	       one->bp == other->bp && one->generation == other->generation;
}

bool agent_memo_find(const struct memos *memos, const struct memo_key *key, uint64_t *line)
{
	for (unsigned i = 0; i < MEMOS; i++) {
		const struct memo *memo = &memos->items[i];

		if (is_same(&memo->key, key) && memo->count <= MEMO_WORDS &&
		    agent_match(memo->words, memo->count)) {
			*line = memo->line;
			return true;
		}
	}
	return false;
}

struct memo *agent_memo_begin(struct memos *memos)
{
	struct memo *memo = &memos->items[memos->next % MEMOS];

	memo->key.generation = 0;
	memo->count = 0;
	return memo;
}

void agent_memo_end(struct memos *memos, const struct memo_key *key, uint64_t line)
{
	struct memo *memo = &memos->items[memos->next % MEMOS];

	if (memo->count > MEMO_WORDS)
		return;
	memo->key = *key;
	memo->line = line;
	memos->next++;
}

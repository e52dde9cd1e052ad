/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the last walks of a thread have read: see agent_memo.c. */
#ifndef TRACER_SYSDEPS_X86_64_AGENT_MEMO_H
#define TRACER_SYSDEPS_X86_64_AGENT_MEMO_H

#include "engine/agent/agent_abi.h"
#include "x86_64/agent_memory.h"

#include <assert.h>

enum { MEMOS = 4, MEMO_WORDS = 500 };

/* What a walk depends on besides memory. */
struct memo_key {
	uint64_t thread; /* its thread pointer: a ring is used by one thread after the other */
	uint64_t place, pc, bp; /* of the call; 0 where these do not matter */
	uint64_t generation;	/* of what the tracer has written; never 0 */
};

struct memo_word {
	uint64_t address, value;
	uint64_t mask; /* which bits of the value were used */
};

/* A walk and its result. */
struct memo {
	struct memo_key key; /* generation 0: there is no walk */
	uint64_t line;	     /* of its struct ring_record */
	uint64_t count;	     /* of words; more than MEMO_WORDS: not all are here */
	struct memo_word words[MEMO_WORDS];
};

struct memos {
	uint64_t next; /* index of the memo that is replaced next */
	struct memo items[MEMOS];
};
static_assert(sizeof(struct memos) <= AGENT_MEMOS, "their room");

/* Returns true, with the line, if a walk would have the result of one of the memos. */
bool agent_memo_find(const struct memos *memos, const struct memo_key *key, uint64_t *line);
/* Returns a memo for a walk that begins now. */
struct memo *agent_memo_begin(struct memos *memos);
/* The walk that has begun last has this result. If this is not called, its memo stays empty. */
void agent_memo_end(struct memos *memos, const struct memo_key *key, uint64_t line);

/* The walk depends on something that cannot be noted. */
static inline void memo_spoil(struct memo *memo)
{
	memo->count = MEMO_WORDS + 1;
}

static inline void memo_note(struct memo *memo, uint64_t address, uint64_t value, uint64_t mask)
{
	if (memo->count < MEMO_WORDS)
		memo->words[memo->count] = (struct memo_word){address, value, mask};
	if (memo->count <= MEMO_WORDS)
		memo->count++;
}

/* Reads a word and notes it. */
static inline bool memo_read(struct memo *memo, uint64_t address, uint64_t mask, uint64_t *word)
{
	const bool is_read = read_word(NULL, address, word);

	if (is_read)
		memo_note(memo, address, *word, mask);
	else
		memo_spoil(memo);
	return is_read;
}

/* Returns true if each word is what it was, in the bits of its mask (agent_services.S). */
unsigned agent_match(const struct memo_word *words, uint64_t count);

#endif

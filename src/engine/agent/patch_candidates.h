/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The patch candidates of a space, sorted by address: see patch_candidates.c. */
#ifndef TRACER_ENGINE_AGENT_PATCH_CANDIDATES_H
#define TRACER_ENGINE_AGENT_PATCH_CANDIDATES_H

#include "engine/agent/agent.h"
#include "engine/agent/agent_state.h"

/*
 * Adds a patch candidate; the candidate is copied. Returns NULL, or the reason why it cannot be
 * caught by the agent. Must be called before agent_install().
 */
const char *agent_add_candidate(struct space *space, const struct patch_candidate *candidate);
/*
 * Code that uses its own return address is reached from `address`: it begins there, or the PLT stub
 * there jumps to it, or the GOT slot there points to it. A function that ends by a jump to
 * `address` needs its true return address too, so the agent does not catch it. Must be called
 * before agent_install().
 */
void agent_asks_caller(struct space *space, uint64_t address);
/*
 * Returns true if agent_install() may be tried again for candidates that had to wait. `now` is a
 * clock_now().
 */
bool agent_is_due(const struct space *space, uint64_t now);
/* Returns true if there are patch candidates that the next agent_install() decides on. */
bool agent_has_candidates(const struct space *space);
/* Returns true if any of these candidates is a probe's, and not a gate or an unwinder. */
bool agent_has_call_candidates(const struct space *space);
/* Sorts by address. The functions below need a sorted vector of struct patch_candidate. */
void candidates_sort(struct vec *candidates);
/* The index of the last candidate that begins before `address`; candidates->count if none. */
size_t candidates_last_before(const struct vec *candidates, uint64_t address);
/* The index of the one whose jump would cover `address` behind its first byte; or count. */
size_t candidates_covered(const struct vec *candidates, uint64_t address);
/*
 * Like candidates_covered(), if `address` is within the function's own length: padding behind a
 * short function does not count.
 */
size_t candidates_covered_own(const struct vec *candidates, uint64_t address);
/* Sets was_called of candidates whose breakpoints were hit since the last call. */
void candidates_note_calls(struct vec *candidates, const struct space *space);

#endif
